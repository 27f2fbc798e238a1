//! Errors of the settings. Every message names the place and what
//! would be right.

use std::path::PathBuf;

/// Why the settings could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A file that was asked for cannot be read.
    #[error("configuration file {path:?} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// A file is not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// File and line.
        place: String,
        /// Message of the parser.
        message: String,
    },
    /// A key that no default has.
    #[error("{place}: unknown key {key:?}{hint}")]
    UnknownKey {
        /// File and line, variable, or flag.
        place: String,
        key: String,
        /// The nearest known key, as the end of a sentence.
        hint: String,
    },
    /// A value that does not fit its key.
    #[error("{place}: {key}: {message}")]
    Value {
        /// File and line, variable, or flag.
        place: String,
        key: String,
        /// Description of the fault, with what would be right.
        message: String,
    },
    /// The program's own defaults are broken: a mistake of ours.
    #[error("the built-in defaults are broken: {message}")]
    Defaults {
        /// Description of the fault.
        message: String,
    },
}
