//! Requests that are answered by a page that says why they are not served.

use crate::follow_up::NoFollowUp;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use patchwright_store::StoreError;

/// A request that is not served, and why.
#[derive(Debug, thiserror::Error)]
#[error("{detail}")]
pub(super) struct Refused {
    status: StatusCode,
    title: &'static str,
    detail: String,
}

impl Refused {
    pub(super) fn new(status: StatusCode, title: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status,
            title,
            detail: detail.into(),
        }
    }

    pub(super) fn missing(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "Nothing here", detail)
    }

    pub(super) fn forbidden(detail: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "Not allowed", detail)
    }

    pub(super) fn unauthorized(title: &'static str, detail: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, title, detail)
    }

    pub(super) fn impossible(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Not possible", detail)
    }

    /// Returns why a request failed; what is nobody's business stays in the log.
    fn of(error: anyhow::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(refused) => refused,
            Err(error) if error.is::<NoFollowUp>() => Self::impossible(error.to_string()),
            Err(error) if matches!(error.downcast_ref(), Some(StoreError::NoRun { .. })) => {
                Self::missing(error.to_string())
            }
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "a page failed");
                let detail = "the page cannot be made; the log of the server says why";
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                Self::new(status, "Something is wrong", detail)
            }
        }
    }
}

/// An error that becomes a page.
pub(super) struct Failed(anyhow::Error);

impl<E: Into<anyhow::Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let refused = Refused::of(self.0);
        match patchwright_page::missing(refused.title, &refused.detail) {
            Ok(page) => (refused.status, Html(page)).into_response(),
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "a page failed");
                (refused.status, refused.detail).into_response()
            }
        }
    }
}

pub(super) type Answer = Result<Response, Failed>;

pub(super) fn html(text: String) -> Response {
    Html(text).into_response()
}
