//! Rung *tested*: no test fails that passed at the baseline.
//!
//! The exit status decides first. Where tests are known by name, those that failed before do
//! not count against the patch, and those that are no longer run do. One that failed by the very
//! crash, as where a maintainer wrote the test first, says what is right: where it fails still, the
//! rung stays open. Without a test command, or with one that ran no test, the rung cannot be climbed:
//! no tests is never "tests passed".

use super::feedback::FeedbackWriter;
use crate::attempt::Ground;
use crate::evidence::{Rung, RungName};
use patchwright_crash::CrashReport;
use patchwright_crash::signature::Change;
use patchwright_crash::test_report::{Comparison, Status, TestReport, TestResult};
use patchwright_sandbox::{Ending, Limit};
use patchwright_source::counted;
use patchwright_target::Result;
use patchwright_target::runner::{Baseline, Build, Target, TestRun};
use std::collections::BTreeSet;

/// Tests that are named in a reason.
const MOST_NAMED: usize = 5;
/// Characters of the name of a test that are shown.
const LONGEST_NAME: usize = 100;
/// The reason of a rung that cannot be climbed.
const NO_TESTS: &str = "the task has no tests";

pub(crate) async fn climb((target, baseline, attempt): Ground<'_>) -> Result<Rung> {
    let Some(before) = &baseline.tests else {
        return Ok(Rung::new(RungName::Tested, None, NO_TESTS));
    };
    let name = target.task().main_build();
    let build = super::patch::build(target, attempt, &name).await?;
    on_build((target, baseline, attempt), before, &build).await
}

/// Runs the tests on a build of the attempt, and again where some fail.
pub(super) async fn on_build(
    (target, baseline, attempt): Ground<'_>,
    before: &TestRun,
    build: &Build,
) -> Result<Rung> {
    let Some(now) = target.test(build).await? else {
        return Ok(Rung::new(RungName::Tested, None, NO_TESTS));
    };
    let writer = FeedbackWriter::new(target.task(), attempt);
    let result = judge(before, &now, &BTreeSet::new(), &writer);
    let left = left_failing((&before.report(), &now.report()), &|seen| {
        let povs = baseline.povs.iter();
        let crashes = povs.filter_map(|pov| pov.replay.crash.as_ref());
        let is_it = |crash: &CrashReport| target.task().change(crash, seen) != Change::New;
        crashes.filter(|crash| crash.kind == seen.kind).any(is_it)
    });
    if let Some(reason) = left.filter(|_| result.holds == Some(true)) {
        return Ok(Rung {
            holds: None,
            reason,
            ..result
        });
    }
    if result.holds != Some(false) {
        let settled = matches!(now.execution.ending, Ending::Exited(_));
        return Ok(result.settled(settled));
    }
    if hangs(&now) {
        return beside_the_unpatched(target, baseline, build, &writer, result).await;
    }
    // A test that fails now and passes in a second run is flaky, not broken.
    let Some(again) = target.test(build).await? else {
        return Ok(result);
    };
    let flaky = now.report().unstable(&again.report());
    let second = judge(before, &again, &flaky, &writer);
    if second.holds == Some(true) {
        return Ok(second.count("flaky", flaky.len().max(1) as u64));
    }
    // Two equal runs.
    let settled = flaky.is_empty() && now.execution.ending == again.execution.ending;
    Ok(result.settled(settled))
}

/// Runs tests that did not end in time once more, beside those of the unpatched program: the
/// machine may have been busy.
async fn beside_the_unpatched(
    target: &dyn Target,
    baseline: &Baseline,
    build: &Build,
    writer: &FeedbackWriter<'_>,
    result: Rung,
) -> Result<Rung> {
    let task = target.task();
    let (Some(before), Some(old)) = (&baseline.tests, baseline.builds.get(&task.main_build()))
    else {
        return Ok(result);
    };
    if hangs(before) {
        return Ok(result);
    }
    let (old, now) = futures::future::join(target.test(old), target.test(build)).await;
    let (Some(old), Some(now)) = (old?, now?) else {
        return Ok(result);
    };
    if hangs(&old) && hangs(&now) {
        let reason = "neither the tests of the patched program nor those of the unpatched one end in time now (limits.test)";
        return Ok(Rung::new(RungName::Tested, None, reason).log(now.execution.text()));
    }
    Ok(judge(before, &now, &BTreeSet::new(), writer))
}

