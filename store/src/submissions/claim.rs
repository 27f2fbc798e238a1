//! Claims: who works on a task, and what came of it.
//!
//! A claim is the right to write to the run of the task. It is known by the
//! epoch of the run's row, which every claim raises; who holds an older epoch
//! changes nothing any more. A ticket says how often its task had been handed back
//! when it was issued: after one more time it does not count any more.

use super::in_journal_form;
use crate::store::{RAISE_EPOCH, Store, StoreError, now, storable, write_run};
use sqlx::{Any, Transaction};

/// A ticket that has to be put into the queue.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Issue {
    /// The task.
    pub id: String,
    /// Number of times that the task was handed back before.
    pub number: i64,
    /// Higher goes first.
    pub priority: i64,
    /// The host that alone can work on it.
    pub place: Option<String>,
}

/// The right to work on a task and to write to its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The task.
    pub id: String,
    /// The checked task as JSON.
    pub task: String,
    /// The run of the task.
    pub run: String,
    /// The claim, among all claims of the run.
    pub epoch: i64,
    /// True when an earlier claim began the run.
    pub begun: bool,
    /// Number of claims, this one included.
    pub claims: i64,
    /// Number of claims that were handed back in order.
    pub handed_back: i64,
    /// Number of failures of its infrastructure.
    pub failures: i64,
    /// When nobody wants the patch any more.
    pub deadline: Option<String>,
    /// True when somebody canceled it.
    pub cancel: bool,
}

/// The ending of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// One word.
    pub ending: String,
    /// Why.
    pub detail: String,
}

/// Reason of a hand-back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Back {
    /// Whoever had it was asked to end.
    Stopped,
    /// Its run waits until it is due: no model can answer before.
    Paused,
    /// Its infrastructure failed; the next run begins anew.
    Failed,
}

/// Notes that tasks due at `$1`, at most `$2`, have a ticket, and yields each as
/// an [`Issue`]. The queue runs it in the transaction that puts the tickets there,
/// so that a task never has none or two.
pub const ISSUE: &str = "UPDATE submissions SET state = 'queued', issued = 1
    WHERE id IN (SELECT id FROM submissions WHERE state IN ('queued', 'paused') AND issued = 0 AND due <= $1
                 ORDER BY sequence LIMIT $2)
    AND state IN ('queued', 'paused') AND issued = 0
    RETURNING id, handed_back + failures AS number, priority, place";

type Row = (String, String, i64, i64, i64, Option<String>, i64);

impl Store {
    /// Claims a task with a ticket, and its run with it: the run that was begun,
    /// or a new one of this id. `None` when the task was handed back since, or has ended.
    /// A task that is running is taken over: its ticket comes a second time
    /// only when its holder was given up for dead.
    pub async fn claim(
        &self,
        (id, ticket): (&str, i64),
        host: &str,
        run: &str,
    ) -> Result<Option<Claimed>, StoreError> {
        self.patiently(|_| self.try_claim((id, ticket), host, run))
            .await
    }

    async fn try_claim(
        &self,
        (id, ticket): (&str, i64),
        host: &str,
        run: &str,
    ) -> Result<Option<Claimed>, StoreError> {
        let mut transaction = self.begin().await?;
        let row: Option<Row> = sqlx::query_as(
            "UPDATE submissions SET state = 'running', claims = claims + 1, host = $1,
             started = COALESCE(started, $2), run = COALESCE(run, $5)
             WHERE id = $3 AND handed_back + failures = $4 AND state IN ('queued', 'running')
             RETURNING task, run, claims, handed_back, failures, deadline, cancel",
        )
        .bind(host)
        .bind(now())
        .bind(id)
        .bind(ticket)
        .bind(run)
        .fetch_optional(&mut *transaction)
        .await?;
        let Some((task, run, claims, handed_back, failures, deadline, cancel)) = row else {
            return Ok(None);
        };
        // Settings are written when the run begins: without them it has not.
        write_run(&mut transaction, &run, (id, ""), "").await?;
        let (epoch,): (i64,) = sqlx::query_as(RAISE_EPOCH)
            .bind(&run)
            .fetch_one(&mut *transaction)
            .await?;
        let (settings,): (String,) = sqlx::query_as("SELECT settings FROM runs WHERE id = $1")
            .bind(&run)
            .fetch_one(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(Some(Claimed {
            id: id.to_owned(),
            task,
            run,
            epoch,
            begun: !settings.is_empty(),
            claims,
            handed_back,
            failures,
            deadline,
            cancel: cancel != 0,
        }))
    }

    /// Ends a task; false when the claim does not count any more.
    pub async fn end(&self, claimed: &Claimed, ending: &Ending) -> Result<bool, StoreError> {
        self.patiently(|_| self.try_end(claimed, ending)).await
    }

    async fn try_end(&self, claimed: &Claimed, ending: &Ending) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let ended = write_ending(&mut transaction, claimed, ending).await?;
        Ok(ended && is_settled(transaction, claimed).await?)
    }

