//! Errors of a target. None of them is a verdict on a patch.

use patchwright_sandbox::SandboxError;
use patchwright_source::SourceError;
use std::path::{Path, PathBuf};

/// Outcome of what a target does.
pub type Result<T, E = TargetError> = std::result::Result<T, E>;

/// The reason why nothing could be judged.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The task is wrong: its tree does not build, a command does not start, a path is no path.
    #[error("the task is not valid: {reason}")]
    InvalidTask {
        /// The fault and its place.
        reason: String,
        /// The output of the command, if one ran.
        log: String,
    },
    /// No PoV makes the unpatched program crash here.
    #[error("no PoV crashes the unpatched program here: {reason}")]
    NotReproducible {
        /// The outcome of each PoV.
        reason: String,
        /// The output of the last of them.
        log: String,
    },
    /// A failure of disk, sandbox or system, which is to be retried and never counted against a
    /// patch; or the caller stopped waiting.
    #[error(transparent)]
    Sandbox(SandboxError),
}

impl TargetError {
    /// Creates an error for failed input or output at a path.
    pub fn io(what: &str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        SandboxError::io(what, path, source).into()
    }

    /// Creates an error for a tree of the task that could not be read.
    pub fn tree(error: &SourceError, root: &Path) -> Self {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
        let what = format!("{error}{}", cause.unwrap_or_default());
        Self::machinery(what, root.display().to_string())
    }

    /// Creates an error for a failure of the infrastructure without a system error.
    pub fn machinery(what: impl Into<String>, place: impl Into<String>) -> Self {
        SandboxError::machinery(what, place).into()
    }

    /// Creates an error for a mistake in the task, found before anything ran.
    pub fn invalid(reason: impl Into<String>) -> Self {
        SandboxError::invalid(reason).into()
    }
}

impl From<SandboxError> for TargetError {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Invalid { reason, log } => Self::InvalidTask { reason, log },
            error => Self::Sandbox(error),
        }
    }
}
