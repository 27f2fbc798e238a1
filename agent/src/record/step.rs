//! Steps of a run and their outcomes.

use super::challenge::{ChallengeRecord, ChallengedRecord, PovRecord};
use super::probe::{ProbeQuestion, Probed};
use patchwright_model::{Finish, Message, Usage};
use patchwright_patcher::{Patch, RawQuery};
use patchwright_record::{
    Agreement, Blob, Crash, CrashFrame, Ending, RegressionRecord, Rung, RungName, SmallestRecord,
    TestFiles,
};
use patchwright_retrieval::Memory;
use patchwright_sandbox::Isolation;
use patchwright_source::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Which step of which lane. Lane 0 is the run itself: baseline and end.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct StepId {
    /// The lane, from 1; 0 for the run.
    pub lane: u32,
    /// Number of steps that this lane has taken before.
    pub number: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Build the unpatched tree, run the PoVs and the tests.
    Baseline,
    /// Gather the code that a crash or a request concerns, without any query.
    Context {
        /// Number of rounds that this lane has behind it.
        round: u32,
        /// The text of the crash or of the feedback.
        request: String,
        /// The frames of the crash.
        frames: Vec<CrashFrame>,
        /// Memory of the code that was shown before.
        memory: Memory,
    },
    Ask {
        /// Purpose of the question, which decides whom it goes to.
        purpose: Purpose,
        /// The whole conversation.
        messages: Vec<Message>,
    },
    /// Do nothing until a time: no model can answer before.
    Wait {
        /// UTC, as RFC 3339 writes it.
        until: String,
        reason: String,
    },
    /// Answer the model's queries.
    Retrieve {
        /// Which round of this lane it is, from 1.
        round: u32,
        /// The queries, well formed.
        queries: Vec<RawQuery>,
        /// Memory of the code that was shown before.
        memory: Memory,
    },
    /// Ask a debugger what expressions hold.
    Probe {
        /// Expressions to evaluate, and in which build.
        probes: Vec<ProbeQuestion>,
    },
    /// Find the places of a patch in the pristine tree.
    Locate {
        /// Patch as the model wrote it.
        patch: Patch,
    },
    /// Climb one rung with an attempt.
    Climb { attempt: u32, rung: RungName },
    /// Run inputs that were written against an attempt.
    Challenge {
        attempt: u32,
        inputs: Vec<ChallengeRecord>,
        /// The log of *same elsewhere* so far.
        log: Blob,
    },
    /// Compare the behaviour of candidates.
    Agree {
        attempts: Vec<u32>,
        /// Inputs that matter, besides those that are always run.
        inputs: Vec<ChallengeRecord>,
    },
    /// Search for the smallest input that shows the crash.
    Minimize { budget: Duration },
    /// Gather the project's tests.
    TestFiles {
        /// The attempt that is to get a test.
        attempt: u32,
    },
    /// Run a regression test without the patch and with it.
    Prove {
        attempt: u32,
        /// The test as a model wrote it; a script that runs the PoV where there is none.
        test: Option<Patch>,
        /// Refuted attempts that it is run on too.
        refuted: Vec<u32>,
    },
    /// Nothing is left to do.
    End { ending: Ending },
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
            Self::Challenge { .. } => "challenges",
            Self::Agree { .. } => "agree",
            Self::Minimize { .. } => "minimize",
            Self::TestFiles { .. } => "test_files",
            Self::Prove { .. } => "prove",
            Self::End { .. } => "end",
        }
    }
}

/// Purpose of a question to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Queries or a patch.
    Repair,
    /// The same, while an attempt stands whose other behaviour may be contested.
    Contest,
    /// Summary of a conversation.
    Compact,
    /// Inputs against a patch.
    Challenge,
    RegressionTest,
    /// Review of a patch.
    Critic,
    /// Which of several patches it would take.
    Judge,
}

words!(Purpose: Repair "ask", Contest "contest", Compact "compact", Challenge "challenge",
       RegressionTest "regression_test", Critic "critic", Judge "judge");

/// Outcome of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The unpatched tree builds and crashes.
    Baseline(BaselineSummary),
    /// The code that goes with an issue.
    Context(ContextText),
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
    Climbed(Rung),
    /// The inputs against an attempt were run.
    Challenged(ChallengedRecord),
    /// The behaviour of candidates was compared.
    Agreed(Agreement),
    /// The smallest input that shows the crash was sought.
    Minimized(SmallestRecord),
    /// The project's tests are gathered.
    TestFiles(TestFiles),
    /// A regression test was run.
    Proved(RegressionRecord),
    /// The step could not be done, and the run ends: a limit, an invalid task,
    /// a failing infrastructure, somebody's wish.
    Stopped {
        ending: Ending,
        /// Seconds spent before it stopped.
        seconds: f64,
    },
}

