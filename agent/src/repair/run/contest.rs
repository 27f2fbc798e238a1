//! Contested differences: the author of a patch says why a behaviour that differs
//! from before is right. A critic that knows nothing of the author's conversation
//! decides. Where there is none, or it cannot be heard, the difference is left to
//! a person: the attempt stands, and its ending is not `verified`.

use super::Run;
use crate::prompt::{self, Decider};
use crate::record::{AcceptedInput, Attempt, Doubt, DoubtedInput, Rung};
use crate::repair::lane::{Examination, Finished, Lane, Stage, assistant};
use crate::repair::opinion::{self, Opinion};
use patchwright_model::Message;
use patchwright_verdict::{BESIDES, OPEN_FOR_DIFFERENCES, RungName};

/// Number of times that a critic is asked about one contest, when its answer holds no verdict.
const TRIES: u32 = 2;
/// Characters of a reason that are kept.
const REASON: usize = 2_000;
/// The rung that compares behaviour.
const COMPARED: RungName = RungName::SameElsewhere;

impl Run {
    /// Asks the author about the differences that keep a standing attempt from
    /// `verified`; false where there are none, or nothing may be asked any more.
    pub(super) fn ask_author(&mut self, lane: &mut Lane, number: u32) -> bool {
        if self.foreign.is_some() || self.contests >= self.plan.limits.contests {
            return false;
        }
        let left = self.left();
        let Some(attempt) = self.attempt(number) else {
            return false;
        };
        let Some(differences) = contestable(attempt.rung(COMPARED)) else {
            return false;
        };
        let text = prompt::differences(attempt, (&differences, self.decider()), &left);
        self.contests += 1;
        lane.tell_doubt(number, text);
        true
    }

    /// Returns who decides about a contest.
    pub(super) fn decider(&self) -> Decider {
        if self.critic_calls < self.plan.critic_calls {
            Decider::Critic
        } else {
            Decider::Person
        }
    }

    /// Tells whether the author of an attempt may contest what refuted it.
    pub(super) fn may_contest(&self, rung: &Rung) -> bool {
        let limit = self.plan.limits.contests;
        let allowed = self.foreign.is_none() && self.contests < limit && rung.name == COMPARED;
        allowed && contestable(Some(rung)).is_some()
    }

    /// Takes the author's word against a difference.
    pub(super) fn on_contest(&mut self, lane: &mut Lane, reason: &str) {
        let Some(number) = lane.contestable else {
            let problem =
                "There is no difference that could be contested. Send queries or a <patch>.";
            return self.retry(lane, problem, Finished::FormatRetries);
        };
        if let Some(attempt) = lane.defended(&self.attempts) {
            if is_contested(attempt) {
                lane.stage = Stage::Done(Finished::Held);
                return;
            }
        } else {
            self.contests += 1;
        }
        let reason: String = reason.trim().chars().take(REASON).collect();
        self.note_contest(number, &reason);
        lane.contestable = None;
        let differences = self.open_differences(number);
        let (Some(attempt), [_, ..]) = (self.attempt(number), differences.as_slice()) else {
            return self.leave_objection(lane, number, &reason);
        };
        let text = prompt::contest(
            (self.plan.language, self.crash_text()),
            (attempt, &lane.code),
            &differences,
        );
        let rung = attempt.rung(COMPARED).cloned().unwrap_or_default();
        self.ask_about_contest(lane, Examination::new(number, rung, Some(text)));
    }

    /// Takes what a critic thinks of a contest.
    pub(super) fn on_decision(&mut self, lane: &mut Lane, mut contest: Examination, text: &str) {
        match opinion::verdict(text) {
            Some(Opinion::Accepts(reason)) => self.accept_contest(lane, &contest, &reason),
            Some(Opinion::Objects(reason)) => self.reject(lane, &contest, &reason),
            None if contest.tries < TRIES => {
                contest.messages.push(assistant(text));
                contest.messages.push(Message::user(prompt::critic_again()));
                self.ask_about_contest(lane, contest);
            }
            None => self.leave_to_person(lane, &contest),
        }
    }

    fn ask_about_contest(&mut self, lane: &mut Lane, mut contest: Examination) {
        if self.critic_calls >= self.plan.critic_calls {
            return self.leave_to_person(lane, &contest);
        }
        self.critic_calls += 1;
        contest.tries += 1;
        lane.stage = Stage::Contest(Box::new(contest));
    }

    /// Nobody decided: the difference stays open, and refutes nothing.
    pub(super) fn leave_to_person(&mut self, lane: &mut Lane, contest: &Examination) {
        let attempt = contest.attempt;
        self.remark(format!(
            "attempt {attempt}: the author contests a difference, which is left to a person"
        ));
        if contest.rung.holds != Some(false) {
            return self.go_on_beside(lane, attempt);
        }
        if let Some(rung) = self.compared(attempt) {
            rung.holds = None;
            rung.reason
                .push_str("; its author contests this, and nobody has decided");
        }
        lane.failures.pop();
        self.climb_on(lane, attempt);
    }

    /// Leaves to a person what an author contests. The run goes on where it can: the author may
    /// send another patch beside the one that stands.
    pub(super) fn go_on_beside(&mut self, lane: &mut Lane, number: u32) {
        let left = self.left();
        if left.attempts > 0 && left.rounds > 0 {
            lane.tell_doubt(number, prompt::left_open(&left));
        } else {
            lane.stage = Stage::Done(Finished::Held);
        }
    }

