//! Takes a task in: as JSON, or as an upload of JSON and files.
//!
//! Everything about it is checked before anything of it is kept; the task is
//! written down last. Files go to the store, so that any machine can work on
//! the task.

use super::Api;
use super::extract::{Parameters, json, media_type, plain_text};
use super::limit::UPLOAD;
use super::problem::{Kind, Problem, Wrong};
use super::upload::{Upload, full};
use crate::login::Caller;
use axum::extract::{Request, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::{Extension, Json};
use patchwright_agent::task::{self, NOWHERE, Sender, Task, TaskError, TaskFile};
use patchwright_run::admission;
use patchwright_store::Quota;
use patchwright_store::submissions::{NewTask, Submitted, TaskRow};
use patchwright_store::tokens::Role;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use utoipa::{IntoParams, ToSchema};

/// Origin of tasks that are submitted here.
const ORIGIN: &str = "api";

/// Parameters of a submission.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SubmitParameters {
    /// Higher goes first.
    #[serde(default)]
    priority: i32,
    /// When nobody wants the patch any more.
    #[param(format = DateTime)]
    deadline: Option<String>,
    /// The project: PoVs of one project are candidates for one patch.
    #[param(max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    group: Option<String>,
}

/// A task with its files.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct UploadForm {
    /// The task, as JSON; it comes first.
    task: TaskFile,
    /// Every further part is a file; its name is the path that the task names
    /// it by, as in `pov/1.bin`. `source.archive` may name one of them.
    #[schema(value_type = Option<String>, format = Binary, rename = "pov/1.bin")]
    file: Option<Vec<u8>>,
}

/// A task that was taken, and whether it was known.
type Taken = (StatusCode, [(HeaderName, String); 1], Json<TaskRow>);

/// Hands a task in
///
/// The task has the shape of a task file. Files that it names are sent along as parts of an upload, each under
/// the path that the task names it by, or lie in a folder that the daemon's settings open. Sending the same task
/// again is answered with what became of it.
#[utoipa::path(
    post, path = "/api/v1/tasks", tag = "tasks", params(SubmitParameters),
    request_body(content((TaskFile = "application/json"), (UploadForm = "multipart/form-data"))),
    responses(
        (status = 201, description = "It waits in the queue", body = TaskRow, headers(("Location" = String, description = "The task"))),
        (status = 200, description = "It was known already", body = TaskRow, headers(("Location" = String, description = "The task"))),
    )
)]
pub(crate) async fn submit(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Parameters(wanted): Parameters<SubmitParameters>,
    request: Request,
) -> Result<Taken, Problem> {
    caller.needs(Role::Submit)?;
    let group = plain_text("group", wanted.group)?;
    let deadline = wanted.deadline.as_deref().map(time).transpose()?;
    let quota = admission::quota(&api.settings.intake, &caller.name);
    let task = match media_type(request.headers()).as_str() {
        "application/json" => plain(&api, json(request, api.json_limit()).await?).await?,
        UPLOAD => uploaded(&api, &quota, request).await?,
        other => {
            let detail = format!("send application/json or {UPLOAD}, not {other:?}");
            return Err(Problem::new(Kind::MediaType, detail));
        }
    };
    let id = task.id.clone();
    let new = NewTask {
        id: id.clone(),
        task: serde_json::to_string(&task).map_err(|error| Problem::internal(&error))?,
        priority: wanted.priority,
        deadline,
        origin: ORIGIN.to_owned(),
        group,
        quota: Some(quota),
        ..NewTask::default()
    };
    let status = match api.service.submit(vec![new]).await?.first() {
        Some(Submitted::New) => StatusCode::CREATED,
        Some(Submitted::Same) => StatusCode::OK,
        Some(Submitted::Differs) => {
            let detail = format!("there is another task with the id {id:?}; nothing was changed");
            return Err(Problem::new(Kind::Conflict, detail));
        }
        Some(Submitted::Full(key)) => return Err(full(key)),
        None => return Err(Problem::internal(&"a submission was not answered")),
    };
    let row = api.task(&id).await?;
    let place = [(header::LOCATION, format!("/api/v1/tasks/{id}"))];
    Ok((status, place, Json(row)))
}

fn time(text: &str) -> Result<jiff::Timestamp, Problem> {
    let message = "must be a time such as 2030-12-31T18:00:00Z";
    text.parse()
        .map_err(|_| Problem::wrong("deadline", message))
}

/// A task without files of its own.
async fn plain(api: &Api, keys: TaskFile) -> Result<Task, Problem> {
    admit(api, &keys, &BTreeMap::new())?;
    checked(keys, PathBuf::from(NOWHERE)).await
}

/// A task with its files: received, checked, kept.
async fn uploaded(api: &Api, quota: &Quota, request: Request) -> Result<Task, Problem> {
    let upload = Upload::receive(api, request).await?;
    let mut keys = upload.task()?;
    admit(api, &keys, &upload.files)?;
    upload.examine_archive(&mut keys, &api.settings).await?;
    let folder = upload.folder.path().to_path_buf();
    let task = checked(keys, folder).await?.moved_to(Path::new(NOWHERE));
    upload.keep(api.service.store(), quota).await?;
    let sent = upload.files;
    Ok(Task { sent, ..task })
}

fn admit(api: &Api, keys: &TaskFile, sent: &BTreeMap<String, String>) -> Result<(), Problem> {
    let refused = admission::refusals(keys, sent, &api.settings.intake);
    if refused.is_empty() {
        return Ok(());
    }
    let refused = refused.into_iter();
    let errors = refused.map(|(key, message)| Wrong { key, message });
    Err(Problem::invalid(errors.collect()))
}

/// The task with its choices settled; its files are read where they lie.
async fn checked(keys: TaskFile, folder: PathBuf) -> Result<Task, Problem> {
    let place = folder.clone();
    let read = move || task::from_file(keys, &place, Path::new("task"));
    let task = tokio::task::spawn_blocking(read)
        .await
        .map_err(|error| Problem::internal(&error))?
        .map_err(|error| wrong_task(error, &folder))?;
    Ok(Task {
        sender: Sender::Remote,
        ..task
    })
}

/// Returns the problem of a wrong task, without the folder where its files were received.
fn wrong_task(error: TaskError, folder: &Path) -> Problem {
    let here = format!("{}/", folder.display());
    match error {
        TaskError::Invalid { key, message, .. } => {
            Problem::wrong(&key, &message.replace(&here, ""))
        }
        TaskError::Malformed { message, .. } => Problem::new(Kind::Invalid, message),
        TaskError::Missing { source, .. } => Problem::internal(&source),
    }
}
