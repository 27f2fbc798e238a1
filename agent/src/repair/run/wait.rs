//! Pause of a lane when no model can answer: it waits for the time that was
//! named, and goes on where it stood. Waiting is no working time.

use super::Run;
use crate::repair::lane::{Finished, LaneIndex, Stage};

impl Run {
    /// Until when nothing at all can be done, as RFC 3339 writes it, and why.
    pub fn paused(&self) -> Option<(&str, &str)> {
        let stages = || self.lanes.iter().map(|lane| &lane.stage);
        let is_idle = |stage: &Stage| {
            matches!(
                stage,
                Stage::Wait { .. } | Stage::Done(_) | Stage::Follow(_)
            )
        };
        if self.ending().is_some() || !stages().all(is_idle) {
            return None;
        }
        let waits = stages().filter_map(|stage| match stage {
            Stage::Wait { until, reason, .. } => Some((until.as_str(), reason.as_str())),
            _ => None,
        });
        waits.min_by_key(|(until, _)| *until)
    }

    /// The author cannot be asked about an attempt that stands.
    fn give_up(&mut self, index: LaneIndex) {
        let lane = &mut self.lanes[index];
        let stands = lane.contestable.take().is_some_and(|one| one.stands);
        lane.stage = Stage::Done(if stands {
            Finished::Held
        } else {
            Finished::Refused
        });
    }

    /// A question that the run can do without was not answered.
    pub(super) fn on_unanswered(&mut self, index: LaneIndex, stage: Stage, why: &str) {
        match stage {
            Stage::Compact => self.compact(index, String::new(), Vec::new()),
            Stage::Review(review) => self.unheard(index, *review, why),
            Stage::AskChallenge(challenge) => self.unchallenged(index, *challenge, why),
            Stage::Contest(contest) => self.leave_to_person(index, &contest),
            Stage::Ask => self.give_up(index),
            _ => self.lanes[index].stage = Stage::Done(Finished::Refused),
        }
    }
}
