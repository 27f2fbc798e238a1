//! What came of looking for code: the texts that a model reads, and what the
//! signals that helped to rank it took. What is looked for stands in the steps.

use patchwright_model::Usage;
use patchwright_retrieval::Memory;
use serde::{Deserialize, Serialize};

/// The code that goes with an issue.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextText {
    /// What the model reads; may be empty.
    pub text: String,
    /// What has been shown by now.
    pub memory: Memory,
    /// What signals were asked for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalRecord>,
}

/// The answers of a round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieved {
    /// What the model reads.
    pub text: String,
    /// What has been shown by now.
    pub memory: Memory,
    /// How many queries found something.
    pub found: u32,
    /// How many did not.
    pub missed: u32,
    /// What signals were asked for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalRecord>,
}

/// What came of asking a signal that helps to rank code.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SignalRecord {
    /// Which.
    pub signal: String,
    /// Why it was not asked, or gave nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// What was counted.
    pub usage: Usage,
    /// What it cost.
    pub usd: f64,
    /// How long it took.
    pub seconds: f64,
}

impl SignalRecord {
    /// What people are told of a signal that gave nothing.
    pub fn note(&self) -> Option<String> {
        let reason = self.missing.as_ref()?;
        Some(format!("{} was left out: {reason}", self.signal))
    }
}
