//! Runs whose patch gets a regression test before they end.

use super::{baseline, kind, last_message, patch, placed, plan, play, reply, rung};
use crate::plan::Plan;
use crate::record::{
    ContextText, Ending, EndingKind, Outcome, Postponed, Purpose, RegressionRecord, RunLimits,
    SmallestRecord, Step, TestFiles,
};
use crate::repair::Run;
use patchwright_model::Usage;
use patchwright_verdict::RungName;
use std::time::Duration;

const TEST: &str =
    "<patch><create file=\"tests/a.c\">\nint main(void) { return 0; }\n</create></patch>";

/// A run whose only attempt holds every rung.
fn held() -> Run {
    held_within(RunLimits {
        regression_tests: 1,
        ..plan().limits
    })
}

fn held_within(limits: RunLimits) -> Run {
    let run = Run::new(Plan { limits, ..plan() });
    let run = play(run, [baseline(), Outcome::Context(ContextText::default())]);
    let run = play(run, [reply(&patch("y")), placed("p")]);
    play(run, RungName::ALL.map(|name| rung(name, Some(true))))
}

fn files(text: &str) -> Outcome {
    Outcome::TestFiles(TestFiles {
        command: "make check".into(),
        text: text.into(),
    })
}

fn proved(holds: bool, script: bool) -> Outcome {
    Outcome::Proved(RegressionRecord {
        diff: "diff of the test".into(),
        holds,
        script,
        reason: "WHY".into(),
        ..RegressionRecord::default()
    })
}

/// The test that is to be proved; nothing for the script.
fn proving(run: &Run) -> Option<bool> {
    match run.ready().as_slice() {
        [(_, Step::Prove { test, .. })] => Some(test.is_some()),
        _ => None,
    }
}

#[test]
fn a_model_writes_a_test_that_is_proved_before_the_run_ends() {
    let run = held();
    assert!(run.ending().is_none());
    let run = play(run, [files("tests/old.c")]);
    let asked = matches!(
        run.ready().as_slice(),
        [(
            _,
            Step::Ask {
                purpose: Purpose::RegressionTest,
                ..
            }
        )]
    );
    assert!(asked, "{:?}", run.ready());
    let question = last_message(&run);
    for part in [
        "heap-buffer-overflow in f",
        "diff of p",
        "make check",
        "tests/old.c",
    ] {
        assert!(question.contains(part), "{part}: {question}");
    }
    let run = play(run, [reply(TEST)]);
    assert_eq!(proving(&run), Some(true));
    let run = play(run, [proved(true, false)]);
    assert_eq!(kind(&run), EndingKind::Verified);
    let test = run.attempts()[0].regression.as_ref().unwrap();
    assert_eq!((test.holds, test.script), (true, false));
}

#[test]
fn where_no_test_of_a_model_holds_the_pov_is_the_test() {
    let postponed = Outcome::Postponed(Postponed {
        until: "2030-01-01T00:00:00Z".into(),
        reason: "no model".into(),
        usage: Usage::default(),
        usd: 0.0,
        seconds: 0.0,
    });
    for before in [
        vec![files("")],
        vec![files("tests/old.c"), reply("none")],
        vec![files("tests/old.c"), postponed],
        vec![files("tests/old.c"), reply(TEST), proved(false, false)],
    ] {
        let run = play(held(), before);
        assert_eq!(proving(&run), Some(false), "{:?}", run.ready());
        for holds in [true, false] {
            let run = play(run.clone(), [proved(holds, true)]);
            assert_eq!(kind(&run), EndingKind::Verified);
            let test = run.attempts()[0].regression.as_ref().unwrap();
            assert_eq!((test.holds, test.script), (holds, true));
        }
    }
}

#[test]
fn the_smallest_input_is_sought_before_the_run_ends() {
    for regression_tests in [0, 1] {
        let limits = RunLimits {
            regression_tests,
            minimize: Duration::from_secs(9),
            ..plan().limits
        };
        let run = held_within(limits);
        let steps = run.ready();
        assert!(
            matches!(steps.as_slice(), [(_, Step::Minimize { budget })] if budget.as_secs() == 9),
            "{steps:?}"
        );
        let found = SmallestRecord {
            bytes: 3,
            input: Some("hash".into()),
            seconds: 2.0,
            ..SmallestRecord::default()
        };
        let run = play(run, [Outcome::Minimized(found)]);
        assert_eq!(run.smallest.as_ref().map(|found| found.bytes), Some(3));
        assert_eq!(run.ending().is_some(), regression_tests == 0);
    }
    let limits = RunLimits {
        minimize: Duration::from_secs(9),
        ..plan().limits
    };
    let nothing = Outcome::Minimized(SmallestRecord::default());
    let run = play(held_within(limits), [nothing]);
    assert_eq!(
        (kind(&run), run.smallest.as_ref()),
        (EndingKind::Verified, None)
    );
}

#[test]
fn what_stops_the_test_does_not_change_the_ending() {
    let stopped = Outcome::from(Ending::new(EndingKind::Deadline, "time"));
    let run = play(held(), [stopped]);
    assert_eq!(kind(&run), EndingKind::Verified);
    assert!(run.attempts()[0].regression.is_none());
}

#[test]
fn a_test_is_strong_where_it_fails_on_every_refuted_attempt() {
    for (holds, refuted, fail, strong) in [
        (true, 2, 2, true),
        (true, 2, 1, false),
        (true, 0, 0, false),
        (false, 1, 1, false),
    ] {
        let record = RegressionRecord {
            holds,
            refuted,
            refuted_fail: fail,
            ..RegressionRecord::default()
        };
        assert_eq!(record.is_strong(), strong, "{record:?}");
    }
}
