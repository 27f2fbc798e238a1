//! Tasks: listed, shown, canceled; their results; and the queue that they wait in.

use super::Api;
use super::extract::{Parameters, TaskId, plain_text};
use super::problem::{Kind, Problem};
use crate::login::Caller;
use crate::service::Service;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures::stream::{self, Stream};
use patchwright_agent::report::Report;
use patchwright_store::submissions::{Canceled, Depth, Page, TaskFilter, TaskRow};
use patchwright_store::tokens::Role;
use std::io;

/// Lists tasks, the newest first
#[utoipa::path(
    get, path = "/api/v1/tasks", tag = "tasks", params(TaskFilter),
    responses((status = 200, description = "A page of tasks", body = Page))
)]
pub(crate) async fn list(
    State(api): State<Api>,
    Parameters(mut wanted): Parameters<TaskFilter>,
) -> Result<Json<Page>, Problem> {
    let wrong = |detail: &str| Err(Problem::new(Kind::Invalid, detail));
    if !(1..=1000).contains(&wanted.limit.unwrap_or(1)) {
        return wrong("limit: must be between 1 and 1000");
    }
    if wanted.cursor.is_some_and(|cursor| cursor < 0) {
        return wrong("cursor: must not be negative");
    }
    for (key, text) in [
        ("ending", &mut wanted.ending),
        ("origin", &mut wanted.origin),
        ("group", &mut wanted.group),
        ("text", &mut wanted.text),
    ] {
        *text = plain_text(key, text.take())?;
    }
    Ok(Json(api.service.store().tasks(&wanted).await?))
}

/// Shows a task as it stands
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}", tag = "tasks", params(("id" = String, Path, description = "The task's id", pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$")),
    responses((status = 200, description = "The task", body = TaskRow))
)]
pub(crate) async fn one(
    State(api): State<Api>,
    TaskId(id): TaskId,
) -> Result<Json<TaskRow>, Problem> {
    Ok(Json(api.task(&id).await?))
}

/// Takes a task out of the queue, or kills what runs for it
#[utoipa::path(
    post, path = "/api/v1/tasks/{id}/cancel", tag = "tasks", params(("id" = String, Path, description = "The task's id", pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$")),
    responses((status = 202, description = "It is canceled, or will be in a moment", body = TaskRow))
)]
pub(crate) async fn cancel(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    TaskId(id): TaskId,
) -> Result<(StatusCode, Json<TaskRow>), Problem> {
    caller.needs(Role::Submit)?;
    match api.service.store().cancel(&id).await? {
        Canceled::Unknown => return Err(Problem::no_task(&id)),
        Canceled::Over => {
            let detail = format!("the task {id} had ended already");
            return Err(Problem::new(Kind::Conflict, detail));
        }
        Canceled::Queued | Canceled::Running => {}
    }
    Ok((StatusCode::ACCEPTED, Json(api.task(&id).await?)))
}

/// Shows how many tasks wait, run, and have ended
#[utoipa::path(
    get, path = "/api/v1/queue", tag = "queue",
    responses((status = 200, description = "The queue", body = Depth))
)]
pub(crate) async fn queue(State(api): State<Api>) -> Result<Json<Depth>, Problem> {
    Ok(Json(api.service.store().depth().await?))
}

/// Lets no worker claim anything; what runs goes on
#[utoipa::path(
    post, path = "/api/v1/queue/pause", tag = "queue",
    responses((status = 200, description = "The queue", body = Depth))
)]
pub(crate) async fn pause(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Depth>, Problem> {
    set_paused(&api, &caller, true).await
}

/// Lets workers claim again
#[utoipa::path(
    post, path = "/api/v1/queue/resume", tag = "queue",
    responses((status = 200, description = "The queue", body = Depth))
)]
pub(crate) async fn resume(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Depth>, Problem> {
    set_paused(&api, &caller, false).await
}

async fn set_paused(api: &Api, caller: &Caller, is_paused: bool) -> Result<Json<Depth>, Problem> {
    caller.needs(Role::Admin)?;
    api.service.store().set_paused(is_paused).await?;
    Ok(Json(api.service.store().depth().await?))
}

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
    let not_begun = || Problem::new(Kind::NotFound, format!("the task {id} has not begun"));
    let run = task.run.ok_or_else(not_begun)?;
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