/// Judges one run of the tests by the one of the baseline.
pub(crate) fn judge(
    before: &TestRun,
    now: &TestRun,
    flaky: &BTreeSet<String>,
    writer: &FeedbackWriter<'_>,
) -> Rung {
    let log = now.execution.text();
    let (old, new) = (before.report(), now.report());
    let by_name = !old.tests.is_empty() && !new.tests.is_empty();
    let comparison = new.compare(&old, flaky);
    let (mut holds, mut reason) = if by_name && !hangs(now) {
        decide(before, now, &comparison)
    } else {
        decide_by_status(before, now, !old.tests.is_empty())
    };
    if holds == Some(true)
        && let Some(why) = new.nothing_run(&log)
    {
        (holds, reason) = (None, format!("{why}, which shows nothing (commands.test)"));
    }
    if holds == Some(true) && !comparison.fixed.is_empty() {
        let fixed = listed(&comparison.fixed);
        reason = format!("failed before and pass now: {fixed}; {reason}");
    }
    let mut result = Rung::new(RungName::Tested, holds, reason)
        .count("tests", new.tests.len() as u64)
        .count("passed", new.count(Status::Passed) as u64)
        .count("broken", comparison.broken.len() as u64)
        .count("repaired", comparison.fixed.len() as u64);
    if holds == Some(false) {
        let feedback = writer.tests(&result.reason, (&comparison, &new), &log);
        result.feedback = Some(feedback);
    }
    result.log(log)
}

/// Names a test that failed before by the crash that is repaired, and fails still.
fn left_failing(
    (old, new): (&TestReport, &TestReport),
    is_repaired: &dyn Fn(&CrashReport) -> bool,
) -> Option<String> {
    let fails_by_it = |result: &TestResult| {
        let told = result.details.as_deref();
        let crash = told.and_then(patchwright_crash::parse);
        crash.is_some_and(|crash| is_repaired(&crash))
    };
    let failing = new.failed();
    let mut left = failing.filter(|(name, _)| old.tests.get(*name).is_some_and(fails_by_it));
    let (name, result) = left.next()?;
    let message = result.message.as_deref();
    let message = message.and_then(|text| text.lines().next());
    Some(format!(
        "{name} failed before by the crash that is repaired, and fails still: {}",
        message.unwrap_or("without a message")
    ))
}