impl From<Ending> for Outcome {
    fn from(ending: Ending) -> Self {
        Self::Stopped {
            ending,
            seconds: 0.0,
        }
    }
}

/// Result of the baseline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BaselineSummary {
    /// The crashes that were seen here, one for each distinct signature.
    pub crashes: Vec<Crash>,
    /// Their signatures; absent in journals of older versions.
    pub signatures: Vec<String>,
    /// Result of the tests: how many passed, which fail already.
    pub tests: String,
    /// True when there are tests.
    pub has_tests: bool,
    /// The isolation that the commands ran in; absent in journals of older versions.
    pub sandbox: Option<Isolation>,
    /// The PoVs, for whoever writes other inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub povs: Vec<PovRecord>,
    /// Code of the harness that reads the inputs; empty where it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub harness: String,
    /// Seconds spent in commands.
    pub seconds: f64,
    /// Each command that was run, for people.
    pub observed: Vec<Observed>,
}

/// One command on the unpatched tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// Its name: `build`, a PoV's file, `tests`.
    pub name: String,
    /// True when it did what a repair needs of it.
    pub good: bool,
    /// The result; later lines are the end of a log, and advice.
    pub text: String,
    /// The log: a file below the `--out` folder, or a hash in the store.
    #[serde(default, deserialize_with = "patchwright_record::empty_is_none")]
    pub log: Option<String>,
}

/// A reply of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplyRecord {
    pub text: String,
    /// Why it stopped writing.
    pub finish: Finish,
    /// Counts of tokens.
    pub usage: Usage,
    /// Which model answered.
    pub model: String,
    /// Cost in US dollars.
    pub usd: f64,
    /// Duration in seconds.
    pub seconds: f64,
}

/// A conversation that nears the end of the model's window, or passes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Full {
    /// About how many tokens it has.
    pub tokens: u64,
    /// Tokens that fit, with room for a reply.
    pub fits: u64,
    /// Message of the endpoint, when it was the one to refuse.
    pub reason: String,
}

/// A call that was put off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Postponed {
    /// UTC, as RFC 3339 writes it.
    pub until: String,
    pub reason: String,
    /// Tokens that tries which broke off may have used.
    pub usage: Usage,
    /// Cost in US dollars that they may have caused.
    pub usd: f64,
    /// Duration in seconds.
    pub seconds: f64,
}

/// A call that came to nothing, and that the run can do without.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Unanswered {
    pub reason: String,
    /// Tokens that tries which broke off may have used.
    pub usage: Usage,
    /// Cost in US dollars that they may have caused.
    pub usd: f64,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Result of placing a patch.
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
    /// True when the tree is no UTF-8 there: the characters of the diff stand for
    /// the bytes of the same numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latin1: bool,
    /// For recognising the same patch again.
    pub normal_form: String,
    /// Warnings for the model; nothing is refused for them.
    pub warnings: Vec<String>,
    /// The lines around the touched ones, as they are without the patch.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub surroundings: String,
}

/// The code that goes with an issue.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextText {
    /// Text for the model; may be empty.
    pub text: String,
    /// Memory of the code that has been shown by now.
    pub memory: Memory,
    /// Signals that were asked for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalRecord>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieved {
    pub text: String,
    /// Memory of the code that has been shown by now.
    pub memory: Memory,
    /// Number of queries that found something.
    pub found: u32,
    /// Number of queries that found nothing.
    pub missed: u32,
    /// Signals that were asked for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<SignalRecord>,
}

/// Result of asking a signal that helps to rank code.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SignalRecord {
    pub signal: String,
    /// Why it was not asked, or gave nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Counts of tokens.
    pub usage: Usage,
    /// Cost in US dollars.
    pub usd: f64,
    /// Duration in seconds.
    pub seconds: f64,
}

impl SignalRecord {
    /// Message for people about a signal that gave nothing.
    pub fn note(&self) -> Option<String> {
        let reason = self.missing.as_ref()?;
        Some(format!("{} was left out: {reason}", self.signal))
    }
}
