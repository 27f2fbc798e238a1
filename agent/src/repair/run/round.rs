//! A round: its queries are answered first, then its probes, and the model is
//! told of both at once.

use super::Run;
use crate::prompt;
use crate::record::{ProbeQuestion, Probed, Retrieved};
use crate::repair::lane::Stage;
use crate::repair::lanes::LaneIndex;
use patchwright_patcher::Probe;
use patchwright_verdict::RungName;

impl Run {
    pub(super) fn on_retrieved(&mut self, index: LaneIndex, answers: Retrieved) {
        let lane = &mut self.lanes[index];
        if let Stage::Recall { findings, .. } = &lane.stage {
            let findings = findings.clone();
            return self.tell_in_short(index, &findings, answers);
        }
        let Stage::Retrieve {
            probes, unanswered, ..
        } = lane.stage.clone()
        else {
            return;
        };
        lane.memory = answers.memory;
        self.begin_probes(index, &probes, unanswered + &answers.text);
    }

    /// Asks what was not asked before; where nothing is left to ask, the round is over.
    pub(super) fn begin_probes(&mut self, index: LaneIndex, probes: &[Probe], answers: String) {
        let lane = &self.lanes[index];
        let built = self.last_built(lane.number);
        let all: Vec<_> = probes
            .iter()
            .map(|probe| ProbeQuestion::of(probe, built))
            .collect();
        let mut open: Vec<ProbeQuestion> = Vec::new();
        for probe in &all {
            if lane.answered(probe).is_none() && !open.contains(probe) {
                open.push(probe.clone());
            }
        }
        let nothing_open = open.is_empty();
        self.lanes[index].stage = Stage::Probe { all, open, answers };
        if nothing_open {
            self.on_probed(index, &Probed::default());
        }
    }

    pub(super) fn on_probed(&mut self, index: LaneIndex, probed: &Probed) {
        self.spent.rounds += 1;
        let left = self.left();
        let lane = &mut self.lanes[index];
        let Stage::Probe { all, open, answers } = lane.stage.clone() else {
            return;
        };
        lane.rounds += 1;
        let mut told = Vec::new();
        for probe in all {
            let before = lane.answered(&probe);
            let answer = open
                .iter()
                .position(|asked| *asked == probe)
                .and_then(|place| probed.answers.get(place).cloned());
            told.push(probe.told(before, answer.unwrap_or_default()));
            if before.is_none() {
                lane.probed.push((probe, lane.rounds));
            }
        }
        let text = prompt::answers(lane.rounds, &answers, &told, &left);
        lane.tell(text);
    }

    /// The last attempt of a lane that was built.
    fn last_built(&self, lane: u32) -> Option<u32> {
        let built = |attempt: &&crate::record::Attempt| {
            let rungs = &mut attempt.rungs.iter();
            attempt.lane == lane
                && rungs.any(|rung| rung.name == RungName::Builds && rung.holds == Some(true))
        };
        self.attempts
            .iter()
            .rev()
            .find(built)
            .map(|attempt| attempt.number)
    }
}
