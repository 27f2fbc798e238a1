//! The metrics of a run: their names, and where they are counted.
//!
//! Without a recorder, which only the daemon installs, counting costs next to
//! nothing.

use crate::record::EndingKind;
use metrics::{counter, gauge, histogram};
use patchwright_model::{ModelError, Reply};
use patchwright_record::Rung;

/// Seconds of steps, by stage.
pub const STEP: &str = "patchwright_step_seconds";
/// Runs that ended, by ending.
pub const RUNS: &str = "patchwright_runs_total";
/// Rungs that were climbed, by outcome.
pub const VERDICTS: &str = "patchwright_verdicts_total";
/// Calls of models, by outcome.
pub const CALLS: &str = "patchwright_model_calls_total";
/// Tokens, by direction.
pub const TOKENS: &str = "patchwright_model_tokens_total";
/// US dollars, by model.
pub const MONEY: &str = "patchwright_model_usd";

/// A step was done.
pub fn step(stage: &'static str, seconds: f64) {
    histogram!(STEP, "stage" => stage).record(seconds);
}

pub fn run(ending: EndingKind) {
    counter!(RUNS, "ending" => ending.as_str()).increment(1);
}

/// A rung was climbed.
pub fn verdict(result: &Rung) {
    let holds = match result.holds {
        Some(true) => "true",
        Some(false) => "false",
        None => "null",
    };
    counter!(VERDICTS, "rung" => result.name.as_str(), "holds" => holds).increment(1);
}

/// A model answered, or did not.
pub fn answered(model: &str, answer: &Result<Reply, ModelError>) {
    let model = || model.to_owned();
    let Ok(reply) = answer else {
        counter!(CALLS, "model" => model(), "outcome" => "failure").increment(1);
        return;
    };
    counter!(CALLS, "model" => model(), "outcome" => "reply").increment(1);
    counter!(TOKENS, "model" => model(), "direction" => "in").increment(reply.usage.tokens_in);
    counter!(TOKENS, "model" => model(), "direction" => "out").increment(reply.usage.tokens_out);
}

/// A call cost this much. Money comes in fractions, which counters do not take.
pub fn spent(model: &str, usd: f64) {
    gauge!(MONEY, "model" => model.to_owned()).increment(usd);
}
