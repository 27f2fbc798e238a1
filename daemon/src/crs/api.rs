//! HTTP interfaces for cyber reasoning systems: the patch service and AIxCC's CRS
//! API v1.4, with their own paths, statuses and errors.
//!
//! It takes messages down and tells what came of them. The work is done by
//! whoever watches over the cases and by the workers of the queue. A caller is known by
//! Basic authentication: the key id is the name of a token of the daemon.

mod patch;
mod task;

use super::protocol::{Refusal, Wrong, decode};
use crate::crs::READY;
use crate::crs::rows::{CaseRow, CaseState};
use crate::crs::watch::now;
use crate::login::{Login, NotAdmitted};
use crate::service::Service;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use patchwright_config::Settings;
use patchwright_store::tokens::Role;
use patchwright_store::{Store, StoreError, milliseconds};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The paths of these interfaces as the protocols write them, slashes at the end included,
/// for the listener of the daemon.
pub fn routes(service: &Service, settings: &Arc<Settings>) -> Router {
    let store = service.store().clone();
    let front = Front {
        login: Login::new(store.clone(), &settings.http),
        settings: settings.clone(),
        store,
    };
    Router::new()
        .route("/status/", get(status).delete(reset))
        .route("/v1/task/", post(task::take).delete(task::cancel_all))
        .route("/v1/task/{task_id}/", delete(task::cancel))
        .route("/v1/sarif/", post(task::take_sarif))
        .route("/v1/patch/", post(patch::take))
        .route("/v1/patch/{pov_id}/", get(patch::tell))
        .route_layer(middleware::from_fn_with_state(front.clone(), guard))
        .with_state(front)
}

/// State of every handler. Cheap to clone.
#[derive(Debug, Clone)]
struct Front {
    store: Store,
    settings: Arc<Settings>,
    login: Login,
}

/// Lets cyber reasoning systems through that may hand tasks in.
async fn guard(
    State(front): State<Front>,
    request: Request,
    next: Next,
) -> Result<Response, Refused> {
    let headers = request.headers();
    let unauthorized = |reason: &str| Refused::new(StatusCode::UNAUTHORIZED, reason);
    let no_token = || unauthorized("send key id and token by Basic authentication");
    let unknown = || unauthorized("the key is unknown, expired or revoked");
    let given = headers.get(AUTHORIZATION);
    let pair = given.map(|given| given.to_str().ok().and_then(credentials));
    let pair = pair.map(|pair| pair.ok_or_else(unknown)).transpose()?;
    // A page of a web site is no cyber reasoning system.
    if pair.is_none() && headers.contains_key(ORIGIN) {
        return Err(no_token());
    }
    let secret = pair.as_ref().map(|(_, secret)| secret.as_str());
    let caller = front.login.caller(secret, headers, request.uri());
    let caller = caller.await.map_err(|refused| match refused {
        NotAdmitted::NoToken | NotAdmitted::Elsewhere => no_token(),
        NotAdmitted::UnknownToken => unknown(),
        NotAdmitted::Store(error) => Refused::from(error),
    })?;
    if pair.is_some_and(|(key, _)| key != caller.name) {
        return Err(unknown());
    }
    if caller.role == Role::Review {
        let reason = "this key may look at tasks but hand none in";
        return Err(Refused::new(StatusCode::FORBIDDEN, reason));
    }
    Ok(next.run(request).await)
}

/// Key id and token of a header.
fn credentials(header: &str) -> Option<(String, String)> {
    let (scheme, rest) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(decode(rest.trim())?).ok()?;
    let (key, secret) = pair.split_once(':')?;
    Some((key.to_owned(), secret.to_owned()))
}

/// A request that was not served.
#[derive(Debug)]
struct Refused {
    status: StatusCode,
    refusal: Refusal,
}

