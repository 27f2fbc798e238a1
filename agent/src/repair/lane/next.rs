//! The step that a lane's stage calls for.

use super::{Lane, Stage};
use crate::prompt;
use crate::record::{Purpose, Step};
use patchwright_model::Message;

impl Lane {
    /// Returns the step to be done now; `None` while the lane follows others or is done.
    pub(in crate::repair) fn next_step(&self) -> Option<Step> {
        Some(match &self.stage {
            Stage::Context(issue) => Step::Context {
                round: self.rounds,
                request: issue.crash.text.clone(),
                frames: issue.frames(),
                memory: self.memory.clone(),
            },
            Stage::Ask => Step::Ask {
                purpose: match self.contestable {
                    Some(contestable) if contestable.stands => Purpose::Contest,
                    _ => Purpose::Repair,
                },
                messages: self.messages.clone(),
            },
            Stage::Compact => Step::Ask {
                purpose: Purpose::Compact,
                messages: self.question(),
            },
            Stage::Recall { queries, .. } => Step::Retrieve {
                round: self.rounds,
                queries: queries.clone(),
                memory: self.memory.clone(),
            },
            Stage::Wait { until, reason, .. } => Step::Wait {
                until: until.clone(),
                reason: reason.clone(),
            },
            Stage::Retrieve { queries, .. } => Step::Retrieve {
                round: self.rounds + 1,
                queries: queries.clone(),
                memory: self.memory.clone(),
            },
            Stage::Probe { open, .. } => Step::Probe {
                probes: open.clone(),
            },
            Stage::Locate(patch) => Step::Locate {
                patch: patch.clone(),
            },
            Stage::Climb { attempt, rung } => Step::Climb {
                attempt: *attempt,
                rung: *rung,
            },
            Stage::Review(review) => Step::Ask {
                purpose: Purpose::Critic,
                messages: review.messages.clone(),
            },
            Stage::AskChallenge(challenge) => Step::Ask {
                purpose: Purpose::Challenge,
                messages: challenge.messages.clone(),
            },
            Stage::Challenge(challenge) => Step::Challenge {
                attempt: challenge.attempt,
                inputs: challenge.inputs.clone(),
            },
            Stage::Contest(contest) => Step::Ask {
                purpose: Purpose::Critic,
                messages: contest.messages.clone(),
            },
            Stage::Follow(_) | Stage::Done(_) => return None,
        })
    }

    /// Returns the question that shortens a conversation: all of
    /// it but the message that waits for an answer, which stays as it is.
    fn question(&self) -> Vec<Message> {
        let before = self.messages.len().saturating_sub(1);
        let mut messages: Vec<Message> = self.messages.iter().take(before).cloned().collect();
        messages.push(Message::user(prompt::compact()));
        messages
    }
}
