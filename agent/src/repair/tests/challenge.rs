//! Runs whose attempts are challenged with inputs that a model writes.

use super::{baseline, kind, last_message, patch, placed, plan, play, reply, rung};
use crate::plan::Plan;
use crate::record::{
    Blob, ChallengeRecord, ChallengeSource, ChallengedRecord, ContextText, Doubt, DoubtedInput,
    EndingKind, FoundInput, Outcome, Purpose, RunLimits, Rung, Step, Unanswered,
};
use crate::repair::Run;
use patchwright_model::Usage;
use patchwright_patcher::Patch;
use patchwright_verdict::{
    CONTROLS_LEAVE_OPEN, CONTROLS_REACH, MISSING_REACH, OPEN_BRANCHES, RungName,
};

const WRITTEN: &str =
    "<challenge form=\"hex\" why=\"two\">00 01</challenge><challenge>abc</challenge>";

fn asking(calls: u32) -> Plan {
    Plan {
        limits: RunLimits {
            challenges: calls,
            ..plan().limits
        },
        ..plan()
    }
}

/// A run whose attempt has climbed to the comparison.
fn compared(run: Run) -> Run {
    let run = play(run, [reply(&patch("y")), placed("p")]);
    climb(run)
}

fn climb(run: Run) -> Run {
    let rungs = RungName::ALL.into_iter();
    let rungs = rungs.filter(|name| *name <= RungName::SameElsewhere);
    play(run, rungs.map(|name| rung(name, Some(true))))
}

fn challenged(calls: u32) -> Run {
    let run = Run::new(asking(calls));
    let code = ContextText {
        text: "THE CODE".into(),
        ..ContextText::default()
    };
    compared(play(run, [baseline(), Outcome::Context(code)]))
}

/// Returns the result of the inputs; the first one counts.
fn told(holds: Option<bool>) -> Outcome {
    let Outcome::Climbed(record) = rung(RungName::SameElsewhere, holds) else {
        unreachable!()
    };
    let doubt = Doubt {
        what: "challenge 1.2: the output differs".into(),
        input: Some(DoubtedInput::default()),
        ..Doubt::default()
    };
    let found = FoundInput {
        blob: Blob::Kept("found".into()),
        reason: "crashes".into(),
        pov: "pov".into(),
    };
    Outcome::Challenged(ChallengedRecord {
        rung: Rung {
            reason: "WHAT THEY SHOW".into(),
            counts: [("challenges: variants".to_owned(), 1)].into(),
            doubts: (holds.is_none()).then_some(doubt).into_iter().collect(),
            found: (holds == Some(false))
                .then_some(found)
                .into_iter()
                .collect(),
            ..record
        },
        kept: vec![ChallengeRecord {
            name: "challenge 1.1".into(),
            source: ChallengeSource::Kept(Blob::Kept("kept".into())),
        }],
        lines: Vec::new(),
    })
}

fn purpose(run: &Run) -> Option<Purpose> {
    match run.ready().as_slice() {
        [(_, Step::Ask { purpose, .. })] => Some(*purpose),
        _ => None,
    }
}

fn running(run: &Run) -> Vec<String> {
    match run.ready().as_slice() {
        [(_, Step::Challenge { inputs, .. })] => {
            inputs.iter().map(|input| input.name.clone()).collect()
        }
        other => panic!("no challenge: {other:?}"),
    }
}

#[test]
fn a_model_is_told_everything_and_its_inputs_are_run() {
    let run = challenged(1);
    assert_eq!(purpose(&run), Some(Purpose::Challenge));
    let question = last_message(&run);
    for part in [
        "heap-buffer-overflow in f",
        "diff of p",
        "around p",
        "THE CODE",
        "up to 10 inputs",
    ] {
        assert!(question.contains(part), "{part}: {question}");
    }
    let run = play(run, [reply(WRITTEN)]);
    assert_eq!(running(&run), ["challenge 1.1", "challenge 1.2"]);
    let run = play(
        run,
        [told(Some(true)), rung(RungName::Reviewed, Some(true))],
    );
    assert_eq!(kind(&run), EndingKind::Verified);
    let rung = run.attempts()[0].rung(RungName::SameElsewhere).unwrap();
    assert!(rung.reason.contains("WHAT THEY SHOW"), "{rung:?}");
    assert_eq!(rung.counts["challenges: variants"], 1);
}

