//! OSS-CRS as a run mode: what lies in its folders becomes tasks, its builder
//! and runner sidecars become a target, and the smallest set of patches goes
//! into its folder of submissions.
//!
//! The framework starts one container for one target and one harness; there is
//! no queue and no daemon here.

pub mod candidates;
pub mod environment;
pub mod folders;
pub mod sidecar;
pub mod target;
pub mod tasks;

pub use candidates::Candidates;
pub use environment::Environment;
pub use folders::{Found, submit, submit_report};
pub use sidecar::Sidecars;
pub use target::SidecarTarget;
