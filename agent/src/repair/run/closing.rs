//! Closing of a run whose best attempt stands: the smallest input that shows the crash is
//! sought, and a regression test is written and proved before the run ends. Whatever comes
//! of it changes nothing about the ending.

use super::{Phase, Run};
use crate::prompt;
use crate::record::{
    Attempt, Ending, EndingKind, FollowUp, Outcome, Purpose, RegressionRecord, Step, TestFiles,
};
use crate::repair::lane::{Finished, Lane, Stage, ask};
use crate::task::Mode;
use patchwright_model::{Finish, Message};
use patchwright_patcher::{Patch, reply};
use patchwright_source::counted;
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
        self.phase = match (attempt.filter(|_| wanted), first) {
            (Some(attempt), Some(stage)) => Phase::Closing(Closing {
                ending,
                attempt,
                stage,
                before: None,
            }),
            _ => Phase::Ended(ending),
        };
    }

    /// Returns the step that closes the run.
    pub(super) fn closing_step(&self, closing: &Closing) -> Step {
        let attempt = closing.attempt;
        match &closing.stage {
            ClosingStage::Minimize => Step::Minimize {
                budget: self.plan.limits.minimize,
            },
            ClosingStage::Files => Step::TestFiles { attempt },
            ClosingStage::Ask(messages) => ask(Purpose::RegressionTest, messages),
            ClosingStage::Prove(test) => Step::Prove {
                attempt,
                test: test.clone(),
                refuted: self.refuted_when_run(),
            },
        }
    }

    pub(super) fn on_closing(&mut self, mut closing: Closing, outcome: Outcome) {
        closing.stage = match (closing.stage.clone(), outcome) {
            (ClosingStage::Minimize, Outcome::Minimized(record)) => {
                self.smallest = Some(record).filter(|record| record.input.is_some());
                if self.plan.limits.regression_tests == 0 {
                    self.phase = Phase::Ended(closing.ending);
                    return;
                }
                ClosingStage::Files
            }
            (ClosingStage::Files, Outcome::TestFiles(files)) => {
                self.after_files(closing.attempt, &files)
            }
            (ClosingStage::Ask(_), Outcome::Reply(record)) => {
                let read = reply::read(&record.text, record.finish == Finish::Length);
                ClosingStage::Prove(read.patch)
            }
            (ClosingStage::Prove(Some(_)), Outcome::Proved(record)) if !record.holds => {
                closing.before = Some(record.reason);
                ClosingStage::Prove(None)
            }
            (ClosingStage::Prove(_), Outcome::Proved(record)) => {
                return self.close(closing, record);
            }
            // Nobody can be asked: the PoV itself is the test.
            _ => ClosingStage::Prove(None),
        };
        self.phase = Phase::Closing(closing);
    }

    fn after_files(&self, attempt: u32, files: &TestFiles) -> ClosingStage {
        if files.text.is_empty() || files.command.is_empty() {
            return ClosingStage::Prove(None);
        }
        let Some(attempt) = self.attempt(attempt) else {
            return ClosingStage::Prove(None);
        };
        let known = (&self.plan, &self.baseline);
        let text = prompt::regression_test(known, self.crash_text(), attempt, files);
        ClosingStage::Ask(vec![Message::user(text)])
    }

    fn close(&mut self, closing: Closing, mut record: RegressionRecord) {
        if let Some(before) = closing.before {
            record.reason = format!(
                "{}; a test in the project's own framework was written first: {before}",
                record.reason
            );
        }
        self.phase = Phase::Ended(closing.ending);
        if let Some(attempt) = self.attempt_mut(closing.attempt) {
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

    /// When every lane is done and none has verified a patch, the best is
    /// chosen.
    pub(super) fn end_if_idle(&mut self) {
        let idle = self.finished().is_some_and(|finished| !finished.is_empty());
        if self.phase == Phase::Repairing && idle {
            self.choose();
        }
    }

    /// Why each lane ended, once all have.
    fn finished(&self) -> Option<Vec<Finished>> {
        let finished = self.lanes.iter().map(|lane| match lane.stage {
            Stage::Done(finished) => Some(finished),
            _ => None,
        });
        finished.collect()
    }

    pub(super) fn end(&mut self) {
        let finished = self.finished().unwrap_or_default();
        let ending = self.idle_ending(&finished);
        let best = self.best().map(|best| best.number);
        self.conclude(ending, best);
    }

    /// The ending at a limit that strikes while nothing is done but asking authors about
    /// attempts that stand: that of the best of these.
    pub(super) fn standing_at(&self, limit: &Ending) -> Option<Ending> {
        let limits = [EndingKind::Deadline, EndingKind::BudgetExhausted];
        let asked = |lane: &Lane| {
            lane.defended(&self.attempts).is_some() || matches!(lane.stage, Stage::Done(_))
        };
        let only_asked = !self.lanes.is_empty() && self.lanes.iter().all(asked);
        let best = self
            .best()
            .filter(|_| only_asked && limits.contains(&limit.kind))?;
        best.stands().then(|| self.top_ending(best))
    }

    /// Counts the attempts of this run, without the one that a person rejected before.
    fn made(&self) -> usize {
        let before = matches!(self.plan.follows, Some(FollowUp::Revise(_)));
        self.attempts.len() - usize::from(before)
    }

    fn idle_ending(&self, finished: &[Finished]) -> Ending {
        let limits = &self.plan.limits;
        let has = |which| finished.contains(&which);
        if self.plan.mode == Mode::DryRun && has(Finished::Proposed) {
            let candidates = counted(self.made() as u64, "candidate");
            let detail = format!("{candidates}, nothing was executed");
            return Ending::new(EndingKind::Proposed, detail);
        }
        let stands = |best: &&Attempt| {
            let mut ladder = self.plan.ladder.iter();
            best.stands() && ladder.all(|name| best.rung(*name).is_some())
        };
        if let Some(best) = self.best().filter(stands) {
            return self.top_ending(best);
        }
        if has(Finished::Attempts) {
            let detail = format!("none of {} attempts was accepted", self.made());
            return Ending::new(EndingKind::NoPatch, detail);
        }
        let detail = if has(Finished::Rounds) {
            format!("rounds: all {} were used and no patch came", limits.rounds)
        } else if has(Finished::FormatRetries) {
            format!(
                "format retries: more than {} replies could not be used",
                limits.format_retries
            )
        } else if has(Finished::Window) {
            "tokens: what has to be said does not fit the model's window (model.context_window), \
             not even in short"
                .to_owned()
        } else {
            "format retries: the model declined to answer".to_owned()
        };
        Ending::new(EndingKind::BudgetExhausted, detail)
    }
}
