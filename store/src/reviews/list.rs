//! List of runs, and of tasks that no worker has begun: a page at a time, filtered by
//! the database; and the figures of each day.

use crate::store::{Result, Store, execute, now, row, rows};
use crate::submissions::pattern;
use serde::Serialize;
use sqlx::AssertSqlSafe;

/// Rows of a page.
const PAGE: u32 = 50;
/// Rows of the largest page.
const LARGEST_PAGE: u32 = 500;

/// A run, or a task without one.
#[derive(Debug, Clone, PartialEq, Serialize, sqlx::FromRow)]
pub struct ListedTask {
    /// The run's id, or the task's where there is none.
    pub id: String,
    pub task: String,
    /// 1 for a run, 0 for a task without one.
    pub begun: i64,
    /// `queued`, `running`, `paused`, `done`, `canceled`, or `unfinished` for a run of
    /// the command line.
    pub state: String,
    /// The ending; empty while there is none.
    pub ending: String,
    /// When it was begun or handed in, UTC.
    pub created: String,
    /// When it ended, UTC.
    pub ended: Option<String>,
    pub attempts: Option<i64>,
    /// Cost in US dollars.
    pub usd: Option<f64>,
    /// Working time in seconds.
    pub seconds: Option<f64>,
    /// P(right) of the best attempt.
    pub p_right: Option<f64>,
    pub decisions: i64,
}

/// Selects rows of the list. What is empty does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ListFilter {
    /// Part of the task's or run's id, in any case.
    pub text: String,
    pub state: String,
    pub ending: String,
    /// Only those behind this row: its time and its id.
    pub after: Option<(String, String)>,
    /// Rows of the page.
    pub limit: Option<u32>,
}

/// A page of the list, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ListPage {
    pub rows: Vec<ListedTask>,
    /// The place of the next page; `None` on the last one.
    pub next: Option<(String, String)>,
}

const ROWS: &str = "
    SELECT run_summaries.run AS id, run_summaries.task AS task, 1 AS begun,
    COALESCE(submissions.state, CASE WHEN run_summaries.ending IS NULL THEN 'unfinished' ELSE 'done' END) AS state,
    COALESCE(run_summaries.ending, '') AS ending, run_summaries.created AS created,
    run_summaries.ended AS ended, run_summaries.attempts AS attempts, run_summaries.usd AS usd,
    run_summaries.seconds AS seconds, run_summaries.p_right AS p_right
    FROM run_summaries LEFT JOIN submissions ON submissions.run = run_summaries.run
    UNION ALL
    SELECT id, id, 0, state, COALESCE(ending, ''), created, ended, NULL, NULL, NULL, NULL
    FROM submissions WHERE run IS NULL";

impl Store {
    /// A page of runs and of tasks without one, the newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn listed(&self, filter: &ListFilter) -> Result<ListPage> {
        let limit = filter.limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE);
        // No time of a journal is above this one.
        let (time, id) = filter.after.clone().unwrap_or(("~".into(), String::new()));
        let sql = format!(
            "SELECT listed.*, (SELECT COUNT(*) FROM events WHERE events.run = listed.id AND events.name = 'decision')
             AS decisions FROM (SELECT * FROM ({ROWS}) AS every
             WHERE (created, id) < ($1, $2) AND ($3 = '' OR state = $3) AND ($4 = '' OR ending = $4)
             AND ($5 = '' OR lower(task) LIKE $5 ESCAPE '!' OR lower(id) LIKE $5 ESCAPE '!')
             ORDER BY created DESC, id DESC LIMIT $6) AS listed ORDER BY created DESC, id DESC"
        );
        let text = Some(filter.text.trim()).filter(|text| !text.is_empty());
        let text = text.map(pattern).unwrap_or_default();
        let (state, ending, limited) = (&filter.state, &filter.ending, i64::from(limit) + 1);
        let values = (time, id, state, ending, text, limited);
        let mut rows: Vec<ListedTask> = rows(&self.pool, AssertSqlSafe(sql), values).await?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let last = rows.last().filter(|_| more);
        let next = last.map(|row| (row.created.clone(), row.id.clone()));
        Ok(ListPage { rows, next })
    }

    /// Counts the rows of the list by their ending, and those without one by their state.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn listed_counts(&self) -> Result<Vec<(String, String, i64)>> {
        let sql = format!(
            "SELECT CASE WHEN ending = '' THEN state ELSE '' END, ending, COUNT(*)
             FROM ({ROWS}) AS every GROUP BY 1, 2 ORDER BY MIN(state), 2"
        );
        let rows = sqlx::query_as(AssertSqlSafe(sql));
        Ok(rows.fetch_all(&self.pool).await?)
    }

    /// The row of one run.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn listed_run(&self, run: &str) -> Result<Option<ListedTask>> {
        let sql = format!(
            "SELECT every.*, 0 AS decisions FROM ({ROWS}) AS every WHERE id = $1 AND begun = 1"
        );
        row(&self.pool, AssertSqlSafe(sql), (run,)).await
    }
}

