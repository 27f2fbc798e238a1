//! Consequences of a placed patch and a climbed rung: the next rung, the next
//! issue, or the end.

use super::Run;
use super::contest::{is_contested, settle};
use super::critic::unread;
use crate::record::{Attempt, Crash, Ending, EndingKind, Located, LocatedPatch, Rung};
use crate::repair::lane::{Finished, Issue, Lane, Stage};
use crate::task::Mode;
use crate::{probability, prompt};
use patchwright_patcher::Patch;
use patchwright_verdict::RungName;

impl Run {
    pub(super) fn on_located(&mut self, lane: &mut Lane, patch: Patch, located: Located) {
        match located {
            Located::Refused { reasons } if self.is_foreign(lane) => {
                self.on_unplaced(lane, patch, &reasons);
            }
            Located::Refused { reasons } => {
                let list = reasons.iter().map(|reason| format!("\n- {reason}"));
                let list: String = list.collect();
                let problem = format!("Your patch was not applied, not even in part:{list}");
                self.retry(lane, &problem, Finished::FormatRetries);
            }
            Located::Placed(placed) => self.on_placed(lane, patch, placed),
        }
    }

    /// A foreign patch that has no place: nobody can be asked for another.
    fn on_unplaced(&mut self, lane: &mut Lane, patch: Patch, reasons: &[String]) {
        self.on_placed(lane, patch, LocatedPatch::default());
        let reason = reasons.join("\n");
        let first = reason.lines().next().unwrap_or("the patch is empty");
        let mut refuted = Rung::new(RungName::Applies, Some(false), first);
        refuted.feedback = Some(reason);
        if let Stage::Climb { attempt, .. } = lane.stage {
            self.on_climbed(lane, attempt, refuted);
        }
    }

    fn on_placed(&mut self, lane: &mut Lane, patch: Patch, placed: LocatedPatch) {
        let mut earlier = self.attempts.iter();
        if let Some(same) = earlier.find(|made| made.normal_form == placed.normal_form) {
            let (number, owner) = (same.number, same.lane);
            let own = lane.number == owner;
            if !own && same.stands() {
                self.withdraw(lane);
                lane.stage = match self.plan.mode {
                    Mode::DryRun => Stage::Done(Finished::Proposed),
                    Mode::Repair => Stage::Follow(number),
                };
                return;
            }
            return self.on_repeated(lane, number, (patch, placed));
        }
        let Some(number) = self.add(lane, (patch, placed), Vec::new()) else {
            return;
        };
        let first = self.plan.ladder.first().copied();
        let rung = first.filter(|_| self.plan.mode != Mode::DryRun);
        lane.unproven = None;
        lane.stage = rung.map_or(Stage::Done(Finished::Proposed), |rung| Stage::Climb {
            attempt: number,
            rung,
        });
        self.withdraw(lane);
    }

