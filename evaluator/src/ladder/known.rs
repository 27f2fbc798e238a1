//! What is known of a patch from an earlier run: which rungs need not be climbed again.
//!
//! The question that is asked of the target names all that a rung's result
//! depends on besides the task itself: the patch, what it touches, the inputs
//! that refuted others, what was seen of the unpatched program, the isolation.
//! Only what a rung calls settled is kept. Rungs that cost nothing are always
//! climbed, and so is the last look at a patch that is about to be delivered
//! (`confirm`): what is called verified was seen in the same run.

use super::{AttemptFacts, RungName, RungResult};
use crate::process::{Captured, Execution};
use crate::target::{Baseline, Target};
use sha2::{Digest, Sha256};

/// How the evidence says that a rung was not climbed anew.
const FROM_CACHE: &str = "from the cache";

/// The question whose answer is the result of a rung; nothing for rungs that
/// are as quick to climb.
fn question(baseline: &Baseline, attempt: &AttemptFacts, rung: RungName) -> Option<String> {
    match rung {
        RungName::Applies | RungName::Parses | RungName::Reviewed => return None,
        RungName::Builds
        | RungName::Silent
        | RungName::Tested
        | RungName::Robust
        | RungName::SameElsewhere => {}
    }
    let mut parts = Parts(Sha256::new());
    parts.add(rung.name());
    parts.add(attempt.changes.digest());
    parts.add(format!("{:?}", attempt.touched));
    for input in &attempt.found {
        parts.add(&input.pov);
        parts.add(&input.bytes);
    }
    parts.add(format!("{:?}", baseline.isolation));
    for pov in &baseline.povs {
        parts.add(&pov.name);
        parts.add(format!("{} {} {}", pov.runs, pov.crashes, pov.repeat));
        parts.add(format!("{:?}", pov.replay.outcome));
        parts.execution(&pov.replay.execution);
    }
    if let Some(tests) = &baseline.tests {
        parts.execution(&tests.execution);
        for (path, report) in &tests.reports {
            parts.add(path);
            parts.add(report);
        }
    }
    Some(format!("{:x}", parts.0.finalize()))
}

/// The parts of a question, each apart from the next.
struct Parts(Sha256);

impl Parts {
    fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    fn execution(&mut self, execution: &Execution) {
        self.add(execution.ending.to_string());
        let streams = [Some(&execution.output), execution.standard_output.as_ref()];
        for Captured { head, tail, total } in streams.into_iter().flatten() {
            self.add(head);
            self.add(tail);
            self.add(total.to_le_bytes());
        }
    }
}

/// A rung about to be climbed, and what earlier runs know of it.
pub(super) struct Known<'a> {
    target: &'a dyn Target,
    question: Option<String>,
}

impl<'a> Known<'a> {
    pub(super) fn of(
        target: &'a dyn Target,
        baseline: &Baseline,
        attempt: &AttemptFacts,
        rung: RungName,
    ) -> Self {
        let question = question(baseline, attempt, rung);
        Self { target, question }
    }

    /// The result of an earlier climb.
    pub(super) async fn recall(&self) -> Option<RungResult> {
        let verdict = self.target.known_verdict(self.question.as_deref()?).await?;
        Some(verdict.count(FROM_CACHE, 1))
    }

    /// Keeps the result for others, where they would come to the same.
    pub(super) async fn keep(&self, result: &RungResult) {
        if let Some(question) = &self.question
            && result.settled
            && result.holds.is_some()
        {
            self.target.keep_verdict(question, result).await;
        }
    }
}
