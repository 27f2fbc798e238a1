//! The last part of the rung *reviewed*: a model that looks at a patch which
//! nothing refuted. What it objects to refutes the patch, and goes to the author.
//! A critic that cannot be heard leaves the rung open: a check that fails to run
//! denies.

use super::Run;
use crate::prompt::{self, control_tokens};
use crate::record::{Attempt, ReplyRecord, RungRecord};
use crate::repair::lane::{Review, Stage};
use crate::repair::opinion::{self, Opinion};
use patchwright_evaluator::RungName;
use patchwright_model::Message;

/// Number of times that a critic is asked about one patch, when its answer holds no verdict.
const TRIES: u32 = 2;

impl Run {
    /// Tells whether somebody looks at what this rung has left standing.
    pub(super) fn wants_critic(&self, rung: &RungRecord) -> bool {
        let last = self.plan.ladder.last() == Some(&rung.name);
        last && rung.holds != Some(false) && self.plan.critic.is_some()
    }

    pub(super) fn review(&mut self, index: usize, number: u32, rung: RungRecord) {
        let crash = self.first_crash();
        let code = self.lanes.get(index).map(|lane| lane.code.as_str());
        let messages = self.attempt(number).map(|attempt| {
            let text = prompt::critic(
                self.plan.language,
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
                self.on_acceptance(index, &review);
            }
            Some(Opinion::Objects(reason)) => {
                let first = reason.lines().next().unwrap_or_default();
                review.rung.holds = Some(false);
                review.rung.reason = format!("the critic objects: {first}");
                review.rung.feedback = Some(format!("A reviewer objects to the patch:\n{reason}"));
                self.decide(index, &review);
            }
            None if review.tries < TRIES => {
                review
                    .messages
                    .push(Message::assistant(control_tokens::break_up(&record.text)));
                review.messages.push(Message::user(prompt::critic_again()));
                self.ask_critic(index, review);
            }
            None => self.unheard(index, review, "it gave no verdict"),
        }
    }

    /// Takes the critic's agreement. A patch that was handed in has no author who could
    /// contest a difference, so the critic decides about those that it was shown.
    fn on_acceptance(&mut self, index: usize, review: &Review) {
        let number = review.attempt;
        if !self.is_foreign(index) || !self.attempt(number).is_some_and(shows_every_difference) {
            return self.decide(index, review);
        }
        self.write_down(number, &review.rung);
        self.remark(format!(
            "attempt {number}: the critic was shown every open difference and has no objection"
        ));
        self.accept_differences(
            index,
            number,
            "the critic was shown it and has no objection",
        );
    }

    fn ask_critic(&mut self, index: usize, mut review: Review) {
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

    fn decide(&mut self, index: usize, review: &Review) {
        self.keep(index, review.attempt, &review.rung);
    }
}

/// Tells whether differences are open, and the critic's question holds all of them.
fn shows_every_difference(attempt: &Attempt) -> bool {
    let rung = attempt.rung(RungName::SameElsewhere);
    let open = rung.map_or(0, |rung| rung.open_differences().len());
    (1..=prompt::CRITIC_DIFFERENCES).contains(&open)
}
