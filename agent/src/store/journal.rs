//! The append-only list of a run's events.
//!
//! Two events a step: the intent before it is done, the outcome after. An
//! event is written together with the check that the writer still owns the
//! run, in one transaction.

use super::{Store, StoreError, now};
use crate::repair::StepId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which side of a step an event stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// Somebody is about to do it.
    Intent,
    /// It was done.
    Outcome,
    /// Something worth telling that is no step.
    Note,
}

impl EventKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Intent => "intent",
            Self::Outcome => "outcome",
            Self::Note => "note",
        }
    }

    fn read(text: &str) -> Self {
        match text {
            "intent" => Self::Intent,
            "outcome" => Self::Outcome,
            _ => Self::Note,
        }
    }
}

/// An event to be written.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// The step it belongs to.
    pub step: StepId,
    /// Before, after, or beside.
    pub kind: EventKind,
    /// `baseline`, `ask`, `climb`, ...
    pub name: String,
    /// A sentence for people.
    pub summary: String,
    /// Everything about it.
    pub body: Value,
}

/// An event as it stands in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Counted from 1.
    pub number: i64,
    /// The claim under which it was written.
    pub epoch: i64,
    /// UTC.
    pub time: String,
    /// The run.
    pub run: String,
    /// The lane, 0 for the run itself.
    pub lane: u32,
    /// The step of this lane.
    pub step: u32,
    /// Before, after, or beside.
    pub kind: EventKind,
    /// `baseline`, `ask`, `climb`, ...
    pub name: String,
    /// A sentence for people.
    pub summary: String,
    /// Everything about it.
    pub body: Value,
}

/// The right to write to a run.
#[derive(Debug, Clone)]
pub struct Journal {
    store: Store,
    run: String,
    epoch: i64,
}

impl Journal {
    /// Claims a run: raises its epoch, so that nobody else can write to it.
    pub async fn claim(store: &Store, run: &str) -> Result<Self, StoreError> {
        let row: Option<(i64,)> =
            sqlx::query_as("UPDATE runs SET epoch = epoch + 1 WHERE id = ? RETURNING epoch")
                .bind(run)
                .fetch_optional(&store.pool)
                .await?;
        let (epoch,) = row.ok_or_else(|| StoreError::NoRun {
            run: run.to_owned(),
            path: store.folder.clone(),
        })?;
        Ok(Self {
            store: store.clone(),
            run: run.to_owned(),
            epoch,
        })
    }

    /// The run's id.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The store it lies in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Writes an event and returns its number.
    pub async fn append(&self, event: NewEvent) -> Result<i64, StoreError> {
        let number: Option<(i64,)> = sqlx::query_as(
            "INSERT INTO events (run, number, epoch, time, lane, step, kind, name, summary, body)
             SELECT runs.id, 1 + COALESCE((SELECT MAX(number) FROM events WHERE run = runs.id), 0), runs.epoch,
                    ?, ?, ?, ?, ?, ?, ?
             FROM runs WHERE runs.id = ? AND runs.epoch = ? RETURNING number",
        )
        .bind(now())
        .bind(i64::from(event.step.lane))
        .bind(i64::from(event.step.number))
        .bind(event.kind.as_str())
        .bind(event.name)
        .bind(event.summary)
        .bind(event.body.to_string())
        .bind(&self.run)
        .bind(self.epoch)
        .fetch_optional(&self.store.pool)
        .await?;
        number
            .map(|(number,)| number)
            .ok_or_else(|| StoreError::Superseded {
                run: self.run.clone(),
            })
    }

    /// Writes down how the run ended.
    pub async fn finish(&self, ending: &str, report: &str) -> Result<(), StoreError> {
        let done = sqlx::query("UPDATE runs SET ending = ?, report = ? WHERE id = ? AND epoch = ?")
            .bind(ending)
            .bind(report)
            .bind(&self.run)
            .bind(self.epoch)
            .execute(&self.store.pool)
            .await?;
        match done.rows_affected() {
            0 => Err(StoreError::Superseded {
                run: self.run.clone(),
            }),
            _ => Ok(()),
        }
    }
}

type Row = (i64, i64, String, i64, i64, String, String, String, String);

impl Store {
    /// The journal of a run, from its first event.
    pub async fn events(&self, run: &str) -> Result<Vec<Event>, StoreError> {
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT number, epoch, time, lane, step, kind, name, summary, body FROM events WHERE run = ? ORDER BY number",
        )
        .bind(run)
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter().map(|row| event(run, row)).collect()
    }
}

fn event(run: &str, row: Row) -> Result<Event, StoreError> {
    let (number, epoch, time, lane, step, kind, name, summary, body) = row;
    let body = serde_json::from_str(&body).map_err(|source| StoreError::Damaged {
        run: run.to_owned(),
        number,
        source,
    })?;
    Ok(Event {
        number,
        epoch,
        time,
        run: run.to_owned(),
        lane: u32::try_from(lane).unwrap_or_default(),
        step: u32::try_from(step).unwrap_or_default(),
        kind: EventKind::read(&kind),
        name,
        summary,
        body,
    })
}
