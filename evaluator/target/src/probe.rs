//! Probes: questions for the value of an expression at a line while a PoV runs, and the
//! observations of a debugger.
//!
//! The answer often separates the cause of a crash from its symptom. This module is data
//! and text: it accepts expressions that only read, and describes observations in words
//! that are equal for equal runs. It runs no debugger (a [`crate::Target`] does) and maps
//! no lines ([`crate::inspect`] does).

mod answer;
mod expression;

pub(crate) use answer::answer;
pub use expression::Expression;
use patchwright_source::TreePath;
use serde::{Deserialize, Serialize};

/// One question, with a line of the pristine tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub path: TreePath,
    /// The line, counted from one.
    pub line: u32,
    /// The expression whose value is asked for.
    pub expression: Expression,
}

/// One value, with the first and the last of the consecutive hits that saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueSpan(pub String, pub u64, pub u64);

/// The observations of one probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Number of times that the line was reached.
    pub hits: u64,
    /// The lines that were observed; another one where the line of the probe has no code.
    pub lines: Vec<u32>,
    /// The first different values.
    pub first: Vec<ValueSpan>,
    /// The last different values.
    pub last: Vec<ValueSpan>,
    /// The least number, and its hit.
    pub least: Option<(i128, u64)>,
    /// The greatest number, and its hit.
    pub most: Option<(i128, u64)>,
    /// The lines of the file with code, where the line was never reached.
    pub code: Vec<u32>,
    /// True where the debugger knows the file.
    pub known: bool,
    /// True where the compiler kept no value at the line.
    #[serde(default)]
    pub lost: bool,
    /// The observation at the nearest line of the function that has a value.
    #[serde(default)]
    pub near: Option<Box<Observation>>,
}

/// The observations of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observations {
    /// The end of the program: `exit status 1`, `a signal`, `time`, `unknown`.
    pub ended: String,
    /// The reason why nothing was observed.
    pub problem: Option<String>,
    /// One observation for each probe, in order.
    pub probes: Vec<Observation>,
}
