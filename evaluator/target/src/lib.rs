//! Targets: what can be built, replayed, tested and observed.
//!
//! [`LocalTarget`] does it with the commands of a task, each in a sandbox. A target reports facts;
//! the crates above judge.

pub mod advice;
pub mod cache;
mod error;
mod inspect;
mod local;
pub mod probe;
pub mod runner;
mod sanitizer_hooks;
#[cfg(any(test, feature = "test-support"))]
pub mod test_support;
mod work_time;
mod workspace;

pub use cache::Cache;
pub use error::{Result, TargetError};
pub use inspect::inspect;
pub use local::{
    FetchPlace, LocalTarget, Scratch, TaskDigest, digest_of_inputs, fetch, put_record, quoted,
};
pub use runner::{
    Baseline, BaselinePov, Build, BuildKind, CommandLimits, Commands, Outcome, Pov, Replay, Target,
    TargetTask, TestRun,
};
pub use work_time::WorkTime;
