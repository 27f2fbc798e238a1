//! Runs as lists of outcomes.

mod compact;
mod critic;
mod lanes;
mod pause;
mod probes;

use super::step::{
    BaselineSummary, ContextText, Crash, Located, LocatedPatch, Outcome, ReplyRecord, Retrieved,
    Step,
};
use super::{Ending, EndingKind, Origin, Plan, Run, RunLimits, RungRecord, StepId};
use crate::model::{Finish, Usage};
use crate::task::{Hints, Mode};
use patchwright_evaluator::RungName;
use patchwright_patcher::Patch;

pub(crate) fn plan() -> Plan {
    Plan {
        mode: Mode::Repair,
        lanes: 1,
        limits: RunLimits {
            attempts: 2,
            rounds: 2,
            format_retries: 2,
            tokens: None,
            usd: None,
            wall: 3600,
            same_failures: 2,
            queries_min: 3,
            queries_max: 5,
        },
        language: "c".into(),
        title: None,
        crash: None,
        origin: Origin::Nothing,
        hinted: Vec::new(),
        hints: Hints::default(),
        has_povs: true,
        protect: Vec::new(),
        ladder: RungName::ALL.to_vec(),
        critic: None,
    }
}

fn baseline() -> Outcome {
    Outcome::Baseline(BaselineSummary {
        crashes: vec![Crash {
            text: "ERROR: heap-buffer-overflow in f".into(),
            frames: Vec::new(),
        }],
        tests: "3 pass".into(),
        has_tests: true,
        seconds: 1.0,
    })
}

fn reply(text: &str) -> Outcome {
    finished(text, Finish::Stop)
}

fn finished(text: &str, finish: Finish) -> Outcome {
    Outcome::Reply(ReplyRecord {
        text: text.into(),
        finish,
        usage: Usage {
            tokens_in: 10,
            tokens_out: 5,
            ..Usage::default()
        },
        model: "m".into(),
        usd: 0.1,
        seconds: 2.0,
    })
}

const QUERIES: &str =
    "<analysis>a</analysis><queries><symbol>f</symbol><symbol>g</symbol><text>h</text></queries>";

fn patch(text: &str) -> String {
    format!(
        "<patch><edit file=\"a.c\" lines=\"1\"><original>x</original><replacement>{text}</replacement></edit></patch>"
    )
}

fn placed(normal_form: &str) -> Outcome {
    Outcome::Located(Located::Placed(LocatedPatch {
        diff: format!("diff of {normal_form}"),
        normal_form: normal_form.into(),
        warnings: Vec::new(),
    }))
}

fn rung(name: RungName, holds: Option<bool>) -> Outcome {
    Outcome::Climbed(RungRecord {
        name,
        holds,
        reason: "because".into(),
        seconds: 1.0,
        log: String::new(),
        counts: [].into(),
        feedback: Some("what went wrong".into()),
        crash: None,
        found: Vec::new(),
        doubts: Vec::new(),
    })
}

/// Feeds outcomes, each to the one step that is ready.
fn play(run: Run, outcomes: impl IntoIterator<Item = Outcome>) -> Run {
    outcomes.into_iter().fold(run, |run, outcome| {
        let ready = run.ready();
        let [(id, _)] = ready.as_slice() else {
            panic!("one step: {ready:?}")
        };
        run.feed(*id, outcome)
    })
}

fn begun() -> Run {
    play(
        Run::new(plan()),
        [baseline(), Outcome::Context(ContextText::default())],
    )
}

fn last_message(run: &Run) -> String {
    match run.ready().into_iter().next() {
        Some((_, Step::Ask { messages, .. })) => messages.last().unwrap().text.clone(),
        other => panic!("not asking: {other:?}"),
    }
}

fn kind(run: &Run) -> EndingKind {
    run.ending().unwrap().kind
}

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
        (run.spent().rounds, run.spent().calls, run.spent().tokens_in),
        (1, 2, 20)
    );
    assert!((run.spent().command_seconds - 9.0).abs() < 1e-9);
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
        "Attempt 1 failed: it does not build",
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
fn rounds_have_three_to_five_queries() {
    for (count, good) in [(1, false), (2, false), (3, true), (5, true), (6, false)] {
        let text = format!("<queries>{}</queries>", "<symbol>f</symbol>".repeat(count));
        let run = play(begun(), [reply(&text)]);
        let retrieves = matches!(run.ready().as_slice(), [(_, Step::Retrieve { .. })]);
        assert_eq!(retrieves, good, "{count} queries");
        if !good {
            assert!(last_message(&run).contains("a round has 3 to 5 queries"));
            assert_eq!(run.spent().format_retries, 1);
        }
    }
}

#[test]
fn unusable_replies_are_answered_and_then_end_the_run() {
    for (text, finish, expected) in [
        ("I am not sure.", Finish::Stop, "neither <queries>"),
        ("<patch><edit", Finish::Length, "cut off"),
        ("", Finish::Refused, "declined"),
        (
            "<queries><file></file><symbol>f</symbol><symbol>g</symbol></queries>",
            Finish::Stop,
            "could not be",
        ),
    ] {
        let mut run = play(begun(), [finished(text, finish)]);
        assert!(
            last_message(&run).contains(expected),
            "{text}: {}",
            last_message(&run)
        );
        run = play(run, [finished(text, finish), finished(text, finish)]);
        assert_eq!(kind(&run), EndingKind::BudgetExhausted);
        assert!(run.ending().unwrap().detail.contains("format retries"));
    }
}

#[test]
fn used_up_rounds_leave_the_patch() {
    let rounds = [
        reply(QUERIES),
        Outcome::Retrieved(Retrieved::default()),
        reply(QUERIES),
        Outcome::Retrieved(Retrieved::default()),
    ];
    let run = play(begun(), rounds);
    assert!(last_message(&run).contains("No rounds of queries are left"));
    let run = play(run, [reply(QUERIES), reply(QUERIES), reply(QUERIES)]);
    assert_eq!(
        (kind(&run), run.spent().rounds),
        (EndingKind::BudgetExhausted, 2)
    );
    assert!(run.ending().unwrap().detail.starts_with("rounds"));
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
fn the_same_patch_again_is_not_evaluated_again() {
    let run = play(
        begun(),
        [
            reply(&patch("y")),
            placed("p"),
            rung(RungName::Applies, Some(false)),
        ],
    );
    let run = play(
        run,
        [
            Outcome::Context(ContextText::default()),
            reply(&patch("y")),
            placed("p"),
        ],
    );
    assert!(last_message(&run).contains("same patch as before: attempt 1 was refuted"));
    assert_eq!(run.attempts().len(), 1);
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
    let run = play(
        run,
        [Outcome::Stopped {
            ending,
            seconds: 0.0,
        }],
    );
    assert_eq!(
        (kind(&run), run.best().unwrap().number),
        (EndingKind::Deadline, 1)
    );
}

#[test]
fn outcomes_survive_the_journal() {
    for outcome in [
        baseline(),
        reply(QUERIES),
        placed("p"),
        rung(RungName::SameElsewhere, None),
    ] {
        let json = serde_json::to_string(&outcome).unwrap();
        assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), outcome);
    }
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
    assert_eq!((kind(&run), run.spent().calls), (EndingKind::Verified, 0));
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
