//! Challenges: inputs that a model writes against a patch, and what came of them.

use patchwright_patcher::reply::RawChallenge;
use patchwright_record::{Blob, Rung};
use serde::{Deserialize, Serialize};

/// A PoV as whoever writes other inputs is shown it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PovRecord {
    pub name: String,
    pub command: String,
    /// Its beginning, as text or in hex.
    pub text: String,
    /// Texts of the files that the command names beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
}

/// An input against a patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChallengeRecord {
    /// Its name in logs and reports.
    pub name: String,
    pub source: ChallengeSource,
}

/// Where the bytes of a challenge come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChallengeSource {
    /// A reply of a model.
    Written(RawChallenge),
    /// An earlier attempt.
    Kept(Blob),
}

/// Result of the challenges against one attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChallengedRecord {
    /// The result, as a part of the rung *same elsewhere*.
    pub rung: Rung,
    /// The inputs that count, for later attempts.
    pub kept: Vec<ChallengeRecord>,
    /// Lines that tell how each input counts, or why it could not be made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

impl ChallengedRecord {
    /// Tells whether an input shows anything that a critic could find wrong: a difference, or
    /// the answer to an input that crashes the unpatched program.
    pub fn shows_something(&self) -> bool {
        let variants = self.rung.counts.get("challenges: variants");
        variants.is_some_and(|count| *count > 0) || !self.rung.open_differences().is_empty()
    }
}
