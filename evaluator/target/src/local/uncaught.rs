//! Uncaught exceptions of a Java program, as the debugger of the JDK sees them.
//!
//! A JVM asks the program what comes of an exception that nobody catches: a handler may swallow
//! it, or end the process as if all were well, and in a thread of its own it ends nothing. So a
//! patched program that is silent is looked at from outside.

use super::LocalTarget;
use super::debugger::{LIMIT, MORE, TIME, java};
use crate::Result;
use crate::runner::{Build, Outcome, Pov, Replay};
use patchwright_source::{Changes, Language};

/// The program for it, in one file.
const PROGRAM: &str = concat!(
    include_str!("programs/Uncaught.java"),
    include_str!("programs/Listening.java")
);

/// Makes a crash of a silent run in which an exception was not caught.
pub(super) async fn look(
    target: &LocalTarget,
    build: &Build,
    pov: &Pov,
    mut replay: Replay,
) -> Result<Replay> {
    let java = target.task.language == Language::Java;
    let patched = build.changes != Changes::default().digest();
    let known = target.task.povs.iter().any(|known| known.file == pov.file);
    if !java || !patched || !known || replay.outcome != Outcome::Silent {
        return Ok(replay);
    }
    let text;
    (text, replay.unwatched) = uncaught(target, build, pov).await?;
    if let Some(crash) = patchwright_crash::parse(&text) {
        let output = &mut replay.execution.output;
        output.tail.extend_from_slice(text.as_bytes());
        output.total += text.len() as u64;
        replay.outcome = Outcome::Crashed;
        replay.crash = Some(crash);
    }
    Ok(replay)
}

/// Returns the exceptions as a JVM prints them, and the reason where no debugger could look.
async fn uncaught(
    target: &LocalTarget,
    build: &Build,
    pov: &Pov,
) -> Result<(String, Option<String>)> {
    let environment = [("PROBE_SECONDS", TIME.as_secs().to_string())];
    let script = java("Uncaught");
    let how = (script.as_str(), PROGRAM);
    let watched = target.watched((build, pov), how, &environment, TIME + MORE);
    let (folder, execution) = watched.await?;
    let notes = folder.left()?;
    let read = |name| notes.read(name, LIMIT).ok();
    let text = |told: Vec<u8>| {
        let told = target.told(folder.path(), &told);
        String::from_utf8_lossy(&told).trim_end().to_owned()
    };
    if let Some(told) = read("uncaught") {
        return Ok((text(told), None));
    }
    let why = read("unwatched").map_or_else(|| execution.text(), text);
    let why = format!("the debugger of the JDK: {why}");
    Ok((String::new(), Some(why)))
}

#[cfg(test)]
mod tests {
    use crate::runner::{BuildKind, Outcome, Pov, Target};
    use crate::test_support::{java_changed, java_task, open};

    const CLASS: &str = "public class Lines {";
    const CALL: &str = "        String line = text.substring(0, end);";

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
            let build = target
                .build(&changes, "", BuildKind::Incremental)
                .await
                .unwrap();
            assert!(build.succeeded(), "{}", build.execution.text());
            let replay = target.replay(&build, pov).await.unwrap();
            assert_eq!(replay.outcome, outcome, "{to}: {}", replay.execution.text());
            assert_eq!(replay.unwatched, None);
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
}
