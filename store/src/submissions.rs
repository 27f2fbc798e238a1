//! Submissions: one row for each task that the daemon was handed, from its
//! submission to its end.
//!
//! The row says how far a task is and how it ended, and holds the lease of
//! whoever works on it ([`Claimant`]).

mod claim;
mod list;

pub use claim::{Back, Claimant, Claimed, Ending};
pub use list::TaskVersion;
pub(crate) use list::pattern;
pub use list::{Depth, Page, TaskFilter, TaskRow, TaskState};

use crate::quota::{self, Quota, Usage};
use crate::store::{Result, Store, execute, in_journal_form, now, scalar, storable};
use sha2::{Digest, Sha256};
use sqlx::{Any, Transaction};

/// Writes a value that all processes share.
const SET_SWITCH: &str = "INSERT INTO switches (name, value) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value";
/// Finds a task by its id.
const KNOWN: &str = "SELECT id FROM submissions WHERE id = $1";

/// A task to be submitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTask {
    pub id: String,
    /// The checked task ([`patchwright_agent::task::Task`]) as JSON.
    pub task: String,
    /// Higher goes first.
    pub priority: i32,
    /// When nobody wants the patch any more.
    pub deadline: Option<jiff::Timestamp>,
    /// Origin: `api`, `patch-service`, `crs`, `oss-crs`, `batch` or `cli`.
    pub origin: String,
    /// The project: PoVs of one group are candidates for one patch.
    pub group: Option<String>,
    /// The host that alone can work on it, when its files lie there.
    pub place: Option<String>,
    /// The quota of the caller, when it came over HTTP.
    pub quota: Option<Quota>,
}

/// The result of a submission, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// It waits in the queue.
    New,
    /// It is known already.
    Same,
    /// Another task has this id; nothing changed.
    Differs,
    /// The caller's quota is used up, by the setting of this name; nothing changed.
    Full(&'static str),
}

/// The result of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Canceled {
    /// It had not begun, and will not.
    Queued,
    /// It runs, and whoever runs it was told.
    Running,
    /// It had ended.
    Over,
    /// There is no such task.
    Unknown,
}

/// Names the setting of the quota that a new task would exceed. One that is known
/// already takes nothing.
async fn over_quota(
    transaction: &mut Transaction<'static, Any>,
    task: &NewTask,
    bytes: i64,
) -> Result<Option<&'static str>> {
    let Some(quota) = &task.quota else {
        return Ok(None);
    };
    let more = Usage {
        tasks: 1,
        bytes,
        files: 0,
    };
    let used = quota::usage(&mut **transaction, &quota.submitter).await?;
    let Some(full) = quota.exceeded(used, more) else {
        return Ok(None);
    };
    let known: Option<String> = scalar(&mut **transaction, KNOWN, (&task.id,)).await?;
    Ok(known.is_none().then_some(full))
}

impl Store {
    /// Writes tasks down in one commit.
    pub async fn submit(&self, tasks: &[NewTask]) -> Result<Vec<Submitted>> {
        self.patiently(|_| self.try_submit(tasks)).await
    }

