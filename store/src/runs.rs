//! Runs of a store in a list: what a person names one by.

use crate::store::{Result, Store, rows, scalar};

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct RunRow {
    pub id: String,
    pub task: String,
    /// The time at which it began.
    pub created: String,
    /// The ending in one word; `None` while it has none.
    pub ending: Option<String>,
    /// The report as JSON, once it has ended.
    pub report: Option<String>,
    /// The time of its last event; `None` when it has none.
    pub last_event: Option<String>,
    /// The state of the submission that it belongs to; `None` for one of the command line.
    pub queued_as: Option<String>,
}

/// Selects runs of a list.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Only runs whose task's id holds this text.
    pub task: Option<String>,
    /// Only runs that ended so.
    pub ending: Option<String>,
    /// Only runs that have no ending.
    pub unfinished: bool,
    /// The largest number of runs; 0 for no limit.
    pub limit: u32,
}

impl Store {
    /// Lists runs, the newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>> {
        let limit = if filter.limit == 0 {
            i64::MAX
        } else {
            i64::from(filter.limit)
        };
        let listed = "SELECT runs.id, runs.task, runs.created, runs.ending, runs.report,
            (SELECT MAX(time) FROM events WHERE events.run = runs.id) AS last_event,
            (SELECT MAX(state) FROM submissions WHERE submissions.run = runs.id) AS queued_as
            FROM runs
            WHERE ($1 = '' OR REPLACE(runs.task, $1, '') <> runs.task)
            AND ($2 = '' OR runs.ending = $2) AND ($3 = 0 OR runs.ending IS NULL)
            ORDER BY runs.created DESC, runs.id DESC LIMIT $4";
        let task = filter.task.as_deref().unwrap_or_default();
        let ending = filter.ending.as_deref().unwrap_or_default();
        let values = (task, ending, i64::from(filter.unfinished), limit);
        rows(&self.pool, listed, values).await
    }

    /// Returns the id of the run that a name stands for: a run's own id, or a
    /// task's for the last of its runs.
    ///
    /// # Errors
    /// When there is no such run, or the database fails.
    pub async fn run_named(&self, name: &str) -> Result<String> {
        let named = "SELECT id FROM runs WHERE id = $1 OR task = $1
            ORDER BY CASE WHEN id = $1 THEN 0 ELSE 1 END, created DESC, id DESC LIMIT 1";
        let id = scalar(&self.pool, named, (name,)).await?;
        id.ok_or_else(|| self.no_run(name))
    }
}
