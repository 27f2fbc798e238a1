//! Decisions that another behaviour is right.

use crate::blob::Blob;
use crate::doubt::DoubtedInput;
use serde::{Deserialize, Serialize};

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