    async fn try_submit(&self, tasks: &[NewTask]) -> Result<Vec<Submitted>> {
        let now = now();
        let mut transaction = self.begin().await?;
        let mut submitted = Vec::with_capacity(tasks.len());
        for task in tasks {
            let content = format!("{:x}", Sha256::digest(&task.task));
            let bytes = i64::try_from(task.task.len()).unwrap_or(i64::MAX);
            if let Some(full) = over_quota(&mut transaction, task, bytes).await? {
                submitted.push(Submitted::Full(full));
                continue;
            }
            let add = "INSERT INTO submissions (id, content, priority, deadline, origin, project, created, due, task,
                                                place, submitter, bytes)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $10, $11) ON CONFLICT (id) DO NOTHING";
            let values = (
                &task.id,
                &content,
                i64::from(task.priority),
                task.deadline.map(in_journal_form),
                &task.origin,
                task.group.as_deref().map(storable),
                &now,
                storable(&task.task),
                &task.place,
                task.quota.as_ref().map(|quota| &quota.submitter),
                bytes,
            );
            if execute(&mut *transaction, add, values).await? == 1 {
                submitted.push(Submitted::New);
                continue;
            }
            let known = "SELECT content FROM submissions WHERE id = $1";
            let known: Option<String> = scalar(&mut *transaction, known, (&task.id,)).await?;
            // Whoever forgot it meanwhile leaves nothing to compare with.
            let known = known.ok_or(sqlx::Error::RowNotFound)?;
            submitted.push(if known == content {
                Submitted::Same
            } else {
                Submitted::Differs
            });
        }
        transaction.commit().await?;
        Ok(submitted)
    }

    /// Writes what a submission writes, and takes it back: fails when the
    /// database takes no submission, because its disk is full for example.
    pub async fn try_submission(&self) -> Result<()> {
        const NAME: &str = "-readiness";
        // As large as a large task: the last free page is not enough.
        let text = "-".repeat(64 << 10);
        let mut transaction = self.begin().await?;
        for there_and_back in [
            "INSERT INTO submissions (id, content, priority, origin, state, created, due, task)
             VALUES ($1, '', 0, '', 'canceled', '', '', '')",
            "DELETE FROM submissions WHERE id = $1",
        ] {
            execute(&mut *transaction, there_and_back, (NAME,)).await?;
        }
        execute(&mut *transaction, SET_SWITCH, (NAME, text)).await?;
        transaction.commit().await?;
        let forget = "DELETE FROM switches WHERE name = $1";
        execute(&self.pool, forget, (NAME,)).await?;
        Ok(())
    }

    /// Takes a task out of the queue, or asks whoever runs it to stop.
    pub async fn cancel(&self, id: &str) -> Result<Canceled> {
        self.patiently(|_| self.try_cancel(id)).await
    }

    async fn try_cancel(&self, id: &str) -> Result<Canceled> {
        let mut transaction = self.begin().await?;
        let end = "UPDATE submissions SET state = 'canceled', ended = $1, ending = 'canceled',
            detail = 'canceled before it began', cancel = 1
            WHERE id = $2 AND state IN ('queued', 'paused')";
        let queued = execute(&mut *transaction, end, (now(), id)).await?;
        let ask = "UPDATE submissions SET cancel = 1 WHERE id = $1 AND state = 'running'";
        let running = execute(&mut *transaction, ask, (id,)).await?;
        let known: Option<String> = scalar(&mut *transaction, KNOWN, (id,)).await?;
        transaction.commit().await?;
        Ok(match (queued, running, known) {
            (1.., _, _) => Canceled::Queued,
            (_, 1.., _) => Canceled::Running,
            (_, _, Some(_)) => Canceled::Over,
            (_, _, None) => Canceled::Unknown,
        })
    }

    /// Forgets tasks that have ended, so that they can be submitted anew.
    pub async fn forget(&self, ids: &[&str]) -> Result<()> {
        let mut transaction = self.begin().await?;
        let forget = "DELETE FROM submissions WHERE id = $1 AND state IN ('done', 'canceled')";
        for id in ids {
            execute(&mut *transaction, forget, (*id,)).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Pauses the whole queue, or lets it go on.
    pub async fn set_paused(&self, paused: bool) -> Result<()> {
        let value = if paused { "yes" } else { "no" };
        self.set_switch("paused", value).await
    }

    /// Returns true when the queue is paused.
    pub async fn paused(&self) -> Result<bool> {
        Ok(self.switch("paused").await?.as_deref() == Some("yes"))
    }

    /// Reads a value that all processes share.
    pub async fn switch(&self, name: &str) -> Result<Option<String>> {
        let value = "SELECT value FROM switches WHERE name = $1";
        scalar(&self.pool, value, (name,)).await
    }

    /// Writes a value that all processes share.
    pub async fn set_switch(&self, name: &str, value: &str) -> Result<()> {
        execute(&self.pool, SET_SWITCH, (name, value)).await?;
        Ok(())
    }
}
