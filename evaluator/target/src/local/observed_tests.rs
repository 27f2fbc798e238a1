//! Observed runs of Java programs: the tests, or a PoV, with the agent in every JVM.

use super::jvm_agent::{COVERAGE_FOLDER, VALUES_FOLDER, with_agent};
use super::{Job, LocalTarget, coverage};
use crate::Result;
use crate::runner::{Build, Coverage, Observed, ObservedRun, Pov};
use patchwright_sandbox::Ending;
use patchwright_sandbox::contained_path::ContainedFolder;
use std::ffi::OsString;
use std::path::Path;

/// Processes of one run that are read: build tools start some, and some of them fork one for
/// each class of tests.
const MOST_PROCESSES: usize = 400;
/// Bytes that are read of one of them.
const LIMIT: u64 = 16 << 20;

/// Runs the tests, or a PoV, and returns what the agent saw; none where it does not compile,
/// there are no tests, or they do not end in time.
pub(super) async fn run(
    target: &LocalTarget,
    build: &Build,
    pov: Option<&Pov>,
    asked: &Observed,
) -> Result<Option<ObservedRun>> {
    let command = match pov {
        Some(pov) => Some(target.on(build, pov).command()?),
        None => target.task.commands.test.as_deref(),
    };
    let Some(command) = command else {
        return Ok(None);
    };
    let folder = target.batch_folder()?;
    if !target.put_agent(build.place()?, &folder).await? {
        return Ok(None);
    }
    let mut environment = coverage::variables(&asked.counted);
    environment.push(("WATCHED_TESTS", "yes".to_owned()));
    if !asked.functions.is_empty() {
        environment.push(("WATCHED", asked.functions.join("\n")));
    }
    let stage = match pov {
        Some(pov) => target.on(build, pov).stage().await?,
        None => target.stage_of_tests(build).await?,
    };
    let arguments: [OsString; 1] = [command.into()];
    let script = with_agent("eval \"$1\"");
    let job = Job {
        wall: asked.most,
        arguments: &arguments,
        environment: &environment,
        pov: pov.map(|pov| pov.file.as_path()),
        notes: Some(folder.path()),
        ..stage.job(&script)
    };
    let execution = target.command(job).await?;
    if matches!(execution.ending, Ending::Limit(_)) {
        tracing::info!("a run with the agent did not end in time");
        return Ok(None);
    }
    Ok(Some(observed(folder.path())))
}

/// Puts together what all processes wrote.
fn observed(folder: &Path) -> ObservedRun {
    let mut observed = ObservedRun::default();
    for text in written(folder, VALUES_FOLDER) {
        observed.read(&text);
    }
    for text in written(folder, COVERAGE_FOLDER) {
        observed.coverage.add(&Coverage::read(&text));
    }
    observed.without_endless()
}

