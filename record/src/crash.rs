//! A crash as a run keeps it: its text and its frames.

pub use patchwright_source::CrashFrame;
use serde::{Deserialize, Serialize};

/// A crash as a lane needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crash {
    /// The purified report.
    pub text: String,
    pub frames: Vec<CrashFrame>,
    /// The kind, in the tool's own word; empty where no report was read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// One line for people; empty where no report was read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}
