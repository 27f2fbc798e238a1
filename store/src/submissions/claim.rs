//! Claims: a lease on a task, and what came of it.
//!
//! One lease in the row of the task says who works on it: its owner, its epoch
//! (`claims`, which every claim raises) and the time until which it holds. The
//! owner renews it; a lease that ran out is taken away. Whoever holds an older
//! epoch changes nothing any more, neither the task nor its run.

use crate::store::{
    Result, Store, execute, in_journal_form, milliseconds, now, row, scalar, storable, write_run,
};
use sqlx::{Any, AnyConnection, AssertSqlSafe, Transaction};
use std::time::Duration;

/// One who claims tasks, each for the time of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimant {
    /// The owner of its leases; works on one task at a time.
    pub owner: String,
    /// The machine that it works on.
    pub host: String,
    /// The place whose tasks it takes.
    pub place: String,
    /// True when it also takes tasks that any place can work on.
    pub shared: bool,
    /// The time for which a lease holds without a renewal.
    pub lease: Duration,
}

/// The right to work on a task and to write to its run.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Claimed {
    pub id: String,
    /// The checked task as JSON.
    pub task: String,
    /// The run of the task.
    pub run: String,
    /// The epoch of the lease: the number of claims of the task, this one included.
    pub epoch: i64,
    /// True when an earlier claim began the run.
    #[sqlx(skip)]
    pub begun: bool,
    /// Number of claims that were handed back in order.
    pub handed_back: i64,
    /// Number of failures of its infrastructure.
    pub failures: i64,
    /// When nobody wants the patch any more.
    pub deadline: Option<String>,
    /// 1 when somebody canceled it.
    pub cancel: i64,
}

/// The ending of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// One word.
    pub ending: String,
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

/// A task of a claimant whose claim was committed without its knowledge.
const OWN: &str = "SELECT id FROM submissions WHERE state = 'running' AND owner = $1";
/// The next task that has not ended and that nobody holds a lease on.
const NEXT: &str = "SELECT id FROM submissions WHERE owner IS NULL AND ended IS NULL AND due <= $1
    AND (place = $2 OR ($3 = 1 AND place IS NULL)) ORDER BY priority DESC, due, sequence LIMIT 1";

impl Store {
    /// Claims the next task, and its run with it: the run that was begun, or a
    /// new one with the id that `run_of` makes of the task's. `None` when no task is due.
    pub async fn claim(
        &self,
        claimant: &Claimant,
        run_of: fn(&str) -> String,
    ) -> Result<Option<Claimed>> {
        // Looking costs no lock; most looks find nothing.
        let mut connection = self.pool.acquire().await?;
        if next(&mut connection, claimant, "").await?.is_none() {
            return Ok(None);
        }
        drop(connection);
        self.patiently(|_| async {
            let mut transaction = self.begin().await?;
            let lock = self.kind.choose("", " FOR UPDATE SKIP LOCKED");
            let Some(id) = next(&mut transaction, claimant, lock).await? else {
                return Ok(None);
            };
            let sql = format!(
                "UPDATE submissions SET state = 'running', claims = claims + 1, owner = $1,
                 lease_until = {} + $2, host = $3, started = COALESCE(started, $4),
                 run = COALESCE(run, $5) WHERE id = $6
                 RETURNING id, task, run, claims AS epoch, handed_back, failures, deadline, cancel",
                self.clock()
            );
            let (owner, lease) = (&claimant.owner, milliseconds(claimant.lease));
            let values = (owner, lease, &claimant.host, now(), run_of(&id), &id);
            let claimed: Option<Claimed> =
                row(&mut *transaction, AssertSqlSafe(sql), values).await?;
            let mut claimed = claimed.ok_or(sqlx::Error::RowNotFound)?;
            // Settings are written when the run begins: without them it has not.
            write_run(&mut transaction, &claimed.run, (&id, ""), "").await?;
            let raise = "UPDATE runs SET epoch = $1 WHERE id = $2 RETURNING settings";
            let values = (claimed.epoch, &claimed.run);
            let settings: Option<String> = scalar(&mut *transaction, raise, values).await?;
            transaction.commit().await?;
            claimed.begun = settings.is_some_and(|settings| !settings.is_empty());
            Ok(Some(claimed))
        })
        .await
    }

    /// Renews the leases of the owners whose names begin so.
    pub async fn renew(&self, owners: &str, lease: Duration) -> Result<()> {
        let sql = format!(
            "UPDATE submissions SET lease_until = {} + $1 WHERE state = 'running' AND owner LIKE $2",
            self.clock()
        );
        let values = (milliseconds(lease), format!("{owners}%"));
        execute(&self.pool, AssertSqlSafe(sql), values).await?;
        Ok(())
    }

