//! Uncaught exceptions of a Java program, as the debugger of the JDK sees them.
//!
//! A JVM asks the program what comes of an exception that nobody catches: a handler may swallow
//! it, or end the process as if all were well, and in a thread of its own it ends nothing. So a
//! patched program that is silent is looked at from outside. So is one that ends by another
//! exception than the PoVs: one that callers are told of is an answer and no crash.

use super::debugger::{LIMIT, MORE, TIME, java};
use super::locked;
use super::stage::PovRun;
use crate::Result;
use crate::runner::{InputRun, Outcome, Replay};
use patchwright_crash::{CrashReport, Tool};
use patchwright_source::{Changes, Language, Tree, TreePath};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The program for it, in one file.
const PROGRAM: &str = concat!(
    include_str!("programs/Uncaught.java"),
    include_str!("programs/Listening.java")
);

/// Observations of the debugger in one run.
#[derive(Default)]
struct Seen {
    /// The exceptions that were not caught, as a JVM prints them.
    text: String,
    /// The classes of those that are checked exceptions.
    checked: Vec<String>,
    /// Reason why no debugger could look.
    unwatched: Option<String>,
}

/// Makes a crash of a silent run in which an exception was not caught, and an answer of a run
/// that ended by nothing but an exception which the library tells its callers.
pub(super) async fn look(run: PovRun<'_>, replay: Replay) -> Result<Replay> {
    let PovRun { target, build, pov } = run;
    if target.task.language != Language::Java {
        return Ok(replay);
    }
    let patched = build.changes != Changes::default().digest();
    let known = target.task.povs.iter().any(|known| known.file == pov.file);
    match replay.outcome {
        Outcome::Silent if patched && known => caught(run, replay).await,
        Outcome::Crashed => answered(run, replay).await,
        _ => Ok(replay),
    }
}

async fn caught(run: PovRun<'_>, mut replay: Replay) -> Result<Replay> {
    let seen = watch(run).await?;
    replay.unwatched = seen.unwatched;
    if let Some(crash) = patchwright_crash::parse(&seen.text) {
        let output = &mut replay.execution.output;
        output.tail.extend_from_slice(seen.text.as_bytes());
        output.total += seen.text.len() as u64;
        replay.outcome = Outcome::Crashed;
        replay.crash = Some(crash);
    }
    Ok(replay)
}

/// Exceptions by class and throwing function of the project, and whether each is an answer.
pub(super) type Answers = Mutex<BTreeMap<(String, String), bool>>;

/// Takes the traces of known answers out of what programs printed: these are no crashes.
pub(super) fn take_answers_out(answers: &Answers, runs: &mut [InputRun]) {
    let answers = locked(answers);
    if answers.is_empty() {
        return;
    }
    for run in runs.iter_mut().filter(|run| !run.ending.success()) {
        let text = String::from_utf8_lossy(&run.output);
        let crash = patchwright_crash::parse(&text).filter(|crash| crash.tool == Tool::Java);
        if crash.is_some_and(|crash| answers.get(&key(&crash)) == Some(&true)) {
            run.output = without_trace(&text).into_bytes();
        }
    }
}

fn key(crash: &CrashReport) -> (String, String) {
    let frame = crash.first_project_frame();
    let function = frame.map_or_else(String::new, |frame| frame.function.clone());
    (crash.kind.clone(), function)
}

/// Returns what a program printed with an exception as one line.
fn without_trace(text: &str) -> String {
    let traces = ["at ", "... ", "Caused by: ", "Suppressed: "];
    let is_trace = |line: &&str| traces.iter().any(|of| line.trim_start().starts_with(of));
    let told = |line: &str| line.replacen("Exception in thread \"main\"", "ends by", 1) + "\n";
    let lines = text.lines().filter(|line| !is_trace(line));
    lines.map(told).collect()
}

/// A method has to declare the checked exceptions that it lets through and may declare others, so
/// these are part of what a library tells its callers. The exception of a PoV is a crash, whatever
/// its class.
async fn answered(run: PovRun<'_>, mut replay: Replay) -> Result<Replay> {
    let PovRun { target, pov, .. } = run;
    let Some(baseline) = target.baseline.get() else {
        return Ok(replay);
    };
    let povs = baseline.povs.iter();
    let mut known = povs.filter_map(|pov| pov.replay.crash.as_ref());
    let Some(crash) = replay
        .crash
        .take_if(|crash| crash.tool == Tool::Java && known.all(|known| known.kind != crash.kind))
    else {
        return Ok(replay);
    };
    let is_pov = target.task.povs.iter().any(|known| known.file == pov.file);
    let known = locked(&target.answers).get(&key(&crash)).copied();
    let is_answer = match known {
        Some(known) if !is_pov => known,
        _ => is_answer(run, &crash).await?,
    };
    locked(&target.answers).insert(key(&crash), is_answer);
    if is_answer {
        replay.outcome = Outcome::Silent;
        replay.answer = Some(crash.kind);
    } else {
        replay.crash = Some(crash);
    }
    Ok(replay)
}

