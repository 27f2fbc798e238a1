//! Who works on a task: claimed by a ticket, ended, or handed back.

use super::in_journal_form;
use crate::store::{Store, StoreError, now, storable};
use sqlx::{Any, Transaction};

/// A ticket that has to be put into the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The task.
    pub id: String,
    /// Which ticket of this task it is.
    pub number: i64,
    /// Higher goes first.
    pub priority: i64,
    /// The host that alone can work on it.
    pub place: Option<String>,
}

/// The right to work on a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The task.
    pub id: String,
    /// The checked task as JSON.
    pub task: String,
    /// The run that was begun by whoever had it before.
    pub run: Option<String>,
    /// How often it was claimed, this time included.
    pub claims: i64,
    /// How often it was handed back in order since its first claim.
    pub handed_back: i64,
    /// How often its infrastructure failed.
    pub failures: i64,
    /// When nobody wants the patch any more.
    pub deadline: Option<String>,
    /// Whether somebody canceled it.
    pub cancel: bool,
}

impl Claimed {
    /// Names the run of the task; false when the claim does not count any more.
    pub(crate) async fn name_run(
        &self,
        transaction: &mut Transaction<'static, Any>,
        run: &str,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE submissions SET run = $1 WHERE id = $2 AND claims = $3 AND state = 'running'",
        )
        .bind(run)
        .bind(&self.id)
        .bind(self.claims)
        .execute(&mut **transaction)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// One word.
    pub ending: String,
    /// Why.
    pub detail: String,
}

/// Why a claim is handed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Back {
    /// Whoever had it was asked to end.
    Stopped,
    /// Its run waits until it is due: no model can answer before.
    Paused,
    /// Its infrastructure failed; the next run begins anew.
    Failed,
}

/// Seconds after which somebody who began to issue a ticket is given up.
const ISSUING: i64 = 10;

type Row = (String, Option<String>, i64, i64, i64, Option<String>, i64);

impl Store {
    /// Tickets of tasks that are due and have none in the queue, for the caller
    /// to put there. One that waited for this time is queued again. One that somebody began to put there and did not finish is
    /// replaced by the next number: should it turn up, it does not count.
    pub async fn to_issue(&self, limit: u32) -> Result<Vec<Issue>, StoreError> {
        let now = jiff::Timestamp::now();
        let stale = now - jiff::SignedDuration::from_secs(ISSUING);
        let rows: Vec<(String, i64, i64, Option<String>)> = sqlx::query_as(
            "UPDATE submissions SET state = 'queued', ticket = ticket + (CASE WHEN issued = 2 THEN 1 ELSE 0 END),
             issued = 2, grabbed = $1
             WHERE id IN (SELECT id FROM submissions WHERE state IN ('queued', 'paused') AND issued <> 1 AND due <= $1
                          AND (issued = 0 OR grabbed < $2) ORDER BY sequence LIMIT $3)
             AND state IN ('queued', 'paused') AND (issued = 0 OR grabbed < $2) RETURNING id, ticket, priority, place",
        )
        .bind(in_journal_form(now))
        .bind(in_journal_form(stale))
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await?;
        let issues = rows.into_iter().map(|(id, number, priority, place)| Issue {
            id,
            number,
            priority,
            place,
        });
        Ok(issues.collect())
    }

    /// Notes that these tickets are in the queue.
    pub async fn issued(&self, issues: &[Issue]) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        for issue in issues {
            sqlx::query("UPDATE submissions SET issued = 1 WHERE id = $1 AND ticket = $2")
                .bind(&issue.id)
                .bind(issue.number)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Claims a task with a ticket; `None` when the ticket does not count any
    /// more. A task that is running is taken over: its ticket comes a second
    /// time only when its holder was given up for dead.
    pub async fn claim(
        &self,
        id: &str,
        ticket: i64,
        host: &str,
    ) -> Result<Option<Claimed>, StoreError> {
        let row: Option<Row> = self
            .patiently(|_| async {
                let row = sqlx::query_as(
                    "UPDATE submissions SET state = 'running', claims = claims + 1, issued = 1, host = $1,
                     started = COALESCE(started, $2)
                     WHERE id = $3 AND ticket = $4 AND state IN ('queued', 'running')
                     RETURNING task, run, claims, handed_back, failures, deadline, cancel",
                )
                .bind(host)
                .bind(now())
                .bind(id)
                .bind(ticket);
                Ok(row.fetch_optional(&self.pool).await?)
            })
            .await?;
        Ok(row.map(|row| {
            let (task, run, claims, handed_back, failures, deadline, cancel) = row;
            Claimed {
                id: id.to_owned(),
                task,
                run,
                claims,
                handed_back,
                failures,
                deadline,
                cancel: cancel != 0,
            }
        }))
    }

    /// Whether the claim still counts, and whether somebody canceled the task.
    pub async fn is_held(&self, claimed: &Claimed) -> Result<Option<bool>, StoreError> {
        let row: Option<(i64,)> = sqlx::query_as(
            "SELECT cancel FROM submissions WHERE id = $1 AND claims = $2 AND state = 'running'",
        )
        .bind(&claimed.id)
        .bind(claimed.claims)
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|(cancel,)| cancel != 0))
    }

    /// Ends a task; false when the claim does not count any more.
    pub async fn end(&self, claimed: &Claimed, ending: &Ending) -> Result<bool, StoreError> {
        let state = if ending.ending == "canceled" {
            "canceled"
        } else {
            "done"
        };
        self.patiently(|_| async {
            let done = sqlx::query(
                "UPDATE submissions SET state = $1, ended = $2, ending = $3, detail = $4
                 WHERE id = $5 AND claims = $6 AND state IN ('running', $1)",
            )
            .bind(state)
            .bind(now())
            .bind(&ending.ending)
            .bind(storable(&ending.detail))
            .bind(&claimed.id)
            .bind(claimed.claims)
            .execute(&self.pool)
            .await?;
            Ok(done.rows_affected() == 1)
        })
        .await
    }

    /// Gives a task back, to be claimed anew when it is due: with the run that
    /// was begun, or with a failure more and a run of its own.
    pub async fn hand_back(
        &self,
        claimed: &Claimed,
        due: jiff::Timestamp,
        why: Back,
    ) -> Result<bool, StoreError> {
        let state = match why {
            Back::Paused => "paused",
            Back::Stopped | Back::Failed => "queued",
        };
        self.patiently(|_| async {
            let done = sqlx::query(
                "UPDATE submissions SET state = $1, ticket = ticket + 1, issued = 0, due = $2,
                 failures = failures + $3, handed_back = handed_back + 1 - $3,
                 run = CASE WHEN $3 = 0 THEN run END
                 WHERE id = $4 AND claims = $5 AND state = 'running'",
            )
            .bind(state)
            .bind(in_journal_form(due))
            .bind(i64::from(why == Back::Failed))
            .bind(&claimed.id)
            .bind(claimed.claims)
            .execute(&self.pool)
            .await?;
            Ok(done.rows_affected() == 1)
        })
        .await
    }
}
