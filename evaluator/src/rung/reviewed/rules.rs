//! The rules. Each is a function over one file of the diff.

mod literal;
mod removal;
mod suppression;
mod weakened;

use super::code::bare;
use super::diff::{FileDiff, Line, Sign};
use std::fmt;

/// One file of an attempt, and what a rule may look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) file: &'a FileDiff,
    /// The pristine text; empty for a new file.
    pub(super) old: &'a str,
    /// The kind of the crash, in the tool's word.
    pub(super) kind: &'a str,
    pub(super) povs: &'a [Vec<u8>],
}

/// What a rule has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// Whether it refutes the patch; otherwise it is for the critic and for people.
    pub(super) refutes: bool,
    pub(super) path: String,
    pub(super) line: Option<(u32, String)>,
    pub(super) what: String,
}

impl Finding {
    fn new(case: &Case<'_>, line: Option<&Line>, what: impl Into<String>) -> Self {
        Self {
            refutes: true,
            path: case.file.path.clone(),
            line: line.map(|line| (line.number, line.text.trim().to_owned())),
            what: what.into(),
        }
    }

    fn doubted(mut self) -> Self {
        self.refutes = false;
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.line {
            Some((number, text)) => {
                write!(f, "{}:{number}: {}: `{text}`", self.path, self.what)
            }
            None => write!(f, "{}: {}", self.path, self.what),
        }
    }
}

/// The lines of a hunk as the patch leaves them, without comments; empty ones
/// are left out.
fn patched(hunk: &[Line]) -> Vec<(&Line, String)> {
    let left = hunk.iter().filter(|line| line.sign != Sign::Removed);
    left.map(|line| (line, bare(&line.text)))
        .filter(|(_, code)| !code.is_empty())
        .collect()
}

/// Everything that the rules say about one file.
pub(super) fn apply(case: &Case<'_>) -> Vec<Finding> {
    let rules: [fn(&Case<'_>) -> Vec<Finding>; 12] = [
        suppression::forbidden_place,
        suppression::catches_everything,
        suppression::blinds_the_sanitizer,
        suppression::ends_the_process,
        removal::switched_off,
        removal::unreachable_rest,
        removal::lost_calls,
        removal::lost_assertions,
        literal::knows_the_pov,
        weakened::no_longer_refused,
        weakened::ends_as_if_done,
        weakened::only_padding,
    ];
    rules.iter().flat_map(|rule| rule(case)).collect()
}