/// Tells whether nothing but this exception was left uncaught, and it is one that callers are told
/// of. A patch can bring neither its class nor its declaration.
async fn is_answer(run: PovRun<'_>, crash: &CrashReport) -> Result<bool> {
    let Ok(tree) = Tree::open(&run.target.task.tree) else {
        return Ok(false);
    };
    let files = tree.files();
    let source = (&tree, &*files);
    let mut packages = ["java.", "javax."].iter();
    let of_jdk = packages.any(|package| crash.kind.starts_with(package));
    let outer = crash.kind.split('$').next().unwrap_or_default();
    let file = format!("{}.java", outer.replace('.', "/"));
    let head = format!(r"\bclass\s+{}\b", simple_name(&crash.kind));
    let is_there = of_jdk || holds(source, &file, &head);
    let declared = declares(source, crash);
    if !is_there && !declared {
        return Ok(false);
    }
    let seen = watch(run).await?;
    let alone = seen.text.matches("Exception in thread \"").count() == 1;
    Ok(alone && (declared || seen.checked == [crash.kind.as_str()]))
}

/// Tells whether an expression matches the file of the tree whose path ends like this: a trace names
/// a file below its source folder, which may lie anywhere.
fn holds((tree, files): (&Tree, &[TreePath]), file: &str, expression: &str) -> bool {
    let ending = format!("/{file}");
    let mut files = files.iter();
    let file = files.find(|path| format!("/{path}").ends_with(&ending));
    let text = file.and_then(|file| tree.read(file).ok());
    text.zip(Regex::new(expression).ok())
        .is_some_and(|(text, found)| found.is_match(&String::from_utf8_lossy(text.bytes())))
}

