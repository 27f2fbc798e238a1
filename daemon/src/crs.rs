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
pub enum Failure {
    /// Trying again later may mend it.
    #[error("{0}")]
    Passing(String),
    /// It would be the same again.
    #[error("{0}")]
    Lasting(String),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("files of the case: {0}")]
    Files(#[from] std::io::Error),
    #[error(transparent)]
    Task(#[from] TaskError),
}

impl Failure {
    /// Returns true when trying again later may help.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Lasting(_) => false,
            Self::Task(error) => matches!(error, TaskError::Missing { .. }),
            _ => true,
        }
    }
}
