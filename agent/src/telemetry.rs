//! Spans and metrics of a run, given to whatever collects them in this process.
//!
//! None of them holds a prompt, a reply, a token or the content of a task, and
//! nothing is decided by them. Who sends them out is not known here.

pub mod metrics;
pub mod spans;

use patchwright_model::{Model, ModelError, Reply, Request};
use tracing::Instrument;

/// Asks a model, and tells the traces and the metrics of it.
///
/// # Errors
/// Those of the model.
pub async fn asked(model: &dyn Model, request: &Request) -> Result<Reply, ModelError> {
    let span = spans::call(model.name(), request.max_output_tokens);
    let answered = model.ask(request).instrument(span.clone()).await;
    spans::answered(&span, &answered);
    metrics::answered(model.name(), &answered);
    answered
}