/// The runs of one day that ended in one way.
#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
pub struct DayFigures {
    /// The day, as `2030-12-31`.
    pub day: String,
    pub ending: String,
    pub runs: i64,
    /// Their cost in US dollars.
    pub usd: f64,
    /// Their working time in seconds.
    pub seconds: f64,
}

impl Store {
    /// The figures of every day that is not before `since`, as `2030-12-31`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn daily(&self, since: &str) -> Result<Vec<DayFigures>> {
        let days = "SELECT substr(ended, 1, 10) AS day, COALESCE(ending, '') AS ending,
            COUNT(*) AS runs, SUM(COALESCE(usd, 0.0)) AS usd, SUM(COALESCE(seconds, 0.0)) AS seconds
            FROM run_summaries WHERE ended >= $1
            GROUP BY substr(ended, 1, 10), COALESCE(ending, '') ORDER BY 1, 2";
        rows(&self.pool, days, (since,)).await
    }

    /// Writes what lists and plots need of a report.
    pub(crate) async fn summarise(&self, run: &str, (ending, report): (&str, &str)) -> Result<()> {
        let report: serde_json::Value =
            serde_json::from_str(report).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
        let figure = |path: &str| report.pointer(path).and_then(serde_json::Value::as_f64);
        let attempts = report.get("attempts").and_then(|list| list.as_array());
        let attempts = attempts.map(|list| i64::try_from(list.len()).unwrap_or(i64::MAX));
        let summarise = "UPDATE run_summaries SET ending = $1, ended = $2, attempts = $3, usd = $4,
            seconds = $5, p_right = $6 WHERE run = $7";
        let (usd, seconds) = (figure("/cost/usd"), figure("/seconds/total"));
        let p_right = figure("/best/p_right");
        let values = (ending, now(), attempts, usd, seconds, p_right, run);
        execute(&self.pool, summarise, values).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Journal;
    use crate::submissions::NewTask;

    #[tokio::test]
    async fn rows_are_paged_and_filtered() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        for number in 0..5 {
            let (run, task) = (format!("r{number}"), format!("task_{number}"));
            store.create_run(&run, (&task, "{}"), "{}").await.unwrap();
        }
        let report = r#"{"attempts":[{},{}],"best":{"p_right":0.75},"cost":{"usd":0.5},"seconds":{"total":3.5}}"#;
        let journal = Journal::claim(&store, "r3").await.unwrap();
        journal.finish("verified", report).await.unwrap();
        let waiting = NewTask {
            id: "waiting".to_owned(),
            task: "{}".to_owned(),
            origin: "api".to_owned(),
            ..NewTask::default()
        };
        store.submit(&[waiting]).await.unwrap();
        let mut filter = ListFilter {
            limit: Some(4),
            ..ListFilter::default()
        };
        let first = store.listed(&filter).await.unwrap();
        assert_eq!((first.rows.len(), first.rows[0].begun), (4, 0));
        assert_eq!(first.rows[0].state, "queued");
        filter.after = first.next;
        let second = store.listed(&filter).await.unwrap();
        assert_eq!((second.rows.len(), second.next), (2, None));
        let of = |text: &str, state: &str, ending: &str| ListFilter {
            text: text.to_owned(),
            state: state.to_owned(),
            ending: ending.to_owned(),
            ..ListFilter::default()
        };
        for (filter, count) in [
            (of("TASK_", "", ""), 5),
            (of("task%", "", ""), 0),
            (of("", "unfinished", ""), 4),
            (of("", "", "verified"), 1),
            (of("waiting", "queued", ""), 1),
        ] {
            assert_eq!(store.listed(&filter).await.unwrap().rows.len(), count);
        }
        let done = store.listed_run("r3").await.unwrap().unwrap();
        assert_eq!(
            (done.attempts, done.usd, done.p_right, done.seconds),
            (Some(2), Some(0.5), Some(0.75), Some(3.5))
        );
        assert!(done.ended.is_some());
        let counts = store.listed_counts().await.unwrap();
        assert!(
            counts.contains(&("unfinished".into(), String::new(), 4)),
            "{counts:?}"
        );
    }
}

#[cfg(test)]
mod figures_tests {
    use crate::{Journal, Store};

    #[tokio::test]
    async fn runs_are_counted_by_the_day_they_ended() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        for (run, ending) in [("a", "verified"), ("b", "verified"), ("c", "no_patch")] {
            store.create_run(run, ("t", "{}"), "{}").await.unwrap();
            let journal = Journal::claim(&store, run).await.unwrap();
            let report = r#"{"cost":{"usd":0.25},"seconds":{"total":2.0}}"#;
            journal.finish(ending, report).await.unwrap();
        }
        let days = store.daily("2000-01-01").await.unwrap();
        let told: Vec<_> = days
            .iter()
            .map(|day| (day.ending.as_str(), day.runs))
            .collect();
        assert_eq!(told, [("no_patch", 1), ("verified", 2)]);
        assert!((days[1].usd - 0.5).abs() < 1e-9 && (days[1].seconds - 4.0).abs() < 1e-9);
        assert!(store.daily("9999-01-01").await.unwrap().is_empty());
    }
}
