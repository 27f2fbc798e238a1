//! Which attempt is the best: by evidence first, by a judging model among equals
//! of several lanes, and by a fixed order when that says nothing.

use super::{Phase, Run};
use crate::record::{Attempt, Purpose, Step};
use crate::repair::lane::{Finished, Stage, ask};
use crate::repair::opinion;
use crate::{probability, prompt};
use patchwright_model::Message;
use std::cmp::Reverse;

/// Orders attempts: kept by its author, the number of rungs below the one that refutes it, not
/// refuted, without open doubts, P(right) in percent, few doubts, rungs that hold.
fn evidence(attempt: &Attempt) -> impl Ord + use<> {
    let (reached, held) = attempt.strength();
    let stands = attempt.stands();
    let doubts = if stands { attempt.open_doubts() } else { 0 };
    let right = probability::of_right(attempt).filter(|_| stands);
    let percent = right.map_or(0, |right| (right * 100.0) as u64);
    let certain = (stands, doubts == 0, percent, Reverse(doubts), held);
    (!attempt.withdrawn, reached, certain)
}

impl Run {
    /// The attempt with the strongest evidence (see `evidence`). Among equals the one that most
    /// candidates behave like, then the one that a judging model chose; else the one that
    /// changes the fewest lines, where nothing refutes them; else the first.
    pub fn best(&self) -> Option<&Attempt> {
        self.attempts.iter().max_by_key(|attempt| {
            let size = attempt.stands().then(|| attempt.lines_changed());
            let known = self.agreement.as_ref();
            (
                evidence(attempt),
                known.map_or(0, |known| known.others(attempt.number)),
                self.chosen == Some(attempt.number),
                Reverse(size.unwrap_or(0)),
                Reverse((attempt.lane, attempt.number)),
            )
        })
    }

    /// The question which of several equals is the best.
    pub(super) fn choice(&self, among: &[u32]) -> Step {
        let candidates = among.iter().filter_map(|number| self.attempt(*number));
        let candidates: Vec<&Attempt> = candidates.collect();
        let text = prompt::judge(self.plan.language, self.crash_text(), &candidates);
        ask(Purpose::Judge, &[Message::user(text)])
    }

    /// A judging model has answered, or could not.
    pub(super) fn on_choice(&mut self, among: &[u32], text: &str) {
        self.chosen = opinion::choice(text, among);
        self.end();
    }

    /// Asks who is the best, when lanes brought several equals that nothing
    /// refutes; else ends the run.
    pub(super) fn choose(&mut self) {
        if let Some(candidates) = self.candidates() {
            self.phase = Phase::Agreeing(candidates);
            return;
        }
        let strongest = self.attempts.iter().map(evidence).max();
        let equals = self.attempts.iter();
        let equals = equals.filter(|one| one.stands() && Some(evidence(one)) == strongest);
        let mut equals: Vec<u32> = equals.map(|one| one.number).collect();
        if let Some(known) = &self.agreement {
            let most = equals.iter().map(|number| known.others(*number)).max();
            equals.retain(|number| Some(known.others(*number)) == most);
        }
        if equals.len() > 1 && self.lanes.len() > 1 {
            self.phase = Phase::Choosing(equals);
        } else {
            self.end();
        }
    }

    /// Lanes that came to the patch of another lane share its fate.
    pub(super) fn settle_followers(&mut self) {
        let following = self.lanes.iter().filter_map(|lane| match lane.stage {
            Stage::Follow(number) => Some((lane.number, number)),
            _ => None,
        });
        let following: Vec<(u32, u32)> = following.collect();
        for (follower, number) in following {
            let Some(attempt) = self.attempt(number) else {
                continue;
            };
            let owner = self.lanes.iter().find(|lane| lane.number == attempt.lane);
            let held = owner.is_none_or(|lane| matches!(lane.stage, Stage::Done(Finished::Held)));
            let refuted = attempt.refuted_by().cloned();
            self.with_lane(follower, |run, lane| match refuted {
                Some(rung) => {
                    lane.failures.push(rung.name);
                    run.on_refuted(lane, number, &rung);
                }
                None if held => lane.stage = Stage::Done(Finished::Held),
                None => {}
            });
        }
    }
}
