//! Objections of a critic: what the inputs show that it names, and the way of one that no
//! run shows to the author of the patch. A critic can be wrong about code that it reads, and about
//! what a program should say where the unpatched one crashes, so its word alone refutes nothing.

use super::Run;
use super::critic::assistant;
use crate::prompt;
use crate::record::{ChallengeRecord, ChallengeSource, ChallengedRecord, Doubt};
use crate::repair::lane::{Examination, LaneIndex, Stage};
use crate::repair::opinion;
use patchwright_model::Message;
use patchwright_patcher::reply;
use patchwright_verdict::RungName;

impl Run {
    /// Takes an objection, with the whole reply that it stands in. Its inputs are run first.
    pub(super) fn on_objection(
        &mut self,
        index: LaneIndex,
        mut review: Examination,
        (reason, text): (&str, &str),
    ) {
        if review.inputs.is_empty() {
            review.inputs = self.named_inputs(review.attempt, text);
            if !review.inputs.is_empty() {
                review.messages.push(assistant(text));
                self.lanes[index].stage = Stage::Examine(Box::new(review));
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
            self.lanes[index].unproven = Some(reason.to_owned());
        }
        self.keep(index, review.attempt, review.rung);
    }

    fn named_inputs(&self, attempt: u32, text: &str) -> Vec<ChallengeRecord> {
        if !self.plan.has_povs {
            return Vec::new();
        }
        let written = reply::challenges(text).into_iter();
        let numbered = written.take(prompt::CRITIC_INPUTS).enumerate();
        numbered
            .map(|(number, raw)| ChallengeRecord {
                name: format!("objection {attempt}.{}", number + 1),
                source: ChallengeSource::Written(raw),
            })
            .collect()
    }

    /// Takes what the inputs show: a failure refutes, all else is put before the critic again.
    pub(super) fn on_examined(
        &mut self,
        index: LaneIndex,
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
            return self.keep(index, review.attempt, review.rung);
        }
        let first = review.inputs.first();
        let first = first.map_or("", |input| input.name.as_str());
        let text = prompt::examined(&told, first);
        let differing = told.rung.open_differences().into_iter();
        review.differing = differing.map(|(_, input)| input.name.clone()).collect();
        rung.doubts.extend(told.rung.doubts);
        review.messages.push(Message::user(text));
        review.tries = 0;
        self.ask_critic(index, review);
    }

    /// Tells the author of a patch that stands what the critic objects; false where it objects
    /// to nothing, or no other patch could be tried.
    pub(super) fn tell_objection(&mut self, index: LaneIndex, number: u32) -> bool {
        let left = self.left();
        if self.foreign.is_some() || left.attempts == 0 {
            return false;
        }
        let objection = self.lanes[index].unproven.take();
        let text = objection
            .zip(self.attempt(number))
            .map(|(objection, attempt)| prompt::objection(attempt, &objection, &left));
        let Some(text) = text else {
            return false;
        };
        self.lanes[index].tell_doubt(number, text);
        true
    }

    /// Takes the author's word against an objection: a person decides.
    pub(super) fn leave_objection(&mut self, index: LaneIndex, number: u32, reason: &str) {
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
        self.go_on_beside(index, number);
    }
}
