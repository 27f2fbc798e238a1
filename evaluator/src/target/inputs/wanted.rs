//! What is to be run of a program and told of it, and how one input ended.

use crate::Ending;
use std::time::Duration;

/// What is wanted of each input, besides how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Wanted {
    /// The outputs of those that did not end well.
    #[default]
    Failures,
    /// All outputs.
    Outputs,
    /// What these functions and their callers return, and what the harness
    /// gets, line by line. Runs under a debugger, or with an agent in the JVM;
    /// where that cannot be, no input is run at all.
    Values(Vec<String>),
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
    pub wanted: Wanted,
    /// Which of them to run, by their places; none means all. The others keep
    /// their places, so that names stay the same from call to call.
    pub only: Vec<usize>,
    /// Whether the program takes several inputs one after the other.
    pub many: bool,
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
