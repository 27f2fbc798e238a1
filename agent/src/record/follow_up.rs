//! Follow-up: what a person asked for about a candidate of an earlier run.

use super::attempt::Attempt;
use patchwright_patcher::Patch;
use patchwright_record::{AcceptedInput, Rung, RungName};
use serde::{Deserialize, Serialize};

/// Reason of a run that goes on from a candidate of an earlier one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FollowUp {
    /// Another patch is wanted, because a person rejected one.
    Revise(Box<Revision>),
    /// A candidate is to climb the ladder.
    Evaluate(Evaluation),
}

/// A rejected candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    /// The run that it comes from.
    pub run: String,
    /// The attempt as it was there.
    pub attempt: Attempt,
    /// The reason of whoever rejected it.
    pub reason: String,
    /// The name of whoever rejected it.
    pub who: String,
}

/// A candidate that is to be evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The run that it comes from.
    pub run: String,
    /// Its number there.
    pub attempt: u32,
    pub patch: Patch,
    /// Inputs on which a person found the new behaviour right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<AcceptedInput>,
}

impl FollowUp {
    /// Returns the run and the attempt that are followed up on.
    pub fn subject(&self) -> (&str, u32) {
        match self {
            Self::Revise(revision) => (&revision.run, revision.attempt.number),
            Self::Evaluate(evaluation) => (&evaluation.run, evaluation.attempt),
        }
    }
}

impl Revision {
    /// Returns the rejected patch as the first attempt of the run that follows it up:
    /// refuted by a person, whatever it had reached before. The model must not send
    /// it again.
    pub(crate) fn first_attempt(&self) -> Attempt {
        let reason = format!("{} rejected it: {}", self.who, self.reason);
        Attempt {
            number: 1,
            lane: 1,
            rungs: vec![Rung::new(RungName::Reviewed, Some(false), &reason)],
            withdrawn: false,
            regression: None,
            ..self.attempt.clone()
        }
    }
}
