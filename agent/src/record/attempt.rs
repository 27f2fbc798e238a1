//! One patch and its verdict, rung by rung.

use patchwright_patcher::Patch;
use patchwright_record::{AcceptedInput, RegressionRecord, Rung, RungName};
use serde::{Deserialize, Serialize};

/// One patch and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Counted from 1 over the run.
    pub number: u32,
    /// The lane that made it.
    pub lane: u32,
    /// Patch as the model wrote it.
    pub patch: Patch,
    /// Against the pristine tree.
    pub diff: String,
    /// True when the tree is no UTF-8 there: the characters of the diff stand for
    /// the bytes of the same numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latin1: bool,
    /// The lines around the touched ones, as they are without the patch.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub surroundings: String,
    /// For recognising the same patch again.
    pub normal_form: String,
    /// Warnings that came up while it was placed.
    pub warnings: Vec<String>,
    /// The rungs, from the bottom.
    pub rungs: Vec<Rung>,
    /// True when its author sent another patch in place of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
    /// Regression test that goes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<RegressionRecord>,
}

impl Attempt {
    pub fn refuted_by(&self) -> Option<&Rung> {
        self.rungs.iter().find(|rung| rung.holds == Some(false))
    }

    /// Tells whether it may be delivered: nothing refuted it, and its author stands by it.
    pub fn stands(&self) -> bool {
        self.refuted_by().is_none() && !self.withdrawn
    }

    /// Counts the doubts that nothing settled.
    pub fn open_doubts(&self) -> usize {
        let doubts = self.rungs.iter().flat_map(|rung| &rung.doubts);
        doubts.filter(|doubt| doubt.is_open()).count()
    }

    /// The result of one rung.
    pub fn rung(&self, name: RungName) -> Option<&Rung> {
        self.rungs.iter().find(|rung| rung.name == name)
    }

    /// Tells whether one rung was climbed and holds.
    pub fn holds(&self, name: RungName) -> bool {
        self.rung(name).is_some_and(|rung| rung.holds == Some(true))
    }

    /// Orders attempts by their evidence: how far up they came without being
    /// refuted, then how much of that was really shown.
    pub fn strength(&self) -> (usize, usize) {
        let mut rungs = self.rungs.iter();
        let refuting = rungs.position(|rung| rung.holds == Some(false));
        let held = self.rungs.iter().filter(|rung| rung.holds == Some(true));
        (refuting.unwrap_or(self.rungs.len()), held.count())
    }

    /// The verdict in a part of a sentence, for somebody who sends the same patch again.
    pub fn verdict(&self) -> String {
        match self.refuted_by() {
            Some(rung) => {
                let name = rung.name.as_str();
                format!("it was refuted by the rung {name:?}: {}", rung.reason)
            }
            None if self.withdrawn => "it was withdrawn".to_owned(),
            None => "it was not refuted".to_owned(),
        }
    }

    /// Counts the lines that its diff adds and removes.
    pub fn lines_changed(&self) -> usize {
        lines_changed(&self.diff)
    }
}

/// Counts the lines that a diff adds and removes.
pub fn lines_changed(diff: &str) -> usize {
    let changed = |line: &&str| {
        line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
    };
    diff.lines().filter(changed).count()
}

/// Reason of a run that goes on from a candidate of an earlier one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FollowUp {
    /// Another patch is wanted, because a person rejected one.
    Revise(Box<Revision>),
    /// A candidate is to climb the ladder.
    Evaluate(Evaluation),
}

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
    pub attempt: u32,
    pub patch: Patch,
    /// Inputs on which a person found the new behaviour right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<AcceptedInput>,
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
