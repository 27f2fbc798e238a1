//! Smallest input that shows the crash of a run.

use crate::blob::empty_is_none;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Smallest input that shows the crash of a PoV, of the same kind and at the same place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SmallestRecord {
    /// The PoV's name.
    pub pov: String,
    /// The number of bytes of the PoV.
    pub original: u64,
    /// The number of bytes of the smallest input; 0 when none was found.
    pub bytes: u64,
    /// True when no single byte can be left out; false when the time was over before.
    pub minimal: bool,
    /// The input: `pov.min` below the `--out` folder, or a hash in the store.
    #[serde(default, alias = "blob", deserialize_with = "empty_is_none")]
    pub input: Option<String>,
    /// Inputs that were run.
    #[serde(default)]
    pub runs: u64,
    /// Duration of the search in seconds.
    #[serde(default)]
    pub seconds: f64,
}
