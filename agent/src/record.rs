//! Records: the plain values that the steps of a run exchange and its journal
//! keeps.
//!
//! They hold what was observed and decide nothing: no clock, no input or output.

mod attempt;
mod challenge;
mod limits;
mod probe;
mod step;

pub(crate) const UNCHALLENGED: &str = "no challenge was written";
pub(crate) const UNHEARD: &str = "the critic could not be heard";
pub(crate) const UNREAD: &str = "nobody has reviewed it";

/// Returns the reason of a rung without what follows one of these statements: it tells whoever
/// runs Patchwright why it is so and what to do, is no evidence, and may name a place of the machine.
pub fn statement(reason: &str) -> &str {
    let ends = [UNCHALLENGED, UNHEARD, UNREAD].into_iter();
    let ends = ends.filter_map(|statement| {
        let (before, _) = reason.split_once(&format!("{statement}: "))?;
        let is_ours = before.is_empty() || before.ends_with("; ");
        is_ours.then_some(before.len() + statement.len())
    });
    let end = ends.min().unwrap_or(reason.len());
    reason.get(..end).unwrap_or(reason)
}

pub use attempt::{Attempt, Evaluation, FollowUp, Revision, lines_changed};
pub use challenge::{ChallengeRecord, ChallengeSource, ChallengedRecord, PovRecord};
pub use limits::{Cost, Left, RunLimits, Seconds, Spent};
pub use patchwright_record::{
    AcceptedInput, AgreedInput, Agreement, Blob, CommitRecord, Crash, CrashFrame, CrashHistory,
    Doubt, DoubtedInput, Ending, EndingKind, FoundInput, RegressionRecord, Rung, RungName,
    SmallestRecord, Split, TestFiles, result,
};
pub use probe::{ProbeQuestion, ProbeTold, Probed};
pub use step::{
    BaselineSummary, ContextText, Full, Located, LocatedPatch, Observed, Outcome, Postponed,
    Purpose, ReplyRecord, Retrieved, SignalRecord, Step, StepId, Unanswered,
};
