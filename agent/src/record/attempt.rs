//! One patch and its verdict, rung by rung.

use super::crash::Crash;
use patchwright_evaluator::RungName;
use patchwright_patcher::Patch;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One rung of an attempt: what was observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RungRecord {
    /// Which rung.
    pub name: RungName,
    /// `None`: it could not be climbed.
    pub holds: Option<bool>,
    /// Why.
    pub reason: String,
    /// Duration in seconds.
    pub seconds: f64,
    /// The hash of its log among the blobs; empty when there is none.
    pub log: String,
    /// Counts of inputs, tests and so on, by name.
    pub counts: BTreeMap<String, u64>,
    /// Feedback for the model about a failure.
    pub feedback: Option<String>,
    /// The crash that refuted it.
    pub crash: Option<Crash>,
    /// Inputs that it came upon, PoVs from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundRecord>,
    /// Observations for the critic that refute nothing.
    #[serde(default)]
    pub doubts: Vec<String>,
}

/// An input that a rung came upon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundRecord {
    /// The hash of its bytes among the blobs.
    pub blob: String,
    /// Behaviour of the input.
    pub reason: String,
    /// The PoV that it was made from, and is run like.
    pub pov: String,
}

/// One patch and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Counted from 1 over the run.
    pub number: u32,
    /// The lane that made it.
    pub lane: u32,
    /// Patch as the model wrote it.
    pub patch: Patch,
    /// Against the pristine tree.
    pub diff: String,
    /// True when the tree is no UTF-8 there: the characters of the diff stand for
    /// the bytes of the same numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latin1: bool,
    /// For recognising the same patch again.
    pub normal_form: String,
    /// Warnings that came up while it was placed.
    pub warnings: Vec<String>,
    /// The rungs, from the bottom.
    pub rungs: Vec<RungRecord>,
}

impl Attempt {
    /// The rung that refuted it.
    pub fn refuted_by(&self) -> Option<&RungRecord> {
        self.rungs.iter().find(|rung| rung.holds == Some(false))
    }

    /// Orders attempts by their evidence: how far up they came without being
    /// refuted, then how much of that was really shown.
    pub fn strength(&self) -> (usize, usize) {
        let reached = self
            .rungs
            .iter()
            .position(|rung| rung.holds == Some(false))
            .unwrap_or(self.rungs.len());
        (
            reached,
            self.rungs
                .iter()
                .filter(|rung| rung.holds == Some(true))
                .count(),
        )
    }

    /// The verdict in a sentence, for somebody who sends the same patch again.
    pub fn verdict(&self) -> String {
        match self.refuted_by() {
            Some(rung) => format!(
                "attempt {} was refuted by the rung {:?}: {}",
                self.number,
                rung.name.name(),
                rung.reason
            ),
            None => format!("attempt {} is still being evaluated", self.number),
        }
    }
}
