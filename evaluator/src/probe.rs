//! Probes: the question what an expression holds at a line when a PoV runs, and
//! what a debugger observed.
//!
//! The answer often tells the cause of a crash from its symptom. Plain data and
//! text: expressions are read and found harmless here, observations are put
//! into words that are the same from run to run. What this module does not do:
//! run a debugger (a [`crate::Target`] does) or map lines ([`crate::inspect`] does).

mod answer;
mod expression;

pub(crate) use answer::answer;
pub use expression::Expression;

use patchwright_source::TreePath;
use serde::{Deserialize, Serialize};

/// One question, in terms of the pristine tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The file.
    pub path: TreePath,
    /// The line, counted from one.
    pub line: u32,
    /// What is asked for.
    pub expression: Expression,
}

/// One value, and the hits in a row at which it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueSpan(pub String, pub u64, pub u64);

/// What a debugger saw of one probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// How often the line was come to.
    pub hits: u64,
    /// The lines where that was: another one than asked where that holds no code.
    pub lines: Vec<u32>,
    /// The first different values.
    pub first: Vec<ValueSpan>,
    /// The last different values.
    pub last: Vec<ValueSpan>,
    /// The least number, and its hit.
    pub least: Option<(i128, u64)>,
    /// The greatest number, and its hit.
    pub most: Option<(i128, u64)>,
    /// The lines of the file that hold code, where the line was never come to.
    pub code: Vec<u32>,
    /// Whether the debugger knows the file at all.
    pub known: bool,
    /// Whether the compiler kept no value at the line.
    #[serde(default)]
    pub lost: bool,
    /// What was seen at the nearest line of the function that has one instead.
    #[serde(default)]
    pub near: Option<Box<Observation>>,
}

/// What a debugger saw of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observations {
    /// How the program ended: `exit status 1`, `a signal`, `time`, `unknown`.
    pub ended: String,
    /// Why nothing could be seen.
    pub problem: Option<String>,
    /// Each probe, in the order of the questions.
    pub probes: Vec<Observation>,
}
