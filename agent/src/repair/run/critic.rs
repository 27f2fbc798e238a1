//! The last part of the rung *reviewed*: a model that looks at a patch which
//! nothing refuted. An objection is put to the test: the inputs that it names are run on
//! both programs, and the critic decides again. One that a run shows refutes the patch. One
//! that no run shows leaves the rung open, and goes to the author. A critic that cannot be
//! heard leaves the rung open too: a check that fails to run denies.
//!
//! A critic can be wrong about code that it reads, and about what a program should say where
//! the unpatched one crashes, so its word alone refutes nothing.

use super::Run;
use super::challenge::written;
use super::contest::settle;
use crate::prompt;
use crate::record::{ChallengedRecord, Doubt, DoubtedInput, Rung, UNHEARD, UNREAD};
use crate::repair::lane::{Examination, Lane, Stage, assistant};
use crate::repair::opinion::{self, Opinion};
use patchwright_model::Message;
use patchwright_verdict::RungName;

/// Number of times that a critic is asked about one patch, when its answer holds no verdict.
const TRIES: u32 = 2;

impl Run {
    pub(super) fn review(&mut self, lane: &mut Lane, number: u32, rung: Rung) {
        let question = self.attempt(number).map(|attempt| {
            let known = (self.plan.language, &self.baseline);
            let code = &lane.code;
            prompt::critic(known, self.crash_text(), (attempt, &rung), code)
        });
        self.ask_critic(lane, Examination::new(number, rung, question));
    }

    pub(super) fn on_opinion(&mut self, lane: &mut Lane, mut review: Examination, text: &str) {
        let counts = &mut review.rung.counts;
        *counts.entry("critic calls".to_owned()).or_default() += 1;
        match opinion::verdict(text) {
            Some(Opinion::Accepts(reason)) => {
                review.rung.reason.push_str("; the critic has no objection");
                if let Some(fault) = opinion::elsewhere(text) {
                    let told = format!(", and names a fault of its own beside this one: {fault}");
                    review.rung.reason.push_str(&told);
                }
                self.on_acceptance(lane, review, &reason);
            }
            Some(Opinion::Objects(reason)) => self.on_objection(lane, review, (&reason, text)),
            None if review.tries < TRIES => {
                review.messages.push(assistant(text));
                review.messages.push(Message::user(prompt::critic_again()));
                self.ask_critic(lane, review);
            }
            None => self.unheard(lane, review, "it gave no verdict"),
        }
    }

    /// Takes the critic's agreement: it decides about the differences that it was shown.
    fn on_acceptance(&mut self, lane: &mut Lane, mut review: Examination, reason: &str) {
        let number = review.attempt;
        let rungs = self.attempt(number).map(|attempt| attempt.rungs.as_slice());
        let rungs = rungs.unwrap_or_default().iter();
        let differences = rungs.flat_map(Rung::open_differences);
        let before = differences.take(prompt::SHOWN_DIFFERENCES);
        let own = review.rung.open_differences();
        let shown: Vec<DoubtedInput> = before.chain(own).map(|(_, input)| input.clone()).collect();
        let reason = format!("the critic was shown it and has no objection: {reason}");
        let is_settled = self.accept(number, &shown, &reason);
        settle(&self.decisions, &mut review.rung);
        settle_findings(&mut review.rung, &reason);
        if is_settled {
            return self.keep(lane, review.attempt, review.rung);
        }
        self.write_down(number, &review.rung);
        lane.climb(number, RungName::SameElsewhere);
    }

    pub(super) fn ask_critic(&mut self, lane: &mut Lane, mut review: Examination) {
        let limit = self.plan.critic_calls;
        if self.critic_calls >= limit {
            let why = format!("all {limit} calls (critic.calls) are used");
            return self.unheard(lane, review, &why);
        }
        self.critic_calls += 1;
        review.tries += 1;
        lane.stage = Stage::Review(Box::new(review));
    }

    /// The rung stays open.
    pub(super) fn unheard(&mut self, lane: &mut Lane, mut review: Examination, why: &str) {
        review.rung.holds = None;
        review.rung.reason = format!("{UNHEARD}: {why}");
        self.keep(lane, review.attempt, review.rung);
    }

