//! `/status/`: whether work would be done, and how many challenges there are in
//! each state.

use super::{Front, Refused};
use crate::crs::READY;
use crate::crs::protocol::{Status, StatusState};
use crate::crs::rows::{CaseRow, CaseState};
use crate::crs::watch::now;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use std::collections::BTreeMap;

/// Since when the counters count.
const SINCE: &str = "crs since";
/// Looks of the watcher that may be missing before it counts as gone.
const LOOKS: u32 = 5;

/// `GET /status/`
pub(super) async fn status(State(front): State<Front>) -> Result<Json<Status>, Refused> {
    let store = front.service.store();
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
    let patience = front.settings.crs.watch.saturating_mul(LOOKS).as_millis();
    let patience = i64::try_from(patience).unwrap_or(i64::MAX / 2).max(10_000);
    let answered = number(store.switch(READY).await?);
    Ok(Json(Status {
        ready: answered.is_some_and(|at| now() - at <= patience),
        since,
        state: StatusState { tasks },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        details,
    }))
}

/// `DELETE /status/`
pub(super) async fn reset(State(front): State<Front>) -> Result<StatusCode, Refused> {
    // What came within this very millisecond is not counted any more either.
    reset_to(&front, now() + 1).await?;
    Ok(StatusCode::OK)
}

async fn reset_to(front: &Front, since: i64) -> Result<i64, Refused> {
    let store = front.service.store();
    store.set_switch(SINCE, &since.to_string()).await?;
    Ok(since)
}

fn number(text: Option<String>) -> Option<i64> {
    text?.parse().ok()
}