/// Reads what each process wrote, in the order of the files' names.
fn written(folder: &Path, part: &str) -> Vec<String> {
    let listed = || -> std::io::Result<_> {
        let part = ContainedFolder::open(&folder.join(part))?;
        Ok((part.entries()?, part))
    };
    let Ok((entries, part)) = listed() else {
        return Vec::new();
    };
    let texts = entries.iter().take(MOST_PROCESSES).filter_map(|entry| {
        let bytes = part.read(&*entry.name, LIMIT).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use crate::runner::{
        BuildKind, Capture, Counted, Coverage, Inputs, Instrumentation, LineRange, Observed, Target,
    };
    use crate::test_support::{covered_by_tests, java_changed, java_task, open};
    use std::fs;
    use std::time::Duration;

    const FIX: (&str, &str) = (
        "        String line",
        "        if (end < 0) {\n            end = text.length();\n        }\n        String line",
    );

    fn counted() -> Counted {
        let lines = LineRange {
            path: "p/Lines.java".to_owned(),
            first: 5,
            last: 7,
        };
        Counted {
            lines: vec![lines],
            functions: vec!["first".to_owned()],
        }
    }

    #[tokio::test]
    async fn calls_and_lines_are_seen_while_the_tests_run() {
        let folder = tempfile::tempdir().unwrap();
        let target = open(java_task(folder.path()), folder.path()).await;
        let fix = java_changed(FIX.0, FIX.1);
        let build = target.build(&fix, "", BuildKind::Incremental);
        let build = build.await.unwrap();
        let asked = Observed {
            functions: vec!["Lines.first".to_owned()],
            counted: counted(),
            most: Duration::from_mins(1),
        };
        let seen = target.observed_run(&build, None, &asked).await;
        let seen = seen.unwrap().expect("the task has tests");
        let calls: Vec<String> = seen
            .calls
            .iter()
            .map(|(call, ends)| format!("{}({}) {ends:?}", call.function, call.arguments))
            .collect();
        assert_eq!(calls.len(), 6, "{seen:#?}");
        let expected = "Lines.first(one two, true) {\"returns ONE\"}".to_owned();
        assert!(calls.contains(&expected), "{calls:#?}");
        assert!(seen.given.contains(&b"a\nb"[..]), "{seen:#?}");
        assert_eq!(seen.coverage.functions["first"], 6);
        assert_eq!(seen.coverage.lines[&("p/Lines.java".to_owned(), 6)], 0);
        let tests = covered_by_tests(&target, &build, &asked.counted, asked.most);
        assert_eq!(tests.await.unwrap(), Some(seen.coverage));
        // A PoV is seen in the same way, and a call that throws too.
        let old = target.baseline().await.unwrap().builds[""].clone();
        let pov = &target.task().povs[0];
        let seen = target.observed_run(&old, Some(pov), &asked).await;
        let seen = seen.unwrap().expect("the PoV ends");
        let (call, ends) = seen.calls.first_key_value().unwrap();
        assert_eq!(call.arguments, "of one line, false");
        assert!(ends.iter().all(|end| end.starts_with("throws java.lang.")));
    }

    #[tokio::test]
    async fn no_class_of_the_program_takes_the_place_of_the_agents() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = java_task(folder.path());
        let package = task.tree.join("patchwright");
        fs::create_dir(&package).unwrap();
        for class in ["Agent", "Coverage", "ManyInputs", "Values"] {
            let text = format!("package patchwright; public class {class} {{}}");
            fs::write(package.join(format!("{class}.java")), text).unwrap();
        }
        let too = "\njavac -d \"$OUT/classes\" patchwright/*.java";
        task.commands.build.push_str(too);
        let target = open(task, folder.path()).await;
        let fix = java_changed(FIX.0, FIX.1);
        let build = target.build(&fix, "", BuildKind::Incremental);
        let (build, counted) = (build.await.unwrap(), counted());
        let tests = covered_by_tests(&target, &build, &counted, Duration::from_mins(1));
        assert_eq!(tests.await.unwrap().unwrap().functions["first"], 6);
    }

    #[tokio::test]
    async fn both_ways_of_a_branch_are_counted_input_by_input() {
        let folder = tempfile::tempdir().unwrap();
        let target = open(java_task(folder.path()), folder.path()).await;
        target.baseline().await.unwrap();
        let fix = java_changed(FIX.0, FIX.1);
        let counters = Instrumentation::Counters;
        let build = target.instrumented_build(&fix, "", &counters);
        let build = build.await.unwrap().expect("a build that is counted");
        let inputs = Inputs {
            contents: vec![b"one".to_vec(), b"a\nb".to_vec()],
            budget: Duration::from_mins(1),
            each: Duration::from_secs(10),
            capture: Capture::Coverage(counted()),
            ..Inputs::default()
        };
        let pov = &target.task().povs[0];
        let runs = target.run_inputs(&build, pov, &inputs).await.unwrap();
        assert_eq!(target.driver_fits.get(), Some(&true));
        let read = |index: usize| Coverage::read(&String::from_utf8_lossy(&runs[index].output));
        let (without, with) = (read(0), read(1));
        let line = ("p/Lines.java".to_owned(), 6);
        assert_eq!((without.lines[&line], with.lines[&line]), (1, 0));
        let ways = |coverage: &Coverage| coverage.branches.values().copied().collect::<Vec<_>>();
        assert_eq!((ways(&without), ways(&with)), (vec![1, 0], vec![0, 1]));
    }
}