#[test]
fn controls_that_reach_the_patch_close_a_rung_that_lacked_such_inputs() {
    let ended = |missing: u64, reached: u64, left_open: u64| {
        let run = Run::new(asking(1));
        let run = play(run, [baseline(), Outcome::Context(ContextText::default())]);
        let run = play(run, [reply(&patch("y")), placed("p")]);
        let below = RungName::ALL.into_iter();
        let below = below.filter(|name| *name < RungName::SameElsewhere);
        let run = play(run, below.map(|name| rung(name, Some(true))));
        let with = |mut outcome: Outcome, counts: &[(&str, u64)]| {
            let (Outcome::Climbed(Rung { counts: known, .. })
            | Outcome::Challenged(ChallengedRecord {
                rung: Rung { counts: known, .. },
                ..
            })) = &mut outcome
            else {
                unreachable!()
            };
            known.extend(
                counts
                    .iter()
                    .map(|(name, count)| ((*name).to_owned(), *count)),
            );
            outcome
        };
        let open = rung(RungName::SameElsewhere, None);
        let lacks = [(MISSING_REACH, missing), (OPEN_BRANCHES, 1)];
        let brings = [(CONTROLS_REACH, reached), (CONTROLS_LEAVE_OPEN, left_open)];
        let run = play(
            run,
            [
                with(open, &lacks),
                reply(WRITTEN),
                with(told(Some(true)), &brings),
                rung(RungName::Reviewed, Some(true)),
            ],
        );
        let same = run.attempts()[0].rung(RungName::SameElsewhere).unwrap();
        let open = u64::from(same.holds.is_none());
        assert_eq!(same.counts[OPEN_BRANCHES], open, "{same:#?}");
        kind(&run)
    };
    assert_eq!(ended(2, 2, 0), EndingKind::Verified);
    assert_eq!(ended(2, 1, 0), EndingKind::Plausible);
    assert_eq!(ended(2, 2, 1), EndingKind::Plausible);
    assert_eq!(ended(0, 0, 0), EndingKind::Plausible);
}

#[test]
fn what_they_refute_is_the_next_issue_and_what_counts_is_run_again() {
    let run = play(challenged(1), [reply(WRITTEN), told(Some(false))]);
    assert_eq!(
        run.attempts()[0].refuted_by().unwrap().reason,
        "WHAT THEY SHOW"
    );
    assert_eq!(run.found()[0].blob.hash(), "found");
    let run = play(run, [Outcome::Context(ContextText::default())]);
    // The second attempt is not asked about again: one question was allowed.
    let run = climb(play(run, [reply(&patch("z")), placed("q")]));
    assert_eq!(running(&run), ["challenge 1.1"]);
    let run = play(
        run,
        [told(Some(true)), rung(RungName::Reviewed, Some(true))],
    );
    assert_eq!(kind(&run), EndingKind::Verified);
}

#[test]
fn a_difference_that_nothing_settles_is_for_the_author() {
    let run = play(challenged(1), [reply(WRITTEN), told(None)]);
    let run = play(run, [rung(RungName::Reviewed, Some(true))]);
    assert_eq!(purpose(&run), Some(Purpose::Contest));
    assert!(last_message(&run).contains("challenge 1.2"));
}

#[test]
fn without_an_answer_the_rung_is_as_it_was() {
    let unanswered = Outcome::Unanswered(Unanswered {
        reason: "NO MONEY".into(),
        usage: Usage::default(),
        usd: 0.0,
        seconds: 0.0,
    });
    for (outcome, words) in [
        (unanswered, "NO MONEY"),
        (reply("I cannot"), "holds no input"),
    ] {
        let run = play(
            challenged(1),
            [outcome, rung(RungName::Reviewed, Some(true))],
        );
        assert_eq!(kind(&run), EndingKind::Verified);
        let rung = run.attempts()[0].rung(RungName::SameElsewhere).unwrap();
        assert!(rung.reason.contains(words), "{rung:?}");
    }
}

#[test]
fn a_foreign_patch_is_challenged_where_a_model_is_named() {
    let foreign = |calls| Run::challenging(asking(calls), Patch::default());
    let code = ContextText {
        text: "THE CODE".into(),
        ..ContextText::default()
    };
    let run = play(
        foreign(1),
        [baseline(), Outcome::Context(code), placed("p")],
    );
    let run = climb(run);
    assert_eq!(purpose(&run), Some(Purpose::Challenge));
    assert!(last_message(&run).contains("THE CODE"));
    let refuted = play(run.clone(), [reply(WRITTEN), told(Some(false))]);
    assert_eq!(kind(&refuted), EndingKind::NoPatch);
    // Nobody is asked to contest or to mend it.
    let open = play(
        run,
        [
            reply(WRITTEN),
            told(None),
            rung(RungName::Reviewed, Some(true)),
        ],
    );
    assert_eq!(kind(&open), EndingKind::Plausible);
}
