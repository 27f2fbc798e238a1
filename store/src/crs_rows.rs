//! Rows of what cyber reasoning systems sent, and what they were sent. What the
//! rows mean is the business of the daemon.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{FromRow, Row};
use std::collections::BTreeSet;

/// A challenge, or a project of the settings.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct CaseRow {
    pub id: String,
    /// The OSS-Fuzz project.
    pub project: String,
    /// The challenge as it was sent, as JSON; nothing for a project of the settings.
    pub detail: Option<String>,
    /// Facts that were read from its files, as JSON.
    pub prepared: Option<String>,
    #[sqlx(try_from = "String")]
    pub state: CaseState,
    /// The reason why it cannot be worked on.
    pub problem: Option<String>,
    /// When work must stop, in milliseconds.
    pub deadline: Option<i64>,
    /// When it came, in milliseconds.
    pub created: i64,
}

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
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct FindingRow {
    pub id: String,
    /// The case it belongs to.
    #[sqlx(rename = "crs_case")]
    pub case: String,
    #[sqlx(try_from = "String")]
    pub kind: FindingKind,
    /// The message, as JSON.
    pub request: String,
    /// Number of times it was queued anew.
    pub round: i64,
    /// Its outcome.
    #[sqlx(try_from = "String")]
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
pub(crate) fn word(state: impl Serialize) -> String {
    match serde_json::to_value(state) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// A list as JSON.
pub(crate) fn list(values: &BTreeSet<String>) -> String {
    serde_json::to_string(values).unwrap_or_else(|_| "[]".to_owned())
}

/// Reads each state from its word in the table.
macro_rules! read_words {
    ($($state:ty),*) => {$(
        impl TryFrom<String> for $state {
            type Error = serde_json::Error;

            fn try_from(word: String) -> Result<Self, Self::Error> {
                serde_json::from_value(Value::String(word))
            }
        }
    )*};
}
read_words!(CaseState, FindingKind, FindingState, Fate);

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
            fate: fate.map(|fate| read(fate.try_into(), "fate")).transpose()?,
            remote: row.try_get("remote")?,
            sent: row.try_get("sent")?,
            rests: row.try_get("rests")?,
            created: row.try_get("created")?,
        })
    }
}
