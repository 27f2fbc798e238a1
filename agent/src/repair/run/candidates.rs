//! Candidates beside a patch that is judged: patches that the model writes by itself, each
//! in a lane of its own. They climb no further than *tested*, and are compared with the
//! judged patch. None is asked for before that patch stands, and none is ever delivered.

use super::Run;
use crate::prompt;
use crate::record::RunLimits;
use crate::repair::lane::{Finished, Lane, Stage};
use crate::repair::lanes::LaneIndex;
use patchwright_verdict::RungName;

/// Attempts of one candidate's lane.
const TRIES: u32 = 2;

impl Run {
    /// Tells whether a lane judges a patch that somebody else wrote: the first one does.
    pub(super) fn is_foreign(&self, index: LaneIndex) -> bool {
        self.foreign.is_some() && index.is_first()
    }

    /// Returns the highest rung that the attempts of a lane climb.
    pub(super) fn top_of_lane(&self, index: LaneIndex) -> RungName {
        if self.foreign.is_some() && !index.is_first() {
            RungName::Tested
        } else {
            RungName::Reviewed
        }
    }

    /// Asks for candidates beside a judged patch that stands; false where none is wanted,
    /// or they were asked for before.
    pub(super) fn begin_candidates(&mut self, index: LaneIndex) -> bool {
        let wanted = self.plan.limits.candidates;
        if !self.is_foreign(index) || wanted == 0 || self.lanes.len() > 1 {
            return false;
        }
        self.lanes[index].stage = Stage::Done(Finished::Held);
        self.plan.limits = RunLimits {
            attempts: 1 + TRIES * wanted,
            ..self.plan.limits.clone()
        };
        let (system, crash) = (prompt::system(&self.plan), self.first_crash());
        let lanes = (2..=wanted + 1).map(|number| Lane::new(number, system.clone(), crash.clone()));
        self.lanes.extend(lanes);
        self.remark(format!(
            "the patch stands: asking for {wanted} candidate(s) to compare it with"
        ));
        true
    }
}
