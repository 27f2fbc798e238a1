//! Messages of cyber reasoning systems, and what they were sent, written and
//! read. What they mean is the business of the daemon.

use crate::crs_rows::{list, word};
use crate::store::{Store, StoreError};
use crate::submissions::in_journal_form;

pub use crate::crs_rows::{
    CaseRow, CaseState, Fate, FindingKind, FindingRow, FindingState, PatchRow,
};

/// Content of a message: cases and findings, written together with it or not at all.
#[derive(Debug, Default)]
pub struct Brought {
    /// The message; none for a request that is known by its finding.
    pub message: Option<String>,
    /// New cases; those that are known stay as they are.
    pub cases: Vec<CaseRow>,
    /// New findings; those that are known stay as they are.
    pub findings: Vec<FindingRow>,
}

impl Store {
    /// Writes down what a message brings. A message that was taken before brings nothing.
    pub async fn crs_take(&self, brought: &Brought) -> Result<(), StoreError> {
        let now = jiff::Timestamp::now().as_millisecond();
        let mut transaction = self.begin().await?;
        if let Some(message) = &brought.message {
            let taken = sqlx::query(
                "INSERT INTO crs_messages (id, received) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
            )
            .bind(message)
            .bind(crate::store::now())
            .execute(&mut *transaction)
            .await?;
            if taken.rows_affected() == 0 {
                return Ok(());
            }
        }
        for case in &brought.cases {
            sqlx::query(
                "INSERT INTO crs_cases (id, project, detail, prepared, state, deadline, created)
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING",
            )
            .bind(&case.id)
            .bind(&case.project)
            .bind(&case.detail)
            .bind(&case.prepared)
            .bind(word(case.state))
            .bind(case.deadline)
            .bind(now)
            .execute(&mut *transaction)
            .await?;
        }
        for finding in &brought.findings {
            sqlx::query(
                "INSERT INTO crs_findings (id, crs_case, kind, request, created)
                 VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING",
            )
            .bind(&finding.id)
            .bind(&finding.case)
            .bind(word(finding.kind))
            .bind(&finding.request)
            .bind(now)
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// All cases, the newest first; of one project when it is named.
    pub async fn crs_cases(&self, project: Option<&str>) -> Result<Vec<CaseRow>, StoreError> {
        let rows = sqlx::query_as(
            "SELECT * FROM crs_cases WHERE $1 = '' OR project = $1 ORDER BY created DESC, id",
        )
        .bind(project.unwrap_or_default())
        .fetch_all(&self.pool)
        .await?;
        Ok(rows)
    }

    /// One case.
    pub async fn crs_case(&self, id: &str) -> Result<Option<CaseRow>, StoreError> {
        let row = sqlx::query_as("SELECT * FROM crs_cases WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        Ok(row)
    }

    /// The cases that there may be something to do for: those that are not
    /// over by themselves or by their deadline.
    pub async fn crs_open_cases(&self, now: i64) -> Result<Vec<CaseRow>, StoreError> {
        let rows = sqlx::query_as(
            "SELECT * FROM crs_cases WHERE state IN ('pending', 'waiting', 'processing')
             OR (state IN ('succeeded', 'failed') AND (deadline IS NULL OR deadline > $1))
             ORDER BY created DESC, id",
        )
        .bind(now)
        .fetch_all(&self.pool)
        .await?;
        Ok(rows)
    }

    /// Writes down how far a case has come since it was read; nothing when
    /// somebody else changed its state.
    pub async fn crs_change_case(
        &self,
        before: &CaseRow,
        case: &CaseRow,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE crs_cases SET prepared = $1, state = $2, problem = $3 WHERE id = $4 AND state = $5",
        )
        .bind(&case.prepared)
        .bind(word(case.state))
        .bind(&case.problem)
        .bind(&case.id)
        .bind(word(before.state))
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Stops a case: nothing is sought any more for what is open in it.
    pub async fn crs_cancel(&self, case: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        for stop in [
            "UPDATE crs_cases SET state = 'canceled' WHERE id = $1",
            "UPDATE crs_findings SET state = 'failed' WHERE crs_case = $1 AND state = 'open'",
        ] {
            sqlx::query(stop)
                .bind(case)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// The findings of a case, the oldest first.
    pub async fn crs_findings(&self, case: &str) -> Result<Vec<FindingRow>, StoreError> {
        let rows =
            sqlx::query_as("SELECT * FROM crs_findings WHERE crs_case = $1 ORDER BY created, id")
                .bind(case)
                .fetch_all(&self.pool)
                .await?;
        Ok(rows)
    }

    /// One finding.
    pub async fn crs_finding(&self, id: &str) -> Result<Option<FindingRow>, StoreError> {
        let row = sqlx::query_as("SELECT * FROM crs_findings WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        Ok(row)
    }

    /// Writes down what came of a finding since it was read; nothing when
    /// somebody else changed its state.
    pub async fn crs_change_finding(
        &self,
        before: &FindingRow,
        finding: &FindingRow,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE crs_findings SET round = $1, state = $2, patch = $3
             WHERE id = $4 AND state = $5 AND round = $6",
        )
        .bind(finding.round)
        .bind(word(finding.state))
        .bind(&finding.patch)
        .bind(&finding.id)
        .bind(word(before.state))
        .bind(before.round)
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// The patches of a case, the oldest first.
    pub async fn crs_patches(&self, case: &str) -> Result<Vec<PatchRow>, StoreError> {
        let rows =
            sqlx::query_as("SELECT * FROM crs_patches WHERE crs_case = $1 ORDER BY created, id")
                .bind(case)
                .fetch_all(&self.pool)
                .await?;
        Ok(rows)
    }

    /// Writes a patch down, new or changed.
    pub async fn crs_set_patch(&self, patch: &PatchRow) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO crs_patches (id, crs_case, finding, diff, doubt, stops, tried, fate, remote, sent, rests, created)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
             ON CONFLICT (id) DO UPDATE SET stops = excluded.stops, tried = excluded.tried,
             fate = excluded.fate, remote = excluded.remote, sent = excluded.sent, rests = excluded.rests",
        )
        .bind(&patch.id)
        .bind(&patch.case)
        .bind(&patch.finding)
        .bind(&patch.diff)
        .bind(patch.doubt)
        .bind(list(&patch.stops))
        .bind(list(&patch.tried))
        .bind(patch.fate.map(word))
        .bind(&patch.remote)
        .bind(patch.sent)
        .bind(patch.rests)
        .bind(patch.created)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Forgets messages that came before a time, challenges whose deadline lies
    /// before it, and what came of findings of known projects before it.
    pub(super) async fn crs_prune(&self, before: jiff::Timestamp) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query("DELETE FROM crs_messages WHERE received < $1")
            .bind(in_journal_form(before))
            .execute(&mut *transaction)
            .await?;
        for forget in [
            "DELETE FROM crs_patches WHERE crs_case IN (SELECT id FROM crs_cases WHERE deadline < $1)",
            "DELETE FROM crs_findings WHERE crs_case IN (SELECT id FROM crs_cases WHERE deadline < $1)",
            "DELETE FROM crs_cases WHERE deadline < $1",
            "DELETE FROM crs_findings WHERE created < $1 AND state <> 'open'
             AND crs_case IN (SELECT id FROM crs_cases WHERE deadline IS NULL)",
            "DELETE FROM crs_patches WHERE created < $1
             AND crs_case IN (SELECT id FROM crs_cases WHERE deadline IS NULL)
             AND NOT EXISTS (SELECT 1 FROM crs_findings WHERE crs_findings.patch = crs_patches.id)",
        ] {
            sqlx::query(forget)
                .bind(before.as_millisecond())
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Makes one process the one that watches over the cases, until `until`.
    /// Times are milliseconds of 13 digits, so that they compare as text.
    pub async fn crs_lease(&self, holder: &str, now: i64, until: i64) -> Result<bool, StoreError> {
        let leased = sqlx::query(
            "INSERT INTO switches (name, value) VALUES ('crs watch', $1)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value
             WHERE switches.value < $2 OR substr(switches.value, 15) = $3",
        )
        .bind(format!("{until:013} {holder}"))
        .bind(format!("{now:013}"))
        .bind(holder)
        .execute(&self.pool)
        .await?;
        Ok(leased.rows_affected() == 1)
    }
}
