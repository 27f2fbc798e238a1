//! Errors as a caller sees them: problem details (RFC 9457),
//! the same shape for every error.
//!
//! The cause of an internal error is logged and not told.

use crate::service::ServiceError;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// The media type of a problem.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// An error as the caller sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// Kind of the problem; the same kind always has the same value.
    #[serde(rename = "type")]
    #[schema(example = "urn:patchwright:problem:invalid-task")]
    kind: String,
    /// The kind in words.
    title: String,
    /// The status of the answer.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// Description of this occurrence, and what to do about it.
    detail: String,
    /// The values that are wrong, when there are several or they have names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<Wrong>,
    #[serde(skip)]
    retry_after: Option<u64>,
}

/// One value that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Wrong {
    /// The key of the task, the parameter, or the part of the upload.
    pub key: String,
    /// Description of the error.
    pub message: String,
}

/// The kinds of problems, their words, and their status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Malformed,
    Unauthorized,
    Forbidden,
    NotFound,
    Method,
    Slow,
    Conflict,
    TooLarge,
    MediaType,
    Invalid,
    TooMany,
    Internal,
    Unavailable,
    Busy,
}

impl Kind {
    /// All of them, for the description of the interface.
    pub(crate) const ALL: [Self; 14] = [
        Self::Malformed,
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::Method,
        Self::Slow,
        Self::Conflict,
        Self::TooLarge,
        Self::MediaType,
        Self::Invalid,
        Self::TooMany,
        Self::Internal,
        Self::Unavailable,
        Self::Busy,
    ];

    /// Returns the last part of its type, its title and its status.
    fn facts(self) -> (&'static str, &'static str, StatusCode) {
        let (slug, title, status) = match self {
            Self::Malformed => ("malformed", "The request cannot be read", 400),
            Self::Unauthorized => ("unauthorized", "A token is needed", 401),
            Self::Forbidden => ("forbidden", "This is not allowed", 403),
            Self::NotFound => ("not-found", "There is nothing here", 404),
            Self::Method => ("method", "This method is not understood here", 405),
            Self::Slow => ("slow", "The request took too long", 408),
            Self::Conflict => ("conflict", "Another state stands in the way", 409),
            Self::TooLarge => ("too-large", "The request is too large", 413),
            Self::MediaType => ("media-type", "This kind of content is not taken", 415),
            Self::Invalid => ("invalid", "A value makes no sense", 422),
            Self::TooMany => ("too-many-requests", "Too many requests", 429),
            Self::Internal => ("internal", "Something is wrong inside", 500),
            Self::Unavailable => ("unavailable", "The store cannot be used now", 503),
            Self::Busy => ("busy", "The daemon is busy", 503),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (slug, title, status)
    }

    pub(crate) fn status(self) -> StatusCode {
        self.facts().2
    }

    /// The kind in words.
    pub(crate) fn title(self) -> &'static str {
        self.facts().1
    }
}

impl Problem {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        let (slug, title, status) = kind.facts();
        Self {
            kind: format!("urn:patchwright:problem:{slug}"),
            title: title.to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            errors: Vec::new(),
            retry_after: matches!(kind, Kind::TooMany | Kind::Unavailable | Kind::Busy)
                .then_some(1),
        }
    }

    /// A value of the request that makes no sense.
    pub(crate) fn invalid(errors: Vec<Wrong>) -> Self {
        let told: Vec<String> = errors
            .iter()
            .map(|wrong| format!("{}: {}", wrong.key, wrong.message))
            .collect();
        Self {
            errors,
            ..Self::new(Kind::Invalid, told.join("; "))
        }
    }

    /// Tells that one value makes no sense.
    pub(crate) fn wrong(key: &str, message: &str) -> Self {
        Self::invalid(vec![Wrong {
            key: key.to_owned(),
            message: message.to_owned(),
        }])
    }

    /// There is no such task.
    pub(crate) fn no_task(id: &str) -> Self {
        let shown: String = id.chars().take(128).collect();
        Self::new(Kind::NotFound, format!("there is no task {shown:?}"))
    }

    /// A failure inside: logged, and told without its cause.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a request failed");
        Self::new(
            Kind::Internal,
            "the daemon failed to answer; its log says why",
        )
    }

    /// A failure of the store: logged, and told without its cause.
    pub(crate) fn store(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "the store failed");
        let detail = "the store could not be read or written; nothing was changed, try again later";
        Self::new(Kind::Unavailable, detail)
    }
}

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Store(error) => Self::store(&error),
            ServiceError::NotWritten(error) => Self::store(&error.0),
            ServiceError::Damaged { .. } => Self::internal(&error),
        }
    }
}

impl From<patchwright_store::StoreError> for Problem {
    fn from(error: patchwright_store::StoreError) -> Self {
        Self::store(&error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.retry_after;
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"patchwright\""),
            );
        }
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
