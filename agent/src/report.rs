//! The report of a run, as programs read it and as people do.

mod text;

pub use text::render;

use crate::record::Attempt;
use crate::repair::Run;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the report's shape.
const SCHEMA: u32 = 1;

/// In place of an ending: no model can answer before a time.
const PAUSED: &str = "paused";

/// A run's report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of this shape.
    pub schema: u32,
    /// The run's id.
    pub run: String,
    /// The task's id.
    pub task: String,
    /// One word.
    pub ending: String,
    /// Why.
    pub detail: String,
    /// The attempt with the strongest evidence.
    pub best: Option<AttemptReport>,
    /// All attempts.
    pub attempts: Vec<AttemptReport>,
    /// Rounds of retrieval.
    pub rounds: u32,
    /// What it cost.
    pub cost: Cost,
    /// How long it took.
    pub seconds: Seconds,
    /// Where the model's answers came from: `live` or the transcript's name.
    pub answers: String,
}

/// One patch and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptReport {
    /// Counted from 1.
    pub number: u32,
    /// The lane that made it.
    pub lane: u32,
    /// Against the pristine tree.
    pub diff: String,
    /// Whether the tree is no UTF-8 there: the characters of the diff stand for
    /// the bytes of the same numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latin1: bool,
    /// The model's own words.
    pub explanation: Option<String>,
    /// The evidence.
    pub rungs: Vec<RungReport>,
}

/// What was observed at one rung.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RungReport {
    /// Its name.
    pub name: String,
    /// `null`: it could not be climbed.
    pub holds: Option<bool>,
    /// Why.
    pub reason: String,
    /// How long it took.
    pub seconds: f64,
    /// The log, as a file below the output folder or a hash in the store.
    pub log: Option<String>,
    /// What was counted.
    pub counts: BTreeMap<String, u64>,
    /// Inputs that refuted the patch, as files below the output folder or
    /// hashes in the store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
}

/// What a run cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// US dollars.
    pub usd: f64,
    /// Tokens sent.
    pub tokens_in: u64,
    /// Tokens received.
    pub tokens_out: u64,
    /// Calls that were answered.
    pub calls: u32,
}

/// How long a run took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Working time.
    pub total: f64,
    /// Of it, waiting for the model.
    pub model: f64,
    /// Of it, in builds, PoVs, tests and other commands.
    pub commands: f64,
}

impl Report {
    /// The report of a run that has ended.
    pub fn of(run: &Run, id: &str, task: &str, answers: &str) -> Self {
        let spent = run.spent();
        let (ending, detail) = match (run.ending(), run.paused()) {
            (Some(ending), _) => (ending.kind.as_str(), ending.detail.clone()),
            (None, Some((until, reason))) => (
                PAUSED,
                format!("until {until}: {reason}; go on with: patchwright resume {id}"),
            ),
            (None, None) => ("running", String::new()),
        };
        Self {
            ending: ending.to_owned(),
            detail,
            schema: SCHEMA,
            run: id.to_owned(),
            task: task.to_owned(),
            best: run.best().map(attempt_report),
            attempts: run.attempts().iter().map(attempt_report).collect(),
            rounds: spent.rounds,
            cost: Cost {
                usd: spent.usd,
                tokens_in: spent.tokens_in,
                tokens_out: spent.tokens_out,
                calls: spent.calls,
            },
            seconds: Seconds {
                total: spent.total_seconds,
                model: spent.model_seconds,
                commands: spent.command_seconds,
            },
            answers: answers.to_owned(),
        }
    }
}

impl AttemptReport {
    /// The diff as `git apply` takes it.
    pub fn diff_bytes(&self) -> Vec<u8> {
        if !self.latin1 {
            return self.diff.clone().into_bytes();
        }
        let bytes = self
            .diff
            .chars()
            .map(|char| u8::try_from(char).unwrap_or(b'?'));
        bytes.collect()
    }
}

fn attempt_report(attempt: &Attempt) -> AttemptReport {
    AttemptReport {
        number: attempt.number,
        lane: attempt.lane,
        diff: attempt.diff.clone(),
        latin1: attempt.latin1,
        explanation: attempt.patch.explanation.clone(),
        rungs: attempt
            .rungs
            .iter()
            .map(|rung| RungReport {
                name: rung.name.name().to_owned(),
                holds: rung.holds,
                reason: rung.reason.clone(),
                seconds: rung.seconds,
                log: (!rung.log.is_empty()).then(|| rung.log.clone()),
                counts: rung.counts.clone(),
                found: rung.found.iter().map(|input| input.blob.clone()).collect(),
            })
            .collect(),
    }
}
