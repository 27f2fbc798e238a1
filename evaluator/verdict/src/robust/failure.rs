//! Failure of a mutated input: judged on both programs.

use super::EACH;
use crate::attempt::{last, touched_functions};
use crate::rung::{Programs, leak, replay_input};
use crate::witness::Failure;
use patchwright_crash::CrashReport;
use patchwright_crash::plain_name;
use patchwright_crash::signature::Change;
use patchwright_sandbox::{Ending, Limit};
use patchwright_target::Result;
use patchwright_target::runner::{Build, InputFile, Outcome, Pov, Replay};

/// The meaning of a failure for the patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// It refutes the patch.
    Refutes,
    /// Another bug, which the unpatched program has too.
    Preexisting,
    /// It did not happen again.
    NotRepeated,
    /// It is an answer of the program.
    Answer,
}

impl Programs<'_> {
    /// Runs the input alone on both programs and judges it.
    pub(super) async fn look(&self, input: &[u8]) -> Result<(FailureKind, Failure)> {
        let mut new = self.replay_briefly(&self.new, input).await?;
        let (kind, reason) = if !new.outcome.is_failure() {
            let kind = match &new.answer {
                Some(_) => FailureKind::Answer,
                None => FailureKind::NotRepeated,
            };
            (kind, "a failure did not happen again".to_owned())
        } else if !matches!(new.execution.ending, Ending::Limit(_)) {
            let old = self.replay_briefly(self.old, input).await?;
            let (mut kind, mut reason) = self.decide(&old, &new);
            let file = InputFile::like(self.pov, input)?;
            if kind == FailureKind::Refutes && leak::is_old(self, file.pov(), &new).await? {
                kind = FailureKind::Preexisting;
                reason.push_str("; the unpatched program leaks the same memory");
            }
            (kind, reason)
        } else {
            // A busy machine may be what took the time, so both run side by side.
            let old = self.replay_briefly(self.old, input);
            let again = self.replay_briefly(&self.new, input);
            let (old, again) = futures::future::join(old, again).await;
            let old = old?;
            new = again?;
            if new.outcome.is_failure() {
                self.decide(&old, &new)
            } else {
                let reason = "an input ended in time beside the unpatched program";
                (FailureKind::NotRepeated, reason.to_owned())
            }
        };
        let found = Failure {
            input: input.to_vec(),
            reason,
            shown: new.execution.text(),
            crash: new.crash,
        };
        Ok((kind, found))
    }

    fn decide(&self, old: &Replay, new: &Replay) -> (FailureKind, String) {
        let Some(crash) = &new.crash else {
            return self.decide_without_report(old, new);
        };
        let summary = &crash.summary;
        let pov = self.crash();
        let change = |known| self.target.task().change(known, crash);
        let had_it = old.crash.as_ref().map(change) == Some(Change::Same);
        let change = pov.map(change);
        let what = if change == Some(Change::Same) || pov.is_some_and(|pov| same_place(pov, crash))
        {
            "the same crash as the PoV's"
        } else if had_it {
            return (FailureKind::Preexisting, summary.clone());
        } else if change == Some(Change::Moved) {
            "the PoV's crash has moved"
        } else if ended_well(old) {
            "a crash that the patch brings in"
        } else if self.is_touched(crash) {
            "a crash in a function that the patch touches"
        } else {
            return (FailureKind::Preexisting, summary.clone());
        };
        (FailureKind::Refutes, format!("{what} ({summary})"))
    }

    fn decide_without_report(&self, old: &Replay, new: &Replay) -> (FailureKind, String) {
        let what = match new.execution.ending {
            Ending::Limit(Limit::WallTime) => "a hang".to_owned(),
            Ending::Limit(limit) => format!("the program hits its {}", limit.text()),
            ending => format!("a crash without a report ({ending})"),
        };
        let hangs = new.outcome == Outcome::Hung;
        let how = if hangs && self.before.replay.outcome == Outcome::Hung {
            ", as with the PoV"
        } else if ended_well(old) {
            " that the patch brings in"
        } else if hangs && old.outcome != Outcome::Hung {
            " where the unpatched program crashes"
        } else {
            return (FailureKind::Preexisting, what);
        };
        (FailureKind::Refutes, what + how)
    }

    fn is_touched(&self, crash: &CrashReport) -> bool {
        let mut touched = touched_functions(self.attempt).into_iter();
        crashed_in(crash).is_some_and(|crashed| {
            touched.any(|function| last(&plain_name(&function)) == last(&crashed))
        })
    }

    async fn replay_briefly(&self, build: &Build, input: &[u8]) -> Result<Replay> {
        let usual = self.pov.timeout.unwrap_or(self.target.task().limits.pov);
        let each = self.before.time_limit(10, EACH);
        let pov = Pov {
            timeout: Some(usual.min(2 * each)),
            ..self.pov.clone()
        };
        replay_input(self.target, build, &pov, input).await
    }
}

/// Tells whether a run neither failed nor gave up on its input.
fn ended_well(run: &Replay) -> bool {
    !run.outcome.is_failure() && run.answer.is_none()
}

/// Tells whether two crashes are of one kind and in one function of the project, whoever
/// called it.
fn same_place(one: &CrashReport, other: &CrashReport) -> bool {
    one.kind == other.kind && crashed_in(one).is_some_and(|one| Some(one) == crashed_in(other))
}

/// Returns the function of the project in which a program crashed.
fn crashed_in(crash: &CrashReport) -> Option<String> {
    let frame = crash.first_project_frame()?;
    Some(plain_name(&frame.function))
}