/// Returns the last part of a name of Java for an expression, without the number of a local class.
fn simple_name(name: &str) -> String {
    let last = name.rsplit(['.', '$']).next().unwrap_or(name);
    regex::escape(last.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Tells whether a method on the stack declares the exception in the unpatched tree.
fn declares(source: (&Tree, &[TreePath]), crash: &CrashReport) -> bool {
    let exception = simple_name(&crash.kind);
    let stack = crash.main_stack().into_iter();
    let mut frames = stack.flat_map(|stack| &stack.frames);
    frames.any(|frame| {
        let method = simple_name(&frame.function);
        let head = format!(r"\b{method}\s*\([^(){{}};]*\)\s*throws\s[^{{}};]*\b{exception}\b");
        let file = frame.file.as_deref();
        file.is_some_and(|file| holds(source, file, &head))
    })
}

/// Runs a PoV once more, under the debugger.
async fn watch(run: PovRun<'_>) -> Result<Seen> {
    let environment = [("PROBE_SECONDS", TIME.as_secs().to_string())];
    let script = java("Uncaught");
    let how = (script.as_str(), PROGRAM);
    let (folder, execution) = run.watched(how, &environment, TIME + MORE).await?;
    let notes = folder.left()?;
    let read = |name| notes.read(name, LIMIT).ok();
    let text = |told: Vec<u8>| {
        let told = run.target.told(folder.path(), &told);
        String::from_utf8_lossy(&told).trim_end().to_owned()
    };
    if let Some(told) = read("uncaught") {
        let checked = read("checked").map(text).unwrap_or_default();
        return Ok(Seen {
            text: text(told),
            checked: checked.lines().map(str::to_owned).collect(),
            unwatched: None,
        });
    }
    let why = read("unwatched").map_or_else(|| execution.text(), text);
    Ok(Seen {
        unwatched: Some(format!("the debugger of the JDK: {why}")),
        ..Seen::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::LocalTarget;
    use crate::runner::{Build, BuildKind, Inputs, Outcome, Pov, Replay, Target};
    use crate::test_support::{LINES, change, java_changed, java_task, open};
    use patchwright_source::Changes;
    use std::time::Duration;

    const CLASS: &str = "public class Lines {";
    const CALL: &str = "        String line = text.substring(0, end);";

    async fn built_and_replayed(target: &LocalTarget, changes: &Changes) -> (Build, Replay) {
        let build = target.build(changes, "", BuildKind::Incremental);
        let build = build.await.unwrap();
        assert!(build.succeeded(), "{}", build.execution.text());
        let replay = target.replay(&build, &target.task().povs[0]).await;
        (build, replay.unwrap())
    }

    #[tokio::test]
    async fn an_exception_that_nobody_catches_is_a_crash_whoever_answers_it() {
        let folder = tempfile::tempdir().unwrap();
        let target = open(java_task(folder.path()), folder.path()).await;
        target.baseline().await.unwrap();
        let pov = &target.task().povs[0];
        let handler = |call: &str| format!("{CLASS}\n    static {{ {call} }}");
        let swallowed =
            "Thread.setDefaultUncaughtExceptionHandler((t, e) -> Runtime.getRuntime().halt(0));";
        let thread = "        String[] found = {\"\"};\n        Thread t = new Thread(() -> found[0] = text.substring(0, text.indexOf('\\n')));\n        t.setUncaughtExceptionHandler((x, e) -> { });\n        t.start();\n        try { t.join(); } catch (InterruptedException e) { }\n        String line = found[0];";
        let fixed = "        String line = text.substring(0, end < 0 ? text.length() : end);";
        for (from, to, outcome) in [
            (CLASS, handler(swallowed), Outcome::Crashed),
            (CALL, thread.to_owned(), Outcome::Crashed),
            (CALL, fixed.to_owned(), Outcome::Silent),
        ] {
            let changes = java_changed(from, &to);
            let (build, replay) = built_and_replayed(&target, &changes).await;
            assert_eq!(replay.outcome, outcome, "{to}: {}", replay.execution.text());
            assert_eq!(replay.unwatched, None);
            assert_eq!(replay.answer, None);
            if outcome == Outcome::Silent {
                // What keeps the debugger away is told, and is no silence.
                let command = pov.command.clone().or(target.task().commands.pov.clone());
                let alone = Pov {
                    command: Some(format!("export JAVA_TOOL_OPTIONS=; {}", command.unwrap())),
                    ..pov.clone()
                };
                let replay = target.replay(&build, &alone).await.unwrap();
                assert_eq!(replay.outcome, outcome);
                let why = replay.unwatched.unwrap();
                assert!(why.contains("no JVM came to it"), "{why}");
            }
        }
    }

    #[tokio::test]
    async fn an_exception_that_the_library_declares_is_an_answer() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = java_task(folder.path());
        let before = LINES.replace("upper) {", "upper)\n        throws IllegalStateException {");
        std::fs::create_dir_all(task.tree.join("src/p")).unwrap();
        std::fs::write(task.tree.join("src/p/Lines.java"), &before).unwrap();
        std::fs::remove_file(task.tree.join("p/Lines.java")).unwrap();
        task.commands.build = task.commands.build.replace("p/Lines", "src/p/Lines");
        let target = open(task, folder.path()).await;
        target.baseline().await.unwrap();
        let pov = &target.task().povs[0];
        let thrown =
            |class: &str| format!("        if (end < 0) throw new {class}(\"no line\");\n{CALL}");
        let own = "        class Broken extends IllegalStateException { }\n        if (end < 0) throw new Broken();\n";
        let brought = "        class Own extends Exception { }\n        class Sneak { @SuppressWarnings(\"unchecked\") <E extends Throwable> void raise(Throwable t) throws E { throw (E) t; } }\n        if (end < 0) new Sneak().<RuntimeException>raise(new Own());\n";
        for (body, answer) in [
            (thrown("java.io.IOException"), Some("java.io.IOException")),
            (
                thrown("IllegalStateException"),
                Some("java.lang.IllegalStateException"),
            ),
            (thrown("IllegalArgumentException"), None),
            (format!("{own}{CALL}"), None),
            (format!("{brought}{CALL}"), None),
        ] {
            let text = before.replace(CALL, &body);
            let throws =
                "throws IllegalStateException, IllegalArgumentException, java.io.IOException {";
            let declared = text.replace("throws IllegalStateException {", throws);
            let changes = change("src/p/Lines.java", declared);
            let (build, replay) = built_and_replayed(&target, &changes).await;
            assert_eq!(
                replay.answer.as_deref(),
                answer,
                "{}",
                replay.execution.text()
            );
            assert_eq!(replay.outcome.is_failure(), answer.is_none());
            let inputs = Inputs {
                contents: vec![b"of one line".to_vec()],
                budget: Duration::from_mins(1),
                each: Duration::from_secs(20),
                ..Inputs::default()
            };
            let runs = target.run_inputs(&build, pov, &inputs).await.unwrap();
            assert_eq!(runs[0].is_failure(), answer.is_none(), "{:?}", runs[0]);
        }
    }
}