impl Refused {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let refusal = Refusal {
            message: message.into(),
            fields: None,
        };
        Self { status, refusal }
    }

    fn unknown(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("{what} is not known"))
    }

    /// A message that is wrong in these keys.
    fn wrong(fields: Wrong) -> Self {
        let message = "the message does not fit the schema";
        let mut refused = Self::new(StatusCode::BAD_REQUEST, message);
        refused.refusal.fields = Some(fields);
        refused
    }

    /// A message that is wrong in one key.
    fn only(key: &str, reason: impl Into<String>) -> Self {
        Self::wrong(Wrong::from([(key.to_owned(), reason.into())]))
    }
}

/// Refuses a message that has errors.
fn expect_none(wrong: Wrong) -> Result<(), Refused> {
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Refused::wrong(wrong))
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "a request of a CRS could not be served");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the store failed")
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.refusal)).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            let basic = HeaderValue::from_static("Basic realm=\"patchwright\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, basic);
        }
        response
    }
}

/// Reads a body. These protocols answer 400 to everything that does not fit.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body)
        .map_err(|error| Refused::new(StatusCode::BAD_REQUEST, error.to_string()))
}

/// Since when the counters count.
const SINCE: &str = "crs since";
/// Looks of the watcher that may be missing before it counts as gone.
const LOOKS: u32 = 5;

/// `GET /status/`
async fn status(State(front): State<Front>) -> Result<Json<Value>, Refused> {
    let store = &front.store;
    let cases: Vec<CaseRow> = store.crs_records(None).await?;
    let since = if let Some(since) = number(store.switch(SINCE).await?) {
        since
    } else {
        // Nobody asked before: everything that came is counted.
        let first = cases.iter().map(|case| case.created).min();
        reset_to(&front, first.unwrap_or_else(now)).await?
    };
    let mut tasks = BTreeMap::from(CaseState::ALL.map(|state| (state, 0)));
    let mut details = BTreeMap::new();
    for case in cases {
        if case.detail.is_none() || case.created < since {
            continue;
        }
        *tasks.entry(case.state).or_default() += 1;
        if let Some(problem) = case.problem {
            details.insert(case.id, problem);
        }
    }
    let patience = milliseconds(front.settings.crs.watch.saturating_mul(LOOKS)).max(10_000);
    let answered = number(store.switch(READY).await?);
    let mut status = json!({
        "ready": answered.is_some_and(|at| now() - at <= patience),
        "since": since,
        "state": { "tasks": tasks },
        "version": env!("CARGO_PKG_VERSION"),
    });
    if let Some(fields) = status.as_object_mut().filter(|_| !details.is_empty()) {
        fields.insert("details".to_owned(), json!(details));
    }
    Ok(Json(status))
}

/// `DELETE /status/`
async fn reset(State(front): State<Front>) -> Result<StatusCode, Refused> {
    // What came within this very millisecond is not counted any more either.
    reset_to(&front, now() + 1).await?;
    Ok(StatusCode::OK)
}

async fn reset_to(front: &Front, since: i64) -> Result<i64, Refused> {
    front.store.set_switch(SINCE, &since.to_string()).await?;
    Ok(since)
}

fn number(text: Option<String>) -> Option<i64> {
    text?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::credentials;
    use crate::crs::protocol::encode;

    #[test]
    fn reads_basic_authentication() {
        let basic = |text: &str| format!("Basic {}", encode(text.as_bytes()));
        for (header, expected) in [
            (basic("key:secret"), Some(("key", "secret"))),
            (basic("key:with:colon"), Some(("key", "with:colon"))),
            (basic("key").replace("Basic", "basic"), None),
            ("Basic %".to_owned(), None),
            ("Bearer x".to_owned(), None),
            ("Basic".to_owned(), None),
            (String::new(), None),
        ] {
            let read = credentials(&header);
            let read = read.as_ref().map(|(key, secret)| (&**key, &**secret));
            assert_eq!(read, expected, "{header}");
        }
    }
}
