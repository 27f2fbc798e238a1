//! What can be done next, and what can come of it.

use super::attempt::RungRecord;
use super::crash::{Crash, CrashFrame};
use super::ending::Ending;
use super::probe::{ProbeQuestion, Probed};
use super::retrieved::{ContextText, Retrieved};
use patchwright_evaluator::RungName;
use patchwright_model::{Finish, Message, Usage};
use patchwright_patcher::{Patch, RawQuery};
use patchwright_retrieval::Memory;
use serde::{Deserialize, Serialize};

/// Which step of which lane. Lane 0 is the run itself: baseline and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StepId {
    /// The lane, from 1; 0 for the run.
    pub lane: u32,
    /// How many steps this lane has taken before.
    pub number: u32,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Build the unpatched tree, run the PoVs and the tests.
    Baseline,
    /// Gather the code that a crash or a request concerns, without any query.
    Context {
        /// How many rounds this lane has behind it.
        round: u32,
        /// The text of the crash or of the feedback.
        request: String,
        /// The frames of the crash.
        frames: Vec<CrashFrame>,
        /// What was shown before.
        memory: Memory,
    },
    /// Ask a model.
    Ask {
        /// What for, which says whom.
        purpose: Purpose,
        /// The whole conversation.
        messages: Vec<Message>,
    },
    /// Do nothing until a time: no model can answer before.
    Wait {
        /// UTC, as RFC 3339 writes it.
        until: String,
        /// Why.
        reason: String,
    },
    /// Answer the model's queries.
    Retrieve {
        /// Which round of this lane it is, from 1.
        round: u32,
        /// The queries, well formed.
        queries: Vec<RawQuery>,
        /// What was shown before.
        memory: Memory,
    },
    /// Ask a debugger what expressions hold.
    Probe {
        /// What is asked, and of which build.
        probes: Vec<ProbeQuestion>,
    },
    /// Find the places of a patch in the pristine tree.
    Locate {
        /// What the model wrote.
        patch: Patch,
    },
    /// Climb one rung with an attempt.
    Climb {
        /// The attempt's number.
        attempt: u32,
        /// The rung.
        rung: RungName,
    },
    /// Nothing is left to do.
    End {
        /// How it ends.
        ending: Ending,
    },
}

impl Step {
    /// One word for journals and displays.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Context { .. } => "context",
            Self::Ask { purpose, .. } => purpose.as_str(),
            Self::Wait { .. } => "wait",
            Self::Retrieve { .. } => "retrieve",
            Self::Probe { .. } => "probe",
            Self::Locate { .. } => "locate",
            Self::Climb { .. } => "climb",
            Self::End { .. } => "end",
        }
    }
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Queries or a patch.
    Repair,
    /// What of the conversation still matters.
    Compact,
    /// What it thinks of a patch.
    Critic,
    /// Which of several patches it would take.
    Judge,
}

impl Purpose {
    /// One word for journals and displays.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repair => "ask",
            Self::Compact => "compact",
            Self::Critic => "critic",
            Self::Judge => "judge",
        }
    }
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The unpatched tree builds and crashes.
    Baseline(BaselineSummary),
    /// The code that goes with an issue.
    Context(ContextText),
    /// The model answered.
    Reply(ReplyRecord),
    /// The conversation does not fit the model's window any more.
    Full(Full),
    /// No model can answer before a time.
    Postponed(Postponed),
    /// The time has come.
    Waited,
    /// Somebody who need not be asked could not be: a critic, say.
    Unanswered(Unanswered),
    /// The queries are answered.
    Retrieved(Retrieved),
    /// The probes are answered.
    Probed(Probed),
    /// The patch was placed, or refused.
    Located(Located),
    /// A rung was climbed, or not.
    Climbed(RungRecord),
    /// The step could not be done, and the run ends: a limit, an invalid task,
    /// a failing infrastructure, somebody's wish.
    Stopped {
        /// How it ends.
        ending: Ending,
        /// Seconds spent before it stopped.
        seconds: f64,
    },
}

/// What the baseline showed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineSummary {
    /// The crashes that were seen here, one for each distinct signature.
    pub crashes: Vec<Crash>,
    /// What is known of the tests: how many passed, which fail already.
    pub tests: String,
    /// Whether there are tests.
    pub has_tests: bool,
    /// Seconds spent in commands.
    pub seconds: f64,
}

/// A reply of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplyRecord {
    /// What it wrote.
    pub text: String,
    /// Why it stopped writing.
    pub finish: Finish,
    /// What was counted.
    pub usage: Usage,
    /// Which model answered.
    pub model: String,
    /// What it cost.
    pub usd: f64,
    /// How long it took.
    pub seconds: f64,
}

/// A conversation that nears the end of the model's window, or passes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Full {
    /// About how many tokens it has.
    pub tokens: u64,
    /// What fits, with room for a reply.
    pub fits: u64,
    /// What the endpoint said, when it was the one to refuse.
    pub reason: String,
}

/// A call that was put off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Postponed {
    /// UTC, as RFC 3339 writes it.
    pub until: String,
    /// Why.
    pub reason: String,
    /// What tries that broke off may have used.
    pub usage: Usage,
    /// What they may have cost.
    pub usd: f64,
    /// How long it took.
    pub seconds: f64,
}

/// A call that came to nothing, and that the run can do without.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unanswered {
    /// Why.
    pub reason: String,
    /// What tries that broke off may have used.
    pub usage: Usage,
    /// What they may have cost.
    pub usd: f64,
    /// How long it took.
    pub seconds: f64,
}

/// What came of placing a patch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Located {
    /// Every edit has its place.
    Placed(LocatedPatch),
    /// At least one has none, or may not be.
    Refused {
        /// One text for each refused edit, for the model.
        reasons: Vec<String>,
    },
}

/// A patch that has its place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocatedPatch {
    /// Against the pristine tree.
    pub diff: String,
    /// Whether the tree is no UTF-8 there: the characters of the diff stand for
    /// the bytes of the same numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latin1: bool,
    /// For recognising the same patch again.
    pub normal_form: String,
    /// What the model should know, though nothing is refused for it.
    pub warnings: Vec<String>,
}