    /// Gives a task back, to be claimed anew when it is due: with the run that
    /// was begun, or with a failure more and a run of its own. One that was
    /// canceled meanwhile ends. False when the claim does not count any more.
    pub async fn hand_back(
        &self,
        claimed: &Claimed,
        due: jiff::Timestamp,
        why: Back,
    ) -> Result<bool, StoreError> {
        self.patiently(|_| self.try_hand_back(claimed, due, why))
            .await
    }

    async fn try_hand_back(
        &self,
        claimed: &Claimed,
        due: jiff::Timestamp,
        why: Back,
    ) -> Result<bool, StoreError> {
        let state = match why {
            Back::Paused => "paused",
            Back::Stopped | Back::Failed => "queued",
        };
        let mut transaction = self.begin().await?;
        let cancel: Option<(i64,)> = sqlx::query_as(
            "UPDATE submissions SET issued = 0, due = $1,
             failures = failures + $2, handed_back = handed_back + 1 - $2
             WHERE id = $3 AND run = $4 AND state = 'running' RETURNING cancel",
        )
        .bind(in_journal_form(due))
        .bind(i64::from(why == Back::Failed))
        .bind(&claimed.id)
        .bind(&claimed.run)
        .fetch_optional(&mut *transaction)
        .await?;
        match cancel {
            None => return Ok(false),
            Some((0,)) => {
                sqlx::query(
                    "UPDATE submissions SET state = $1, run = CASE WHEN $2 = 0 THEN run END WHERE id = $3",
                )
                .bind(state)
                .bind(i64::from(why == Back::Failed))
                .bind(&claimed.id)
                .execute(&mut *transaction)
                .await?;
            }
            Some(_) => {
                let canceled = Ending {
                    ending: "canceled".to_owned(),
                    detail: "canceled while it ran".to_owned(),
                };
                write_ending(&mut transaction, claimed, &canceled).await?;
            }
        }
        is_settled(transaction, claimed).await
    }
}

/// Writes the ending of a claimed task; false when it is somebody else's.
async fn write_ending(
    transaction: &mut Transaction<'static, Any>,
    claimed: &Claimed,
    ending: &Ending,
) -> Result<bool, StoreError> {
    let state = match ending.ending.as_str() {
        "canceled" => "canceled",
        _ => "done",
    };
    // After a commit whose answer was lost it is in this state already.
    let done = sqlx::query(
        "UPDATE submissions SET state = $1, ended = $2, ending = $3, detail = $4
         WHERE id = $5 AND run = $6 AND state IN ('running', $1)",
    )
    .bind(state)
    .bind(now())
    .bind(&ending.ending)
    .bind(storable(&ending.detail))
    .bind(&claimed.id)
    .bind(&claimed.run)
    .execute(&mut **transaction)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Commits what a claim changed, if the claim still counts. A run that was never
/// begun is forgotten when its task has ended or goes on with another one. The
/// submission is locked before the run, as in a claim.
async fn is_settled(
    mut transaction: Transaction<'static, Any>,
    claimed: &Claimed,
) -> Result<bool, StoreError> {
    let held = sqlx::query("UPDATE runs SET epoch = epoch WHERE id = $1 AND epoch = $2")
        .bind(&claimed.run)
        .bind(claimed.epoch)
        .execute(&mut *transaction)
        .await?;
    if held.rows_affected() == 0 {
        return Ok(false);
    }
    let forgotten = sqlx::query(
        "DELETE FROM runs WHERE id = $1 AND settings = '' AND NOT EXISTS
         (SELECT 1 FROM submissions WHERE id = $2 AND run = $1 AND state IN ('queued', 'paused'))",
    )
    .bind(&claimed.run)
    .bind(&claimed.id)
    .execute(&mut *transaction)
    .await?;
    if forgotten.rows_affected() > 0 {
        sqlx::query("UPDATE submissions SET run = NULL WHERE id = $1")
            .bind(&claimed.id)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(true)
}
