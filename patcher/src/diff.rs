//! Unified diffs: read from others, written by us.

mod compare;
mod read;
mod write;

pub use compare::diff;
pub(crate) use compare::diff_of_splices;
pub(crate) use read::parse_diff;
use write::FileDiff;

/// Reads bytes as UTF-8, or else as Latin-1; returns true for the latter.
pub(crate) fn as_text(bytes: &[u8]) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), false),
        Err(_) => (bytes.iter().map(|byte| char::from(*byte)).collect(), true),
    }
}
