//! Why the target could not give an answer. None of it is a verdict on a patch.

use patchwright_source::SourceError;
use std::path::{Path, PathBuf};

/// What stopped the evaluator before it could judge.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The task is wrong: its tree does not build, a command does not start, a path is no path.
    #[error("the task is not valid: {reason}")]
    InvalidTask {
        /// What is wrong, and where.
        reason: String,
        /// What the command printed, if one ran.
        log: String,
    },
    /// No PoV makes the unpatched program crash here.
    #[error("no PoV crashes the unpatched program here: {reason}")]
    NotReproducible {
        /// What each PoV did instead.
        reason: String,
        /// What the last of them printed.
        log: String,
    },
    /// Disk, sandbox or system: worth another try, never held against a patch.
    #[error("{what} ({where_})")]
    Infrastructure {
        /// What happened.
        what: String,
        /// The path, the program or the step.
        where_: String,
        /// What the system said.
        #[source]
        source: Option<std::io::Error>,
    },
    /// Whoever asked has stopped waiting.
    #[error("the command was called off")]
    Canceled,
}

impl TargetError {
    /// An input or output failure at a path.
    pub(crate) fn io(what: &str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Infrastructure {
            what: format!("{what}: {source}"),
            where_: path.into().display().to_string(),
            source: Some(source),
        }
    }

    /// A tree of the task that could not be read.
    pub(crate) fn tree(error: &SourceError, root: &Path) -> Self {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
        let what = format!("{error}{}", cause.unwrap_or_default());
        Self::machinery(what, root.display().to_string())
    }

    /// A failure of the machinery that has no system error behind it.
    pub(crate) fn machinery(what: impl Into<String>, place: impl Into<String>) -> Self {
        Self::Infrastructure {
            what: what.into(),
            where_: place.into(),
            source: None,
        }
    }

    /// A mistake in the task, found before anything ran.
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::InvalidTask {
            reason: reason.into(),
            log: String::new(),
        }
    }
}
