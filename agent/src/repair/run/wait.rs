//! Pause of a lane when no model can answer: it waits for the time that was
//! named, and goes on where it stood. Waiting is no working time.

use super::Run;
use crate::record::Postponed;
use crate::repair::lane::{Finished, LaneIndex, Stage};

impl Run {
    /// Until when nothing at all can be done, as RFC 3339 writes it, and why.
    pub fn paused(&self) -> Option<(&str, &str)> {
        if self.ending().is_some() {
            return None;
        }
        let mut soonest: Option<(&str, &str)> = None;
        for lane in self.lanes.iter() {
            match &lane.stage {
                Stage::Wait { until, reason, .. } => {
                    if soonest.is_none_or(|(known, _)| until.as_str() < known) {
                        soonest = Some((until, reason));
                    }
                }
                Stage::Done(_) | Stage::Follow(_) => {}
                _ => return None,
            }
        }
        soonest
    }

    pub(super) fn on_postponed(&mut self, index: LaneIndex, postponed: Postponed) {
        let lane = &mut self.lanes[index];
        let then = Box::new(lane.stage.clone());
        lane.stage = Stage::Wait {
            until: postponed.until,
            reason: postponed.reason,
            then,
        };
    }

    pub(super) fn on_waited(&mut self, index: LaneIndex) {
        let lane = &mut self.lanes[index];
        if let Stage::Wait { then, .. } = &lane.stage {
            lane.stage = Stage::clone(then);
        }
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
    pub(super) fn on_unanswered(&mut self, index: LaneIndex, why: &str) {
        match self.lanes[index].stage.clone() {
            Stage::Compact => self.compact(index, String::new(), Vec::new()),
            Stage::Review(review) => self.unheard(index, *review, why),
            Stage::AskChallenge(challenge) => self.unchallenged(index, *challenge, why),
            Stage::Contest(contest) => self.leave_to_person(index, &contest),
            Stage::Ask => self.give_up(index),
            _ => self.lanes[index].stage = Stage::Done(Finished::Refused),
        }
    }
}
