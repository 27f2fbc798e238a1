//! One patch and its verdict, rung by rung.

use super::crash::Crash;
use super::regression::RegressionRecord;
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
    /// Observations that somebody has to weigh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<DoubtRecord>,
    /// Answers of the patched program to inputs that crash the unpatched one, and to challenges
    /// that both answer alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
}

/// An observation that speaks against a patch and may be wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoubtRecord {
    /// The observation, in one line.
    pub what: String,
    /// The experiment or the opinion that settled it; nothing while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<String>,
    /// Reason of the patch's author why the new behaviour is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contested: Option<String>,
    /// The input that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<DoubtedInputRecord>,
}

/// An input on which the patched program differs from the unpatched one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoubtedInputRecord {
    /// Its name, by which probes ask for it.
    pub name: String,
    /// The hash of its bytes among the blobs.
    pub blob: String,
    /// The PoV that it is run like.
    pub pov: String,
    /// Its beginning, as text or in hex.
    pub text: String,
    /// Its difference to the PoV, in words.
    pub change: String,
    /// The end and the output of the unpatched program.
    pub before: String,
    /// The same of the patched program.
    pub after: String,
    /// The first function that returns another value, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverges: Option<String>,
}

/// An input on which somebody found another behaviour right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedRecord {
    /// The hash of its bytes among the blobs.
    pub blob: String,
    /// The judge who found it right, and the reason.
    pub reason: String,
}

impl RungRecord {
    /// A rung that refutes an attempt without anything having been run.
    pub(crate) fn refuted(name: RungName, reason: &str) -> Self {
        Self {
            name,
            holds: Some(false),
            reason: reason.to_owned(),
            seconds: 0.0,
            log: String::new(),
            counts: BTreeMap::new(),
            feedback: None,
            crash: None,
            found: Vec::new(),
            doubts: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// The differences of behaviour that nothing settled, each with its input.
    pub fn open_differences(&self) -> Vec<(&DoubtRecord, &DoubtedInputRecord)> {
        let open = self.doubts.iter().filter(|doubt| doubt.settled.is_none());
        open.filter_map(|doubt| Some((doubt, doubt.input.as_ref()?)))
            .collect()
    }
}

impl DoubtRecord {
    /// The doubt in one line, with what settled it.
    pub fn line(&self) -> String {
        match &self.settled {
            Some(settled) => format!("{} [settled: {settled}]", self.what),
            None => self.what.clone(),
        }
    }
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
    /// The lines around the touched ones, as they are without the patch.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub surroundings: String,
    /// For recognising the same patch again.
    pub normal_form: String,
    /// Warnings that came up while it was placed.
    pub warnings: Vec<String>,
    /// The rungs, from the bottom.
    pub rungs: Vec<RungRecord>,
    /// Inputs on which its other behaviour was found right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<AcceptedRecord>,
    /// Regression test that goes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<RegressionRecord>,
}

impl Attempt {
    /// The rung that refuted it.
    pub fn refuted_by(&self) -> Option<&RungRecord> {
        self.rungs.iter().find(|rung| rung.holds == Some(false))
    }

    /// The result of one rung.
    pub fn rung(&self, name: RungName) -> Option<&RungRecord> {
        self.rungs.iter().find(|rung| rung.name == name)
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
            None => format!("attempt {} was not refuted", self.number),
        }
    }
}
