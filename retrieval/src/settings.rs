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
    /// Weights of the candidates for a request.
    pub weights: Weights,
}

/// The signals by which candidates for a request are ranked. Ten times the sum of
/// each weight times its signal (0 to 1, the meaning by its rank) is added to the
/// logarithm of the odds; the defaults were fitted (docs/benchmarks.md). A signal
/// that is not there counts as zero for all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Closeness in meaning, by embeddings where they are configured, else by
    /// the words of names and comments.
    pub semantic: f64,
    /// The request's own words.
    pub keyword: f64,
    /// Weight of the number of places that depend on it.
    pub in_degree: f64,
    /// Weight of the recency of its last change.
    pub recency: f64,
    /// Weight of the number of its calls.
    pub popularity: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            semantic: 0.40,
            keyword: 0.25,
            in_degree: 0.015,
            recency: 0.015,
            popularity: 0.010,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_results: 16,
            context_lines: 5,
            body_lines: 200,
            file_size_limit: FILE_SIZE_LIMIT,
            weights: Weights::default(),
        }
    }
}
