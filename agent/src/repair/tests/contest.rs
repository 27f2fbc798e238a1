//! Runs whose author is asked about a difference, or contests one.

use super::{baseline, kind, last_message, patch, placed, plan, play, reply, rung};
use crate::plan::Plan;
use crate::record::{
    Blob, ContextText, Doubt, DoubtedInput, Ending, EndingKind, Outcome, Purpose, Rung, Step,
    Unanswered,
};
use crate::repair::Run;
use patchwright_model::Usage;
use patchwright_verdict::RungName;

const CONTEST: &str = "<contest>THE FORMAT FORBIDS A SECOND HEADER</contest>";
const ACCEPT: &str = "<verdict>accept</verdict><reason>fine</reason>";
const OBJECT: &str = "<verdict>object</verdict><reason>IT IS VALID INPUT</reason>";

/// The rung that compares, with a difference that nothing settles.
fn differs(holds: Option<bool>) -> Outcome {
    let Outcome::Climbed(record) = rung(RungName::SameElsewhere, holds) else {
        unreachable!()
    };
    Outcome::Climbed(Rung {
        doubts: vec![Doubt {
            what: "mutant 25 of a PoV: the output differs".into(),
            input: Some(DoubtedInput {
                name: "mutant 25 of a PoV".into(),
                blob: Blob::Kept("blob".into()),
                text: "(3 bytes of text)\nABC".into(),
                before: "exit status 0".into(),
                after: "exit status 1".into(),
                ..DoubtedInput::default()
            }),
            ..Doubt::default()
        }],
        ..record
    })
}

/// A run whose first attempt differs; `critic` calls are allowed.
fn run_that_differs(critic: Option<u32>, holds: Option<bool>) -> Run {
    let run = Run::new(Plan { critic, ..plan() });
    let run = play(run, [baseline(), Outcome::Context(ContextText::default())]);
    let run = play(run, [reply(&patch("y")), placed("p")]);
    let below = RungName::ALL
        .into_iter()
        .filter(|name| *name < RungName::SameElsewhere);
    let run = play(run, below.map(|name| rung(name, Some(true))));
    let run = play(run, [differs(holds)]);
    if holds == Some(false) {
        return play(run, [Outcome::Context(ContextText::default())]);
    }
    let run = play(run, [rung(RungName::Reviewed, Some(true))]);
    match critic {
        Some(_) => play(run, [reply(ACCEPT)]),
        None => run,
    }
}

fn purpose(run: &Run) -> Option<Purpose> {
    match run.ready().as_slice() {
        [(_, Step::Ask { purpose, .. })] => Some(*purpose),
        _ => None,
    }
}

fn climbing(run: &Run) -> Option<RungName> {
    match run.ready().as_slice() {
        [(_, Step::Climb { rung, .. })] => Some(*rung),
        _ => None,
    }
}

#[test]
fn the_author_is_shown_the_input_and_both_behaviours() {
    for (holds, asked) in [(None, Purpose::Contest), (Some(false), Purpose::Repair)] {
        let run = run_that_differs(None, holds);
        assert_eq!(purpose(&run), Some(asked));
        let question = last_message(&run);
        for part in [
            "mutant 25 of a PoV",
            "ABC",
            "exit status 0",
            "exit status 1",
            "<contest>",
            "input=\"mutant 25\"",
        ] {
            assert!(question.contains(part), "{part}: {question}");
        }
        assert!(!question.contains("harmless"), "{question}");
    }
}

#[test]
fn without_a_critic_a_contest_is_left_to_a_person() {
    let stands = play(run_that_differs(None, None), [reply(CONTEST)]);
    let refuted = play(run_that_differs(None, Some(false)), [reply(CONTEST)]);
    assert_eq!(climbing(&refuted), Some(RungName::Reviewed));
    let refuted = play(refuted, [rung(RungName::Reviewed, Some(true))]);
    for run in [stands, refuted] {
        assert_eq!(kind(&run), EndingKind::Plausible);
        let compared = run.attempts()[0].rung(RungName::SameElsewhere).unwrap();
        assert_eq!(compared.holds, None);
        let contested = compared.doubts[0].contested.as_deref();
        assert_eq!(contested, Some("THE FORMAT FORBIDS A SECOND HEADER"));
    }
}

