//! Builds, replays, tests and attacks a patch in a sandbox, and judges what it saw.
//!
//! The reading half needs no process and no clock: [`crash`] finds the crash
//! report in a log, [`signature`] tells whether two crashes are one, and
//! [`test_report`] reads test results by name; [`feedback`] turns logs into
//! text that a repairer can act on. The
//! running half is a [`Target`], what can be built, replayed and tested:
//! [`LocalTarget`] does it with the commands of a task, each in a [`sandbox`].
//! [`climb`] takes an attempt up the ladder, one rung a call, and every rung
//! says what it saw.
//!
//! What this crate deliberately does not do: talk to a model, read a diff, or
//! decide how a run ends. It is given [`Changes`] and gives back evidence.

pub mod attack;
mod beneath;
mod cache;
mod changes;
pub mod crash;
mod error;
pub mod feedback;
mod identity;
mod ladder;
mod mutation;
pub mod probe;
mod process;
mod rung;
pub mod sandbox;
pub mod signature;
pub mod target;
pub mod test_report;
mod touched;
mod workspace;

pub use cache::Cache;
pub use changes::Changes;
pub use crash::CrashReport;
pub use error::TargetError;
pub use ladder::{AttemptFacts, FoundInput, RungName, RungResult, Touched, climb};
pub use process::{Captured, Ending, Execution, Limit};
pub use rung::confirmed::confirm;
pub use rung::silent::stopped;
pub use signature::Signature;
pub use target::{
    Baseline, BaselinePov, Build, BuildKind, CommandLimits, Commands, LocalTarget, Outcome, Pov,
    Replay, Target, TargetTask, TestRun, fetch,
};
pub use test_report::TestReport;
