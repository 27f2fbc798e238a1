//! Consequences of a placed patch and a climbed rung: the next rung, the next
//! issue, or the end.

use super::Run;
use super::contest::is_contested;
use super::critic::unread;
use crate::record::{Attempt, Crash, Ending, EndingKind, Located, LocatedPatch, Rung};
use crate::repair::lane::{Finished, Issue, LaneIndex, Stage};
use crate::task::Mode;
use crate::{probability, prompt};
use patchwright_patcher::Patch;
use patchwright_verdict::RungName;

impl Run {
    pub(super) fn on_located(&mut self, index: LaneIndex, patch: Patch, located: Located) {
        match located {
            Located::Refused { reasons } if self.is_foreign(index) => {
                self.on_unplaced(index, patch, &reasons);
            }
            Located::Refused { reasons } => {
                let list = reasons.iter().map(|reason| format!("\n- {reason}"));
                let list: String = list.collect();
                let problem = format!("Your patch was not applied, not even in part:{list}");
                self.retry(index, &problem, Finished::FormatRetries);
            }
            Located::Placed(placed) => self.on_placed(index, patch, placed),
        }
    }

    /// A foreign patch that has no place: nobody can be asked for another.
    fn on_unplaced(&mut self, index: LaneIndex, patch: Patch, reasons: &[String]) {
        self.on_placed(index, patch, LocatedPatch::default());
        let reason = reasons.join("\n");
        let first = reason.lines().next().unwrap_or("the patch is empty");
        let mut refuted = Rung::new(RungName::Applies, Some(false), first);
        refuted.feedback = Some(reason);
        if let Stage::Climb { attempt, .. } = self.lanes[index].stage {
            self.on_climbed(index, attempt, refuted);
        }
    }

    fn on_placed(&mut self, index: LaneIndex, patch: Patch, placed: LocatedPatch) {
        let mut earlier = self.attempts.iter();
        if let Some(same) = earlier.find(|made| made.normal_form == placed.normal_form) {
            let (number, owner) = (same.number, same.lane);
            let own = self.lanes[index].number == owner;
            if !own && same.stands() {
                self.withdraw(index);
                self.lanes[index].stage = match self.plan.mode {
                    Mode::DryRun => Stage::Done(Finished::Proposed),
                    Mode::Repair => Stage::Follow(number),
                };
                return;
            }
            return self.on_repeated(index, number, (patch, placed));
        }
        let Some(number) = self.add(index, (patch, placed), Vec::new()) else {
            return;
        };
        let first = self.plan.ladder.first().copied();
        let rung = first.filter(|_| self.plan.mode != Mode::DryRun);
        let lane = &mut self.lanes[index];
        lane.unproven = None;
        lane.stage = rung.map_or(Stage::Done(Finished::Proposed), |rung| Stage::Climb {
            attempt: number,
            rung,
        });
        self.withdraw(index);
    }

    /// Adds the patch that a lane had placed as an attempt; none where they are used up.
    fn add(
        &mut self,
        index: LaneIndex,
        (patch, placed): (Patch, LocatedPatch),
        rungs: Vec<Rung>,
    ) -> Option<u32> {
        let number = self.attempts.len() as u32 + 1;
        let lane = &mut self.lanes[index];
        if self.plan.mode != Mode::DryRun && number > self.plan.limits.attempts {
            lane.stage = Stage::Done(Finished::Attempts);
            return None;
        }
        self.attempts.push(Attempt {
            number,
            lane: lane.number,
            patch,
            diff: placed.diff,
            latin1: placed.latin1,
            surroundings: placed.surroundings,
            normal_form: placed.normal_form,
            warnings: placed.warnings,
            rungs,
            withdrawn: false,
            regression: None,
        });
        Some(number)
    }

    /// The author of an attempt that stands was asked about it, and has sent another patch: it is
    /// never delivered. One that the author has defended stays.
    fn withdraw(&mut self, index: LaneIndex) {
        let asked = self.lanes[index].contestable.take();
        let asked = asked.filter(|asked| asked.stands);
        let attempt = asked.and_then(|asked| self.attempt_mut(asked.attempt));
        if let Some(attempt) = attempt.filter(|attempt| !is_contested(attempt)) {
            attempt.withdrawn = true;
            let number = attempt.number;
            self.remark(format!("attempt {number} is withdrawn by its author"));
        }
    }

    /// The lane sends a patch that was refuted before, which costs an attempt: it is
    /// told why, and nothing is run.
    fn on_repeated(&mut self, index: LaneIndex, same: u32, placed: (Patch, LocatedPatch)) {
        let verdict = self.attempt(same).map(Attempt::verdict);
        let verdict = verdict.unwrap_or_default();
        let reason = format!("the same patch as attempt {same}: {verdict}");
        let refuted = Rung::new(RungName::Applies, Some(false), &reason);
        let Some(number) = self.add(index, placed, vec![refuted]) else {
            return;
        };
        self.remark(format!("attempt {number} was not run: {reason}"));
        let left = self.left();
        let problem = format!(
            "This patch was tried before: {verdict}. It cost an attempt. Send a different one."
        );
        let lane = &mut self.lanes[index];
        if left.attempts == 0 {
            lane.stage = Stage::Done(Finished::Attempts);
        } else {
            lane.tell(prompt::problem(&problem, &left));
        }
    }

