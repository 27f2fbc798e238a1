//! Records: the plain values that the steps of a run exchange and its journal
//! keeps.
//!
//! They hold what was observed and decide nothing: no clock, no input or output.

mod attempt;
mod challenge;
mod limits;
mod probe;
mod sandbox;
mod step;

/// Statements of a rung after which its reason tells whoever runs Patchwright why it is so,
/// and what to do: the latter is no evidence, and may name a place of the machine.
pub const STATEMENTS: [&str; 3] = [UNCHALLENGED, UNHEARD, UNREAD];
pub(crate) const UNCHALLENGED: &str = "no challenge was written";
pub(crate) const UNHEARD: &str = "the critic could not be heard";
pub(crate) const UNREAD: &str = "nobody has reviewed it";

pub use attempt::{Attempt, Evaluation, FollowUp, Revision, lines_changed};
pub use challenge::{ChallengeRecord, ChallengeSource, ChallengedRecord, PovRecord};
pub use limits::{Cost, Left, RunLimits, Seconds, Spent};
pub use patchwright_record::{
    AcceptedInput, AgreedInput, Agreement, Blob, CommitRecord, Crash, CrashFrame, CrashHistory,
    Doubt, DoubtedInput, Ending, EndingKind, FoundInput, RegressionRecord, Rung, RungName,
    SmallestRecord, Split, TestFiles,
};
pub use probe::{ProbeQuestion, ProbeTold, Probed};
pub use sandbox::{SandboxRecord, StrongerSandbox};
pub use step::{
    BaselineSummary, ContextText, Full, Located, LocatedPatch, Observed, Outcome, Postponed,
    Purpose, ReplyRecord, Retrieved, SignalRecord, Step, StepId, Unanswered,
};
