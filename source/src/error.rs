//! Errors of reading a tree.

use std::path::PathBuf;

/// Why a path or a file of a tree was refused.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The path is empty, absolute, climbs, or holds a NUL byte.
    #[error("path {path:?} is outside the tree: {reason}")]
    Outside {
        /// The path as it was given.
        path: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// There is no such file in the tree.
    #[error("no file {path:?} in the tree")]
    NotFound {
        /// The path that was looked for.
        path: String,
    },
    /// A folder, a device, a pipe, or a link that leaves the tree.
    #[error("{path:?} is not a regular file of the tree: {reason}")]
    NotAFile {
        /// The path that was looked at.
        path: String,
        /// Its real kind.
        reason: &'static str,
    },
    /// The file is larger than the reader allows.
    #[error("{path:?} has {size} bytes, more than the {limit} that are read")]
    TooLarge {
        /// The path that was looked at.
        path: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The root of the tree cannot be opened.
    #[error("source folder {path:?} cannot be opened")]
    Root {
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// Reading failed.
    #[error("{path:?} cannot be read")]
    Read {
        /// The path that was read.
        path: String,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
}