    /// The critic finds the new behaviour right.
    fn accept_contest(&mut self, lane: &mut Lane, contest: &Examination, reason: &str) {
        let attempt = contest.attempt;
        self.remark(format!(
            "attempt {attempt}: the critic finds the other behaviour right"
        ));
        let shown = self.open_differences(attempt).into_iter();
        let shown: Vec<DoubtedInput> = shown.map(|(_, input)| input.clone()).collect();
        let reason = format!("the critic finds the new answer right: {reason}");
        if contest.rung.holds == Some(false) {
            lane.failures.pop();
        }
        if self.accept(attempt, &shown, &reason) {
            return self.on_top(lane, attempt);
        }
        lane.climb(attempt, COMPARED);
    }

    /// The critic finds the difference wrong: it refutes the attempt.
    fn reject(&mut self, lane: &mut Lane, contest: &Examination, reason: &str) {
        let number = contest.attempt;
        let first = reason.lines().next().unwrap_or_default();
        let told = format!("the critic finds the other behaviour wrong: {first}");
        self.remark(format!("attempt {number}: {told}"));
        let Some(rung) = self.compared(number) else {
            lane.stage = Stage::Done(Finished::Held);
            return;
        };
        rung.holds = Some(false);
        rung.reason = told;
        rung.feedback = Some(format!(
            "A reviewer who weighed your reason finds the other behaviour wrong:\n{reason}"
        ));
        let rung = rung.clone();
        if contest.rung.holds != Some(false) {
            lane.failures.push(COMPARED);
        }
        self.on_refuted(lane, number, &rung);
    }

    /// Returns the open differences of an attempt that are shown.
    fn open_differences(&self, number: u32) -> Vec<prompt::Difference<'_>> {
        let attempt = self.attempt(number);
        open(attempt.and_then(|attempt| attempt.rung(COMPARED)))
    }

    fn note_contest(&mut self, number: u32, reason: &str) {
        let doubts = self.compared(number).map(|rung| &mut rung.doubts);
        let open = doubts.into_iter().flatten().filter(|doubt| doubt.is_open());
        let shown = open.filter(|doubt| doubt.input.is_some());
        for doubt in shown.take(prompt::SHOWN_DIFFERENCES) {
            doubt.contested = Some(reason.to_owned());
        }
    }

    /// Returns the decisions so far.
    pub fn decisions(&self) -> &[AcceptedInput] {
        &self.decisions
    }

    /// Decides that an attempt answers inputs rightly, and with it every attempt that answers them
    /// so. False where the rung that compares has to be climbed again to see whether it holds: it
    /// ended at the first difference, or an older version wrote it down.
    pub(super) fn accept(&mut self, number: u32, inputs: &[DoubtedInput], reason: &str) -> bool {
        let made = inputs.iter().map(|input| AcceptedInput::new(input, reason));
        self.decisions.extend(made);
        let compared = self.compared(number);
        let knows = compared.is_none_or(|rung| match rung.holds {
            None => rung.counts.contains_key(OPEN_FOR_DIFFERENCES),
            Some(holds) => holds,
        });
        for rung in self.attempts.iter_mut().flat_map(|one| &mut one.rungs) {
            settle(&self.decisions, rung);
        }
        knows || inputs.is_empty()
    }

    /// Returns the rung of an attempt that compares behaviour.
    pub(super) fn compared(&mut self, number: u32) -> Option<&mut Rung> {
        let mut rungs = self.attempt_mut(number)?.rungs.iter_mut();
        rungs.find(|rung| rung.name == RungName::SameElsewhere)
    }
}

/// The differences of a rung that may be contested: open ones, and not all of
/// them contested before.
fn contestable(rung: Option<&Rung>) -> Option<Vec<prompt::Difference<'_>>> {
    let open = open(rung);
    let fresh = open.iter().any(|(doubt, _)| doubt.contested.is_none());
    fresh.then_some(open)
}

/// Tells whether the author of an attempt has contested what is open about it.
pub(super) fn is_contested(attempt: &Attempt) -> bool {
    let mut doubts = attempt.rungs.iter().flat_map(|rung| &rung.doubts);
    doubts.any(|doubt| doubt.is_open() && doubt.contested.is_some())
}

/// The open differences of a rung that are shown.
pub(super) fn open(rung: Option<&Rung>) -> Vec<prompt::Difference<'_>> {
    let mut open = rung.map(Rung::open_differences).unwrap_or_default();
    open.truncate(prompt::SHOWN_DIFFERENCES);
    open
}

/// Settles the differences of a rung that are decided. A rung that nothing else kept open holds
/// then; one that refutes stays as it is.
pub(super) fn settle(decisions: &[AcceptedInput], rung: &mut Rung) {
    if rung.holds == Some(false) {
        return;
    }
    let mut settled = false;
    for doubt in rung.doubts.iter_mut().filter(|doubt| doubt.is_open()) {
        let Some(input) = &doubt.input else { continue };
        if let Some(decision) = decisions.iter().find(|one| one.decides(input)) {
            doubt.settled = Some(decision.reason.clone());
            settled = true;
        }
    }
    let open = rung.doubts.iter().any(Doubt::is_open);
    let alone = rung.counts.get(OPEN_FOR_DIFFERENCES) == Some(&1);
    if !settled || open || rung.holds.is_some() {
        return;
    }
    if alone {
        rung.holds = Some(true);
        rung.reason = format!("every difference is decided; before: {}", rung.reason);
    } else if let Some((_, rest)) = rung.reason.split_once(BESIDES) {
        rung.reason = format!("every difference is decided; {rest}");
    }
}
