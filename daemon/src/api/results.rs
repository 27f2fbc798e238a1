//! Results of a task: its patch, its report, its journal.

use super::Api;
use super::extract::TaskId;
use super::problem::{Kind, Problem};
use crate::service::Service;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures::stream::{self, Stream};
use patchwright_agent::report::Report;
use std::io;

/// Events that are read at once.
const BATCH: u32 = 256;

/// Gives the report: how it ended, every attempt with its evidence, and the cost
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}/report", tag = "results", params(("id" = String, Path, description = "The task's id", pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$")),
    responses((status = 200, description = "The report", body = Object))
)]
pub(crate) async fn report(
    State(api): State<Api>,
    TaskId(id): TaskId,
) -> Result<Json<Report>, Problem> {
    Ok(Json(known_report(&api, &id).await?))
}

/// Gives the best patch as a diff
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}/patch", tag = "results", params(("id" = String, Path, description = "The task's id", pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$")),
    responses((status = 200, description = "A unified diff", body = String, content_type = "text/x-diff"))
)]
pub(crate) async fn patch(State(api): State<Api>, TaskId(id): TaskId) -> Result<Response, Problem> {
    let report = known_report(&api, &id).await?;
    let ending = report.ending;
    let best = report.best.filter(|best| !best.diff.is_empty());
    let best = best.ok_or_else(|| {
        let detail = format!("the task {id} ended as {ending}, without a patch");
        Problem::new(Kind::NotFound, detail)
    })?;
    let kind = if best.latin1 {
        "text/x-diff; charset=iso-8859-1"
    } else {
        "text/x-diff; charset=utf-8"
    };
    Ok(([(CONTENT_TYPE, kind)], best.diff_bytes()).into_response())
}

/// Gives the journal of the last run, one JSON object a line
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}/journal", tag = "results", params(("id" = String, Path, description = "The task's id", pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$")),
    responses((status = 200, description = "The journal as far as it goes", body = String, content_type = "application/jsonl"))
)]
pub(crate) async fn journal(
    State(api): State<Api>,
    TaskId(id): TaskId,
) -> Result<Response, Problem> {
    let task = api.task(&id).await?;
    let run = task.run.ok_or_else(|| not_begun(&id))?;
    let body = Body::from_stream(lines(api.service.clone(), run));
    Ok(([(CONTENT_TYPE, "application/jsonl")], body).into_response())
}

async fn known_report(api: &Api, id: &str) -> Result<Report, Problem> {
    if let Some(report) = api.service.report(id).await? {
        return Ok(report);
    }
    let task = api.task(id).await?;
    let detail = match (task.state.is_over(), task.detail) {
        (true, Some(detail)) => format!("the task {id} ended without a report: {detail}"),
        (true, None) => format!("the task {id} ended without a report"),
        (false, _) => format!("the task {id} has not ended, it is {}", task.state.as_str()),
    };
    Err(Problem::new(Kind::NotFound, detail))
}

fn not_begun(id: &str) -> Problem {
    Problem::new(Kind::NotFound, format!("the task {id} has not begun"))
}

/// The events as lines, read piece by piece.
fn lines(service: Service, run: String) -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::try_unfold((service, run, 0), |(service, run, after)| async move {
        let events = service.store().events_after(&run, after, BATCH).await;
        let events = events.map_err(|error| {
            tracing::error!(%error, "a journal was cut off because the store failed");
            io::Error::other("the store failed")
        })?;
        let Some(last) = events.last().map(|event| event.number) else {
            return Ok(None);
        };
        let mut text = Vec::new();
        for event in &events {
            serde_json::to_writer(&mut text, event)?;
            text.push(b'\n');
        }
        Ok(Some((Bytes::from(text), (service, run, last))))
    })
}
