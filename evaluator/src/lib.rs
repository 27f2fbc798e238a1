//! Builds, replays, tests and attacks a patch in a sandbox, and judges what it saw.
//!
//! The reading half needs no process and no clock: [`crash`] finds the crash
//! report in a log, [`signature`] tells whether two crashes are one, and
//! [`test_report`] reads test results by name; [`feedback`] turns logs into
//! text that a repairer can act on. The
//! running half is a [`Target`], what can be built, replayed and tested:
//! [`LocalTarget`] does it with the commands of a task, each in a [`sandbox`].
//! [`Ladder`] takes an attempt up the ladder, one rung a call, and every rung
//! says what it saw.
//!
//! What this crate deliberately does not do: talk to a model, read a diff, or
//! decide how a run ends. It is given [`Changes`] and gives back evidence.

pub mod advice;
mod agreement;
pub mod attack;
mod attempt;
mod cache;
mod contained_path;
pub mod crash;
mod error;
mod evidence;
pub mod feedback;
mod given_inputs;
mod identity;
mod inspect;
mod ladder;
mod local;
mod minimize;
mod mutation;
pub mod probe;
mod process;
mod regression;
mod review;
mod robust;
mod rung;
pub mod runner;
mod same_elsewhere;
pub mod sandbox;
mod sanitizer_hooks;
pub mod signature;
pub mod test_report;
mod verdict_cache;
mod workspace;

pub use agreement::{Agreement, Candidate, Split, agreement};
pub use attempt::{AcceptedDifference, AttemptFacts};
pub use cache::Cache;
pub use crash::CrashReport;
pub use error::TargetError;
pub use evidence::{Doubt, DoubtedInput, FoundInput, RungName, RungResult};
pub use inspect::inspect;
pub use ladder::Ladder;
pub use local::{LocalTarget, fetch};
pub use minimize::{SmallestPov, minimize};
pub use patchwright_source::{Changes, Touched};
pub use process::{Captured, Ending, Execution, Limit};
pub use regression::{RegressionProof, RegressionRun, RegressionTest, prove_regression_test};
pub use rung::confirm::{confirm, confirm_ahead};
pub use rung::silent::stopped;
pub use runner::{
    Baseline, BaselinePov, Build, BuildKind, CommandLimits, Commands, Outcome, Pov, Replay, Target,
    TargetTask, TestRun,
};
pub use same_elsewhere::{
    CONTROLS_LEAVE_OPEN, CONTROLS_REACH, ChallengeInput, Challenged, MISSING_REACH, challenge,
};
pub use signature::Signature;
pub use test_report::TestReport;
pub use verdict_cache::VerdictCache;
