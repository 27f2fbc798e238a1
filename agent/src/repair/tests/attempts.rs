//! Tests of the steps after a patch that is refuted, refused or already known.

use super::{baseline, begun, kind, last_message, patch, placed, plan, play, reply, rung};
use crate::plan::Plan;
use crate::record::{ContextText, EndingKind, Located, Outcome, RunLimits, Step};
use crate::repair::Run;
use patchwright_patcher::Patch;
use patchwright_verdict::RungName;

#[test]
fn a_failure_is_the_next_issue() {
    let run = play(
        begun(),
        [
            reply(&patch("y")),
            placed("p"),
            rung(RungName::Applies, Some(true)),
        ],
    );
    let run = play(
        run,
        [
            rung(RungName::Parses, Some(true)),
            rung(RungName::Builds, Some(false)),
        ],
    );
    assert!(matches!(
        run.ready().as_slice(),
        [(_, Step::Context { .. })]
    ));
    let run = play(
        run,
        [Outcome::Context(ContextText {
            text: "CODE".into(),
            ..ContextText::default()
        })],
    );
    let issue = last_message(&run);
    for part in [
        "Your patch failed: it does not build",
        "what went wrong",
        "diff of p",
        "CODE",
        "last attempt",
    ] {
        assert!(issue.contains(part), "{part}: {issue}");
    }
}

#[test]
fn the_best_attempt_is_kept_when_attempts_run_out() {
    let first = [
        reply(&patch("y")),
        placed("p"),
        rung(RungName::Applies, Some(true)),
        rung(RungName::Parses, Some(false)),
    ];
    let run = play(
        play(begun(), first),
        [Outcome::Context(ContextText::default())],
    );
    let run = play(
        run,
        [
            reply(&patch("z")),
            placed("q"),
            rung(RungName::Applies, Some(false)),
        ],
    );
    assert_eq!(kind(&run), EndingKind::NoPatch);
    assert_eq!(run.best().unwrap().number, 1);
}

#[test]
fn a_refused_patch_costs_no_attempt() {
    let refused = Outcome::Located(Located::Refused {
        reasons: vec!["edit 1: not found".into()],
    });
    let run = play(begun(), [reply(&patch("y")), refused]);
    assert!(last_message(&run).contains("edit 1: not found"));
    assert_eq!(run.left().attempts, 2);
}

#[test]
fn the_same_patch_again_costs_an_attempt_and_is_not_evaluated_again() {
    let mut run = play(
        begun(),
        [
            reply(&patch("y")),
            placed("p"),
            rung(RungName::Applies, Some(false)),
        ],
    );
    run.take_remarks();
    let limits = RunLimits {
        attempts: 3,
        ..plan().limits
    };
    let again = [
        Outcome::Context(ContextText::default()),
        reply(&patch("y")),
        placed("p"),
    ];
    let last = play(run.clone(), again.clone());
    assert_eq!(
        (kind(&last), last.spent().format_retries),
        (EndingKind::NoPatch, 0)
    );
    let first = [
        baseline(),
        Outcome::Context(ContextText::default()),
        reply(&patch("y")),
        placed("p"),
        rung(RungName::Applies, Some(false)),
    ];
    let run = play(Run::new(Plan { limits, ..plan() }), first);
    let mut run = play(run, again);
    assert!(last_message(&run).contains("was tried before: it was refuted"));
    assert_eq!((run.attempts().len(), run.left().attempts), (2, 1));
    let told = run.take_remarks();
    assert!(
        told[0].contains("attempt 2 was not run: the same patch as attempt 1"),
        "{told:?}"
    );
}

#[test]
fn repeated_failures_of_one_kind_ask_for_alternatives() {
    let limits = RunLimits {
        attempts: 5,
        ..plan().limits
    };
    let mut run = play(
        Run::new(Plan { limits, ..plan() }),
        [baseline(), Outcome::Context(ContextText::default())],
    );
    for (number, asked) in [(1, false), (2, true)] {
        let name = format!("p{number}");
        run = play(
            run,
            [
                reply(&patch(&name)),
                placed(&name),
                rung(RungName::Applies, Some(false)),
            ],
        );
        run = play(run, [Outcome::Context(ContextText::default())]);
        assert_eq!(
            last_message(&run).contains("at least three explanations"),
            asked,
            "{number}"
        );
    }
}

#[test]
fn a_foreign_patch_is_judged_without_asking() {
    let run = play(
        Run::judging(plan(), Patch::default()),
        [baseline(), placed("p")],
    );
    let run = play(run, RungName::ALL.map(|name| rung(name, Some(true))));
    assert_eq!(
        (kind(&run), run.spent().cost.calls),
        (EndingKind::Verified, 0)
    );
    let refused = Outcome::Located(Located::Refused {
        reasons: vec!["edit 1: not found".into()],
    });
    let run = play(
        Run::judging(plan(), Patch::default()),
        [baseline(), refused],
    );
    assert_eq!(kind(&run), EndingKind::NoPatch);
    let refuted = run.best().unwrap().refuted_by().unwrap();
    assert_eq!(
        (refuted.name, refuted.reason.as_str()),
        (RungName::Applies, "edit 1: not found")
    );
}
