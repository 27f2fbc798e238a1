//! apalis on PostgreSQL, in a schema of its own.

use super::{LeaseHolder, QueueError, Rhythm, Ticket, jobs, other, queues, result, ticket};
use apalis_core::worker::context::WorkerContext;
use apalis_postgres::{Config, Error, PostgresStorage, queries};
use patchwright_store::Store;
use patchwright_store::submissions::{ISSUE, Issue, in_journal_form};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use std::time::Duration;

/// Connections of one process: the workers take, the heart beats.
const CONNECTIONS: u32 = 2;
/// Time limit of the wait for a connection.
const CONNECTING: Duration = Duration::from_secs(10);

/// The queue in the database of the store.
#[derive(Debug)]
pub(super) struct PostgresQueue {
    pool: PgPool,
    lost_after: Duration,
    rhythm: Rhythm,
}

impl PostgresQueue {
    pub(super) async fn open(store: &Store, lost_after: Duration) -> Result<Self, QueueError> {
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(CONNECTING)
            .connect(store.url())
            .await?;
        PostgresStorage::migrations().run(&pool).await?;
        Ok(Self {
            pool,
            lost_after,
            rhythm: Rhythm::default(),
        })
    }

    pub(super) async fn issue(&self, limit: u32) -> Result<usize, QueueError> {
        let mut transaction = self.pool.begin().await?;
        let issues: Vec<Issue> = sqlx::query_as(ISSUE)
            .bind(in_journal_form(jiff::Timestamp::now()))
            .bind(i64::from(limit))
            .fetch_all(&mut *transaction)
            .await?;
        for (queue, jobs) in jobs(&issues)? {
            queries::push_tasks(&mut *transaction, &queue, jobs)
                .await
                .map_err(sorted)?;
        }
        transaction.commit().await?;
        Ok(issues.len())
    }

    pub(super) async fn take(&self, holder: &LeaseHolder) -> Result<Option<Ticket>, QueueError> {
        for (queue, name) in queues(holder) {
            let mut connection = self.pool.acquire().await?;
            let worker = WorkerContext::new(&name);
            let jobs = queries::fetch_next(&mut *connection, &config(&queue), &worker)
                .await
                .map_err(sorted)?;
            if let Some(job) = jobs.first() {
                return Ok(Some(ticket(job)?));
            }
        }
        Ok(None)
    }

    pub(super) async fn beat(&self, holder: &LeaseHolder) -> Result<(), QueueError> {
        let steady = self.rhythm.is_steady(self.lost_after);
        for (queue, name) in queues(holder) {
            let mut connection = self.pool.acquire().await?;
            let worker = WorkerContext::new(&name);
            match queries::keep_alive(&mut *connection, &queue, &worker).await {
                Err(Error::WorkerOutOfSync) => {
                    // Its own statement for this wants a type that it does not
                    // give away.
                    sqlx::query(
                        "INSERT INTO apalis.workers (id, worker_type, storage_name) VALUES ($1, $2, 'patchwright')
                         ON CONFLICT (id) DO UPDATE SET last_seen = now()",
                    )
                    .bind(&name)
                    .bind(&queue)
                    .execute(&mut *connection)
                    .await?;
                }
                other => other.map_err(sorted)?,
            }
            if steady {
                queries::reenqueue_orphaned(&mut *connection, &queue, self.lost_after.as_secs())
                    .await
                    .map_err(sorted)?;
            }
        }
        // A ticket that is done tells nothing that its submission does not.
        sqlx::query("DELETE FROM apalis.jobs WHERE status = 'Done'")
            .execute(&self.pool)
            .await?;
        self.rhythm.beaten();
        Ok(())
    }

    pub(super) async fn done(
        &self,
        holder: &LeaseHolder,
        ticket: &Ticket,
    ) -> Result<(), QueueError> {
        let mut connection = self.pool.acquire().await?;
        for (_, name) in queues(holder) {
            queries::handle_results(&mut *connection, &[&result(ticket)], &name)
                .await
                .map_err(sorted)?;
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

fn sorted(error: Error) -> QueueError {
    match error {
        Error::Database(error) => QueueError::Database(error),
        error => other(&error),
    }
}