    /// Takes away the leases that ran out, so that their tasks can be claimed.
    pub async fn take_away_lost(&self) -> Result<()> {
        let sql = format!(
            "UPDATE submissions SET owner = NULL, lease_until = NULL
             WHERE state = 'running' AND lease_until <= {}",
            self.clock()
        );
        let taken = sqlx::query(AssertSqlSafe(sql));
        taken.execute(&self.pool).await?;
        Ok(())
    }

    /// Returns the expression for the database's clock in milliseconds: the
    /// machines of a queue may not agree on the time.
    fn clock(&self) -> &'static str {
        self.kind.choose(
            "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
            "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
        )
    }

    /// Ends a task; false when the claim does not count any more.
    pub async fn end(&self, claimed: &Claimed, ending: &Ending) -> Result<bool> {
        self.patiently(|_| async {
            let mut transaction = self.begin().await?;
            let ended = write_ending(&mut transaction, claimed, ending).await?;
            if ended {
                settle(transaction, claimed).await?;
            }
            Ok(ended)
        })
        .await
    }

    /// Gives a task back, to be claimed anew when it is due: with the run that
    /// was begun, or with a failure more and a run of its own. One that was
    /// canceled meanwhile ends. False when the claim does not count any more.
    pub async fn hand_back(
        &self,
        claimed: &Claimed,
        due: jiff::Timestamp,
        why: Back,
    ) -> Result<bool> {
        let state = match why {
            Back::Paused => "paused",
            Back::Stopped | Back::Failed => "queued",
        };
        let (due, failed) = (in_journal_form(due), i64::from(why == Back::Failed));
        self.patiently(|_| async {
            let mut transaction = self.begin().await?;
            let let_go = "UPDATE submissions SET owner = NULL, lease_until = NULL, due = $1,
                failures = failures + $2, handed_back = handed_back + 1 - $2
                WHERE id = $3 AND claims = $4 AND state = 'running' RETURNING cancel";
            let values = (&due, failed, &claimed.id, claimed.epoch);
            let cancel: Option<i64> = scalar(&mut *transaction, let_go, values).await?;
            match cancel {
                None => return Ok(false),
                Some(0) => {
                    let wait = "UPDATE submissions SET state = $1,
                        run = CASE WHEN $2 = 0 THEN run END WHERE id = $3";
                    execute(&mut *transaction, wait, (state, failed, &claimed.id)).await?;
                }
                Some(_) => {
                    let canceled = Ending {
                        ending: "canceled".to_owned(),
                        detail: "canceled while it ran".to_owned(),
                    };
                    write_ending(&mut transaction, claimed, &canceled).await?;
                }
            }
            settle(transaction, claimed).await?;
            Ok(true)
        })
        .await
    }
}

/// Finds the next task of a claimant.
async fn next(
    connection: &mut AnyConnection,
    claimant: &Claimant,
    lock: &str,
) -> Result<Option<String>> {
    let own = scalar(&mut *connection, OWN, (&claimant.owner,)).await?;
    if own.is_some() {
        return Ok(own);
    }
    let free = AssertSqlSafe(format!("{NEXT}{lock}"));
    let values = (now(), &claimant.place, i64::from(claimant.shared));
    scalar(connection, free, values).await
}

/// Writes the ending of a claimed task; false when it is somebody else's.
async fn write_ending(
    transaction: &mut Transaction<'static, Any>,
    claimed: &Claimed,
    ending: &Ending,
) -> Result<bool> {
    let state = match ending.ending.as_str() {
        "canceled" => "canceled",
        _ => "done",
    };
    // After a commit whose answer was lost it is in this state already.
    let end = "UPDATE submissions SET state = $1, ended = $2, ending = $3, detail = $4,
        owner = NULL, lease_until = NULL
        WHERE id = $5 AND claims = $6 AND state IN ('running', $1)";
    let (word, detail) = (&ending.ending, storable(&ending.detail));
    let values = (state, now(), word, detail, &claimed.id, claimed.epoch);
    Ok(execute(&mut **transaction, end, values).await? == 1)
}

/// Commits what a claim changed. A run that was never begun is forgotten when
/// its task has ended or goes on with another one.
async fn settle(mut transaction: Transaction<'static, Any>, claimed: &Claimed) -> Result<()> {
    let forget = "DELETE FROM runs WHERE id = $1 AND settings = '' AND NOT EXISTS
        (SELECT 1 FROM submissions WHERE id = $2 AND run = $1 AND state IN ('queued', 'paused'))";
    if execute(&mut *transaction, forget, (&claimed.run, &claimed.id)).await? > 0 {
        let unname = "UPDATE submissions SET run = NULL WHERE id = $1";
        execute(&mut *transaction, unname, (&claimed.id,)).await?;
    }
    transaction.commit().await?;
    Ok(())
}
