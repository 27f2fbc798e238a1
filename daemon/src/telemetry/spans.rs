//! The spans of what is done for cyber reasoning systems.

use tracing::{Span, info_span};

/// Something done for a challenge, in the words that its organisers ask for,
/// with the metadata that they sent along.
pub fn action((category, name): (&str, &str), task: &str, metadata: &str) -> Span {
    info_span!(
        "action",
        otel.name = name,
        crs.action.category = category,
        crs.action.name = name,
        task.id = task,
        task.metadata = metadata
    )
}
