//! Doubts: observations that speak against a patch and refute nothing; and decisions that
//! another behaviour is right, which settle them.

use crate::blob::Blob;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An observation that speaks against a patch and may be wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The observation, in one line.
    pub what: String,
    /// The experiment or the opinion that settled it; none while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<String>,
    /// The reason of the patch's author why the new behaviour is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contested: Option<String>,
    /// The input that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<DoubtedInput>,
}

/// An input on which the patched program differs from the unpatched one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoubtedInput {
    /// Its name in logs, by which probes ask for it.
    pub name: String,
    pub blob: Blob,
    /// The name of the PoV that it is run like.
    pub pov: String,
    /// Its beginning, as text or in hex.
    #[serde(default)]
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

impl Doubt {
    /// Creates an open doubt without an input.
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            ..Self::default()
        }
    }

    /// Tells whether nothing settled it.
    pub fn is_open(&self) -> bool {
        self.settled.is_none()
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.settled {
            Some(settled) => write!(f, " [settled: {settled}]"),
            None => Ok(()),
        }
    }
}

/// A decision that what a patched program answers to an input is right.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedInput {
    pub blob: Blob,
    /// The end and the output that were found right; empty where any answer was, as in
    /// records of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub answer: String,
    /// The judge who found it right, and the reason.
    pub reason: String,
}

impl AcceptedInput {
    /// Creates the decision about an input and the answer that was shown with it.
    pub fn new(input: &DoubtedInput, reason: impl Into<String>) -> Self {
        Self {
            blob: input.blob.clone(),
            answer: input.after.clone(),
            reason: reason.into(),
        }
    }

    /// Tells whether this decides about an input and its answer.
    pub fn decides(&self, input: &DoubtedInput) -> bool {
        let answered = self.answer.is_empty() || self.answer == input.after;
        self.blob == input.blob && answered
    }
}
