//! One line of thought: its conversation, what it has seen, and where it
//! stands. The moves between stages are made by the run, which owns what lanes
//! share.

use crate::prompt::{self, control_tokens};
use crate::record::{Attempt, ChallengeRecord, Crash, ProbeQuestion, Purpose, Rung, Step, StepId};
use patchwright_model::Message;
use patchwright_patcher::{Patch, Probe, RawQuery};
use patchwright_retrieval::Memory;
use patchwright_verdict::RungName;

/// Where a lane stands: exactly one thing can be done next.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Stage {
    /// Code is to be gathered for an issue.
    Context(Issue),
    /// The model is to be asked.
    #[default]
    Ask,
    /// The model is to say what of the conversation still matters.
    Compact,
    /// The code that still matters is to be shown again.
    Recall {
        /// Message of the model.
        findings: String,
        queries: Vec<RawQuery>,
    },
    /// No model can answer before a time.
    Wait {
        /// UTC, as RFC 3339 writes it.
        until: String,
        reason: String,
        /// Where the lane goes on.
        then: Box<Stage>,
    },
    /// Queries are to be answered, and after them these probes.
    Retrieve {
        queries: Vec<RawQuery>,
        probes: Vec<Probe>,
        /// Words about what cannot be answered; empty where all can.
        unanswered: String,
    },
    /// Probes are to be answered.
    Probe {
        /// All probes of the round.
        all: Vec<ProbeQuestion>,
        /// Those that were not asked before.
        open: Vec<ProbeQuestion>,
        /// The answers to the queries of the round.
        answers: String,
    },
    /// A patch is to be placed.
    Locate(Patch),
    /// An attempt is to climb a rung.
    Climb { attempt: u32, rung: RungName },
    /// A model is to write inputs against an attempt.
    AskChallenge(Box<Examination>),
    /// Those inputs are to be run.
    Challenge(Box<Examination>),
    /// A critic is to look at an attempt that nothing refuted.
    Review(Box<Examination>),
    /// The inputs that a critic names with its objection are to be run.
    Examine(Box<Examination>),
    /// A critic is to decide about a difference that the author contests.
    Contest(Box<Examination>),
    /// Another lane has the same patch under evaluation: its fate is shared.
    Follow(u32),
    /// This lane has ended, and why.
    Done(Finished),
}

/// An attempt that a model looks at: a critic, or one that writes inputs against it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Examination {
    pub(super) attempt: u32,
    /// The rung *reviewed* by its rules over the diff alone, or *same elsewhere*: without the
    /// challenges, or with the differences that the author of the patch contests.
    pub(super) rung: Rung,
    /// The conversation so far.
    pub(super) messages: Vec<Message>,
    /// The times that a critic was asked without a verdict.
    pub(super) tries: u32,
    /// The inputs that are run; of a critic none before it objects.
    pub(super) inputs: Vec<ChallengeRecord>,
    /// The names of those, once they were run for a critic, on which the unpatched program is
    /// defined and the patched one does something else.
    pub(super) differing: Vec<String>,
}

impl Examination {
    pub(super) fn new(attempt: u32, rung: Rung, question: Option<String>) -> Self {
        Self {
            attempt,
            rung,
            messages: question.map(Message::user).into_iter().collect(),
            ..Self::default()
        }
    }
}

/// The start of a round.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Issue {
    /// `None` at first; the attempt whose failure it tells of later.
    pub(super) attempt: Option<u32>,
    /// The text and the frames that retrieval starts from.
    pub(super) crash: Crash,
}

/// Why a lane does nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finished {
    /// A candidate of a dry run was made.
    Proposed,
    /// An attempt stands, though not every rung could be climbed.
    Held,
    /// No attempts are left.
    Attempts,
    /// No rounds are left, and no patch came.
    Rounds,
    /// Too many malformed replies.
    FormatRetries,
    /// The model does not want to.
    Refused,
    /// The prompt does not fit the model's window.
    Window,
}

/// One line of thought.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Lane {
    pub(super) number: u32,
    pub(super) steps: u32,
    pub(super) stage: Stage,
    pub(super) messages: Vec<Message>,
    pub(super) memory: Memory,
    /// The code that went with the first issue.
    pub(super) code: String,
    pub(super) rounds: u32,
    /// True when the conversation was told in short and not answered since.
    pub(super) compacted: bool,
    /// The probes that were answered, each with its round.
    pub(super) probed: Vec<(ProbeQuestion, u32)>,
    /// The rungs that refuted this lane's attempts, in order.
    pub(super) failures: Vec<RungName>,
    /// The attempt whose other behaviour may be contested now.
    pub(super) contestable: Option<u32>,
    /// An objection that no run shows, and that the author was not told yet.
    pub(super) unproven: Option<String>,
}

