//! Queue: delivers tickets to lease holders, each to one at a time, and delivers
//! the tickets of dead ones again.
//!
//! It is apalis, on the database of the store: its tables, its statements for
//! fetching, heartbeats and what was orphaned. Its own worker loop is not used:
//! it fetches ahead, and its lock takes a job away from whoever took it over
//! from a worker that was frozen. A queue decides nothing about tasks: which
//! ticket counts stands in the row of its submission, and a ticket is put into
//! the queue in the transaction that notes it there.

// Two adapters, not one generic one: apalis has a crate for each database, whose
// statements share no trait and differ in what they take, in transactions, and
// in what a lost worker looks like.
mod postgres;
mod sqlite;

use apalis_core::backend::TaskResult;
use apalis_core::task::Task;
use apalis_core::task::builder::TaskBuilder;
use apalis_core::task::status::Status;
use apalis_core::task::task_id::TaskId;
use patchwright_store::submissions::Issue;
use patchwright_store::{DatabaseKind, Store, StoreError};
use postgres::PostgresQueue;
use serde::{Deserialize, Serialize};
use sqlite::SqliteQueue;
use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The name that apalis knows the tickets by that any host may take.
const SHARED: &str = "tasks";
/// Priorities that are told apart, on both sides of zero: apalis has no
/// negative ones.
const PRIORITIES: i64 = 1000;

/// The time of the last heartbeat of this process. After a long pause (the database
/// was away, the machine slept) the others may not have had the time to say
/// that they live: they are judged at the next beat.
#[derive(Debug, Default)]
struct Rhythm(Mutex<Option<Instant>>);

impl Rhythm {
    fn is_steady(&self, lost_after: Duration) -> bool {
        let last = self.0.lock().ok().and_then(|last| *last);
        last.is_none_or(|last| lost_after.is_zero() || last.elapsed() < lost_after)
    }

    fn beaten(&self) {
        if let Ok(mut last) = self.0.lock() {
            *last = Some(Instant::now());
        }
    }
}

/// An error of the queue.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The database failed.
    #[error("the queue failed: {0}")]
    Database(#[from] sqlx::Error),
    /// Its tables cannot be made.
    #[error("the queue cannot be brought up to date: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// The store cannot be locked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something that apalis does not put into words of the database.
    #[error("the queue failed: {0}")]
    Apalis(String),
}

/// A ticket as it was delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// The task.
    pub task: String,
    /// Number of times that the task was handed back before.
    pub number: i64,
    /// The key of the queue's own.
    key: String,
}

/// A process that leases tickets, with a name that no other process ever had.
#[derive(Debug, Clone)]
pub struct LeaseHolder {
    /// The name.
    pub name: String,
    /// Its place: some tickets are for this one only.
    pub place: String,
    /// True when it takes the tickets that are for no place as well.
    pub shared: bool,
}

/// The queue in the database of a store.
#[derive(Debug)]
pub struct Queue(Backend);

#[derive(Debug)]
enum Backend {
    Sqlite(SqliteQueue),
    Postgres(PostgresQueue),
}

impl Queue {
    /// Opens the queue. A holder that has not been heard of for `lost_after` is
    /// given up for dead.
    pub async fn open(store: &Store, lost_after: Duration) -> Result<Self, QueueError> {
        Ok(Self(match store.kind() {
            DatabaseKind::Sqlite => Backend::Sqlite(SqliteQueue::open(store, lost_after).await?),
            DatabaseKind::Postgres => {
                Backend::Postgres(PostgresQueue::open(store, lost_after).await?)
            }
        }))
    }

    /// Puts the tickets of at most `limit` tasks that are due and have none into
    /// the queue, and yields their number.
    pub async fn issue(&self, limit: u32) -> Result<usize, QueueError> {
        match &self.0 {
            Backend::Sqlite(queue) => queue.issue(limit).await,
            Backend::Postgres(queue) => queue.issue(limit).await,
        }
    }

