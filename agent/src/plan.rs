//! Plan of a run: everything about a task that its decisions depend on.

use crate::record::{Crash, CrashFrame, FollowUp, RunLimits};
use crate::task::{Hints, Mode};
use patchwright_source::{Language, words};
use patchwright_verdict::RungName;
use std::collections::BTreeMap;

/// Most queries of a round (the design of the retrieval protocol).
pub const QUERIES: usize = 5;

/// Everything about a task that decisions depend on; by default the plan of a run that never
/// starts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// True when anything is executed.
    pub mode: Mode,
    pub lanes: u32,
    pub limits: RunLimits,
    /// The language of the task.
    pub language: Language,
    /// A line for people.
    pub title: Option<String>,
    /// Crash that was handed in, or what stands in its place.
    pub crash: Option<Crash>,
    /// Where that comes from.
    pub origin: Origin,
    /// Further knowledge about the bug.
    pub hints: Hints,
    /// Places that the hints name.
    pub hinted: Vec<CrashFrame>,
    /// True when there is a PoV.
    pub has_povs: bool,
    /// Paths and globs that are never edited.
    pub protect: Vec<String>,
    /// The rungs, from the bottom.
    pub ladder: Vec<RungName>,
    /// Number of times that a critic may be asked. 0: nobody reviews a patch.
    pub critic_calls: u32,
    /// The candidate of an earlier run that a person wants revised or evaluated.
    pub follows: Option<FollowUp>,
    /// Signatures of known crashes, each with the name of its report or fix.
    pub known: BTreeMap<String, String>,
}

/// Where the text that a run starts from comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// It was seen here.
    Seen,
    /// Somebody handed in the report of a crash.
    Given,
    /// A static analyser found something.
    Finding,
    /// There is no report of any kind.
    #[default]
    Nothing,
}

words!(Origin: Seen "seen", Given "given", Finding "finding", Nothing "nothing");

impl Plan {
    /// Tells whether there is a program that a debugger can look at.
    pub fn probes(&self) -> bool {
        self.mode == Mode::Repair && self.has_povs
    }
}
