//! Errors of the settings. Every message names the place and what
//! would be right.

use std::path::Path;

/// Why the settings could not be put together: a fault of a file, a variable, a flag, or the
/// built-in defaults, where it stands and what would be right.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(pub(crate) String);

impl SettingsError {
    /// A file that was asked for and cannot be read.
    pub(crate) fn unread(path: &Path, error: &std::io::Error) -> Self {
        let path = path.to_string_lossy();
        Self(format!(
            "configuration file {path:?} cannot be read: {error}"
        ))
    }

    /// A value that does not fit its key.
    pub(crate) fn value(place: &str, key: &str, message: &str) -> Self {
        Self(format!("{place}: {key}: {message}"))
    }

    /// A key that no default has; `hint` names the nearest known one, as the end of a sentence.
    pub(crate) fn unknown_key(place: &str, key: &str, hint: &str) -> Self {
        Self(format!("{place}: unknown key {key:?}{hint}"))
    }

    /// The program's own defaults are broken: a mistake of ours.
    pub(crate) fn defaults(error: &toml::de::Error) -> Self {
        Self(format!("the built-in defaults are broken: {error}"))
    }
}