    /// Leases the most urgent ticket, which nobody else gets while its holder
    /// lives.
    pub async fn take(&self, holder: &LeaseHolder) -> Result<Option<Ticket>, QueueError> {
        match &self.0 {
            Backend::Sqlite(queue) => queue.take(holder).await,
            Backend::Postgres(queue) => queue.take(holder).await,
        }
    }

    /// Takes a ticket away for good. Of one that was given to somebody else
    /// meanwhile, nothing happens.
    pub async fn done(&self, holder: &LeaseHolder, ticket: &Ticket) -> Result<(), QueueError> {
        match &self.0 {
            Backend::Sqlite(queue) => queue.done(holder, ticket).await,
            Backend::Postgres(queue) => queue.done(holder, ticket).await,
        }
    }

    /// Renews the leases of a holder, and gives back the tickets of holders that
    /// have not done so for too long.
    pub async fn beat(&self, holder: &LeaseHolder) -> Result<(), QueueError> {
        match &self.0 {
            Backend::Sqlite(queue) => queue.beat(holder).await,
            Backend::Postgres(queue) => queue.beat(holder).await,
        }
    }
}

/// The content of a ticket in the queue.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    task: String,
    number: i64,
}

/// The queues of apalis that a lease holder takes from, the first first, and its name
/// in each: apalis knows a worker in one queue only.
fn queues(holder: &LeaseHolder) -> Vec<(String, String)> {
    let mut queues = vec![(at(&holder.place), format!("{}@", holder.name))];
    if holder.shared {
        queues.push((SHARED.to_owned(), holder.name.clone()));
    }
    queues
}

/// The queue of the tickets that are for one place only.
fn at(place: &str) -> String {
    format!("{SHARED}@{place}")
}

/// A job of apalis.
type Job = Task<Vec<u8>>;

/// Tickets as apalis keeps them, by its queue.
fn jobs(issues: &[Issue]) -> Result<Vec<(String, Vec<Job>)>, QueueError> {
    let mut queues: Vec<(String, Vec<Job>)> = Vec::new();
    for issue in issues {
        let content = Content {
            task: issue.id.clone(),
            number: issue.number,
        };
        let bytes = serde_json::to_vec(&content).map_err(|error| other(&error))?;
        let priority = issue.priority.clamp(-PRIORITIES, PRIORITIES) + PRIORITIES;
        let job = TaskBuilder::new(bytes)
            .task_id(TaskId::from_string(key(uuid::Uuid::now_v7())))
            .priority(usize::try_from(priority).unwrap_or_default())
            .build();
        let queue = issue.place.as_deref().map_or_else(|| SHARED.to_owned(), at);
        match queues.iter_mut().find(|(name, _)| *name == queue) {
            Some((_, jobs)) => jobs.push(job),
            None => queues.push((queue, vec![job])),
        }
    }
    Ok(queues)
}

/// An id as apalis writes them (a ULID): of two, the later is the larger, so
/// that among equals the first put is the first taken.
fn key(id: uuid::Uuid) -> String {
    const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let number = id.as_u128();
    let letters = (0..26).rev().map(|place| {
        let letter = (number >> (5 * place)) as usize % LETTERS.len();
        LETTERS.get(letter).copied().map_or('0', char::from)
    });
    letters.collect()
}

/// The ticket of a job that apalis delivered.
fn ticket(job: &Job) -> Result<Ticket, QueueError> {
    let content: Content = serde_json::from_slice(&job.args).map_err(|error| other(&error))?;
    let key = job
        .task_id()
        .ok_or_else(|| QueueError::Apalis("a job without an id".to_owned()))?;
    Ok(Ticket {
        task: content.task,
        number: content.number,
        key: key.to_string(),
    })
}

/// The result that apalis is told of a ticket that is done.
fn result(ticket: &Ticket) -> TaskResult<serde_json::Value> {
    TaskResult {
        task_id: TaskId::from_string(ticket.key.clone()),
        attempt: 1,
        status: Status::Done,
        result: Ok(serde_json::Value::Null),
    }
}

fn other(error: &dyn fmt::Display) -> QueueError {
    QueueError::Apalis(error.to_string())
}

#[cfg(test)]
mod tests;
