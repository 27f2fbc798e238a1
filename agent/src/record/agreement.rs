//! Agreement of candidates: which of them behave alike.

use serde::{Deserialize, Serialize};

/// The behaviour of candidates of several lanes, compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgreementRecord {
    /// Attempts that behave alike on every input; the largest cluster first.
    pub clusters: Vec<Vec<u32>>,
    /// Inputs on which attempts agree with each other and not with the unpatched program.
    pub apart: Vec<AgreedInput>,
    /// Number of inputs that all were run on.
    pub inputs: u64,
    /// Duration in seconds.
    pub seconds: f64,
}

/// An input on which attempts do the same, and not what the unpatched program does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgreedInput {
    /// The hash of its bytes among the blobs.
    pub blob: String,
    /// The attempts.
    pub attempts: Vec<u32>,
}

impl AgreementRecord {
    /// Returns the number of other attempts that behave like this one.
    pub fn others(&self, attempt: u32) -> usize {
        let cluster = self.clusters.iter().find(|one| one.contains(&attempt));
        cluster.map_or(0, |cluster| cluster.len() - 1)
    }
}
