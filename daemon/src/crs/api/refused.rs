//! Errors as these protocols say them: a message, and what is wrong key by key.

use crate::crs::protocol::{Refusal, Wrong};
use crate::service::ServiceError;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use patchwright_store::StoreError;
use serde::de::DeserializeOwned;

/// A request that was not served.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    refusal: Refusal,
}

impl Refused {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let refusal = Refusal {
            message: message.into(),
            fields: None,
        };
        Self { status, refusal }
    }

    pub(super) fn unknown(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("{what} is not known"))
    }

    /// A message that is wrong in these keys.
    pub(super) fn wrong(fields: Wrong) -> Self {
        let refusal = Refusal {
            message: "the message does not fit the schema".to_owned(),
            fields: Some(fields),
        };
        Self {
            status: StatusCode::BAD_REQUEST,
            refusal,
        }
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "a request of a CRS could not be served");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the store failed")
    }
}

impl From<ServiceError> for Refused {
    fn from(error: ServiceError) -> Self {
        tracing::error!(%error, "a request of a CRS could not be served");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the queue failed")
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.refusal)).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            let basic = HeaderValue::from_static("Basic realm=\"patchwright\"");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, basic);
        }
        response
    }
}

/// Reads a body. These protocols answer 400 to everything that does not fit.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body)
        .map_err(|error| Refused::new(StatusCode::BAD_REQUEST, error.to_string()))
}
