//! Results of looking for code: the texts that a model reads, and what the
//! signals that helped to rank it took. What is looked for stands in the steps.

use patchwright_model::Usage;
use patchwright_retrieval::Memory;
use serde::{Deserialize, Serialize};

/// The code that goes with an issue.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextText {
    /// Text for the model; may be empty.
    pub text: String,
    /// Memory of the code that has been shown by now.
    pub memory: Memory,
    /// Signals that were asked for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalRecord>,
}

/// The answers of a round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieved {
    /// Text for the model.
    pub text: String,
    /// Memory of the code that has been shown by now.
    pub memory: Memory,
    /// Number of queries that found something.
    pub found: u32,
    /// Number of queries that found nothing.
    pub missed: u32,
    /// Signals that were asked for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalRecord>,
}

/// Result of asking a signal that helps to rank code.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SignalRecord {
    pub signal: String,
    /// Why it was not asked, or gave nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Counts of tokens.
    pub usage: Usage,
    /// Cost in US dollars.
    pub usd: f64,
    /// Duration in seconds.
    pub seconds: f64,
}

impl SignalRecord {
    /// Message for people about a signal that gave nothing.
    pub fn note(&self) -> Option<String> {
        let reason = self.missing.as_ref()?;
        Some(format!("{} was left out: {reason}", self.signal))
    }
}
