//! Limits of a run, and the budget that it has used.

use super::step::SignalRecord;
use patchwright_model::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunLimits {
    /// Patches that are evaluated, over all lanes.
    pub attempts: u32,
    /// Rounds of retrieval, over all lanes.
    pub rounds: u32,
    /// Malformed replies that are asked again, over all lanes.
    pub format_retries: u32,
    /// Tokens, in and out together.
    pub tokens: Option<u64>,
    /// Money in US dollars.
    pub usd: Option<f64>,
    /// Working time.
    #[serde(with = "patchwright_record::seconds")]
    pub wall: Duration,
    /// Differences of behaviour that authors are asked about or may contest, over
    /// all lanes.
    pub contests: u32,
    /// Questions to a model for inputs that challenge a patch.
    pub challenges: u32,
    /// Inputs of one such question that are run.
    pub challenge_inputs: u32,
    /// Patches that the model is asked for, to compare a judged one with.
    pub candidates: u32,
    /// Questions to a model for a regression test.
    pub regression_tests: u32,
    /// Time for the search for the smallest input that shows the crash; none for no search.
    #[serde(with = "patchwright_record::seconds")]
    pub minimize: Duration,
    /// The least probability of being right with which an attempt is verified.
    pub probability: f64,
}

/// Budget that a run has used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spent {
    /// Rounds of retrieval.
    pub rounds: u32,
    /// Malformed replies.
    pub format_retries: u32,
    pub cost: Cost,
    pub seconds: Seconds,
}

/// Cost of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// US dollars; 0 when no price is set.
    pub usd: f64,
    /// Tokens sent.
    pub tokens_in: u64,
    /// Tokens received.
    pub tokens_out: u64,
    /// Calls that were answered.
    pub calls: u32,
}

/// Times of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Seconds {
    /// Working time; pauses are not counted.
    pub total: f64,
    /// Time waiting for the model.
    pub model: f64,
    /// Time in builds, PoVs, tests and other commands.
    pub commands: f64,
}

/// Rest of the budget, as the model is told it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Attempts not yet used.
    pub attempts: u32,
    pub attempts_of: u32,
    /// Rounds not yet used.
    pub rounds: u32,
    pub rounds_of: u32,
    /// Malformed replies that will still be forgiven.
    pub format_retries: u32,
    /// Tokens that are left, in percent, when they are limited.
    pub tokens_percent: Option<u64>,
    /// Money that is left, in percent, when it is limited.
    pub usd_percent: Option<u64>,
}

impl Spent {
    /// Adds what a call used, answered or not.
    pub(crate) fn add_call(&mut self, usage: &Usage, usd: f64, seconds: f64) {
        self.cost.tokens_in += usage.tokens_in;
        self.cost.tokens_out += usage.tokens_out;
        self.cost.usd += usd;
        self.seconds.model += seconds;
    }

    /// Returns the tokens, in and out together.
    pub(crate) fn tokens(&self) -> u64 {
        self.cost.tokens_in + self.cost.tokens_out
    }

    /// Adds what signals took.
    pub(crate) fn add_signals(&mut self, signals: &[SignalRecord]) {
        for one in signals {
            self.add_call(&one.usage, one.usd, one.seconds);
        }
    }
}

impl RunLimits {
    /// Returns what is left of these limits.
    pub fn left(&self, spent: &Spent, attempts: u32) -> Left {
        let percent = |used: f64, limit: f64| {
            (100.0 - 100.0 * used / limit.max(f64::MIN_POSITIVE)).clamp(0.0, 100.0) as u64
        };
        Left {
            attempts: self.attempts.saturating_sub(attempts),
            attempts_of: self.attempts,
            rounds: self.rounds.saturating_sub(spent.rounds),
            rounds_of: self.rounds,
            format_retries: self.format_retries.saturating_sub(spent.format_retries),
            tokens_percent: self
                .tokens
                .map(|limit| percent(spent.tokens() as f64, limit as f64)),
            usd_percent: self.usd.map(|limit| percent(spent.cost.usd, limit)),
        }
    }
}
