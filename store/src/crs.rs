//! Rows of what cyber reasoning systems sent, and what they were sent, written
//! and read. What the rows mean is the business of the daemon.

use crate::store::{Store, StoreError};
use crate::submissions::in_journal_form;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{FromRow, Row};
use std::collections::BTreeSet;

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

    /// A note that all processes share.
    pub async fn crs_switch(&self, name: &str) -> Result<Option<String>, StoreError> {
        let row: Option<(String,)> = sqlx::query_as("SELECT value FROM switches WHERE name = $1")
            .bind(name)
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.map(|(value,)| value))
    }

    /// Writes such a note.
    pub async fn crs_set_switch(&self, name: &str, value: &str) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO switches (name, value) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        )
        .bind(name)
        .bind(value)
        .execute(&self.pool)
        .await?;
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

/// A challenge, or a project of the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseRow {
    /// Its id.
    pub id: String,
    /// The OSS-Fuzz project.
    pub project: String,
    /// The challenge as it was sent, as JSON; nothing for a project of the settings.
    pub detail: Option<String>,
    /// Facts that were read from its files, as JSON.
    pub prepared: Option<String>,
    /// Its state.
    pub state: CaseState,
    /// The reason why it cannot be worked on.
    pub problem: Option<String>,
    /// When work must stop, in milliseconds.
    pub deadline: Option<i64>,
    /// When it came, in milliseconds.
    pub created: i64,
}

/// State of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseState {
    /// Its files are on the way.
    Pending,
    /// Nothing was found in it yet.
    Waiting,
    /// Something is open in it.
    Processing,
    /// There is a patch, and nothing is open.
    Succeeded,
    /// There is no patch, and nothing is open.
    Failed,
    /// It cannot be worked on.
    Errored,
    /// Somebody stopped it.
    Canceled,
}

/// A PoV or a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingRow {
    /// Its id.
    pub id: String,
    /// The case it belongs to.
    pub case: String,
    /// Its kind.
    pub kind: FindingKind,
    /// The message, as JSON.
    pub request: String,
    /// Number of times it was queued anew.
    pub round: i64,
    /// Its outcome.
    pub state: FindingState,
    /// The patch that stops it.
    pub patch: Option<String>,
}

/// The hash that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// An input that crashes.
    Pov,
    /// A suspicion.
    Sarif,
}

/// Outcome of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// A patch is sought.
    Open,
    /// Its own run found one.
    Patched,
    /// The patch of another finding stops it.
    Closed,
    /// There is none.
    Failed,
    /// It could not be worked on.
    Errored,
}

/// A patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchRow {
    /// The hash of case and diff.
    pub id: String,
    /// The case it belongs to.
    pub case: String,
    /// The finding that it was made for.
    pub finding: String,
    /// The unified diff in base64.
    pub diff: String,
    /// The doubt that it leaves.
    pub doubt: i64,
    /// The findings that it stops.
    pub stops: BTreeSet<String>,
    /// The findings it was tried on.
    pub tried: BTreeSet<String>,
    /// Its status on the other side; nothing while it was not sent.
    pub fate: Option<Fate>,
    /// Its id on the other side.
    pub remote: Option<String>,
    /// Number of times it was sent.
    pub sent: i64,
    /// Before this time it is not sent again, in milliseconds.
    pub rests: i64,
    /// When it was made, in milliseconds.
    pub created: i64,
}

/// Status of a patch on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is on its way; whoever finds it so was cut off and does not know.
    Sending,
    /// It is looked at.
    Accepted,
    /// It is good.
    Passed,
    /// It is not.
    Failed,
    /// It came too late.
    DeadlineExceeded,
    /// The other side made a mistake.
    Errored,
    /// There was no verdict in time.
    Inconclusive,
}

impl CaseState {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Waiting,
        Self::Processing,
        Self::Succeeded,
        Self::Failed,
        Self::Errored,
        Self::Canceled,
    ];
}

impl CaseRow {
    /// Returns true when nobody wants a patch any more.
    pub fn is_late(&self, now: i64) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }
}

impl PatchRow {
    /// Returns true when the other side said that it is wrong.
    pub fn is_refuted(&self) -> bool {
        self.fate == Some(Fate::Failed)
    }
}

/// The word of a state.
fn word(state: impl Serialize) -> String {
    match serde_json::to_value(state) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// A list as JSON.
fn list(values: &BTreeSet<String>) -> String {
    serde_json::to_string(values).unwrap_or_else(|_| "[]".to_owned())
}

fn state<T: DeserializeOwned>(word: String, column: &str) -> Result<T, sqlx::Error> {
    read(serde_json::from_value(Value::String(word)), column)
}

fn set(row: &AnyRow, column: &str) -> Result<BTreeSet<String>, sqlx::Error> {
    let text: String = row.try_get(column)?;
    read(serde_json::from_str(&text), column)
}

fn read<T>(value: serde_json::Result<T>, column: &str) -> Result<T, sqlx::Error> {
    value.map_err(|error| sqlx::Error::ColumnDecode {
        index: column.to_owned(),
        source: Box::new(error),
    })
}

impl FromRow<'_, AnyRow> for CaseRow {
    fn from_row(row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            project: row.try_get("project")?,
            detail: row.try_get("detail")?,
            prepared: row.try_get("prepared")?,
            state: state(row.try_get("state")?, "state")?,
            problem: row.try_get("problem")?,
            deadline: row.try_get("deadline")?,
            created: row.try_get("created")?,
        })
    }
}

impl FromRow<'_, AnyRow> for FindingRow {
    fn from_row(row: &AnyRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            case: row.try_get("crs_case")?,
            kind: state(row.try_get("kind")?, "kind")?,
            request: row.try_get("request")?,
            round: row.try_get("round")?,
            state: state(row.try_get("state")?, "state")?,
            patch: row.try_get("patch")?,
        })
    }
}

impl FromRow<'_, AnyRow> for PatchRow {
    fn from_row(row: &AnyRow) -> Result<Self, sqlx::Error> {
        let fate: Option<String> = row.try_get("fate")?;
        Ok(Self {
            id: row.try_get("id")?,
            case: row.try_get("crs_case")?,
            finding: row.try_get("finding")?,
            diff: row.try_get("diff")?,
            doubt: row.try_get("doubt")?,
            stops: set(row, "stops")?,
            tried: set(row, "tried")?,
            fate: fate.map(|fate| state(fate, "fate")).transpose()?,
            remote: row.try_get("remote")?,
            sent: row.try_get("sent")?,
            rests: row.try_get("rests")?,
            created: row.try_get("created")?,
        })
    }
}