    /// Takes an objection, with the whole reply that it stands in. Its inputs are run first.
    fn on_objection(
        &mut self,
        lane: &mut Lane,
        mut review: Examination,
        (reason, text): (&str, &str),
    ) {
        if review.inputs.is_empty() && self.plan.has_povs {
            let named = format!("objection {}", review.attempt);
            review.inputs = written(text, &named, prompt::CRITIC_INPUTS);
            if !review.inputs.is_empty() {
                review.messages.push(assistant(text));
                lane.stage = Stage::Examine(Box::new(review));
                return;
            }
        }
        let first = reason.lines().next().unwrap_or_default();
        // Where the unpatched program crashes it says nothing of what would be right, and the
        // critic's word is all that there is.
        let shown = opinion::shown(text);
        let shown = shown.is_some_and(|name| review.differing.iter().any(|one| one == name));
        let rung = &mut review.rung;
        rung.feedback = Some(format!("A reviewer objects to the patch:\n{reason}"));
        if shown {
            rung.holds = Some(false);
            rung.reason = format!("the critic objects: {first}");
        } else {
            rung.holds = None;
            rung.reason = format!(
                "the critic objects, and no answer of the unpatched program shows it: {first}"
            );
            let doubt = Doubt::new(format!("the critic objects: {first}"));
            rung.doubts.push(doubt);
            lane.unproven = Some(reason.to_owned());
        }
        self.keep(lane, review.attempt, review.rung);
    }

    /// Takes what the inputs show: a failure refutes, all else is put before the critic again.
    pub(super) fn on_examined(
        &mut self,
        lane: &mut Lane,
        mut review: Examination,
        told: ChallengedRecord,
    ) {
        self.keep_challenges(&told);
        let rung = &mut review.rung;
        rung.seconds += told.rung.seconds;
        rung.log.clone_from(&told.rung.log);
        if told.rung.holds == Some(false) {
            rung.holds = Some(false);
            rung.reason = format!("the critic objects, and is right: {}", told.rung.reason);
            rung.feedback = told.rung.feedback;
            rung.crash = told.rung.crash;
            rung.found.extend(told.rung.found);
            return self.keep(lane, review.attempt, review.rung);
        }
        let first = review.inputs.first();
        let first = first.map_or("", |input| input.name.as_str());
        let text = prompt::examined(&told, first);
        let differing = told.rung.open_differences().into_iter();
        review.differing = differing.map(|(_, input)| input.name.clone()).collect();
        rung.doubts.extend(told.rung.doubts);
        review.messages.push(Message::user(text));
        review.tries = 0;
        self.ask_critic(lane, review);
    }

    /// Tells the author of a patch that stands what the critic objects; false where it objects
    /// to nothing, or no other patch could be tried.
    pub(super) fn tell_objection(&mut self, lane: &mut Lane, number: u32) -> bool {
        let left = self.left();
        if self.foreign.is_some() || left.attempts == 0 {
            return false;
        }
        let Some((objection, attempt)) = lane.unproven.take().zip(self.attempt(number)) else {
            return false;
        };
        lane.tell_doubt(number, prompt::objection(attempt, &objection, &left));
        true
    }

    /// Takes the author's word against an objection: a person decides.
    pub(super) fn leave_objection(&mut self, lane: &mut Lane, number: u32, reason: &str) {
        let first = reason.lines().next().unwrap_or_default();
        self.remark(format!(
            "attempt {number}: its author contests the critic's objection, which is left to a person: {first}"
        ));
        let reviewed = self.attempt_mut(number).into_iter();
        let rungs = reviewed.flat_map(|attempt| &mut attempt.rungs);
        let doubts = rungs.filter(|rung| rung.name == RungName::Reviewed);
        let open = doubts.flat_map(|rung| &mut rung.doubts);
        for doubt in open.filter(|doubt| doubt.input.is_none() && doubt.is_open()) {
            doubt.contested = Some(reason.to_owned());
        }
        self.go_on_beside(lane, number);
    }
}

/// Returns the last rung of a patch that nobody has read: a check that does not run denies.
pub(super) fn unread(rung: Rung) -> Rung {
    Rung {
        holds: None,
        reason: format!(
            "{}; {UNREAD}: name a model with --model, or read it yourself (critic.calls = 0 asks for no review)",
            rung.reason
        ),
        ..rung
    }
}

/// Settles what the fixed rules left to a reader, once one has no objection.
fn settle_findings(rung: &mut Rung, reason: &str) {
    let without_input = |doubt: &&mut Doubt| doubt.is_open() && doubt.input.is_none();
    let mut left = rung.doubts.iter_mut().filter(without_input).peekable();
    if rung.holds.is_none() && left.peek().is_some() {
        rung.holds = Some(true);
    }
    for doubt in left {
        doubt.settled = Some(reason.to_owned());
    }
}
