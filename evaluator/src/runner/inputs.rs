//! What is to be run of a program and told of it, and how one input ended.

use super::{Counted, judge};
use crate::{Captured, Ending, Execution};
use std::time::Duration;

/// What is wanted of each input, besides how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Capture {
    /// The outputs of those that did not end well.
    #[default]
    Failures,
    /// All outputs.
    Outputs,
    /// What these functions and their callers return, and what the harness
    /// gets, line by line. Runs under a debugger, or with an agent in the JVM;
    /// where that cannot be, no input is run at all.
    Values(Vec<String>),
    /// How often these lines and functions were run; on a build with counters.
    Coverage(Counted),
}

/// What is to be run.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// The inputs' bytes.
    pub contents: Vec<Vec<u8>>,
    /// Time for all of them; what does not fit is not run.
    pub budget: Duration,
    /// Time for one of them.
    pub each: Duration,
    /// What is to be told of each.
    pub capture: Capture,
    /// Which of them to run, by their places; none means all. The others keep
    /// their places, so that names stay the same from call to call.
    pub only: Vec<usize>,
    /// Whether the program takes several inputs one after the other.
    pub many: bool,
    /// What fresh memory holds; as usual where nothing is said.
    pub memory: Option<MemoryPattern>,
}

/// What memory holds that a program has not written, and how far apart objects
/// lie: nothing that a defined program depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPattern {
    /// Fills what is allocated and what is freed.
    pub fill: u8,
    /// Bytes between two objects on the heap, where a sanitizer watches.
    pub redzone: u32,
}

/// How one input ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRun {
    /// Its place among the inputs.
    pub index: usize,
    /// How the command ended.
    pub ending: Ending,
    /// What it printed; empty for good ends unless more was asked for.
    pub output: Vec<u8>,
}

impl InputRun {
    /// Tells whether the input failed; one that was refused in good order did not.
    pub(crate) fn is_failure(&self) -> bool {
        let execution = Execution {
            ending: self.ending,
            output: Captured {
                total: self.output.len() as u64,
                head: self.output.clone(),
                tail: Vec::new(),
            },
            standard_output: None,
            seconds: 0.0,
        };
        judge(&execution, None).0.is_failure()
    }
}
