//! The spans of a run: the run itself, each step, each call of a model with the
//! attributes of the GenAI semantic conventions.

use crate::record::{Step, StepId};
use patchwright_model::{Finish, ModelError, Reply};
use tracing::field::Empty;
use tracing::{Span, info_span};

/// The run of a task, from its first step to its end.
pub fn run(run: &str) -> Span {
    info_span!(
        "run",
        otel.name = "run",
        patchwright.run = run,
        patchwright.ending = Empty
    )
}

/// One step of a run.
pub fn step(id: StepId, step: &Step) -> Span {
    let name = name_of(step);
    info_span!(
        "step",
        otel.name = name,
        patchwright.step = name,
        patchwright.lane = id.lane,
        patchwright.number = id.number
    )
}

/// The stage that a step belongs to, in one word.
pub fn name_of(step: &Step) -> &'static str {
    match step {
        Step::Climb { rung, .. } => rung.as_str(),
        other => other.name(),
    }
}

pub fn call(model: &str, max_output_tokens: u32) -> Span {
    info_span!(
        "call",
        otel.name = format!("chat {model}"),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = "openai",
        gen_ai.request.model = model,
        gen_ai.request.max_tokens = max_output_tokens,
        gen_ai.response.model = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        error.type = Empty,
    )
}

/// Adds what came of the call.
pub fn answered(span: &Span, answer: &Result<Reply, ModelError>) {
    match answer {
        Ok(reply) => {
            span.record("gen_ai.response.model", reply.model.as_str());
            let reason = match reply.finish {
                Finish::Stop => "stop",
                Finish::Length => "length",
                Finish::Refused => "content_filter",
            };
            span.record("gen_ai.response.finish_reasons", reason);
            span.record("gen_ai.usage.input_tokens", reply.usage.tokens_in);
            span.record("gen_ai.usage.output_tokens", reply.usage.tokens_out);
        }
        Err(error) => {
            span.record("otel.status_code", "ERROR");
            let kind = match error {
                ModelError::Retry { .. } => "retry",
                ModelError::TooLong(_) => "too_long",
                ModelError::Refused(_) => "refused",
                ModelError::Fatal(_) => "fatal",
            };
            span.record("error.type", kind);
        }
    }
}
