//! The last part of the rung *reviewed*: a model that looks at a patch which
//! nothing refuted. An objection is put to the test: the inputs that it names are run on
//! both programs, and the critic decides again. One that a run shows refutes the patch. One
//! that no run shows leaves the rung open, and goes to the author ([`objection`]). A critic
//! that cannot be heard leaves the rung open too: a check that fails to run denies.
//!
//! [`objection`]: super::objection

use super::Run;
use crate::prompt::{self, control_tokens};
use crate::record::{Attempt, ReplyRecord, Rung};
use crate::repair::lane::{Review, Stage};
use crate::repair::opinion::{self, Opinion};
use patchwright_model::Message;
use patchwright_verdict::RungName;

/// Number of times that a critic is asked about one patch, when its answer holds no verdict.
const TRIES: u32 = 2;

impl Run {
    /// Tells whether somebody looks at what this rung has left standing.
    pub(super) fn wants_critic(&self, rung: &Rung) -> bool {
        let last = self.plan.ladder.last() == Some(&rung.name);
        last && rung.holds != Some(false) && self.plan.critic.is_some()
    }

    pub(super) fn review(&mut self, index: usize, number: u32, rung: Rung) {
        let crash = self.first_crash();
        let baseline = self.baseline.clone().unwrap_or_default();
        let code = self.lanes.get(index).map(|lane| lane.code.as_str());
        let messages = self.attempt(number).map(|attempt| {
            let text = prompt::critic(
                (self.plan.language, &baseline),
                &crash.text,
                (attempt, &rung),
                code.unwrap_or_default(),
            );
            vec![Message::user(text)]
        });
        let review = Review {
            attempt: number,
            rung,
            messages: messages.unwrap_or_default(),
            tries: 0,
            objection: None,
        };
        self.ask_critic(index, review);
    }

    pub(super) fn on_opinion(&mut self, index: usize, mut review: Review, record: &ReplyRecord) {
        let count = review
            .rung
            .counts
            .entry("critic calls".to_owned())
            .or_default();
        *count += 1;
        match opinion::verdict(&record.text) {
            Some(Opinion::Accepts) => {
                review.rung.reason.push_str("; the critic has no objection");
                if let Some(fault) = opinion::elsewhere(&record.text) {
                    let told = format!(", and names a fault of its own beside this one: {fault}");
                    review.rung.reason.push_str(&told);
                }
                self.on_acceptance(index, review);
            }
            Some(Opinion::Objects(reason)) => {
                self.on_objection(index, review, (&reason, &record.text));
            }
            None if review.tries < TRIES => {
                review.messages.push(assistant(&record.text));
                review.messages.push(Message::user(prompt::critic_again()));
                self.ask_critic(index, review);
            }
            None => self.unheard(index, review, "it gave no verdict"),
        }
    }

    /// Takes the critic's agreement: it settles what the inputs of an earlier objection left
    /// open. A patch that was handed in has no author who could contest a difference, so the
    /// critic decides about those too that it was shown.
    fn on_acceptance(&mut self, index: usize, mut review: Review) {
        const SHOWN: &str = "the critic was shown it and has no objection";
        if review.objection.is_some() {
            for doubt in &mut review.rung.doubts {
                if doubt.input.is_some() && doubt.settled.is_none() {
                    doubt.settled = Some(SHOWN.to_owned());
                }
            }
        }
        let number = review.attempt;
        if !self.is_foreign(index) || !self.attempt(number).is_some_and(shows_every_difference) {
            return self.decide(index, &review);
        }
        self.write_down(number, &review.rung);
        self.remark(format!(
            "attempt {number}: the critic was shown every open difference and has no objection"
        ));
        self.accept_differences(index, number, SHOWN);
    }

    pub(super) fn ask_critic(&mut self, index: usize, mut review: Review) {
        let limit = self.plan.critic.unwrap_or_default();
        if self.critic_calls >= limit {
            let why = format!("all {limit} calls (critic.calls) are used");
            return self.unheard(index, review, &why);
        }
        self.critic_calls += 1;
        review.tries += 1;
        if let Some(lane) = self.lanes.get_mut(index) {
            lane.stage = Stage::Review(Box::new(review));
        }
    }

    /// The rung stays open.
    pub(super) fn unheard(&mut self, index: usize, mut review: Review, why: &str) {
        review.rung.holds = None;
        review.rung.reason = format!("the critic could not be heard: {why}");
        self.decide(index, &review);
    }

    pub(super) fn decide(&mut self, index: usize, review: &Review) {
        self.keep(index, review.attempt, &review.rung);
    }
}

/// Returns a reply as a part of a conversation.
pub(super) fn assistant(text: &str) -> Message {
    Message::assistant(control_tokens::break_up(text))
}

/// Tells whether differences are open, and the critic's question holds all of them.
fn shows_every_difference(attempt: &Attempt) -> bool {
    let rung = attempt.rung(RungName::SameElsewhere);
    let open = rung.map_or(0, |rung| rung.open_differences().len());
    (1..=prompt::CRITIC_DIFFERENCES).contains(&open)
}
