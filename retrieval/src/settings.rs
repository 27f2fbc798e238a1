//! The numbers that retrieval turns on, with the reasons for their defaults.

/// The usual limit on the bytes of a file. The largest source files that people write by hand
/// (SQLite's amalgamation) have 9 MB.
pub const FILE_SIZE_LIMIT: u64 = 16 * 1024 * 1024;

/// Describes how much is looked at and how much is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The most hits that one query is answered with; more bury the right one.
    pub max_results: usize,
    /// Lines shown before and after a text hit.
    pub context_lines: usize,
    /// A body with more lines is shown as signature, the lines around the hit
    /// and an outline. Nine of ten functions are shorter than a quarter of it.
    pub body_lines: usize,
    /// Files with more bytes are listed as skipped and not searched.
    pub file_size_limit: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_results: 16,
            context_lines: 5,
            body_lines: 200,
            file_size_limit: FILE_SIZE_LIMIT,
        }
    }
}
