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
    /// A fault of a file, a variable, a flag, or the built-in defaults: where it stands, what it is
    /// and what would be right.
    #[error("{0}")]
    Wrong(String),
}

impl SettingsError {
    /// A value that does not fit its key.
    pub(crate) fn value(place: &str, key: &str, message: &str) -> Self {
        Self::Wrong(format!("{place}: {key}: {message}"))
    }

    /// A key that no default has; `hint` names the nearest known one, as the end of a sentence.
    pub(crate) fn unknown_key(place: &str, key: &str, hint: &str) -> Self {
        Self::Wrong(format!("{place}: unknown key {key:?}{hint}"))
    }

    /// The program's own defaults are broken: a mistake of ours.
    pub(crate) fn defaults(error: &toml::de::Error) -> Self {
        Self::Wrong(format!("the built-in defaults are broken: {error}"))
    }
}
