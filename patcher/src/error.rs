//! Errors before any patch is looked at.

/// Reason for which the patcher could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum PatcherError {
    /// A protected path is no glob that can be read.
    #[error("protected path {pattern:?} is no valid glob")]
    Pattern {
        /// The pattern as it was given.
        pattern: String,
        /// The mistake in it.
        #[source]
        source: globset::Error,
    },
}
