//! Progress of a run: the notices that whoever watches it is given.
//!
//! Nothing is printed here, and no run depends on what is done with a notice.

use crate::record::{Outcome, Purpose, Step, StepId};
use crate::repair::Run;
use patchwright_source::counted;
use std::fmt;
use std::sync::Arc;

/// One thing that happens to a run.
#[derive(Debug)]
pub enum Notice<'a> {
    /// A step is about to be done.
    Doing(Progress),
    /// A part of a step has begun.
    Part(&'a str),
    /// A step was done.
    Done(&'a Outcome),
    /// Something worth telling that is no step.
    Remark(&'a str),
    /// Nothing more will be told: the run has ended, or is left paused.
    Over,
}

/// Whoever is told the notices of a run.
#[derive(Clone)]
pub struct Observer(Arc<dyn Fn(&Notice<'_>) + Send + Sync>);

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}

impl Observer {
    /// Calls a function with every notice.
    pub fn new(told: impl Fn(&Notice<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }

    /// Ignores every notice.
    pub fn silent() -> Self {
        Self::new(|_| {})
    }

    /// Tells something that is no step.
    pub fn remark(&self, remark: &str) {
        self.tell(&Notice::Remark(remark));
    }

    /// Passes a notice on.
    pub fn tell(&self, notice: &Notice<'_>) {
        (self.0)(notice);
    }
}

/// The step that is about to be done, and the budget that is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// In a few words.
    pub doing: String,
    /// In a few words; empty while nothing of it was used.
    pub left: String,
}

impl Progress {
    /// The progress of a run that is about to take a step.
    pub fn of(id: StepId, step: &Step, run: &Run) -> Self {
        let lane = if run.lanes() > 1 && id.lane > 0 {
            format!("lane {}: ", id.lane)
        } else {
            String::new()
        };
        let count = |items: usize, noun: &str| counted(items as u64, noun);
        let doing = match step {
            Step::Baseline => {
                "building the unpatched tree, replaying the PoVs, running the tests".to_owned()
            }
            Step::Context { .. } => "gathering the code of the crash".to_owned(),
            Step::Ask { purpose, .. } => asked(*purpose).to_owned(),
            Step::Wait { until, .. } => format!("paused until {until}"),
            Step::Retrieve { round, queries, .. } => match queries.len() {
                1 => format!("round {round}: 1 query"),
                count => format!("round {round}: {count} queries"),
            },
            Step::Probe { probes } => format!("{} under a debugger", count(probes.len(), "probe")),
            Step::Locate { patch } => {
                format!("placing a patch of {}", count(patch.edits.len(), "edit"))
            }
            Step::Climb { attempt, rung } => format!("attempt {attempt}: {}", rung.as_str()),
            Step::Challenge {
                attempt, inputs, ..
            } => {
                format!("attempt {attempt}: {}", count(inputs.len(), "challenge"))
            }
            Step::Agree { attempts, .. } => {
                format!("comparing the behaviour of {} candidates", attempts.len())
            }
            Step::Minimize { .. } => {
                "searching for the smallest input that shows the crash".to_owned()
            }
            Step::TestFiles { .. } => "looking for the project's tests".to_owned(),
            Step::Prove { test, .. } => match test {
                Some(_) => "running the regression test without the patch and with it",
                None => "running a script with the PoV without the patch and with it",
            }
            .to_owned(),
            Step::End { ending } => ending.kind.to_string(),
        };
        Self {
            doing: format!("{lane}{doing}"),
            left: left_in_words(run),
        }
    }
}

/// Tells what is left of the budget; nothing while nothing of it was used.
fn left_in_words(run: &Run) -> String {
    let left = run.left();
    let untouched = left.attempts == left.attempts_of && left.rounds == left.rounds_of;
    if untouched && run.spent().cost.usd <= 0.0 {
        return String::new();
    }
    let attempts = format!("{}/{} attempts", left.attempts, left.attempts_of);
    let rounds = format!("{}/{} rounds", left.rounds, left.rounds_of);
    let usd = run.limits().usd.map_or(String::new(), |limit| {
        let usd = (limit - run.spent().cost.usd).max(0.0);
        format!(", {usd:.2}/{limit:.2} USD")
    });
    format!("left {attempts}, {rounds}{usd}")
}

fn asked(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Repair => "asking the model",
        Purpose::Contest => "asking the model about a difference",
        Purpose::Compact => "asking the model what of the conversation still matters",
        Purpose::Challenge => "asking a model for inputs against the patch",
        Purpose::RegressionTest => "asking the model for a regression test",
        Purpose::Critic => "asking the critic",
        Purpose::Judge => "asking which candidate is the best",
    }
}