impl Lane {
    pub(super) fn new(number: u32, system: String, crash: Crash) -> Self {
        Self {
            number,
            stage: Stage::Context(Issue {
                attempt: None,
                crash,
            }),
            messages: vec![Message::system(system)],
            ..Self::default()
        }
    }

    /// A lane that asks nobody and judges a patch that it was given.
    pub(super) fn judging(patch: Patch) -> Self {
        Self {
            stage: Stage::Locate(patch),
            ..Self::new(1, String::new(), Crash::default())
        }
    }

    pub(super) fn id(&self) -> StepId {
        StepId {
            lane: self.number,
            number: self.steps,
        }
    }

    /// Tells the model something and lets it answer.
    pub(super) fn tell(&mut self, text: String) {
        self.messages.push(Message::user(text));
        self.stage = Stage::Ask;
    }

    /// Tells the author of an attempt that stands of a doubt, which may be contested.
    pub(super) fn tell_doubt(&mut self, attempt: u32, text: String) {
        self.contestable = Some(attempt);
        self.tell(text);
    }

    /// Has an attempt climb a rung.
    pub(super) fn climb(&mut self, attempt: u32, rung: RungName) {
        self.stage = Stage::Climb { attempt, rung };
    }

    /// The round that answered a probe.
    pub(super) fn answered(&self, probe: &ProbeQuestion) -> Option<u32> {
        let known = self.probed.iter().find(|(known, _)| known == probe);
        known.map(|(_, round)| *round)
    }

    /// Counts the last attempts that failed at the same rung.
    pub(super) fn same_failures(&self) -> u32 {
        let latest = self.failures.iter().rev();
        let same = latest.take_while(|rung| Some(*rung) == self.failures.last());
        same.count() as u32
    }

    /// Returns the attempt that stands and whose author is asked about it.
    pub(super) fn defended<'a>(&self, attempts: &'a [Attempt]) -> Option<&'a Attempt> {
        let mut standing = attempts.iter().filter(|attempt| attempt.stands());
        standing.find(|attempt| Some(attempt.number) == self.contestable)
    }

    /// Returns the step to be done now; `None` while the lane follows others or is done.
    pub(super) fn next_step(&self, attempts: &[Attempt]) -> Option<Step> {
        Some(match &self.stage {
            Stage::Context(issue) => Step::Context {
                round: self.rounds,
                request: issue.crash.text.clone(),
                frames: issue.crash.frames.clone(),
                memory: self.memory.clone(),
            },
            Stage::Ask => match self.defended(attempts) {
                Some(_) => ask(Purpose::Contest, &self.messages),
                None => ask(Purpose::Repair, &self.messages),
            },
            Stage::Compact => ask(Purpose::Compact, &self.question()),
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
            Stage::Review(review) | Stage::Contest(review) => {
                ask(Purpose::Critic, &review.messages)
            }
            Stage::AskChallenge(challenge) => ask(Purpose::Challenge, &challenge.messages),
            Stage::Challenge(examined) | Stage::Examine(examined) => Step::Challenge {
                attempt: examined.attempt,
                inputs: examined.inputs.clone(),
                log: examined.rung.log.clone(),
            },
            Stage::Follow(_) | Stage::Done(_) => return None,
        })
    }

    /// Returns the question that shortens a conversation: all of
    /// it but the message that waits for an answer, which stays as it is.
    fn question(&self) -> Vec<Message> {
        let before = self.messages.split_last().map(|(_, before)| before);
        let mut messages = before.unwrap_or_default().to_vec();
        messages.push(Message::user(prompt::compact()));
        messages
    }
}

/// Returns the step that asks a model.
pub(super) fn ask(purpose: Purpose, messages: &[Message]) -> Step {
    let messages = messages.to_vec();
    Step::Ask { purpose, messages }
}

/// Returns a reply as a part of a conversation.
pub(super) fn assistant(text: &str) -> Message {
    Message::assistant(control_tokens::break_up(text))
}
