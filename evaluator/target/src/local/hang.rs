//! Stack of a hang: where a program is that does not come to an end, looked at a few times.
//!
//! gdb interrupts C and C++ programs; a JVM prints the stacks of its threads when it is
//! asked by a signal. Frames that all looks have in common are those that do not return.

use super::stage::PovRun;
use super::{LocalTarget, exits};
use crate::Result;
use crate::runner::{ExitEventKind, ExitFrame, Target, asking_for_dumps};
use patchwright_crash::{CrashReport, Frame, Role, Stack, Tool, stack_text};
use patchwright_source::Language;

/// Seconds of processor time after which a program is looked at, of the clock where it waits.
const SAMPLES: &str = "4 5 6";
/// Seconds after which it is ended, however busy the machine is.
const END: u32 = 30;

/// Runs a PoV that hangs once more and returns where it is.
pub(super) async fn stack(run: PovRun<'_>) -> Result<Option<CrashReport>> {
    let PovRun { target, build, pov } = run;
    if target.task.language == Language::Java {
        let asking = asking_for_dumps(pov, run.command()?);
        let replay = target.replay(build, &asking).await?;
        return Ok(patchwright_crash::parse(&replay.execution.text()).filter(CrashReport::is_hang));
    }
    let environment = [
        ("WATCH_SECONDS", END.to_string()),
        ("WATCHED", String::new()),
        ("TOUCHED", String::new()),
        ("SAMPLES", SAMPLES.to_owned()),
    ];
    let exits = exits::watch(run, &environment).await?;
    let events = exits.processes.iter().flat_map(|process| &process.events);
    let samples: Vec<Vec<Frame>> = events
        .filter(|event| event.what == ExitEventKind::Sample)
        .map(|event| {
            event
                .stack
                .iter()
                .map(|frame| seen(target, frame))
                .collect()
        })
        .collect();
    Ok(report(&samples))
}

fn seen(target: &LocalTarget, frame: &ExitFrame) -> Frame {
    let tree = target.task.seen_tree();
    Frame {
        file: frame.file.as_ref().map(|file| format!("{tree}/{file}")),
        line: (frame.line > 0).then_some(frame.line),
        ..Frame::named(frame.function.clone())
    }
}

/// Makes a report of what was seen; its stack begins with the innermost frame that all
/// looks have in common.
fn report(samples: &[Vec<Frame>]) -> Option<CrashReport> {
    let last = samples.last().filter(|frames| !frames.is_empty())?;
    let common = samples
        .iter()
        .map(|frames| {
            let pairs = frames.iter().rev().zip(last.iter().rev());
            pairs.take_while(|(a, b)| a.function == b.function).count()
        })
        .min()?;
    let steady = last.get(last.len().checked_sub(common)?..)?;
    let first = steady.first()?;
    let (function, looks) = (&first.function, samples.len());
    let summary = format!("a hang in {function}");
    let stack = stack_text(last);
    let purified = format!(
        "The program does not come to an end. In each of {looks} looks it was inside of {function}; in the last one it was here:\n{stack}"
    );
    Some(CrashReport {
        cut: false,
        tool: Tool::Gdb,
        kind: "hang".to_owned(),
        cwe: Some("CWE-835".to_owned()),
        access: None,
        stacks: vec![Stack {
            role: Role::Crash,
            title: None,
            frames: steady.to_vec(),
        }],
        summary,
        purified,
    })
}

#[cfg(test)]
mod tests {
    use super::report;
    use crate::runner::{Outcome, Target};
    use crate::test_support::{PARSE, open, task};
    use patchwright_source::Frame;
    use std::fs;

    #[test]
    fn the_innermost_function_that_does_not_return_comes_first() {
        let look = |names: &[&str]| names.iter().map(|name| Frame::named(*name)).collect();
        let looks = [
            look(&["step", "scan", "parse", "main"]),
            look(&["scan", "parse", "main"]),
            look(&["read", "peek", "scan", "parse", "main"]),
        ];
        let report = report(&looks).unwrap();
        let names: Vec<&str> = report.stacks[0]
            .frames
            .iter()
            .map(|f| f.function.as_str())
            .collect();
        assert_eq!(names, ["scan", "parse", "main"]);
        assert!(report.is_hang() && report.summary == "a hang in scan");
        assert!(super::report(&[]).is_none());
    }

    /// The harness ends itself by `timeout`, whose status is no crash of its own.
    #[tokio::test]
    async fn a_hang_that_the_harness_ends_is_seen_with_its_stack() {
        let folder = tempfile::tempdir().unwrap();
        let mut task = task(folder.path());
        let text = PARSE.replace(
            "memset(p, 1, b[0]);",
            "for (volatile int i = 0; i < b[0]; i += b[0] < 100) p[i & 7] = 1;",
        );
        fs::write(task.tree.join("parse.c"), text).unwrap();
        task.commands.pov = Some(r#"timeout 2 "$OUT"/prog "$POV""#.to_owned());
        let target = open(task, folder.path()).await;
        let baseline = target.baseline().await.unwrap();
        let replay = &baseline.povs[0].replay;
        assert_eq!(replay.outcome, Outcome::Hung);
        let crash = replay.crash.as_ref().expect("a stack");
        assert!(
            crash.is_hang() && crash.summary == "a hang in parse",
            "{crash:#?}"
        );
        assert!(crash.purified.contains("parse.c:6"), "{}", crash.purified);
    }
}
