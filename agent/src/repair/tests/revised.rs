//! Tests of runs that follow up on a candidate of an earlier run.

use super::{baseline, kind, last_message, patch, placed, plan, play, reply, rung};
use crate::plan::Plan;
use crate::record::{
    AcceptedInput, Attempt, Blob, ContextText, EndingKind, Evaluation, FollowUp, Outcome, Revision,
};
use crate::repair::Run;
use patchwright_patcher::Patch;
use patchwright_verdict::RungName;

fn rejected() -> FollowUp {
    let attempt = Attempt {
        number: 3,
        lane: 2,
        patch: Patch::default(),
        diff: "diff of the earlier one".to_owned(),
        latin1: false,
        surroundings: String::new(),
        normal_form: "earlier".to_owned(),
        warnings: Vec::new(),
        rungs: Vec::new(),
        withdrawn: false,
        regression: None,
    };
    FollowUp::Revise(Box::new(Revision {
        run: "r".to_owned(),
        attempt,
        reason: "it breaks long names".to_owned(),
        who: "ada".to_owned(),
    }))
}

fn following(follows: FollowUp) -> Plan {
    Plan {
        follows: Some(follows),
        ..plan()
    }
}

#[test]
fn a_rejection_reaches_the_model_as_an_issue_and_costs_no_attempt() {
    let start = [baseline(), Outcome::Context(ContextText::default())];
    let run = play(Run::new(following(rejected())), start);
    let told = last_message(&run);
    for part in [
        "heap-buffer-overflow in f",
        "diff of the earlier one",
        "it breaks long names",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(run.left().attempts, plan().limits.attempts);
    let run = play(run, [reply(&patch("y")), placed("p")]);
    let run = play(run, RungName::ALL.map(|name| rung(name, Some(true))));
    assert_eq!(kind(&run), EndingKind::Verified);
    assert_eq!(run.best().map(|best| best.number), Some(2));
}

#[test]
fn the_rejected_patch_is_refused_when_it_comes_again() {
    let start = [
        baseline(),
        Outcome::Context(ContextText::default()),
        reply(&patch("x")),
        placed("earlier"),
    ];
    let run = play(Run::new(following(rejected())), start);
    let again = run.attempt(2).unwrap().refuted_by().unwrap().reason.clone();
    assert!(
        again.contains("ada rejected it: it breaks long names"),
        "{again}"
    );
    // Nothing was run for either: neither is preferred to a patch that was.
    assert!(run.best().unwrap().refuted_by().is_some());
}

#[test]
fn an_evaluated_candidate_keeps_what_a_person_found_right() {
    let accepted = AcceptedInput {
        answer: "exit status 1".into(),
        blob: Blob::Kept("ab".to_owned()),
        reason: "ada: the format says so".to_owned(),
    };
    let evaluation = Evaluation {
        run: "r".to_owned(),
        attempt: 3,
        patch: Patch::default(),
        accepted: vec![accepted.clone()],
    };
    let plan = following(FollowUp::Evaluate(evaluation));
    let run = play(
        Run::judging(plan, Patch::default()),
        [baseline(), placed("p")],
    );
    assert_eq!(run.decisions(), [accepted]);
}
