//! Stack of a hang: where a program is that does not come to an end, looked at a few times.
//!
//! gdb interrupts C and C++ programs; a JVM prints the stacks of its threads when it is
//! asked by a signal. Frames that all looks have in common are those that do not return.

use super::LocalTarget;
use super::exits::{self, WITHOUT_TIMEOUT};
use super::stage::PovRun;
use crate::Result;
use crate::runner::{ExitEvent, ExitEventKind, ExitFrame, Pov, Target};
use patchwright_crash::{
    CrashReport, Frame, Role, Stack, Tool, busiest_thread, read_threads, stack_text,
};
use patchwright_source::Language;
use std::time::Duration;

/// Seconds of processor time after which a program is looked at, of the clock where it waits.
const SAMPLES: &str = "4 5 6";
/// Seconds after which it is ended, however busy the machine is.
const END: u32 = 30;

/// Runs the function `patchwright_pov` and asks each JVM a few times what its threads are
/// doing. The dumps go to the output of the JVM itself.
const ASK_FOR_DUMPS: &str = include_str!("programs/ask_for_dumps.sh");

/// Time for the dumps of a JVM: the waits between them, and a machine that is busy.
const DUMPS_TIME: Duration = Duration::from_secs(30);

/// Runs a PoV that hangs once more and returns where it is.
pub(super) async fn stack(run: PovRun<'_>) -> Result<Option<CrashReport>> {
    let PovRun { target, build, pov } = run;
    if target.task.language == Language::Java {
        let asking = Pov {
            timeout: Some(DUMPS_TIME),
            command: Some(format!(
                "{WITHOUT_TIMEOUT}patchwright_pov() {{\n{}\n}}\n{ASK_FOR_DUMPS}",
                run.command()?
            )),
            ..pov.clone()
        };
        let text = target.replay(build, &asking).await?.execution.text();
        let seen = patchwright_crash::parse(&text).filter(CrashReport::is_hang);
        return Ok(seen.or_else(|| report(&dumped(&text), Tool::Java)));
    }
    let environment = [
        ("WATCH_SECONDS", END.to_string()),
        ("WATCHED", String::new()),
        ("TOUCHED", String::new()),
        ("SAMPLES", SAMPLES.to_owned()),
    ];
    let exits = exits::watch(run, &environment).await?;
    let events = exits.processes.iter().flat_map(|process| &process.events);
    let samples = events.filter(|event| event.what == ExitEventKind::Sample);
    let frames = |event: &ExitEvent| {
        let frames = event.stack.iter();
        frames.map(|frame| seen(target, frame)).collect()
    };
    let samples: Vec<Vec<Frame>> = samples.map(frames).collect();
    Ok(report(&samples, Tool::Gdb))
}

/// Returns the stack of the busiest thread of each dump, where another report, as of an exception that
/// comes while it is asked, outranks the dumps.
fn dumped(text: &str) -> Vec<Vec<Frame>> {
    let dumps = text.split("Full thread dump").skip(1);
    let stacks = dumps.filter_map(|dump| {
        let threads = read_threads(dump);
        Some(busiest_thread(&threads)?.frames.clone())
    });
    stacks.collect()
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
fn report(samples: &[Vec<Frame>], tool: Tool) -> Option<CrashReport> {
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
        tool,
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
    use super::{dumped, report};
    use crate::runner::{Outcome, Target};
    use crate::test_support::{PARSE, open, task};
    use patchwright_crash::Tool;
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
        let report = report(&looks, Tool::Gdb).unwrap();
        let names: Vec<&str> = report.stacks[0]
            .frames
            .iter()
            .map(|f| f.function.as_str())
            .collect();
        assert_eq!(names, ["scan", "parse", "main"]);
        assert!(report.is_hang() && report.summary == "a hang in scan");
        assert!(super::report(&[], Tool::Gdb).is_none());
    }

    /// The report of an exception does not hide where the program is.
    #[test]
    fn the_dumps_of_a_jvm_are_read_behind_another_report() {
        let dump = |leaf: &str| {
            format!(
                "Full thread dump OpenJDK\n\n\"main\" #1 prio=5 tid=0x1 nid=0x2 runnable\n   java.lang.Thread.State: RUNNABLE\n{leaf}\tat org.acme.Shop.loop(Shop.java:17)\n\tat org.acme.Shop.main(Shop.java:5)\n\n"
            )
        };
        let mut text = "Exception in thread \"x\" java.lang.IllegalStateException: no\n\tat org.acme.Shop.x(Shop.java:1)\n".to_owned();
        for leaf in [
            "\tat org.acme.Shop.a(Shop.java:1)\n",
            "",
            "\tat org.acme.Shop.b(Shop.java:2)\n",
        ] {
            text += &dump(leaf);
        }
        assert!(!patchwright_crash::parse(&text).unwrap().is_hang());
        let report = report(&dumped(&text), Tool::Java).unwrap();
        assert_eq!(report.summary, "a hang in org.acme.Shop.loop");
        assert!(report.purified.contains("In each of 3 looks"));
        assert!(report.purified.contains("Shop.java:2"), "{report:?}");
        assert!(super::report(&dumped("no dump"), Tool::Java).is_none());
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