    /// Adds the patch that a lane had placed as an attempt; none where they are used up.
    fn add(
        &mut self,
        lane: &mut Lane,
        (patch, placed): (Patch, LocatedPatch),
        rungs: Vec<Rung>,
    ) -> Option<u32> {
        let number = self.attempts.len() as u32 + 1;
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
    fn withdraw(&mut self, lane: &mut Lane) {
        let asked = lane.defended(&self.attempts);
        let asked = asked.filter(|attempt| !is_contested(attempt));
        let number = asked.map(|attempt| attempt.number);
        lane.contestable = None;
        if let Some(attempt) = number.and_then(|number| self.attempt_mut(number)) {
            attempt.withdrawn = true;
            let number = attempt.number;
            self.remark(format!("attempt {number} is withdrawn by its author"));
        }
    }

    /// The lane sends a patch that was refuted before, which costs an attempt: it is
    /// told why, and nothing is run.
    fn on_repeated(&mut self, lane: &mut Lane, same: u32, placed: (Patch, LocatedPatch)) {
        let verdict = self.attempt(same).map(Attempt::verdict);
        let verdict = verdict.unwrap_or_default();
        let reason = format!("the same patch as attempt {same}: {verdict}");
        let refuted = Rung::new(RungName::Applies, Some(false), &reason);
        let Some(number) = self.add(lane, placed, vec![refuted]) else {
            return;
        };
        self.remark(format!("attempt {number} was not run: {reason}"));
        let left = self.left();
        let problem = format!(
            "This patch was tried before: {verdict}. It cost an attempt. Send a different one."
        );
        if left.attempts == 0 {
            lane.stage = Stage::Done(Finished::Attempts);
        } else {
            lane.tell(prompt::problem(&problem, &left));
        }
    }

    pub(super) fn on_climbed(&mut self, lane: &mut Lane, attempt: u32, rung: Rung) {
        let is_last = self.plan.ladder.last() == Some(&rung.name);
        if self.wants_challenges(&rung) {
            self.challenge(lane, attempt, rung);
        } else if is_last && rung.holds != Some(false) && self.plan.critic_calls > 0 {
            self.review(lane, attempt, rung);
        } else if is_last && rung.holds == Some(true) && self.lacks_reviewer {
            self.keep(lane, attempt, unread(rung));
        } else {
            self.keep(lane, attempt, rung);
        }
    }

    /// Notes a rung, and goes on: to the next one, to the next issue, or
    /// to the end.
    pub(super) fn keep(&mut self, lane: &mut Lane, number: u32, mut rung: Rung) {
        settle(&self.decisions, &mut rung);
        self.write_down(number, &rung);
        if rung.holds == Some(false) {
            lane.failures.push(rung.name);
            self.on_refuted(lane, number, &rung);
        } else {
            self.climb_on(lane, number);
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
    pub(super) fn climb_on(&mut self, lane: &mut Lane, number: u32) {
        let climbed = |name: &RungName| {
            let attempt = self.attempt(number);
            attempt.is_some_and(|attempt| attempt.rung(*name).is_some())
        };
        let top = self.top_of_lane(lane);
        let mut ladder = self.plan.ladder.iter().filter(|name| **name <= top);
        let next = ladder.find(|name| !climbed(name)).copied();
        let Some(rung) = next else {
            return self.on_top(lane, number);
        };
        lane.climb(number, rung);
    }

    /// An attempt that no rung refuted. One that is verified ends the run. The author
    /// of one that differs is asked about that; else its lane is done, and with
    /// several lanes another may still be better.
    pub(super) fn on_top(&mut self, lane: &mut Lane, number: u32) {
        if self.begin_candidates(lane) {
            return;
        }
        let ending = self.attempt(number).map(|attempt| self.top_ending(attempt));
        let verified = ending.filter(|ending| ending.kind == EndingKind::Verified);
        let own = self.foreign.is_some() && !self.is_foreign(lane);
        if let Some(ending) = verified.filter(|_| !own) {
            return self.conclude(ending, Some(number));
        }
        if !self.tell_objection(lane, number) && !self.ask_author(lane, number) {
            lane.stage = Stage::Done(Finished::Held);
        }
    }

    pub(super) fn on_refuted(&mut self, lane: &mut Lane, number: u32, rung: &Rung) {
        let exhausted = self.left().attempts == 0;
        let contestable = self.may_contest(rung).then_some(number);
        let foreign = self.is_foreign(lane);
        let first = self.seen().cloned().unwrap_or_default();
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
        let number = attempt.number;
        let open = attempt.rungs.iter().filter(|rung| rung.holds.is_none());
        let open = open.map(|rung| format!("{:?} ({})", rung.name.as_str(), rung.reason));
        let open: Vec<String> = open.collect();
        if !self.plan.has_povs {
            return Ending::new(EndingKind::Unverified, "there is no PoV to replay");
        }
        if open.is_empty() && self.baseline.has_tests {
            let held = format!("attempt {number} holds every rung");
            let least = self.plan.limits.probability;
            if let Some(right) = probability::of_right(attempt).filter(|right| *right < least) {
                let detail = format!(
                    "{held}, but P(right) is {right:.2}, below the {least:.2} of limits.probability"
                );
                return Ending::new(EndingKind::Plausible, detail);
            }
            return Ending::new(EndingKind::Verified, held);
        }
        let open = open.join(", ");
        let detail = format!("attempt {number} was not refuted, but not climbed: {open}");
        Ending::new(EndingKind::Plausible, detail)
    }
}
