//! Judgement: takes an attempt up the ladder, one rung a call, and every rung says what it saw.
//!
//! [`Ladder`] climbs. What this crate deliberately does not do: talk to a model, read a diff, or
//! decide how a run ends. It is given an attempt and a target, and gives back evidence.

mod agreement;
mod attempt;
mod comparison;
mod evidence;
mod given_inputs;
mod ladder;
mod memcheck;
mod minimize;
mod mutation;
mod regression;
mod review;
mod robust;
mod rung;
mod same_elsewhere;
#[cfg(test)]
mod tests;
mod verdict_cache;
mod witness;

pub use agreement::{Candidate, agreement};
pub use attempt::AttemptFacts;
pub use comparison::{Comparison, compare};
pub use evidence::{AcceptedInput, Doubt, DoubtedInput, FoundInput, Rung, RungName};
pub use ladder::Ladder;
pub use minimize::minimize;
pub use regression::{RegressionRun, RegressionTest, prove_regression_test};
pub use rung::confirm::{confirm, confirm_ahead};
pub use rung::silent::stopped;
pub use same_elsewhere::{
    BESIDES, CONTROLS_LEAVE_OPEN, CONTROLS_REACH, ChallengeInput, Challenged, MISSING_REACH,
    OPEN_BRANCHES, OPEN_FOR_DIFFERENCES, challenge,
};
pub use verdict_cache::VerdictCache;
