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
pub mod watch;

/// When the competition answered last, as the watcher notes it.
const READY: &str = "crs ready";
