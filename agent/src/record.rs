//! Records: the plain values that the steps of a run exchange and its journal
//! keeps.
//!
//! They hold what was observed and decide nothing: no clock, no input or output.

mod agreement;
mod attempt;
mod challenge;
mod crash;
mod ending;
mod history;
mod limits;
mod probe;
mod regression;
mod retrieved;
mod sandbox;
pub(crate) mod seconds;
mod smallest;
mod step;

pub use agreement::{AgreedInput, AgreementRecord, SplitRecord};
pub use attempt::{
    AcceptedRecord, Attempt, DoubtRecord, DoubtedInputRecord, FoundRecord, RungRecord,
};
pub use challenge::{ChallengeRecord, ChallengeSource, ChallengedRecord, PovRecord};
pub use crash::{Crash, CrashFrame};
pub use ending::{Ending, EndingKind};
pub use history::{CommitRecord, CrashHistory};
pub use limits::{Left, RunLimits, Spent};
pub use probe::{ProbeQuestion, ProbeTold, Probed};
pub use regression::{RegressionRecord, TestFiles};
pub use retrieved::{ContextText, Retrieved, SignalRecord};
pub use sandbox::{SandboxRecord, StrongerSandbox};
pub use seconds::duration;
pub use smallest::SmallestRecord;
pub use step::{
    BaselineSummary, Full, Located, LocatedPatch, Observed, Outcome, Postponed, Purpose,
    ReplyRecord, Step, StepId, Unanswered,
};
