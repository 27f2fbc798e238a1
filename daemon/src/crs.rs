//! The interfaces of cyber reasoning systems: what they send becomes tasks,
//! what we find goes back to them in their own words.
//!
//! [`oss`] is a run mode of its own. The others live in the daemon: `api`
//! takes messages down, [`watch`] makes tasks of them, tries every patch on the
//! other PoVs of its case ([`cover`], [`choice`]) and sends the chosen ones
//! ([`competition`]).
//!
//! Nothing here decides whether a patch is right; that is the business of a run.

pub mod api;
pub mod case;
pub mod choice;
pub mod competition;
pub mod cover;
pub mod ground;
pub mod oss;
pub mod patch_request;
pub mod protocol;
pub mod rows;
pub mod watch;

use patchwright_agent::task::TaskError;
use patchwright_store::StoreError;

/// When the competition answered last, as the watcher notes it.
const READY: &str = "crs ready";

/// Failure of a step that knows if it may pass.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    message: String,
    passing: bool,
}

impl Failure {
    /// A failure that trying again later may mend.
    fn later(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            message,
            passing: true,
        }
    }

    /// A failure that would be the same again.
    fn lasting(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            message,
            passing: false,
        }
    }

    /// Returns true when trying again later may help.
    pub fn may_pass(&self) -> bool {
        self.passing
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::later(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::later(format!("files of the case: {error}"))
    }
}

impl From<TaskError> for Failure {
    fn from(error: TaskError) -> Self {
        Self::lasting(error.to_string())
    }
}
