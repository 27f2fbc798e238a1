//! End of a run when every lane is done: with its best attempt, or with the
//! reason why there is none.

use super::{Phase, Run};
use crate::record::{Attempt, Ending, EndingKind, FollowUp};
use crate::repair::lane::{Finished, Lane, Stage};
use crate::task::Mode;
use patchwright_source::counted;

impl Run {
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
            let stands = lane.contestable.is_some_and(|one| one.stands);
            stands || matches!(lane.stage, Stage::Done(_))
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
            let count = self.made();
            return Ending::new(
                EndingKind::Proposed,
                format!(
                    "{}, nothing was executed",
                    counted(count as u64, "candidate")
                ),
            );
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
