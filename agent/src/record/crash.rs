//! A crash as a run keeps it: its text and its frames.

use patchwright_source::Role;
use serde::{Deserialize, Serialize};

/// A frame of a crash, for retrieval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashFrame {
    /// The function.
    pub function: String,
    /// The file as the report names it.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// The part that its stack plays in the crash.
    pub role: Role,
    /// Its place in the stack, 0 at the top.
    pub depth: u32,
}

/// A crash as a lane needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crash {
    /// The purified report.
    pub text: String,
    /// Its frames.
    pub frames: Vec<CrashFrame>,
}
