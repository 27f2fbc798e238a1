//! Several lanes: whose patch is the best, and what they share.

use super::{baseline, kind, patch, placed, plan, play, reply, rung};
use crate::plan::Plan;
use crate::record::{
    ContextText, EndingKind, Outcome, Purpose, RunLimits, Step, StepId, Unanswered,
};
use crate::repair::Run;
use crate::task::Mode;
use patchwright_model::Usage;
use patchwright_verdict::RungName;

fn lanes(count: u32) -> Run {
    let limits = RunLimits {
        attempts: 5,
        ..plan().limits
    };
    let plan = Plan {
        lanes: count,
        limits,
        ..plan()
    };
    play(Run::new(plan), [baseline()])
}

/// Feeds outcomes to the steps of one lane.
fn lane(mut run: Run, lane: u32, outcomes: impl IntoIterator<Item = Outcome>) -> Run {
    for outcome in outcomes {
        let ready = run.ready();
        let id = ready.iter().find(|(id, _)| id.lane == lane);
        let id = id
            .unwrap_or_else(|| panic!("lane {lane} is not ready: {ready:?}"))
            .0;
        run = run.feed(id, outcome);
    }
    run
}

fn proposed(name: &str) -> [Outcome; 3] {
    [
        Outcome::Context(ContextText::default()),
        reply(&patch(name)),
        placed(name),
    ]
}

/// Every rung but one holds, which nobody could climb.
fn plausible() -> [Outcome; 8] {
    RungName::ALL.map(|name| rung(name, (name != RungName::Tested).then_some(true)))
}

fn two_equals() -> Run {
    let run = lane(
        lanes(2),
        1,
        proposed("first").into_iter().chain(plausible()),
    );
    assert!(run.ending().is_none(), "another lane may be better");
    lane(run, 2, proposed("second").into_iter().chain(plausible()))
}

#[test]
fn a_judge_chooses_among_equals_and_nobody_else() {
    let run = two_equals();
    let ready = run.ready();
    let [(id, Step::Ask { purpose, messages })] = ready.as_slice() else {
        panic!("{ready:?}");
    };
    assert_eq!((*purpose, id.lane), (Purpose::Judge, 0));
    let question = &messages[0].text;
    for part in [
        "# Candidate 1",
        "diff of first",
        "# Candidate 2",
        "diff of second",
    ] {
        assert!(question.contains(part), "{part}: {question}");
    }
    let unanswered = Outcome::Unanswered(Unanswered {
        reason: "gone".into(),
        usage: Usage::default(),
        usd: 0.0,
        seconds: 0.0,
    });
    for (outcome, best) in [
        (reply("<best>2</best>"), 2),
        (reply("<best>1</best>"), 1),
        (reply("<best>7</best>"), 1),
        (reply("both"), 1),
        (unanswered, 1),
    ] {
        let run = run.clone().feed(*id, outcome);
        assert_eq!(
            (kind(&run), run.best().unwrap().number),
            (EndingKind::Plausible, best)
        );
    }

    let run = lane(
        lanes(2),
        1,
        proposed("first").into_iter().chain(plausible()),
    );
    let refuted = RungName::ALL[..3]
        .iter()
        .map(|name| rung(*name, Some(*name != RungName::Builds)));
    let mut run = lane(run, 2, proposed("second").into_iter().chain(refuted));
    while run.ending().is_none() {
        run = lane(run, 2, [Outcome::Context(ContextText::default())]);
        for nonsense in 0..3 {
            if run.ending().is_none() {
                run = lane(run, 2, [reply(&format!("nonsense {nonsense}"))]);
            }
        }
    }
    assert_eq!(run.best().unwrap().number, 1, "evidence decides");
    assert_eq!(kind(&run), EndingKind::Plausible);
}

#[test]
fn a_verified_patch_ends_all_lanes() {
    let run = lane(
        lanes(2),
        1,
        proposed("first").into_iter().chain(plausible()),
    );
    let verified = RungName::ALL.map(|name| rung(name, Some(true)));
    let run = lane(run, 2, proposed("second").into_iter().chain(verified));
    assert_eq!(
        (kind(&run), run.best().unwrap().lane),
        (EndingKind::Verified, 2)
    );
    assert!(matches!(
        run.ready().as_slice(),
        [(StepId { lane: 0, .. }, Step::End { .. })]
    ));
}

#[test]
fn a_lane_with_the_patch_of_another_shares_its_fate() {
    let run = lane(lanes(2), 1, proposed("same"));
    let run = lane(run, 2, proposed("same"));
    assert_eq!(run.attempts().len(), 1, "it is evaluated once");
    let waiting: Vec<u32> = run.ready().iter().map(|(id, _)| id.lane).collect();
    assert_eq!(waiting, [1]);
    let held = lane(run.clone(), 1, plausible());
    assert_eq!(
        (kind(&held), held.spent().format_retries),
        (EndingKind::Plausible, 0)
    );
    let refuted = lane(run, 1, [rung(RungName::Applies, Some(false))]);
    let steps: Vec<&str> = refuted
        .ready()
        .iter()
        .map(|(_, step)| step.name())
        .collect();
    assert_eq!(
        steps,
        ["context", "context"],
        "both are told of the failure"
    );
}

#[test]
fn proposals_are_counted_once_and_the_best_is_chosen() {
    let dry = Plan {
        mode: Mode::DryRun,
        lanes: 3,
        ..plan()
    };
    let run = lane(Run::new(dry), 1, proposed("a"));
    let run = lane(run, 2, proposed("a"));
    let run = lane(run, 3, proposed("b"));
    let run = lane(run, 0, [reply("<best>2</best>")]);
    assert_eq!(
        (kind(&run), run.attempts().len()),
        (EndingKind::Proposed, 2)
    );
    assert_eq!(run.best().unwrap().number, 2);
}

#[test]
fn lanes_share_the_attempts_and_the_first_to_verify_ends_the_run() {
    let run = play(Run::new(Plan { lanes: 2, ..plan() }), [baseline()]);
    let ids: Vec<StepId> = run.ready().into_iter().map(|(id, _)| id).collect();
    assert_eq!(
        ids,
        [StepId { lane: 1, number: 0 }, StepId { lane: 2, number: 0 }]
    );
    let mut run = run.feed(ids[1], Outcome::Context(ContextText::default()));
    for outcome in [reply(&patch("y")), placed("p")]
        .into_iter()
        .chain(RungName::ALL.map(|name| rung(name, Some(true))))
    {
        let id = run
            .ready()
            .into_iter()
            .find(|(id, _)| id.lane == 2)
            .unwrap()
            .0;
        run = run.feed(id, outcome);
    }
    assert_eq!(
        (kind(&run), run.attempts()[0].lane),
        (EndingKind::Verified, 2)
    );
    let late = run
        .clone()
        .feed(ids[0], Outcome::Context(ContextText::default()));
    assert_eq!(late, run);
}
