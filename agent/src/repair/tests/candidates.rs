//! Judged patches beside candidates that the model writes by itself.

use super::{baseline, doubted, kind, last_message, patch, placed, plan, play, reply, rung};
use crate::plan::Plan;
use crate::record::{
    AgreedInput, Agreement, Blob, ChallengeRecord, ChallengeSource, ChallengedRecord, ContextText,
    DoubtedInput, EndingKind, Outcome, RunLimits, Rung, Split, Step,
};
use crate::repair::Run;
use patchwright_patcher::reply;
use patchwright_verdict::RungName;

const ACCEPT: &str = "<verdict>accept</verdict><reason>fine</reason>";

/// A run whose foreign patch stands but for a difference, and two candidates that came to
/// *tested*.
fn compared(same_elsewhere: &Outcome) -> Run {
    beside_candidates(plan(), std::slice::from_ref(same_elsewhere))
}

fn beside_candidates(plan: Plan, same_elsewhere: &[Outcome]) -> Run {
    let limits = RunLimits {
        candidates: 2,
        ..plan.limits.clone()
    };
    let has_critic = plan.critic_calls > 0;
    let is_shown_code = has_critic || limits.challenges > 0;
    let foreign = reply::read(&patch("foreign"), false).patch.unwrap();
    let run = Run::challenging(Plan { limits, ..plan }, foreign);
    let mut run = play(run, [baseline()]);
    if is_shown_code {
        run = play(run, [Outcome::Context(ContextText::default())]);
    }
    run = play(run, [placed("foreign")]);
    for name in RungName::ALL {
        let outcomes = match name {
            RungName::SameElsewhere => same_elsewhere.to_vec(),
            _ => vec![rung(name, Some(true))],
        };
        run = play(run, outcomes);
    }
    if has_critic {
        run = play(run, [reply(ACCEPT)]);
    }
    for (lane, form) in [(2, "p"), (3, "q")] {
        let mut outcomes = vec![
            Outcome::Context(ContextText::default()),
            reply(&patch(form)),
            placed(form),
        ];
        let climbed = RungName::ALL.into_iter();
        let climbed = climbed.take_while(|name| *name <= RungName::Tested);
        outcomes.extend(climbed.map(|name| rung(name, Some(true))));
        for outcome in outcomes {
            let ready = run.ready();
            let id = ready.iter().find(|(id, _)| id.lane == lane).unwrap().0;
            run = run.feed(id, outcome);
        }
    }
    run
}

fn agreed(clusters: &[&[u32]], apart: &[u32], splits: Vec<Split>) -> Outcome {
    Outcome::Agreed(Agreement {
        clusters: clusters.iter().map(|group| group.to_vec()).collect(),
        apart: vec![AgreedInput {
            blob: Blob::Kept("blob".into()),
            attempts: apart.to_vec(),
        }],
        splits,
        as_before: Vec::new(),
        inputs: 9,
        seconds: 1.0,
    })
}

#[test]
fn a_doubt_is_gone_where_a_candidate_does_the_same() {
    let run = compared(&doubted("one"));
    let ready = run.ready();
    let [(_, Step::Agree { attempts, inputs })] = ready.as_slice() else {
        panic!("{ready:?}");
    };
    assert_eq!((attempts.as_slice(), inputs.len()), (&[1, 2, 3][..], 1));
    let run = play(run, [agreed(&[&[1, 2], &[3]], &[1, 2], Vec::new())]);
    assert_eq!(
        (kind(&run), run.best().unwrap().number),
        (EndingKind::Verified, 1)
    );
    let accepted = &run.decisions()[0].reason;
    assert!(
        accepted.contains("1 candidate written independently"),
        "{accepted}"
    );
}

/// The result of a comparison in which the judged patch stands alone.
fn stands_alone() -> Outcome {
    let split = Split {
        input: DoubtedInput {
            name: "input 4".into(),
            blob: Blob::Kept("other".into()),
            ..DoubtedInput::default()
        },
        groups: vec![
            (vec![2, 3], "exit status 0\nall".into()),
            (vec![1], "exit status 1".into()),
        ],
    };
    agreed(&[&[2, 3], &[1]], &[], vec![split])
}

