//! Runs of builds with counters, of inputs and of tests.

use super::instrumented::{ADDED, COMPILER, WITH_COMPILERS};
use super::{Job, LocalTarget};
use crate::Result;
use crate::runner::{Build, Counted, Coverage};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Reads the counters.
const COUNTS: &str = include_str!("programs/counts.sh");
/// The loop over one batch; the counts of each input go where outputs go. Reading counters takes longer
/// than a run, and most inputs never come to the lines that are asked about: so they are read once for
/// several inputs, and for each of these only where one of them comes there. As long as inputs do,
/// the counters are read for each.
const LOOP: &str = include_str!("programs/count_inputs.sh");
/// Runs the tests and prints the counts of all of them together.
const TESTS: &str = include_str!("programs/count_tests.sh");

/// The loop over a batch of inputs that are counted.
pub(super) fn counting_loop() -> String {
    format!("{COUNTS}{LOOP}")
}

/// Runs the tests of a build with counters and says what they cover; nothing
/// when the task has none, or they come to no end in the time.
pub(super) async fn tests(
    target: &LocalTarget,
    build: &Build,
    counted: &Counted,
    most: Duration,
) -> Result<Option<Coverage>> {
    let Some(test) = &target.task.commands.test else {
        return Ok(None);
    };
    let stage = target.stage_of_tests(build).await?;
    let script = format!("{WITH_COMPILERS}{COUNTS}{TESTS}");
    let arguments: [OsString; 2] = [test.into(), COMPILER.into()];
    let mut environment = variables(counted);
    environment.push((ADDED, "counters".to_owned()));
    let job = Job {
        wall: most,
        arguments: &arguments,
        environment: &environment,
        ..stage.job(&script)
    };
    let execution = target.command(job).await?;
    // Cut short, they tell nothing: the counts come last.
    let whole = execution.ending.success();
    Ok(whole.then(|| Coverage::read(&execution.text())))
}

/// The lines and functions as `counts.sh` wants them.
pub(super) fn variables(counted: &Counted) -> Vec<(&'static str, String)> {
    let lines = counted.lines.iter();
    let rows: Vec<String> = lines
        .map(|range| format!("{}\t{}\t{}", range.path, range.first, range.last))
        .collect();
    let file = |path: &str| {
        let name = Path::new(path).file_name()?;
        Some(name.to_string_lossy().into_owned())
    };
    let paths = counted.lines.iter().filter_map(|range| file(&range.path));
    let mut names: Vec<String> = paths.chain(counted.functions.iter().cloned()).collect();
    names.sort();
    names.dedup();
    vec![
        ("COUNTED_LINES", rows.join("\n")),
        ("COUNTED_FUNCTIONS", counted.functions.join("\n")),
        ("COUNTED_NAMES", names.join("\n")),
    ]
}

#[cfg(test)]
mod tests {
    use crate::runner::{Capture, Counted, Coverage, Inputs, Instrumentation, LineRange, Target};
    use crate::test_support::{PARSE, changed, covered_by_tests, open, task};
    use std::time::Duration;

