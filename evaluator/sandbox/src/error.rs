//! Errors of the sandbox: a command that could not be run as it was asked for.

use std::path::PathBuf;

/// Outcome of a command.
pub type Result<T, E = SandboxError> = std::result::Result<T, E>;

/// The reason why a command has no ending.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The command or its image is wrong: no path, no such image, a Dockerfile that does not build.
    #[error("{reason}")]
    Invalid {
        /// The fault and its place.
        reason: String,
        /// The output of the engine that made the image.
        log: String,
    },
    /// A failure of disk, sandbox or system.
    #[error("{what} ({where_})")]
    Infrastructure {
        /// The failure.
        what: String,
        /// The path, the program or the step.
        where_: String,
        /// The error of the system.
        #[source]
        source: Option<std::io::Error>,
    },
    /// The caller stopped waiting.
    #[error("the command was called off")]
    Canceled,
}

impl SandboxError {
    /// Creates an error for failed input or output at a path.
    pub fn io(what: &str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Infrastructure {
            what: format!("{what}: {source}"),
            where_: path.into().display().to_string(),
            source: Some(source),
        }
    }

    /// Creates an error for a failure of the infrastructure without a system error.
    pub fn machinery(what: impl Into<String>, place: impl Into<String>) -> Self {
        Self::Infrastructure {
            what: what.into(),
            where_: place.into(),
            source: None,
        }
    }

    /// Creates an error for a mistake that was found before anything ran.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid {
            reason: reason.into(),
            log: String::new(),
        }
    }
}
