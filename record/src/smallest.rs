//! Smallest input that shows the crash of a run.

use serde::{Deserialize, Serialize};

/// The smallest input that was found for the crash of a PoV.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SmallestRecord {
    /// The PoV's name.
    pub pov: String,
    /// The number of bytes of the PoV.
    pub original: u64,
    /// The number of bytes of the smallest input; 0 with an empty hash when none was sought
    /// with success.
    pub bytes: u64,
    /// Its hash among the blobs; empty when there is none.
    pub blob: String,
    /// True where no single byte can be left out.
    pub minimal: bool,
    /// Inputs that were run.
    pub runs: u64,
    /// Duration in seconds.
    pub seconds: f64,
}