    /// The third line holds the branch; `0 0 0` is said of what was never run.
    #[tokio::test]
    async fn lines_and_branches_are_counted_input_by_input_and_in_tests() {
        let folder = tempfile::tempdir().unwrap();
        let target = open(task(folder.path()), folder.path()).await;
        assert!(PARSE.lines().nth(3).unwrap().contains("if (n < 2)"));
        let fix = changed("if (n < 2)", "if (n < 2 || b[0] > 8)");
        let counters = Instrumentation::Counters;
        let build = target.instrumented_build(&fix, "address", &counters);
        let build = build.await.unwrap().expect("a build with counters");
        let lines = vec![LineRange {
            path: "parse.c".to_owned(),
            first: 4,
            last: 5,
        }];
        let counted = Counted {
            lines,
            functions: vec!["parse".to_owned()],
        };
        let inputs = Inputs {
            contents: vec![vec![3, 0], vec![200, 0]],
            budget: Duration::from_mins(1),
            each: Duration::from_secs(10),
            capture: Capture::Coverage(counted.clone()),
            ..Inputs::default()
        };
        let pov = &target.task().povs[0];
        let runs = target.run_inputs(&build, pov, &inputs).await.unwrap();
        let read = |index: usize| Coverage::read(&String::from_utf8_lossy(&runs[index].output));
        let (fine, refused) = (read(0), read(1));
        assert!(fine.reached() && refused.reached(), "{runs:#?}");
        assert_eq!(fine.functions["parse"], 1);
        let taken = |coverage: &Coverage| -> Vec<u64> {
            let at = |entry: (&(String, u32, u32), &u64)| (entry.0.1 == 4).then_some(*entry.1);
            coverage.branches.iter().filter_map(at).collect()
        };
        let (one, other) = (taken(&fine), taken(&refused));
        assert!(one.len() >= 4 && one != other, "{one:?} {other:?}");
        assert_eq!(fine.lines[&("parse.c".to_owned(), 5)], 1);
        assert_eq!(refused.lines[&("parse.c".to_owned(), 5)], 0);
        let most = Duration::from_mins(1);
        let tests = covered_by_tests(&target, &build, &counted, most).await;
        let tests = tests.unwrap().expect("the task has tests");
        assert!(tests.reached(), "{tests:#?}");
        assert_eq!(tests.functions["parse"], 1);
        let cut_short = covered_by_tests(&target, &build, &counted, Duration::from_millis(1));
        assert_eq!(cut_short.await.unwrap(), None);
    }

    /// Counters are read once for several inputs, and again where one of them comes there.
    #[tokio::test]
    async fn of_several_inputs_those_that_come_there_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let target = open(task(folder.path()), folder.path()).await;
        let fix = changed("if (n < 2)", "if (n < 2 || b[0] > 8)");
        let counters = Instrumentation::Counters;
        let build = target.instrumented_build(&fix, "address", &counters);
        let build = build.await.unwrap().expect("a build with counters");
        let lines = vec![LineRange {
            path: "parse.c".to_owned(),
            first: 6,
            last: 6,
        }];
        let mut contents = vec![vec![1]; 19];
        contents[10] = vec![3, 0];
        contents[18] = vec![3, 0];
        let inputs = Inputs {
            contents,
            budget: Duration::from_mins(1),
            each: Duration::from_secs(10),
            capture: Capture::Coverage(Counted {
                lines,
                functions: vec!["parse".to_owned()],
            }),
            ..Inputs::default()
        };
        let pov = &target.task().povs[0];
        let runs = target.run_inputs(&build, pov, &inputs).await.unwrap();
        assert_eq!(runs.len(), 19);
        let come = runs.iter().filter(|run| {
            let coverage = Coverage::read(&String::from_utf8_lossy(&run.output));
            coverage.reached()
        });
        assert_eq!(come.map(|run| run.index).collect::<Vec<_>>(), [10, 18]);
    }

    /// CMake writes its files anew, with the compilers that it remembers.
    #[tokio::test]
    async fn what_a_command_configures_again_is_counted_too() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        let lists = "cmake_minimum_required(VERSION 3.10)\nproject(parse C)\nadd_library(parse STATIC parse.c)\n";
        std::fs::write(task.tree.join("CMakeLists.txt"), lists).unwrap();
        task.commands.build = r#"cmake -S "$TREE" -B "$OUT"/build && cmake --build "$OUT"/build
cc $CFLAGS "$TREE"/main.c "$OUT"/build/libparse.a -o "$OUT"/prog"#
            .to_owned();
        let target = open(task, folder.path()).await;
        let fix = changed("if (n < 2)", "if (n < 2 || b[0] > 8)");
        let counters = Instrumentation::Counters;
        let build = target.instrumented_build(&fix, "address", &counters);
        let build = build.await.unwrap().expect("a build with counters");
        let counted = Counted {
            lines: Vec::new(),
            functions: vec!["parse".to_owned()],
        };
        let most = Duration::from_mins(1);
        let tests = covered_by_tests(&target, &build, &counted, most).await;
        let tests = tests.unwrap().expect("the task has tests");
        assert_eq!(tests.functions["parse"], 1, "{tests:#?}");
    }
}
