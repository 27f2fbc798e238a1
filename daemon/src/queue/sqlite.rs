//! apalis on SQLite.
//!
//! Its `setup` is not called: it would turn `synchronous` off. Its migrations
//! are counted in a table of their own, beside those of the store.

use super::{LeaseHolder, QueueError, Rhythm, Ticket, jobs, other, queues, result, ticket};
use apalis_core::backend::WorkerFilter;
use apalis_core::worker::context::WorkerContext;
use apalis_sqlite::{Config, SqliteStorage, queries};
use patchwright_store::Store;
use patchwright_store::submissions::{ISSUE, Issue, in_journal_form};
use sqlx::Connection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use std::str::FromStr;
use std::time::Duration;

/// Table that counts the migrations of apalis.
const MIGRATIONS: &str = "apalis_migrations";
/// Connections of one process: the workers take, the heart beats.
const CONNECTIONS: u32 = 2;
/// Time limit of the wait for a lock of another process.
const BUSY: Duration = Duration::from_secs(30);

/// The queue in the file of the store.
#[derive(Debug)]
pub(super) struct SqliteQueue {
    pool: SqlitePool,
    lost_after: Duration,
    rhythm: Rhythm,
}

impl SqliteQueue {
    pub(super) async fn open(store: &Store, lost_after: Duration) -> Result<Self, QueueError> {
        let options = SqliteConnectOptions::from_str(store.url())?
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY);
        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS)
            // As in the store: a full disk ends transactions behind the driver's back.
            .before_acquire(|connection, _| {
                Box::pin(async move { Ok(!connection.is_in_transaction()) })
            })
            .connect_with(options)
            .await?;
        let _held = store.lock().await?;
        let mut migrator = SqliteStorage::<()>::migrations();
        migrator.dangerous_set_table_name(MIGRATIONS);
        migrator.run(&pool).await?;
        Ok(Self {
            pool,
            lost_after,
            rhythm: Rhythm::default(),
        })
    }

    pub(super) async fn issue(&self, limit: u32) -> Result<usize, QueueError> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let issues: Vec<Issue> = sqlx::query_as(ISSUE)
            .bind(in_journal_form(jiff::Timestamp::now()))
            .bind(i64::from(limit))
            .fetch_all(&mut *transaction)
            .await?;
        for (queue, jobs) in jobs(&issues)? {
            queries::push_tasks(&mut *transaction, &queue, &jobs)
                .await
                .map_err(|error| other(&error))?;
        }
        transaction.commit().await?;
        Ok(issues.len())
    }

    pub(super) async fn take(&self, holder: &LeaseHolder) -> Result<Option<Ticket>, QueueError> {
        for (queue, name) in queues(holder) {
            // Looking costs no lock; most looks find nothing.
            let waiting = sqlx::query(
                "SELECT id FROM Jobs WHERE job_type = $1 AND status = 'Pending' LIMIT 1",
            )
            .bind(&queue)
            .fetch_optional(&self.pool)
            .await?;
            if waiting.is_none() {
                continue;
            }
            let worker = WorkerContext::new(&name);
            let jobs = queries::fetch_next(&self.pool, &config(&queue), &worker)
                .await
                .map_err(|error| other(&error))?;
            if let Some(job) = jobs.first() {
                return Ok(Some(ticket(job)?));
            }
        }
        Ok(None)
    }

    pub(super) async fn beat(&self, holder: &LeaseHolder) -> Result<(), QueueError> {
        let steady = self.rhythm.is_steady(self.lost_after);
        let dead_for = i64::try_from(self.lost_after.as_secs()).unwrap_or(i64::MAX);
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        for (queue, name) in queues(holder) {
            let worker = WorkerContext::new(&name);
            let config = config(&queue);
            if queries::keep_alive(&mut *transaction, &config, &worker)
                .await
                .is_err()
            {
                queries::register_worker(&mut *transaction, &config, &worker, "patchwright")
                    .await?;
            }
            if steady {
                let others = WorkerFilter::AllExcept(name);
                queries::reenqueue_orphaned(&mut *transaction, dead_for, &queue, &others).await?;
            }
        }
        // A ticket that is done tells nothing that its submission does not.
        sqlx::query("DELETE FROM Jobs WHERE status = 'Done'")
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        self.rhythm.beaten();
        Ok(())
    }

    pub(super) async fn done(
        &self,
        holder: &LeaseHolder,
        ticket: &Ticket,
    ) -> Result<(), QueueError> {
        for (_, name) in queues(holder) {
            queries::ack_tasks(&self.pool, &[&result(ticket)], &name).await?;
        }
        Ok(())
    }
}

fn config(queue: &str) -> Config {
    Config {
        batch_size: 1,
        queue: queue.into(),
        ..Config::default()
    }
}
