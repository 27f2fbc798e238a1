//! Tasks: listed, shown, canceled; and the queue that they wait in.

use super::Api;
use super::extract::{Parameters, TaskId, plain_text};
use super::problem::{Kind, Problem};
use crate::login::Caller;
use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use patchwright_store::submissions::{Canceled, Depth, Page, TaskFilter, TaskRow, TaskState};
use patchwright_store::tokens::Role;
use serde::Deserialize;
use utoipa::IntoParams;

/// Which tasks are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListParameters {
    /// Only tasks in this state.
    state: Option<TaskState>,
    /// Only tasks that ended so, as in `verified`.
    #[param(max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    ending: Option<String>,
    /// Only tasks that came this way, as in `api`.
    #[param(max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    origin: Option<String>,
    /// Only tasks of this project.
    #[param(max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    group: Option<String>,
    /// Only tasks whose id holds this text.
    #[param(max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    text: Option<String>,
    /// The `next` of the page before.
    #[param(minimum = 0)]
    cursor: Option<i64>,
    /// Tasks of a page; 50 when it is not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Lists tasks, the newest first
#[utoipa::path(
    get, path = "/api/v1/tasks", tag = "tasks", params(ListParameters),
    responses((status = 200, description = "A page of tasks", body = Page))
)]
pub(crate) async fn list(
    State(api): State<Api>,
    Parameters(wanted): Parameters<ListParameters>,
) -> Result<Json<Page>, Problem> {
    if wanted
        .limit
        .is_some_and(|limit| !(1..=1000).contains(&limit))
    {
        return Err(Problem::new(
            Kind::Invalid,
            "limit: must be between 1 and 1000",
        ));
    }
    if wanted.cursor.is_some_and(|cursor| cursor < 0) {
        return Err(Problem::new(Kind::Invalid, "cursor: must not be negative"));
    }
    let filter = TaskFilter {
        state: wanted.state,
        ending: plain_text("ending", wanted.ending)?,
        origin: plain_text("origin", wanted.origin)?,
        group: plain_text("group", wanted.group)?,
        text: plain_text("text", wanted.text)?,
        place: None,
        cursor: wanted.cursor,
        limit: wanted.limit,
    };
    Ok(Json(api.service.store().tasks(&filter).await?))
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
