//! Pruning: deletes what ended long ago.
//!
//! Tasks and runs that ended long ago go, with their events and the logs that
//! nobody else names. What was spent stays: a limit over all time counts it.

use crate::store::{Result, Store, execute, in_journal_form, rows};
use sqlx::{Any, Executor};
use std::collections::BTreeSet;
use std::time::Duration;

/// Letters of a SHA-256 in hexadecimal.
const HASH: usize = 64;
/// Runs that are forgotten in one transaction.
const RUNS: i64 = 100;

/// Numbers of deleted rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Submissions.
    pub tasks: u64,
    /// Runs with their events.
    pub runs: u64,
    /// Logs and other blobs.
    pub blobs: u64,
    /// Files that came with them.
    pub files: u64,
}

impl Store {
    /// Forgets what ended longer ago than `keep`.
    pub async fn prune(&self, keep: Duration) -> Result<Pruned> {
        let age = jiff::SignedDuration::try_from(keep).unwrap_or(jiff::SignedDuration::MAX);
        let now = jiff::Timestamp::now();
        let before = now.checked_sub(age).unwrap_or(jiff::Timestamp::MIN);
        self.crs_prune(before).await?;
        let before = in_journal_form(before);
        let mut pruned = Pruned::default();
        let mut named = BTreeSet::new();
        loop {
            let runs = self.prune_runs(&before, &mut named).await?;
            pruned.runs += runs;
            if runs < RUNS as u64 {
                break;
            }
        }
        pruned.blobs = self.prune_blobs(named).await?;
        let forget = "DELETE FROM submissions WHERE state IN ('done', 'canceled') AND ended < $1";
        pruned.tasks = execute(&self.pool, forget, (&before,)).await?;
        pruned.files = self.prune_files(&before).await?;
        Ok(pruned)
    }

    /// Some runs that ended before, and the hashes that they named.
    async fn prune_runs(&self, before: &str, named: &mut BTreeSet<String>) -> Result<u64> {
        let mut transaction = self.begin().await?;
        let old = "SELECT id, report FROM runs WHERE report IS NOT NULL AND created < $1
            AND COALESCE((SELECT MAX(time) FROM events WHERE run = runs.id), created) < $1 LIMIT $2";
        let runs: Vec<(String, Option<String>)> =
            rows(&mut *transaction, old, (before, RUNS)).await?;
        for (run, report) in &runs {
            hashes(report.as_deref().unwrap_or_default(), named);
            named_by_events(&mut *transaction, run, named).await?;
            for forget in [
                "DELETE FROM events WHERE run = $1",
                "DELETE FROM run_summaries WHERE run = $1",
                "DELETE FROM runs WHERE id = $1",
            ] {
                execute(&mut *transaction, forget, (run,)).await?;
            }
        }
        transaction.commit().await?;
        Ok(runs.len() as u64)
    }

    /// Deletes those of these blobs that nothing names any more.
    async fn prune_blobs(&self, mut named: BTreeSet<String>) -> Result<u64> {
        if named.is_empty() {
            return Ok(0);
        }
        let runs: Vec<String> = sqlx::query_scalar("SELECT id FROM runs")
            .fetch_all(&self.pool)
            .await?;
        for run in runs {
            let mut kept = BTreeSet::new();
            named_by_events(&self.pool, &run, &mut kept).await?;
            named.retain(|hash| !kept.contains(hash));
        }
        let mut forgotten = 0;
        for hash in named {
            let forget = "DELETE FROM blobs WHERE hash = $1";
            forgotten += execute(&self.pool, forget, (hash,)).await?;
        }
        Ok(forgotten)
    }
}

/// Adds the hashes that the events of a run name.
async fn named_by_events<'c>(
    database: impl Executor<'c, Database = Any>,
    run: &str,
    into: &mut BTreeSet<String>,
) -> Result<()> {
    let bodies = "SELECT body FROM events WHERE run = $1";
    let bodies: Vec<(String,)> = rows(database, bodies, (run,)).await?;
    for (body,) in bodies {
        hashes(&body, into);
    }
    Ok(())
}

/// Every hash that a text holds.
fn hashes(text: &str, into: &mut BTreeSet<String>) {
    let words = text.split(|letter: char| !letter.is_ascii_hexdigit());
    into.extend(words.filter(|word| word.len() == HASH).map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submissions::{NewTask, TaskFilter};
    use crate::{Journal, StoreError};
    use patchwright_agent::journal::{EventKind, NewEvent};
    use patchwright_agent::record::StepId;
    use serde_json::json;

    /// A run that names two blobs: one of its own, and one that all name.
    async fn run(store: &Store, id: &str) -> Journal {
        store.create_run(id, (id, "{}"), "{}").await.unwrap();
        let journal = Journal::claim(store, id).await.unwrap();
        let own = store.keep(id.as_bytes()).await.unwrap();
        let shared = store.keep(b"shared").await.unwrap();
        let event = NewEvent {
            step: StepId { lane: 0, number: 0 },
            kind: EventKind::Note,
            name: "n".into(),
            summary: String::new(),
            body: json!({"logs": [own, shared]}),
        };
        journal.append(event).await.unwrap();
        journal
    }

    #[tokio::test]
    async fn what_ended_goes_and_what_others_name_stays() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        run(&store, "ended")
            .await
            .finish("verified", "{}")
            .await
            .unwrap();
        run(&store, "open").await;
        let task = NewTask {
            id: "waits".to_owned(),
            task: "{}".to_owned(),
            origin: "api".to_owned(),
            ..NewTask::default()
        };
        store.submit(&[task]).await.unwrap();
        assert_eq!(
            store.prune(Duration::from_hours(1)).await.unwrap(),
            Pruned::default()
        );
        std::thread::sleep(Duration::from_millis(5));
        let pruned = store.prune(Duration::ZERO).await.unwrap();
        assert_eq!(
            pruned,
            Pruned {
                tasks: 0,
                runs: 1,
                blobs: 1,
                files: 0
            }
        );
        assert_eq!(store.events("open").await.unwrap().len(), 1);
        let ended = store.report("ended").await;
        assert!(matches!(ended, Err(StoreError::NoRun { .. })), "{ended:?}");
        let hash = store.keep(b"shared").await.unwrap();
        assert!(store.blob(&hash).await.unwrap().is_some());
        assert_eq!(
            store
                .tasks(&TaskFilter::default())
                .await
                .unwrap()
                .tasks
                .len(),
            1
        );
    }

    #[tokio::test]
    async fn a_copy_is_a_store() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        run(&store, "r").await;
        let copy = tempfile::tempdir().unwrap();
        let file = copy.path().join("patchwright.db");
        store.back_up(&file).await.unwrap();
        assert!(store.back_up(&file).await.is_err());
        let copied = Store::open(copy.path()).await.unwrap();
        assert_eq!(copied.events("r").await.unwrap().len(), 1);
    }
}
