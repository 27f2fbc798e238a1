//! The seam to the store: the append-only list of a run's events, and what a
//! driver needs beside it. Money is reserved and settled, logs and inputs are
//! kept by the hash of their bytes.
//!
//! Whoever implements [`Journal`] sees to it that only one process writes to a
//! run at a time.

use crate::record::StepId;
use futures::future::BoxFuture;
use patchwright_source::words;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::error::Error;
use std::fmt;

/// The right to write to one run.
pub trait Journal: Send + Sync + fmt::Debug {
    fn run(&self) -> &str;

    /// Writes an event and returns its number.
    fn append(&self, event: NewEvent) -> BoxFuture<'_, Result<i64>>;

    /// Says whether the run goes on, and fails when somebody else has claimed
    /// it. A store that does not answer now says nothing about that; the next
    /// event finds out.
    fn standing(&self) -> BoxFuture<'_, Result<Standing>>;

    /// Books what the call of event `number` may cost at most, or says which
    /// limit stands against it.
    fn reserve(&self, number: i64, usd: f64, limits: SpendingLimits) -> BoxFuture<'_, Result<()>>;

    /// Books what the call really cost.
    fn settle(&self, number: i64, usd: f64) -> BoxFuture<'_, Result<()>>;

    /// Keeps bytes and returns their hash.
    fn keep<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<String>>;

    /// Returns the bytes that were kept under a hash.
    fn blob<'a>(&'a self, hash: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>>>;
}

/// The standing of a claimed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It goes on.
    Held,
    /// Somebody canceled its task.
    Canceled,
}

/// Outcome of writing or reading a journal.
pub type Result<T, E = JournalError> = std::result::Result<T, E>;

/// Why a journal was not written or read, sorted by what a driver can do about
/// it.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Somebody else claimed the run: this process must stop working on it.
    #[error(transparent)]
    Superseded(Box<dyn Error + Send + Sync>),
    /// A money limit would be passed.
    #[error(transparent)]
    Money(Box<dyn Error + Send + Sync>),
    #[error(transparent)]
    Store(Box<dyn Error + Send + Sync>),
}

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

words!(EventKind: Intent "intent", Outcome "outcome", Note "note");

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

/// Limits in US dollars; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpendingLimits {
    pub run: Option<f64>,
    /// Limit of this day (UTC), over all runs of the store.
    pub day: Option<f64>,
    /// Limit of the store, ever.
    pub total: Option<f64>,
}

impl SpendingLimits {
    /// Tells whether any limit is set.
    pub fn any(&self) -> bool {
        self.run.is_some() || self.day.is_some() || self.total.is_some()
    }
}
