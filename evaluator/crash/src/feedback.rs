//! Feedback: failures as text that a repairer can act on.
//!
//! A repairer sees and edits the pristine tree, so paths are those of the tree and line
//! numbers those of the pristine file, with the patched line beside them where they
//! differ. The text is equal for equal runs (no addresses, process ids, times or
//! temporary paths) and fits a budget. This module gives no advice and does not decide
//! which rung failed.

mod build;
mod crash;
mod excerpt;
mod failed_tests;
mod input;
mod line_map;
mod locations;

pub use build::{Diagnostic, build, diagnostics, first_error};
pub use crash::crash;
pub use excerpt::{clean, excerpt, steady};
pub use failed_tests::tests;
pub use input::input;
pub use line_map::{LineMap, LineOrigin};
pub use locations::LocationTranslator;

/// Bytes of a log for one token. Logs are full of paths, numbers and punctuation, which
/// take more tokens than prose.
const BYTES_PER_TOKEN: usize = 3;

/// Converts a budget of tokens to bytes.
const fn bytes(tokens: usize) -> usize {
    tokens * BYTES_PER_TOKEN
}

#[cfg(test)]
mod checks;