#[test]
fn a_critic_that_agrees_lets_the_rung_be_climbed_again() {
    for holds in [None, Some(false)] {
        let run = play(run_that_differs(Some(9), holds), [reply(CONTEST)]);
        assert_eq!(purpose(&run), Some(Purpose::Critic), "{holds:?}");
        let question = last_message(&run);
        assert!(question.contains("FORBIDS A SECOND HEADER") && question.contains("ABC"));
        let run = play(run, [reply(ACCEPT)]);
        assert_eq!(climbing(&run), Some(RungName::SameElsewhere));
        assert_eq!(run.attempts()[0].accepted[0].blob.hash(), "blob");
        let run = play(run, [rung(RungName::SameElsewhere, Some(true))]);
        let run = match holds {
            None => run,
            Some(_) => play(run, [rung(RungName::Reviewed, Some(true)), reply(ACCEPT)]),
        };
        assert_eq!(kind(&run), EndingKind::Verified, "{holds:?}");
        assert_eq!(run.attempts()[0].rungs.len(), RungName::ALL.len());
    }
}

#[test]
fn a_critic_that_disagrees_refutes_the_attempt() {
    for holds in [None, Some(false)] {
        let run = play(
            run_that_differs(Some(9), holds),
            [reply(CONTEST), reply(OBJECT)],
        );
        let refuted = run.attempts()[0].refuted_by().unwrap();
        assert!(refuted.reason.contains("IT IS VALID INPUT"), "{refuted:?}");
        let run = play(run, [Outcome::Context(ContextText::default())]);
        let issue = last_message(&run);
        assert!(
            issue.contains("IT IS VALID INPUT") && !issue.contains("<contest>"),
            "{issue}"
        );
    }
}

#[test]
fn a_better_patch_may_follow_and_the_one_that_stands_is_kept() {
    let run = play(
        run_that_differs(None, None),
        [reply(&patch("z")), placed("q")],
    );
    assert_eq!(run.attempts().len(), 2);
    let run = play(run, [rung(RungName::Applies, Some(false))]);
    assert_eq!(
        (kind(&run), run.best().unwrap().number),
        (EndingKind::Plausible, 1)
    );
}

#[test]
fn an_author_who_cannot_be_asked_leaves_the_attempt_as_it_is() {
    let unanswered = Outcome::Unanswered(Unanswered {
        reason: "money".into(),
        usage: Usage::default(),
        usd: 0.0,
        seconds: 0.0,
    });
    let run = play(run_that_differs(None, None), [unanswered]);
    assert_eq!(kind(&run), EndingKind::Plausible);
}

#[test]
fn a_limit_that_strikes_while_the_author_is_asked_leaves_the_attempt_as_it_is() {
    for (stop, expected) in [
        (EndingKind::Deadline, EndingKind::Plausible),
        (EndingKind::BudgetExhausted, EndingKind::Plausible),
        (EndingKind::Canceled, EndingKind::Canceled),
    ] {
        let stopped = Outcome::Stopped {
            ending: Ending::new(stop, "now"),
            seconds: 0.0,
        };
        let run = play(run_that_differs(None, None), [stopped]);
        assert_eq!(kind(&run), expected);
    }
}

#[test]
fn there_are_no_more_contests_than_the_limit_says() {
    let run = play(
        run_that_differs(Some(9), None),
        [reply(CONTEST), reply(ACCEPT)],
    );
    let run = play(run, [differs(None)]);
    assert_eq!(purpose(&run), Some(Purpose::Contest));
    let run = play(run, [reply(CONTEST), reply(ACCEPT), differs(None)]);
    assert_eq!(kind(&run), EndingKind::Plausible);
    let run = play(super::begun(), [reply(CONTEST)]);
    assert!(last_message(&run).contains("no difference that could be contested"));
}
