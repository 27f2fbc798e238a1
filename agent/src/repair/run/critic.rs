//! The last part of the rung *reviewed*: a model that looks at a patch which
//! nothing refuted. An objection is put to the test: the inputs that it names are run on
//! both programs, and the critic decides again. One that a run shows refutes the patch. One
//! that no run shows leaves the rung open, and goes to the author ([`objection`]). A critic
//! that cannot be heard leaves the rung open too: a check that fails to run denies.
//!
//! [`objection`]: super::objection

use super::Run;
use crate::prompt::{self, control_tokens};
use crate::record::{Doubt, DoubtedInput, Rung, UNHEARD, UNREAD};
use crate::repair::lane::{Examination, LaneIndex, Stage};
use crate::repair::opinion::{self, Opinion};
use patchwright_model::Message;

/// Number of times that a critic is asked about one patch, when its answer holds no verdict.
const TRIES: u32 = 2;

impl Run {
    pub(super) fn review(&mut self, index: LaneIndex, number: u32, rung: Rung) {
        let question = self.attempt(number).map(|attempt| {
            let known = (self.plan.language, &self.baseline);
            let code = &self.lanes[index].code;
            prompt::critic(known, self.crash_text(), (attempt, &rung), code)
        });
        self.ask_critic(index, Examination::new(number, rung, question));
    }

    pub(super) fn on_opinion(&mut self, index: LaneIndex, mut review: Examination, text: &str) {
        let counts = &mut review.rung.counts;
        *counts.entry("critic calls".to_owned()).or_default() += 1;
        match opinion::verdict(text) {
            Some(Opinion::Accepts(reason)) => {
                review.rung.reason.push_str("; the critic has no objection");
                if let Some(fault) = opinion::elsewhere(text) {
                    let told = format!(", and names a fault of its own beside this one: {fault}");
                    review.rung.reason.push_str(&told);
                }
                self.on_acceptance(index, review, &reason);
            }
            Some(Opinion::Objects(reason)) => {
                self.on_objection(index, review, (&reason, text));
            }
            None if review.tries < TRIES => {
                review.messages.push(assistant(text));
                review.messages.push(Message::user(prompt::critic_again()));
                self.ask_critic(index, review);
            }
            None => self.unheard(index, review, "it gave no verdict"),
        }
    }

    /// Takes the critic's agreement: it decides about the differences that it was shown.
    fn on_acceptance(&mut self, index: LaneIndex, mut review: Examination, reason: &str) {
        let number = review.attempt;
        let rungs = self.attempt(number).map(|attempt| attempt.rungs.as_slice());
        let rungs = rungs.unwrap_or_default().iter();
        let differences = rungs.flat_map(Rung::open_differences);
        let before = differences.take(prompt::SHOWN_DIFFERENCES);
        let own = review.rung.open_differences();
        let shown: Vec<DoubtedInput> = before.chain(own).map(|(_, input)| input.clone()).collect();
        let reason = format!("the critic was shown it and has no objection: {reason}");
        let is_settled = self.accept(number, &shown, &reason);
        self.settle_decided(&mut review.rung);
        settle_findings(&mut review.rung, &reason);
        if is_settled {
            return self.keep(index, review.attempt, review.rung);
        }
        self.write_down(number, &review.rung);
        self.compare_again(index, number);
    }

    pub(super) fn ask_critic(&mut self, index: LaneIndex, mut review: Examination) {
        let limit = self.plan.critic_calls;
        if self.critic_calls >= limit {
            let why = format!("all {limit} calls (critic.calls) are used");
            return self.unheard(index, review, &why);
        }
        self.critic_calls += 1;
        review.tries += 1;
        self.lanes[index].stage = Stage::Review(Box::new(review));
    }

    /// The rung stays open.
    pub(super) fn unheard(&mut self, index: LaneIndex, mut review: Examination, why: &str) {
        review.rung.holds = None;
        review.rung.reason = format!("{UNHEARD}: {why}");
        self.keep(index, review.attempt, review.rung);
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

/// Returns a reply as a part of a conversation.
pub(super) fn assistant(text: &str) -> Message {
    Message::assistant(control_tokens::break_up(text))
}
