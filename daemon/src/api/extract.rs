//! Reads what a request carries, and turns every refusal into a problem.

use super::problem::{Kind, Problem};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use patchwright_agent::task;
use serde::de::DeserializeOwned;

/// The id of a task in the path of a request. What cannot be an id is no task.
#[derive(Debug)]
pub(crate) struct TaskId(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for TaskId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(id) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::new(Kind::NotFound, "the id in the path is no text"))?;
        if task::is_id(&id) {
            Ok(Self(id))
        } else {
            Err(Problem::no_task(&id))
        }
    }
}

/// The parameters behind the question mark.
#[derive(Debug)]
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        Query::<T>::from_request_parts(parts, state)
            .await
            .map(|Query(parameters)| Self(parameters))
            .map_err(|error| Problem::new(Kind::Invalid, error.body_text()))
    }
}

/// Refuses a text that no task has: control characters, or far too long.
pub(crate) fn plain_text(key: &str, text: Option<String>) -> Result<Option<String>, Problem> {
    match text {
        Some(text) if text.chars().any(char::is_control) || text.chars().count() > 200 => {
            let message = "must be at most 200 characters, without control characters";
            Err(Problem::wrong(key, message))
        }
        other => Ok(other.filter(|text| !text.is_empty())),
    }
}

/// The media type that a request says it carries, without parameters.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE);
    let text = value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let name = text.split(';').next().unwrap_or_default();
    name.trim().to_ascii_lowercase()
}

/// A JSON body of at most `limit` bytes.
pub(crate) async fn json<T: DeserializeOwned>(
    mut request: Request,
    limit: usize,
) -> Result<T, Problem> {
    DefaultBodyLimit::max(limit).apply(&mut request);
    let bytes = Bytes::from_request(request, &()).await;
    let bytes = bytes.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(limit),
        _ => cut_off(),
    })?;
    parse_json(&bytes)
}

/// Reads JSON; what the parser says names line and key.
pub(crate) fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes).map_err(|error| {
        let kind = match error.classify() {
            serde_json::error::Category::Data => Kind::Invalid,
            _ => Kind::Malformed,
        };
        Problem::new(kind, format!("the JSON of the task: {error}"))
    })
}

pub(crate) fn cut_off() -> Problem {
    Problem::new(Kind::Malformed, "the body ended before it was complete")
}

pub(crate) fn too_large(limit: usize) -> Problem {
    let detail = format!("at most {limit} bytes are taken");
    Problem::new(Kind::TooLarge, detail)
}
