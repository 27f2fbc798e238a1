//! Reads tasks: one, many by filter and page, and their number in each state.

use crate::store::{Result, Store, row, rows};
use patchwright_agent::words;
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, FromRow};
use utoipa::{IntoParams, ToSchema};

/// Rows of one page when nobody says otherwise.
const PAGE: u32 = 50;
/// Rows of the largest page.
const LARGEST_PAGE: u32 = 1000;

/// State of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = State)]
pub enum TaskState {
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

words!(TaskState: Queued "queued", Running "running", Paused "paused", Done "done", Canceled "canceled");

impl TaskState {
    /// Returns true when the task has ended.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Canceled)
    }
}

impl TryFrom<String> for TaskState {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        Self::read(&word).ok_or_else(|| format!("{word:?} is no state of a task"))
    }
}

/// A task as it stands, for callers too.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, Serialize, ToSchema)]
#[schema(as = TaskView)]
pub struct TaskRow {
    /// Counted up with each submission; the cursor of a list.
    #[serde(skip)]
    pub sequence: i64,
    /// The task's id.
    pub id: String,
    /// Its state.
    #[sqlx(try_from = "String")]
    pub state: TaskState,
    /// Higher goes first.
    pub priority: i64,
    /// Origin: `api`, `patch-service`, `crs`, `oss-crs`, `batch` or `cli`.
    pub origin: String,
    /// Its project.
    #[sqlx(rename = "project")]
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
    /// Number of failures of its infrastructure.
    #[serde(skip)]
    pub failures: i64,
    /// Host that worked on it last.
    pub host: Option<String>,
}

const COLUMNS: &str = "sequence, id, state, priority, origin, project, deadline, created, started, ended, run, ending, \
                       detail, claims, failures, host";

/// Which tasks are listed, as callers ask for them too. What is `None` does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TaskFilter {
    /// Only tasks in this state.
    pub state: Option<TaskState>,
    /// Only tasks that ended so, as in `verified`.
    #[param(max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    pub ending: Option<String>,
    /// Only tasks that came this way, as in `api`.
    #[param(max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    pub origin: Option<String>,
    /// Only tasks of this project.
    #[param(max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    pub group: Option<String>,
    /// Only tasks whose id holds this text, in any case.
    #[param(max_length = 200, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    pub text: Option<String>,
    /// The `next` of the page before.
    #[param(minimum = 0)]
    pub cursor: Option<i64>,
    /// Tasks of a page; 50 when it is not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
    /// Only tasks that this place alone can work on. Callers cannot ask for it.
    #[serde(skip)]
    pub place: Option<String>,
}

/// A page of tasks, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = TaskList)]
pub struct Page {
    /// The tasks.
    pub tasks: Vec<TaskRow>,
    /// The cursor of the next page; `null` on the last one.
    pub next: Option<i64>,
}

/// The queue as it stands: how many tasks there are in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRow, Serialize, ToSchema)]
#[schema(as = QueueView)]
pub struct Depth {
    /// True while workers claim nothing.
    #[sqlx(skip)]
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

/// State of a task, as far as a follower must know it: its state, its run and the number of the
/// run's events.
pub type TaskVersion = (String, Option<String>, i64);

impl Store {
    /// Reads the states of tasks by their ids. Unknown ids are left out.
    pub async fn versions(&self, ids: &[String]) -> Result<Vec<(String, TaskVersion)>> {
        let places: Vec<String> = (1..=ids.len()).map(|place| format!("${place}")).collect();
        let sql = format!(
            "SELECT submissions.id, submissions.state, submissions.run, COALESCE(runs.events, 0)
             FROM submissions LEFT JOIN runs ON runs.id = submissions.run WHERE submissions.id IN ({})",
            places.join(", ")
        );
        let mut query = sqlx::query_as(AssertSqlSafe(sql));
        for id in ids {
            query = query.bind(id);
        }
        let rows: Vec<(String, String, Option<String>, i64)> = query.fetch_all(&self.pool).await?;
        let versions = rows.into_iter();
        let versions = versions.map(|(id, state, run, events)| (id, (state, run, events)));
        Ok(versions.collect())
    }

    /// A task as it stands.
    pub async fn task(&self, id: &str) -> Result<Option<TaskRow>> {
        self.patiently(|_| async {
            let sql = format!("SELECT {COLUMNS} FROM submissions WHERE id = $1");
            row(&self.pool, AssertSqlSafe(sql), (id,)).await
        })
        .await
    }

    /// A page of tasks, the newest first.
    pub async fn tasks(&self, filter: &TaskFilter) -> Result<Page> {
        let limit = filter.limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE);
        // An empty text stands for "does not matter"; the names of columns are
        // this module's own.
        let sql = format!(
            "SELECT {COLUMNS} FROM submissions WHERE sequence < $1 AND ($2 = '' OR state = $2)
             AND ($3 = '' OR ending = $3) AND ($4 = '' OR origin = $4) AND ($5 = '' OR project = $5)
             AND ($6 = '' OR place = $6) AND ($7 = '' OR lower(id) LIKE $7 ESCAPE '!')
             ORDER BY sequence DESC LIMIT $8"
        );
        let values = (
            filter.cursor.unwrap_or(i64::MAX),
            filter.state.map_or("", TaskState::as_str),
            filter.ending.as_deref().unwrap_or_default(),
            filter.origin.as_deref().unwrap_or_default(),
            filter.group.as_deref().unwrap_or_default(),
            filter.place.as_deref().unwrap_or_default(),
            filter.text.as_deref().map(pattern).unwrap_or_default(),
            i64::from(limit) + 1,
        );
        let mut tasks: Vec<TaskRow> = rows(&self.pool, AssertSqlSafe(sql), values).await?;
        let more = tasks.len() > limit as usize;
        tasks.truncate(limit as usize);
        let next = tasks.last().filter(|_| more).map(|task| task.sequence);
        Ok(Page { tasks, next })
    }

    /// Counts the tasks in each state.
    pub async fn depth(&self) -> Result<Depth> {
        let counts = "SELECT COUNT(*) FILTER (WHERE state = 'queued') AS queued,
            COUNT(*) FILTER (WHERE state = 'running') AS running,
            COUNT(*) FILTER (WHERE state = 'paused') AS waiting,
            COUNT(*) FILTER (WHERE state = 'done') AS done,
            COUNT(*) FILTER (WHERE state = 'canceled') AS canceled FROM submissions";
        let counted: Depth = sqlx::query_as(counts).fetch_one(&self.pool).await?;
        let paused = self.paused().await?;
        Ok(Depth { paused, ..counted })
    }
}

/// A pattern of `LIKE` that finds the text itself.
pub(crate) fn pattern(text: &str) -> String {
    let mut pattern = "%".to_owned();
    for letter in text.to_lowercase().chars().filter(|letter| *letter != '\0') {
        if matches!(letter, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(letter);
    }
    pattern + "%"
}
