//! Inputs on which somebody found another behaviour right.

use crate::blob::Blob;
use serde::{Deserialize, Serialize};

/// An input on which a patched program may behave differently.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedInput {
    pub blob: Blob,
    /// The judge who found the new behaviour right, and the reason.
    pub reason: String,
}
