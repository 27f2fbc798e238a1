//! Runs whose author is asked about a difference, or contests one.

use super::{baseline, kind, last_message, patch, placed, plan, play, reply, rung};
use crate::plan::Plan;
use crate::record::{
    Blob, ContextText, Doubt, DoubtedInput, Ending, EndingKind, Outcome, Purpose, RunLimits, Rung,
    Step, Unanswered,
};
use crate::repair::Run;
use patchwright_model::Usage;
use patchwright_verdict::{OPEN_FOR_DIFFERENCES, RungName};

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
        counts: match holds {
            None => [(OPEN_FOR_DIFFERENCES.to_owned(), 1)].into(),
            Some(_) => record.counts,
        },
        ..record
    })
}

/// A run whose first attempt differs; the critic may be asked so often, and its review holds no
/// verdict.
fn run_that_differs(critic_calls: u32, holds: Option<bool>) -> Run {
    let run = Run::new(Plan {
        critic_calls,
        ..plan()
    });
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
    match critic_calls {
        0 => run,
        _ => play(run, [reply("hm"), reply("hm")]),
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
        let run = run_that_differs(0, holds);
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
    let stands = play(run_that_differs(0, None), [reply(CONTEST)]);
    // The run goes on: another patch may leave nothing open. A contest is heard once.
    assert!(last_message(&stands).contains("a person decides about your reason"));
    let stands = play(stands, [reply(CONTEST)]);
    let refuted = play(run_that_differs(0, Some(false)), [reply(CONTEST)]);
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
fn contesting_costs_no_chance_of_another_patch() {
    let run = play(run_that_differs(0, None), [reply(CONTEST)]);
    let run = play(run, [reply(&patch("z")), placed("q")]);
    let run = play(run, RungName::ALL.map(|name| rung(name, Some(true))));
    assert_eq!(
        (kind(&run), run.best().unwrap().number),
        (EndingKind::Verified, 2)
    );
}

#[test]
fn a_critic_that_agrees_decides_for_good() {
    let same = |run: &Run, attempt: u32| {
        let rung = run.attempt(attempt)?.rung(RungName::SameElsewhere)?;
        rung.holds
    };
    for holds in [None, Some(false)] {
        let run = play(run_that_differs(9, holds), [reply(CONTEST)]);
        assert_eq!(purpose(&run), Some(Purpose::Critic), "{holds:?}");
        let question = last_message(&run);
        assert!(question.contains("ABC") && !question.contains("FORBIDS A SECOND HEADER"));
        let run = play(run, [reply(ACCEPT)]);
        assert_eq!(run.decisions()[0].answer, "exit status 1");
        if holds.is_none() {
            assert_eq!(same(&run, 1), Some(true));
            continue;
        }
        // It ended at that difference, so what comes behind is compared now; and the same
        // difference, met again, is settled.
        assert_eq!(climbing(&run), Some(RungName::SameElsewhere));
        let run = play(run, [differs(None)]);
        assert_eq!(same(&run, 1), Some(true));
        let run = play(run, [rung(RungName::Reviewed, Some(true)), reply(ACCEPT)]);
        assert_eq!(kind(&run), EndingKind::Verified);
        assert_eq!(run.attempts()[0].rungs.len(), RungName::ALL.len());
    }
}

#[test]
fn another_attempt_with_the_same_answer_is_not_asked_about() {
    let run = play(
        run_that_differs(9, Some(false)),
        [reply(CONTEST), reply(ACCEPT)],
    );
    let refuted = [
        rung(RungName::SameElsewhere, Some(false)),
        Outcome::Context(ContextText::default()),
    ];
    let run = play(run, refuted);
    let run = play(run, [reply(&patch("z")), placed("q")]);
    let rungs = RungName::ALL.map(|name| match name {
        RungName::SameElsewhere => differs(None),
        _ => rung(name, Some(true)),
    });
    let run = play(run, rungs);
    let second = run.attempt(2).unwrap();
    let compared = second.rung(RungName::SameElsewhere).unwrap();
    assert_eq!(compared.holds, Some(true));
    assert_eq!(kind(&play(run, [reply(ACCEPT)])), EndingKind::Verified);
}

#[test]
fn a_critic_that_disagrees_refutes_the_attempt() {
    for holds in [None, Some(false)] {
        let run = play(run_that_differs(9, holds), [reply(CONTEST), reply(OBJECT)]);
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
fn a_patch_that_its_author_replaces_is_never_delivered_and_one_that_it_defends_is() {
    let fails = || {
        [
            reply(&patch("z")),
            placed("q"),
            rung(RungName::Applies, Some(false)),
        ]
    };
    let run = play(run_that_differs(0, None), fails());
    assert!(run.attempts()[0].withdrawn);
    assert_eq!(
        (kind(&run), run.best().unwrap().number),
        (EndingKind::NoPatch, 2)
    );
    let contested = play(run_that_differs(0, None), [reply(CONTEST)]);
    let run = play(contested, fails());
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
    let run = play(run_that_differs(0, None), [unanswered]);
    assert_eq!(kind(&run), EndingKind::Plausible);
}

#[test]
fn a_limit_that_strikes_while_the_author_is_asked_leaves_the_attempt_as_it_is() {
    for (stop, expected) in [
        (EndingKind::Deadline, EndingKind::Plausible),
        (EndingKind::BudgetExhausted, EndingKind::Plausible),
        (EndingKind::Canceled, EndingKind::Canceled),
    ] {
        let stopped = Outcome::from(Ending::new(stop, "now"));
        let run = play(run_that_differs(0, None), [stopped]);
        assert_eq!(kind(&run), expected);
    }
}

#[test]
fn there_are_no_more_contests_than_the_limit_says() {
    let limits = RunLimits {
        contests: 0,
        ..plan().limits
    };
    let run = play(
        Run::new(Plan { limits, ..plan() }),
        [baseline(), Outcome::Context(ContextText::default())],
    );
    let run = play(run, [reply(&patch("y")), placed("p")]);
    let rungs = RungName::ALL.map(|name| match name {
        RungName::SameElsewhere => differs(None),
        _ => rung(name, Some(true)),
    });
    assert_eq!(kind(&play(run, rungs)), EndingKind::Plausible);
    let run = play(super::begun(), [reply(CONTEST)]);
    assert!(last_message(&run).contains("no difference that could be contested"));
}
