//! Closing of a run whose best attempt stands: the smallest input that shows the crash is
//! sought, and a regression test is written and proved before the run ends. Whatever comes
//! of it changes nothing about the ending.

use super::{Phase, Run};
use crate::prompt;
use crate::record::{
    Ending, EndingKind, Outcome, Purpose, RegressionRecord, SmallestRecord, Step, TestFiles,
};
use crate::task::Mode;
use patchwright_model::{Finish, Message};
use patchwright_patcher::{Patch, reply};
use patchwright_verdict::RungName;
use std::time::Duration;

/// The end of a run, put off until its patch has all that goes with it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Closing {
    /// The ending that waits.
    pub(super) ending: Ending,
    /// The attempt that gets a test.
    attempt: u32,
    stage: ClosingStage,
    /// Why a test in the project's framework did not hold.
    before: Option<String>,
}

/// The next thing to do.
#[derive(Debug, Clone, PartialEq)]
enum ClosingStage {
    /// The smallest input that shows the crash is to be found.
    Minimize,
    /// The project's tests are to be gathered.
    Files,
    /// A model is to be asked for a test.
    Ask(Vec<Message>),
    /// A test is to be proved; without one, a script that runs the PoV.
    Prove(Option<Patch>),
}

impl Run {
    /// Ends the run; for a patch that stands the smallest input is sought and a regression
    /// test is written first.
    pub(super) fn conclude(&mut self, ending: Ending, attempt: Option<u32>) {
        let delivered = matches!(ending.kind, EndingKind::Verified | EndingKind::Plausible);
        let wanted = delivered
            && self.plan.mode == Mode::Repair
            && self.plan.has_povs
            && self.foreign.is_none();
        let limits = &self.plan.limits;
        let first = if limits.minimize > Duration::ZERO {
            Some(ClosingStage::Minimize)
        } else {
            (limits.regression_tests > 0).then_some(ClosingStage::Files)
        };
        match (attempt.filter(|_| wanted), first) {
            (Some(attempt), Some(stage)) => {
                self.phase = Phase::Closing(Closing {
                    ending,
                    attempt,
                    stage,
                    before: None,
                });
            }
            _ => self.phase = Phase::Ended(ending),
        }
    }

    /// Returns the step that closes the run.
    pub(super) fn closing_step(&self, closing: &Closing) -> Step {
        let attempt = closing.attempt;
        match &closing.stage {
            ClosingStage::Minimize => Step::Minimize {
                budget: self.plan.limits.minimize,
            },
            ClosingStage::Files => Step::TestFiles { attempt },
            ClosingStage::Ask(messages) => Step::Ask {
                purpose: Purpose::RegressionTest,
                messages: messages.clone(),
            },
            ClosingStage::Prove(test) => Step::Prove {
                attempt,
                test: test.clone(),
                refuted: self.refuted_when_run(),
            },
        }
    }

    pub(super) fn on_closing(&mut self, outcome: Outcome) {
        let Phase::Closing(closing) = &self.phase else {
            return;
        };
        let attempt = closing.attempt;
        match (closing.stage.clone(), outcome) {
            (ClosingStage::Minimize, Outcome::Minimized(record)) => self.on_minimized(record),
            (ClosingStage::Files, Outcome::TestFiles(files)) => self.ask_for_test(attempt, &files),
            (ClosingStage::Ask(_), Outcome::Reply(record)) => {
                let read = reply::read(&record.text, record.finish == Finish::Length);
                self.close_with(ClosingStage::Prove(read.patch));
            }
            (ClosingStage::Prove(test), Outcome::Proved(record)) => {
                self.on_proved(test.is_some(), record);
            }
            // Nobody can be asked: the PoV itself is the test.
            _ => self.close_with(ClosingStage::Prove(None)),
        }
    }

    fn on_minimized(&mut self, record: SmallestRecord) {
        self.smallest = Some(record).filter(|record| record.input.is_some());
        if self.plan.limits.regression_tests > 0 {
            return self.close_with(ClosingStage::Files);
        }
        if let Phase::Closing(closing) = &self.phase {
            self.phase = Phase::Ended(closing.ending.clone());
        }
    }

    fn close_with(&mut self, stage: ClosingStage) {
        if let Phase::Closing(closing) = &mut self.phase {
            closing.stage = stage;
        }
    }

    fn ask_for_test(&mut self, attempt: u32, files: &TestFiles) {
        if files.text.is_empty() || files.command.is_empty() {
            return self.close_with(ClosingStage::Prove(None));
        }
        let crash = self.first_crash();
        let baseline = self.baseline.clone().unwrap_or_default();
        let diff = self
            .attempt(attempt)
            .map_or("", |attempt| attempt.diff.as_str());
        let text = prompt::regression_test((&self.plan, &baseline), &crash.text, diff, files);
        self.close_with(ClosingStage::Ask(vec![Message::user(text)]));
    }

    fn on_proved(&mut self, written: bool, mut record: RegressionRecord) {
        let Phase::Closing(closing) = &mut self.phase else {
            return;
        };
        if written && !record.holds {
            closing.before = Some(record.reason);
            closing.stage = ClosingStage::Prove(None);
            return;
        }
        if let Some(before) = closing.before.take() {
            record.reason = format!(
                "{}; a test in the project's own framework was written first: {before}",
                record.reason
            );
        }
        let (ending, number) = (closing.ending.clone(), closing.attempt);
        self.phase = Phase::Ended(ending);
        if let Some(attempt) = self.attempt_mut(number) {
            attempt.regression = Some(record);
        }
    }

    /// The refuted attempts that were built and run.
    fn refuted_when_run(&self) -> Vec<u32> {
        let refuted = self.attempts.iter().filter(|attempt| {
            let rung = attempt.refuted_by();
            rung.is_some_and(|rung| rung.name >= RungName::Silent)
        });
        refuted.map(|attempt| attempt.number).collect()
    }
}
