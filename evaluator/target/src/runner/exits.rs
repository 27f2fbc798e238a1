//! Exits of a run: the events by which its processes ended, as a debugger saw them.
//!
//! Plain data, read back from a sandbox in which foreign code ran: nobody
//! vouches for it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The processes of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exits {
    /// Each program of the build that the command started.
    pub processes: Vec<ProcessExit>,
    /// The reason why nothing could be seen.
    pub problem: Option<String>,
}

impl Exits {
    pub(crate) fn unseen(problem: &str) -> Self {
        Self {
            problem: Some(problem.to_owned()),
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessExit {
    /// `exit status 1`, `a signal`, `time`, `unknown`.
    pub ended: String,
    /// The reason why the debugger gave up.
    pub problem: Option<String>,
    /// The events in order.
    pub events: Vec<ExitEvent>,
    /// The watched functions that the program has.
    #[serde(default)]
    pub functions: BTreeMap<String, FunctionChecks>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExitEventKind {
    /// The process asks the kernel to end it.
    Exit,
    /// Another program takes its place.
    Exec,
    /// It makes another process.
    Fork,
    /// It gets a deadly signal.
    Signal,
    /// It calls what changes the sanitizer's view, or gets around the C library.
    Control,
    /// It went on, and was asked for its stack.
    Sample,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitEvent {
    pub what: ExitEventKind,
    /// The name of the signal, or of the function that is called.
    pub name: String,
    /// The stack, innermost frame first.
    pub stack: Vec<ExitFrame>,
}

/// One frame of the stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitFrame {
    /// The function; `??` where it has no name.
    pub function: String,
    /// The file, by its path in the tree; none for code from elsewhere.
    pub file: Option<String>,
    pub line: u32,
    /// True where the code has debug information.
    pub named: bool,
    /// True where the code is in a shared library.
    pub in_library: bool,
    /// True where the frame is the kernel's call of a signal handler.
    pub handler: bool,
}

/// The sanitizer's code in one function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionChecks {
    /// Instructions that check.
    pub checks: u64,
    /// Instructions that read or write memory beyond the stack frame.
    pub accesses: u64,
    /// Kinds of checks for undefined behaviour.
    #[serde(default)]
    pub undefined: u64,
}