#[test]
fn a_critic_weighs_on_what_a_patch_stands_alone() {
    let holds = rung(RungName::SameElsewhere, Some(true));
    let plan = Plan {
        critic_calls: 9,
        ..plan()
    };
    let run = play(
        beside_candidates(plan, std::slice::from_ref(&holds)),
        [stands_alone()],
    );
    let asked = last_message(&run);
    assert!(asked.contains("2 independent candidates agree"), "{asked}");
    // What it accepts is decided.
    let accepted = play(run.clone(), [reply(ACCEPT)]);
    assert_eq!(kind(&accepted), EndingKind::Verified);
    let objects = "<verdict>object</verdict><reason>ALL IS RIGHT THERE</reason>";
    let objected = play(run, [reply(objects)]);
    assert_eq!(kind(&objected), EndingKind::Plausible);
    let open = objected.attempt(1).unwrap().rung(RungName::SameElsewhere);
    assert_eq!(open.unwrap().holds, None);
}

#[test]
fn a_patch_that_stands_alone_is_told_with_an_input() {
    let holds = rung(RungName::SameElsewhere, Some(true));
    let run = play(compared(&holds), [stands_alone()]);
    assert_eq!(
        (kind(&run), run.best().unwrap().number),
        (EndingKind::Plausible, 1)
    );
    let attempt = run.attempt(1).unwrap();
    let doubt = &attempt.rung(RungName::SameElsewhere).unwrap().doubts[0];
    assert!(
        doubt.what.contains("2 independent candidates agree"),
        "{doubt:?}"
    );
    assert!(doubt.what.contains("exit status 0 all"), "{doubt:?}");
    assert_eq!(doubt.input.as_ref().unwrap().after, "exit status 1");
}

#[test]
fn a_challenge_that_candidates_answer_as_before_refutes() {
    let doubt = |record: Rung| Rung {
        counts: [("challenges: controls".to_owned(), 1)].into(),
        ..record
    };
    let Outcome::Climbed(record) = doubted("exit status 1") else {
        unreachable!()
    };
    let told = ChallengedRecord {
        rung: doubt(record),
        kept: vec![ChallengeRecord {
            name: "challenge 1.1".into(),
            source: ChallengeSource::Kept(Blob::Kept("blob".into())),
        }],
        lines: Vec::new(),
    };
    let limits = RunLimits {
        challenges: 1,
        ..plan().limits
    };
    let challenging = Plan { limits, ..plan() };
    let holds = rung(RungName::SameElsewhere, Some(true));
    let answers = [
        holds,
        reply("<challenge>abc</challenge>"),
        Outcome::Challenged(told),
    ];
    let run = beside_candidates(challenging, &answers);
    for (as_before, expected) in [
        (vec![2, 3], EndingKind::NoPatch),
        (vec![2], EndingKind::Plausible),
        (vec![1, 2, 3], EndingKind::Plausible),
    ] {
        let Outcome::Agreed(mut record) = agreed(&[&[2, 3], &[1]], &[], Vec::new()) else {
            unreachable!()
        };
        record.as_before = vec![AgreedInput {
            blob: Blob::Kept("blob".into()),
            attempts: as_before,
        }];
        let run = play(run.clone(), [Outcome::Agreed(record)]);
        assert_eq!(kind(&run), expected);
        let refuted = run.attempts()[0].refuted_by().map(|rung| &rung.reason);
        let says = refuted.is_some_and(|reason| reason.contains("2 independent candidates"));
        assert_eq!(says, expected == EndingKind::NoPatch);
    }
}

#[test]
fn no_candidate_is_asked_for_beside_a_patch_that_is_refuted() {
    let run = compared_until_refuted();
    assert_eq!(kind(&run), EndingKind::NoPatch);
    assert_eq!((run.lanes(), run.attempts().len()), (1, 1));
}

fn compared_until_refuted() -> Run {
    let limits = RunLimits {
        candidates: 2,
        ..plan().limits
    };
    let foreign = reply::read(&patch("foreign"), false).patch.unwrap();
    let run = Run::challenging(Plan { limits, ..plan() }, foreign);
    play(
        run,
        [
            baseline(),
            placed("foreign"),
            rung(RungName::Applies, Some(false)),
        ],
    )
}
