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
