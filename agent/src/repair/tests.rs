//! Runs as lists of outcomes: what such lists are made of, and what holds for
//! every outcome. The runs themselves lie beside, by what they are about.

mod agreement;
mod attempts;
mod candidates;
mod challenge;
mod closing;
mod compact;
mod contest;
mod critic;
mod endings;
mod lanes;
mod pause;
mod plays;
mod probes;
mod replies;
mod revised;

use super::Run;
use crate::plan::Plan;
use crate::record::{
    BaselineSummary, Blob, ContextText, Crash, Doubt, DoubtedInput, EndingKind, Located,
    LocatedPatch, Outcome, ReplyRecord, RunLimits, Rung, Step,
};
use patchwright_model::{Finish, Usage};
use patchwright_verdict::{OPEN_FOR_DIFFERENCES, RungName};
use std::collections::BTreeMap;

pub(crate) fn plan() -> Plan {
    Plan {
        limits: RunLimits {
            attempts: 2,
            rounds: 2,
            format_retries: 2,
            tokens: None,
            usd: None,
            wall: std::time::Duration::from_hours(1),
            contests: 2,
            challenges: 0,
            challenge_inputs: 10,
            candidates: 0,
            regression_tests: 0,
            minimize: std::time::Duration::ZERO,
            probability: 0.0,
        },
        has_povs: true,
        ladder: RungName::ALL.to_vec(),
        ..Plan::default()
    }
}

fn baseline() -> Outcome {
    Outcome::Baseline(BaselineSummary {
        crashes: vec![Crash {
            text: "ERROR: heap-buffer-overflow in f".into(),
            ..Crash::default()
        }],
        tests: "3 pass".into(),
        has_tests: true,
        sandbox: None,
        seconds: 1.0,
        ..BaselineSummary::default()
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
        latin1: false,
        normal_form: normal_form.into(),
        warnings: Vec::new(),
        surroundings: format!("around {normal_form}"),
    }))
}

fn rung(name: RungName, holds: Option<bool>) -> Outcome {
    Outcome::Climbed(Rung {
        seconds: 1.0,
        feedback: Some("what went wrong".into()),
        ..Rung::new(name, holds, "because")
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

/// The rung *same elsewhere*, open for a difference alone; the answer to it is named.
fn doubted(answer: &str) -> Outcome {
    let Outcome::Climbed(record) = rung(RungName::SameElsewhere, None) else {
        panic!("no rung");
    };
    Outcome::Climbed(Rung {
        doubts: vec![Doubt {
            what: "mutant 1 differs".into(),
            input: Some(DoubtedInput {
                name: "mutant 1".into(),
                blob: Blob::Kept("blob".into()),
                after: answer.into(),
                ..DoubtedInput::default()
            }),
            ..Doubt::default()
        }],
        counts: [(OPEN_FOR_DIFFERENCES.to_owned(), 1)].into(),
        ..record
    })
}

#[test]
fn a_run_whose_crashes_are_all_known_is_a_duplicate() {
    let seen = |signatures: &[&str]| {
        Outcome::Baseline(BaselineSummary {
            signatures: signatures.iter().map(ToString::to_string).collect(),
            ..BaselineSummary::default()
        })
    };
    let known = BTreeMap::from([("SEGV | f".to_owned(), "issue 12".to_owned())]);
    let plan = || Plan {
        known: known.clone(),
        ..plan()
    };
    let ended = |run: Run, signatures: &[&str]| {
        let run = play(run, [seen(signatures)]);
        run.ending().map(|ending| ending.detail.clone())
    };
    let duplicate = Some("duplicate of issue 12: SEGV | f".to_owned());
    assert_eq!(ended(Run::new(plan()), &["SEGV | f"]), duplicate);
    assert_eq!(ended(Run::new(plan()), &["SEGV | f", "FPE | g"]), None);
    assert_eq!(ended(Run::new(plan()), &[]), None);
    let foreign =
        patchwright_patcher::Patch::from_diff(b"--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-x\n+y\n");
    let judged = ended(Run::judging(plan(), foreign), &["SEGV | f"]);
    assert_eq!(
        judged, None,
        "a patch of somebody else is judged all the same"
    );
}
