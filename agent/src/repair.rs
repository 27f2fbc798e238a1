//! The decisions of a run, and nothing but decisions.
//!
//! A [`Run`] says what can be done now ([`Run::ready`]) and takes what came of
//! it ([`Run::feed`]). There is no clock here, no input or output, no async, no
//! randomness: the same outcomes in the same order always give the same run,
//! which is how a run is resumed, replayed and tested. Whoever performs the
//! steps is `drive`.

mod attempt;
mod ending;
mod lane;
mod limits;
mod opinion;
mod plan;
mod probe;
mod retrieved;
mod run;
mod step;
#[cfg(test)]
mod tests;

pub use attempt::{Attempt, FoundRecord, RungRecord};
pub use ending::{Ending, EndingKind};
pub use limits::{Left, RunLimits, Spent};
pub use plan::{Origin, Plan};
pub use probe::{ProbeQuestion, ProbeTold, Probed};
pub use retrieved::{ContextText, Retrieved, SignalRecord};
pub use run::Run;
pub use step::{
    BaselineSummary, Crash, CrashFrame, Full, Located, LocatedPatch, Outcome, Postponed, Purpose,
    ReplyRecord, Step, StepId, Unanswered,
};
