//! Feedback: what went wrong, as a repairer can act on it.
//!
//! A repairer sees and edits the pristine tree. So every path here is one of
//! the tree and every line number one of the pristine file, with the patched
//! line beside it where they differ. Everything is the same from run to run:
//! no addresses, process ids, times or temporary paths, and it fits a budget.
//! What this module deliberately does not do: give advice, or decide which
//! rung failed.

mod build;
mod crash;
mod excerpt;
mod failed_tests;
mod line_map;
mod locations;

pub use build::{Diagnostic, build, diagnostics};
pub use crash::{crash, hang};
pub use excerpt::{excerpt, steady};
pub use failed_tests::tests;
pub use line_map::{LineMap, LineOrigin};
pub use locations::LocationTranslator;

/// How many bytes of logs make one token. Logs are full of paths, numbers and
/// signs, which take more tokens than prose does.
const BYTES_PER_TOKEN: usize = 3;

/// A budget of tokens as bytes.
const fn bytes(tokens: usize) -> usize {
    tokens * BYTES_PER_TOKEN
}

/// Says which limit a command hit, with the ends of what it printed.
///
/// `command` names it ("the build", "the tests"), `limit` is the limit in
/// words ("its wall time of 600 s").
pub fn limit(
    command: &str,
    limit: &str,
    log: &str,
    places: &LocationTranslator<'_>,
    tokens: usize,
) -> String {
    let log = excerpt(log, places, tokens.saturating_sub(40));
    let shown = if log.is_empty() {
        "It printed nothing.".to_owned()
    } else {
        format!("It printed:\n{log}")
    };
    format!("{command} hit {limit} and was stopped. {shown}\n")
}

#[cfg(test)]
mod checks;
