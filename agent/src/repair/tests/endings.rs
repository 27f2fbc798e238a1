//! Tests of the endings of runs.

use super::{QUERIES, baseline, begun, kind, patch, placed, plan, play, reply, rung};
use crate::plan::Plan;
use crate::record::{ContextText, Ending, EndingKind, Outcome, Retrieved, Step, StepId};
use crate::repair::Run;
use crate::task::Mode;
use patchwright_verdict::RungName;

#[test]
fn a_patch_that_holds_everything_is_verified() {
    let run = play(
        begun(),
        [
            reply(QUERIES),
            Outcome::Retrieved(Retrieved::default()),
            reply(&patch("y")),
            placed("p"),
        ],
    );
    let run = play(run, RungName::ALL.map(|name| rung(name, Some(true))));
    assert_eq!(kind(&run), EndingKind::Verified);
    assert!(matches!(
        run.ready().as_slice(),
        [(StepId { lane: 0, .. }, Step::End { .. })]
    ));
    assert_eq!(
        (
            run.spent().rounds,
            run.spent().cost.calls,
            run.spent().cost.tokens_in
        ),
        (1, 2, 20)
    );
    assert!((run.spent().seconds.commands - 9.0).abs() < 1e-9);
}

#[test]
fn a_rung_that_was_not_climbed_makes_it_plausible() {
    let run = play(begun(), [reply(&patch("y")), placed("p")]);
    let run = play(
        run,
        RungName::ALL.map(|name| rung(name, (name != RungName::Robust).then_some(true))),
    );
    assert_eq!(kind(&run), EndingKind::Plausible);
    assert!(run.ending().unwrap().detail.contains("robust"));
}

#[test]
fn without_a_pov_nothing_is_verified() {
    let run = Run::new(Plan {
        has_povs: false,
        ..plan()
    });
    let run = play(
        run,
        [
            baseline(),
            Outcome::Context(ContextText::default()),
            reply(&patch("y")),
            placed("p"),
        ],
    );
    let run = play(run, RungName::ALL.map(|name| rung(name, Some(true))));
    assert_eq!(kind(&run), EndingKind::Unverified);
}

#[test]
fn a_dry_run_proposes_and_executes_nothing() {
    let run = Run::new(Plan {
        mode: Mode::DryRun,
        ..plan()
    });
    let run = play(
        run,
        [
            Outcome::Context(ContextText::default()),
            reply(&patch("y")),
            placed("p"),
        ],
    );
    assert_eq!(kind(&run), EndingKind::Proposed);
    assert!(run.attempts()[0].rungs.is_empty());
}

#[test]
fn a_stop_ends_the_run_with_the_best_so_far() {
    let run = play(
        begun(),
        [
            reply(&patch("y")),
            placed("p"),
            rung(RungName::Applies, Some(true)),
        ],
    );
    let ending = Ending::new(EndingKind::Deadline, "late");
    let run = play(run, [Outcome::from(ending)]);
    assert_eq!(
        (kind(&run), run.best().unwrap().number),
        (EndingKind::Deadline, 1)
    );
}