    pub(super) fn on_climbed(&mut self, index: LaneIndex, attempt: u32, rung: Rung) {
        let is_last = self.plan.ladder.last() == Some(&rung.name);
        if self.wants_challenges(&rung) {
            self.challenge(index, attempt, rung);
        } else if is_last && rung.holds != Some(false) && self.plan.critic_calls > 0 {
            self.review(index, attempt, rung);
        } else if is_last && rung.holds == Some(true) && self.lacks_reviewer {
            self.keep(index, attempt, unread(rung));
        } else {
            self.keep(index, attempt, rung);
        }
    }

    /// Notes a rung, and goes on: to the next one, to the next issue, or
    /// to the end.
    pub(super) fn keep(&mut self, index: LaneIndex, number: u32, mut rung: Rung) {
        self.settle_decided(&mut rung);
        self.write_down(number, &rung);
        if rung.holds == Some(false) {
            self.lanes[index].failures.push(rung.name);
            self.on_refuted(index, number, &rung);
        } else {
            self.climb_on(index, number);
        }
    }

    /// Adds a rung to its attempt. One that is climbed again takes the place of its earlier
    /// result.
    pub(super) fn write_down(&mut self, number: u32, rung: &Rung) {
        if let Some(attempt) = self.attempt_mut(number) {
            attempt.rungs.retain(|known| known.name != rung.name);
            attempt.rungs.push(rung.clone());
            attempt.rungs.sort_by_key(|known| known.name);
        }
    }

    /// Goes on with the lowest rung that was not climbed yet.
    pub(super) fn climb_on(&mut self, index: LaneIndex, number: u32) {
        let climbed = |name: &RungName| {
            let attempt = self.attempt(number);
            attempt.is_some_and(|attempt| attempt.rung(*name).is_some())
        };
        let top = self.top_of_lane(index);
        let mut ladder = self.plan.ladder.iter().filter(|name| **name <= top);
        let next = ladder.find(|name| !climbed(name)).copied();
        let Some(rung) = next else {
            return self.on_top(index, number);
        };
        self.lanes[index].stage = Stage::Climb {
            attempt: number,
            rung,
        };
    }

    /// An attempt that no rung refuted. One that is verified ends the run. The author
    /// of one that differs is asked about that; else its lane is done, and with
    /// several lanes another may still be better.
    pub(super) fn on_top(&mut self, index: LaneIndex, number: u32) {
        if self.begin_candidates(index) {
            return;
        }
        let ending = self.attempt(number).map(|attempt| self.top_ending(attempt));
        let verified = ending.filter(|ending| ending.kind == EndingKind::Verified);
        let own = self.foreign.is_some() && !self.is_foreign(index);
        if let Some(ending) = verified.filter(|_| !own) {
            return self.conclude(ending, Some(number));
        }
        let asked = self.tell_objection(index, number) || self.ask_author(index, number);
        if !asked {
            self.lanes[index].stage = Stage::Done(Finished::Held);
        }
    }

    pub(super) fn on_refuted(&mut self, index: LaneIndex, number: u32, rung: &Rung) {
        let exhausted = self.left().attempts == 0;
        let contestable = self.may_contest(number, rung);
        let foreign = self.is_foreign(index);
        let first = self.seen().cloned().unwrap_or_default();
        let lane = &mut self.lanes[index];
        lane.contestable = contestable;
        if (exhausted && contestable.is_none()) || foreign {
            lane.stage = Stage::Done(Finished::Attempts);
            return;
        }
        let crash = rung.crash.clone().unwrap_or_else(|| Crash {
            text: rung.feedback.clone().unwrap_or_else(|| rung.reason.clone()),
            frames: first.frames,
            ..Crash::default()
        });
        lane.stage = Stage::Context(Issue {
            attempt: Some(number),
            crash,
        });
    }

    /// The ending of an attempt that no rung refuted.
    pub(super) fn top_ending(&self, attempt: &Attempt) -> Ending {
        let open = attempt.rungs.iter().filter(|rung| rung.holds.is_none());
        let open = open.map(|rung| format!("{:?} ({})", rung.name.as_str(), rung.reason));
        let open: Vec<String> = open.collect();
        if !self.plan.has_povs {
            return Ending::new(EndingKind::Unverified, "there is no PoV to replay");
        }
        if open.is_empty() && self.baseline.has_tests {
            let least = self.plan.limits.probability;
            if let Some(right) = probability::of_right(attempt).filter(|right| *right < least) {
                let number = attempt.number;
                let detail = format!(
                    "attempt {number} holds every rung, but P(right) is {right:.2}, below the {least:.2} of limits.probability"
                );
                return Ending::new(EndingKind::Plausible, detail);
            }
            return Ending::new(
                EndingKind::Verified,
                format!("attempt {} holds every rung", attempt.number),
            );
        }
        let detail = format!(
            "attempt {} was not refuted, but not climbed: {}",
            attempt.number,
            open.join(", ")
        );
        Ending::new(EndingKind::Plausible, detail)
    }
}