/// Writes the names of tests, the first of many and the beginning of long ones.
fn listed(names: &[String]) -> String {
    let shorten = |name: &String| {
        let shown = name.chars().take_while(|c| *c != '\n');
        let shown = shown.filter(|c| !c.is_control());
        shown.take(LONGEST_NAME).collect()
    };
    let shown: Vec<String> = names.iter().take(MOST_NAMED).map(shorten).collect();
    let more = if names.len() > MOST_NAMED { ", .." } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn decide(before: &TestRun, now: &TestRun, comparison: &Comparison) -> (Option<bool>, String) {
    let (broken, missing) = (&comparison.broken, &comparison.missing);
    for (tests, what) in [
        (broken, "failing now that did not fail before"),
        (missing, "that passed before, no longer run"),
    ] {
        if !tests.is_empty() {
            let count = counted(tests.len() as u64, "test");
            return (Some(false), format!("{count} {what}: {}", listed(tests)));
        }
    }
    let (old, new) = (before.execution.ending, now.execution.ending);
    let known = comparison.still_failing.len() + comparison.flaky.len();
    match (new.success(), old.success(), known) {
        (true, _, 0) => (Some(true), "every test passes".to_owned()),
        (true, ..) | (false, false, _) => {
            let reason = format!("no test fails that passed before; {known} failed before too");
            (Some(true), reason)
        }
        (false, true, 0) => (Some(false), format!("the test command fails: {new}")),
        (false, true, _) => (Some(true), format!("only flaky tests fail: {known}")),
    }
}

fn decide_by_status(before: &TestRun, now: &TestRun, named: bool) -> (Option<bool>, String) {
    let (old, new) = (before.execution.ending, now.execution.ending);
    if new == Ending::Limit(Limit::WallTime) && old != new {
        return (Some(false), "the tests did not end in time".to_owned());
    }
    if named {
        let reason = format!("no test results were left ({new}), and there were some before");
        return (Some(false), reason);
    }
    match (new.success(), old.success()) {
        (true, _) => {
            let reason = "the test command succeeds, no single tests recognised";
            (Some(true), reason.to_owned())
        }
        (false, true) => (Some(false), format!("the test command fails: {new}")),
        (false, false) => {
            let reason = "the test command fails without the patch too, and names no tests";
            (None, reason.to_owned())
        }
    }
}

fn hangs(run: &TestRun) -> bool {
    run.execution.ending == Ending::Limit(Limit::WallTime)
}

#[cfg(test)]
mod tests {
    use super::{FeedbackWriter, LONGEST_NAME, judge, left_failing, listed};
    use patchwright_crash::test_report::{Status, TestReport, TestResult};
    use patchwright_sandbox::{Ending, Execution, Limit};
    use patchwright_target::runner::TestRun;
    use std::collections::BTreeSet;

    fn run(ending: Ending, log: &str) -> TestRun {
        TestRun {
            execution: Execution::reported(ending, log.as_bytes(), 1.0, log.len()),
            reports: Vec::new(),
        }
    }

    #[test]
    fn a_test_that_was_written_for_the_crash_has_to_pass() {
        let of = |message: &str, details: &str| {
            let mut result = TestResult::new(Status::Failed);
            result.message = Some(message.to_owned());
            result.details = Some(details.to_owned());
            let mut report = TestReport::default();
            report.tests.insert("LexerTest.large".to_owned(), result);
            report
        };
        let crash = "java.lang.NumberFormatException: For input string: \"9\"\n\tat org.a.Lexer.next(Lexer.java:61)\n\tat org.a.LexerTest.large(LexerTest.java:9)\n";
        let old = of("For input string", crash);
        let assertion = "java.lang.AssertionError: expected an error\n\tat org.a.LexerTest.large(LexerTest.java:10)\n";
        let still = of("expected an error", assertion);
        let is_it = |kind: &'static str| move |seen: &super::CrashReport| seen.kind.contains(kind);
        let left = left_failing((&old, &still), &is_it("NumberFormat"));
        let told = "LexerTest.large failed before by the crash that is repaired, and fails still: expected an error";
        assert_eq!(left.as_deref(), Some(told));
        for (reports, kind) in [
            ((&old, &still), "NullPointer"),
            ((&still, &still), "NumberFormat"),
            ((&old, &TestReport::default()), "NumberFormat"),
        ] {
            assert_eq!(left_failing(reports, &is_it(kind)), None);
        }
    }

    #[test]
    fn status_and_names_decide_together() {
        const GOOD: &str = "1..2\nok 1 - a\nok 2 - b\n";
        const B_FAILS: &str = "1..2\nok 1 - a\nnot ok 2 - b\n";
        const BOTH_FAIL: &str = "1..2\nnot ok 1 - a\nnot ok 2 - b\n";
        const NONE: &str = "No tests were found!!!\n";
        const SKIPPED: &str = "1..1\nok 1 - a # SKIP no disk\n";
        let exit = Ending::Exited;
        let hang = Ending::Limit(Limit::WallTime);
        let task = patchwright_target::TargetTask::default();
        let writer = FeedbackWriter::new(&task, &crate::AttemptFacts::default());
        for (before, now, holds) in [
            ((exit(0), ""), (exit(0), ""), Some(true)),
            ((exit(0), ""), (exit(1), "boom"), Some(false)),
            ((exit(1), ""), (exit(1), ""), None),
            ((exit(1), ""), (exit(0), ""), Some(true)),
            ((exit(0), ""), (hang, ""), Some(false)),
            ((exit(0), GOOD), (exit(0), GOOD), Some(true)),
            ((exit(0), GOOD), (exit(1), B_FAILS), Some(false)),
            ((exit(0), GOOD), (exit(1), GOOD), Some(false)),
            ((exit(1), B_FAILS), (exit(1), B_FAILS), Some(true)),
            ((exit(1), B_FAILS), (exit(1), BOTH_FAIL), Some(false)),
            ((exit(1), B_FAILS), (exit(0), GOOD), Some(true)),
            ((exit(0), GOOD), (exit(0), "1..1\nok 1 - a\n"), Some(false)),
            (
                (exit(0), GOOD),
                (exit(0), "forged: all tests passed"),
                Some(false),
            ),
            ((exit(0), GOOD), (exit(0), B_FAILS), Some(false)),
            ((exit(0), GOOD), (hang, GOOD), Some(false)),
            // A command that ran no test is no evidence.
            ((exit(0), NONE), (exit(0), NONE), None),
            ((exit(0), ""), (exit(0), NONE), None),
            ((exit(0), SKIPPED), (exit(0), SKIPPED), None),
            ((exit(0), GOOD), (exit(0), NONE), Some(false)),
        ] {
            let result = judge(
                &run(before.0, before.1),
                &run(now.0, now.1),
                &BTreeSet::new(),
                &writer,
            );
            assert_eq!(result.holds, holds, "{before:?} {now:?}: {}", result.reason);
            assert_eq!(result.feedback.is_some(), holds == Some(false));
        }
    }

    #[test]
    fn tests_that_failed_before_and_pass_now_are_named_first() {
        let (exit, task) = (Ending::Exited, patchwright_target::TargetTask::default());
        let writer = FeedbackWriter::new(&task, &crate::AttemptFacts::default());
        let before = run(exit(1), "1..2\nok 1 - a\nnot ok 2 - b\n");
        let now = run(exit(0), "1..2\nok 1 - a\nok 2 - b\n");
        let result = judge(&before, &now, &BTreeSet::new(), &writer);
        let first = "failed before and pass now: b; every test passes";
        assert_eq!(result.reason, first);
        assert_eq!(result.counts["repaired"], 1);
        let broken = judge(&now, &before, &BTreeSet::new(), &writer).reason;
        assert_eq!(broken, "1 test failing now that did not fail before: b");
        let long = listed(&["a\u{1b}[1m\nb".to_owned(), "x".repeat(9_000)]);
        assert_eq!(long, format!("a[1m, {}", "x".repeat(LONGEST_NAME)));
        let none = judge(
            &run(exit(0), ""),
            &run(exit(0), "# TOTAL: 0\n"),
            &BTreeSet::new(),
            &writer,
        );
        let reason = "automake ran no tests, which shows nothing (commands.test)";
        assert_eq!((none.holds, none.reason.as_str()), (None, reason));
    }
}
