//! Errors of this crate, worded so that the reader knows what to do.

use std::path::PathBuf;

/// Why the code could not be found, or not even be looked for.
#[derive(Debug, thiserror::Error)]
pub enum RetrievalError {
    /// The tree itself cannot be read.
    #[error("the source tree cannot be read")]
    Source(#[from] patchwright_source::SourceError),
    /// The cache folder or the database file in it cannot be used.
    #[error("the index cannot be kept in {path}: make the cache folder writable or choose another")]
    Cache {
        /// The folder or file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The database refused a statement of ours.
    #[error("the code index failed: {0}")]
    Database(#[from] rusqlite::Error),
    /// A statement of the reader's was refused.
    #[error("the SQL was refused: {0}")]
    Sql(String),
}

/// The result of a lookup in the index.
pub(crate) type Result<T, E = RetrievalError> = std::result::Result<T, E>;
