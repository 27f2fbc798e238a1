//! Tasks as callers see them.

use patchwright_store::submissions::{Depth, Page, TaskRow, TaskState};
use serde::Serialize;
use utoipa::ToSchema;

/// State of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It waits for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// Its run waits until a model can answer again.
    Paused,
    /// It has an ending.
    Done,
    /// Somebody stopped it.
    Canceled,
}

impl From<TaskState> for State {
    fn from(state: TaskState) -> Self {
        match state {
            TaskState::Queued => Self::Queued,
            TaskState::Running => Self::Running,
            TaskState::Paused => Self::Paused,
            TaskState::Done => Self::Done,
            TaskState::Canceled => Self::Canceled,
        }
    }
}

impl From<State> for TaskState {
    fn from(state: State) -> Self {
        match state {
            State::Queued => Self::Queued,
            State::Running => Self::Running,
            State::Paused => Self::Paused,
            State::Done => Self::Done,
            State::Canceled => Self::Canceled,
        }
    }
}

/// A task as it stands.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TaskView {
    /// The task's id.
    pub id: String,
    /// Its state.
    pub state: State,
    /// Higher goes first.
    pub priority: i64,
    /// Origin: `api`, `patch-service`, `crs`, `oss-crs`, `batch` or `cli`.
    pub origin: String,
    /// Its project.
    pub group: Option<String>,
    /// When nobody wants the patch any more, UTC.
    pub deadline: Option<String>,
    /// When it was handed in, UTC.
    pub created: String,
    /// When it was first begun, UTC.
    pub started: Option<String>,
    /// When it ended, UTC.
    pub ended: Option<String>,
    /// Its last run.
    pub run: Option<String>,
    /// Ending: `verified`, `plausible`, `no_patch`, ...
    pub ending: Option<String>,
    /// Reason of the ending.
    pub detail: Option<String>,
    /// Number of claims by workers.
    pub claims: i64,
    /// Host that worked on it last.
    pub host: Option<String>,
}

impl From<TaskRow> for TaskView {
    fn from(row: TaskRow) -> Self {
        Self {
            id: row.id,
            state: row.state.into(),
            priority: row.priority,
            origin: row.origin,
            group: row.group,
            deadline: row.deadline,
            created: row.created,
            started: row.started,
            ended: row.ended,
            run: row.run,
            ending: row.ending,
            detail: row.detail,
            claims: row.claims,
            host: row.host,
        }
    }
}

/// A page of tasks, the newest first.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TaskList {
    /// The tasks.
    pub tasks: Vec<TaskView>,
    /// The cursor of the next page; `null` on the last one.
    pub next: Option<i64>,
}

impl From<Page> for TaskList {
    fn from(page: Page) -> Self {
        Self {
            tasks: page.tasks.into_iter().map(Into::into).collect(),
            next: page.next,
        }
    }
}

/// The queue as it stands: how many tasks there are in each state.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(crate) struct QueueView {
    /// True while workers claim nothing.
    pub paused: bool,
    /// They wait for a worker.
    pub queued: i64,
    /// A worker has them.
    pub running: i64,
    /// Their runs wait until a model can answer again.
    pub waiting: i64,
    /// They have an ending.
    pub done: i64,
    /// Somebody stopped them.
    pub canceled: i64,
}

impl From<Depth> for QueueView {
    fn from(depth: Depth) -> Self {
        Self {
            paused: depth.queue_paused,
            queued: depth.queued,
            running: depth.running,
            waiting: depth.paused,
            done: depth.done,
            canceled: depth.canceled,
        }
    }
}
