//! Errors as a caller sees them: problem details (RFC 9457),
//! the same shape for every error.
//!
//! The cause of an internal error is logged and not told.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use patchwright_store::StoreError;
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
}

/// One value that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Wrong {
    /// The key of the task, the parameter, or the part of the upload.
    pub key: String,
    /// Description of the error.
    pub message: String,
}

/// Declares the kinds of problems: the last part of their type, their title and their status.
macro_rules! kinds {
    ($($name:ident $slug:literal $title:literal $status:ident)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($name),+
        }

        impl Kind {
            /// All of them, for the description of the interface.
            pub(crate) const ALL: &[Self] = &[$(Self::$name),+];

            pub(crate) fn facts(self) -> (&'static str, &'static str, StatusCode) {
                match self {
                    $(Self::$name => ($slug, $title, StatusCode::$status)),+
                }
            }
        }
    };
}

kinds! {
    Malformed "malformed" "The request cannot be read" BAD_REQUEST
    Unauthorized "unauthorized" "A token is needed" UNAUTHORIZED
    Forbidden "forbidden" "This is not allowed" FORBIDDEN
    NotFound "not-found" "There is nothing here" NOT_FOUND
    Method "method" "This method is not understood here" METHOD_NOT_ALLOWED
    Slow "slow" "The request took too long" REQUEST_TIMEOUT
    Conflict "conflict" "Another state stands in the way" CONFLICT
    TooLarge "too-large" "The request is too large" PAYLOAD_TOO_LARGE
    MediaType "media-type" "This kind of content is not taken" UNSUPPORTED_MEDIA_TYPE
    Invalid "invalid" "A value makes no sense" UNPROCESSABLE_ENTITY
    TooMany "too-many-requests" "Too many requests" TOO_MANY_REQUESTS
    Internal "internal" "Something is wrong inside" INTERNAL_SERVER_ERROR
    Unavailable "unavailable" "The store cannot be used now" SERVICE_UNAVAILABLE
    Busy "busy" "The daemon is busy" SERVICE_UNAVAILABLE
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

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Damaged { .. } => Self::internal(&error),
            error => Self::store(&error),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = [(header::CONTENT_TYPE, MEDIA_TYPE)];
        let mut response = (status, kind, Json(self)).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer realm=\"patchwright\"");
            headers.insert(header::WWW_AUTHENTICATE, bearer);
        }
        // Too many requests, or the store or the daemon has no time for it now.
        if matches!(status.as_u16(), 429 | 503) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
