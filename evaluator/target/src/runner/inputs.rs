//! Inputs: a batch of inputs to run, and the result of each.

use super::{Counted, judge};
use patchwright_sandbox::{Ending, Execution};
use std::time::Duration;

/// The output that is captured of each input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Capture {
    /// The outputs of failed runs.
    #[default]
    Failures,
    Outputs,
    /// As `Outputs`, but reports of sanitizers name no functions, which takes most of the time of a
    /// failed run. What a project suppresses by their names is reported then.
    Unnamed,
    /// The values that these functions return to callers that are not among them, and that
    /// the harness receives, line by line. Needs a debugger, or an agent in the JVM; without
    /// one no input is run.
    Values(Vec<String>),
    /// Execution counts of these lines and functions; on a build with counters.
    Coverage(Counted),
}

/// Keeps LeakSanitizer from ending the programs of a script, beside the options of the task.
pub const ALLOW_LEAKS: &str =
    r#"export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0""#;

/// A batch of inputs.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// The inputs' bytes.
    pub contents: Vec<Vec<u8>>,
    /// Time for all of them; inputs that do not fit are not run.
    pub budget: Duration,
    /// Time for one of them.
    pub each: Duration,
    /// The output that is captured.
    pub capture: Capture,
    /// Indexes of the inputs to run; empty for all. The others keep their indexes, so that
    /// file names are equal from call to call.
    pub only: Vec<usize>,
    /// True where the program takes several inputs one after the other.
    pub many: bool,
    /// Content of fresh memory; as usual where there is none.
    pub memory: Option<MemoryPattern>,
    /// True where memory that is never freed fails no run.
    pub leaks_allowed: bool,
}

impl Inputs {
    /// Creates a batch of which the outputs of failed runs are captured.
    pub fn new(contents: Vec<Vec<u8>>, budget: Duration, each: Duration) -> Self {
        Self {
            contents,
            budget,
            each,
            ..Self::default()
        }
    }
}

/// Content of memory that a program has not written, and the distance between objects
/// in it: nothing that a defined program depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryPattern {
    /// Fills what is allocated and what is freed.
    pub fill: u8,
    /// Bytes between two objects on the heap, where a sanitizer watches.
    pub redzone: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRun {
    /// Its index among the inputs.
    pub index: usize,
    /// The end of the command.
    pub ending: Ending,
    /// Its output; empty for a successful run unless all outputs are captured.
    pub output: Vec<u8>,
}

impl InputRun {
    /// Tells whether the input failed; one that was refused in good order did not.
    pub fn is_failure(&self) -> bool {
        let execution = Execution::reported(self.ending, &self.output, 0.0, usize::MAX);
        judge(&execution, None).0.is_failure()
    }
}
