//! The append-only list of a run's events.
//!
//! Two events a step: the intent before it is done, the outcome after. An
//! event is written together with the check that the writer still owns the
//! run, in one transaction.

use crate::store::{Result, Store, StoreError, damaged, execute, now, row, rows, scalar, storable};
use crate::submissions::Claimed;
use futures::future::BoxFuture;
use patchwright_agent::journal::{
    Event, EventKind, JournalError, NewEvent, SpendingLimits, Standing,
};
use sqlx::{Any, Transaction};

/// The right to write to a run.
#[derive(Debug, Clone)]
pub struct Journal {
    store: Store,
    run: String,
    epoch: i64,
}

impl Journal {
    /// Claims a run: raises its epoch, so that nobody else can write to it.
    ///
    /// # Errors
    /// When there is no such run, or its task is in the hands of a queue.
    pub async fn claim(store: &Store, run: &str) -> Result<Self> {
        store.patiently(|_| Self::try_claim(store, run)).await
    }

    async fn try_claim(store: &Store, run: &str) -> Result<Self> {
        let queued = "SELECT id, state FROM submissions
            WHERE run = $1 AND state IN ('queued', 'running', 'paused')";
        if let Some((task, state)) = row(&store.pool, queued, (run,)).await? {
            let run = run.to_owned();
            return Err(StoreError::Queued { run, task, state });
        }
        let raise = "UPDATE runs SET epoch = epoch + 1 WHERE id = $1 RETURNING epoch";
        let epoch = scalar(&store.pool, raise, (run,)).await?;
        Ok(Self {
            store: store.clone(),
            run: run.to_owned(),
            epoch: epoch.ok_or_else(|| store.no_run(run))?,
        })
    }

    /// Returns the journal of a claimed task, whose run an earlier claim began.
    pub fn of(store: &Store, claimed: &Claimed) -> Self {
        Self {
            store: store.clone(),
            run: claimed.run.clone(),
            epoch: claimed.epoch,
        }
    }

    /// Begins the run of a claimed task: writes down the task and the settings
    /// that it starts with.
    ///
    /// # Errors
    /// Superseded, when the claim does not count any more.
    pub async fn begin(
        store: &Store,
        claimed: &Claimed,
        (task, settings): (&str, &str),
    ) -> Result<Self> {
        store
            .patiently(|_| async {
                let begin =
                    "UPDATE runs SET definition = $1, settings = $2 WHERE id = $3 AND epoch = $4";
                let values = (storable(task), settings, &claimed.run, claimed.epoch);
                match execute(&store.pool, begin, values).await? {
                    0 => Err(superseded(&claimed.run)),
                    _ => Ok(Self::of(store, claimed)),
                }
            })
            .await
    }

    pub fn run(&self) -> &str {
        &self.run
    }

    /// The store it lies in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Looks at the run's row: who has claimed it, and whether its task was
    /// canceled. A store that does not answer now says nothing about that; the
    /// next event finds out.
    ///
    /// # Errors
    /// When the run is somebody else's.
    pub async fn standing(&self) -> Result<Standing> {
        let standing = "SELECT runs.epoch, submissions.cancel FROM runs LEFT JOIN submissions
            ON submissions.id = runs.task AND submissions.run = runs.id WHERE runs.id = $1";
        let found: Result<Option<(i64, Option<i64>)>> =
            row(&self.store.pool, standing, (&self.run,)).await;
        match found {
            Ok(Some((epoch, _))) if epoch != self.epoch => Err(superseded(&self.run)),
            Ok(Some((_, Some(1..)))) => Ok(Standing::Canceled),
            _ => Ok(Standing::Held),
        }
    }

    /// Writes an event and returns its number.
    pub async fn append(&self, event: NewEvent) -> Result<i64> {
        let (time, body) = (now(), event.body.to_string());
        self.store
            .patiently(|again| self.try_append(&event, (&time, &body), again))
            .await
    }

    /// The number of the next event, the check of the epoch and the lock on
    /// the run are one statement.
    async fn try_append(
        &self,
        event: &NewEvent,
        (time, body): (&str, &str),
        again: bool,
    ) -> Result<i64> {
        let mut transaction = self.store.begin().await?;
        if again {
            let written = "SELECT number FROM events WHERE run = $1 AND epoch = $2
                AND lane = $3 AND step = $4 AND kind = $5 AND time = $6";
            let (lane, step) = (i64::from(event.step.lane), i64::from(event.step.number));
            let kind = event.kind.as_str();
            let values = (&self.run, self.epoch, lane, step, kind, time);
            if let Some(number) = scalar(&mut *transaction, written, values).await? {
                return Ok(number);
            }
        }
        let content = (event, time, body);
        let number = write_event(&mut transaction, (&self.run, Some(self.epoch)), content).await?;
        let number = number.ok_or_else(|| superseded(&self.run))?;
        transaction.commit().await?;
        Ok(number)
    }

    /// Writes down how the run ended.
    pub async fn finish(&self, ending: &str, report: &str) -> Result<()> {
        self.store
            .patiently(|_| async {
                let end = "UPDATE runs SET ending = $1, report = $2 WHERE id = $3 AND epoch = $4";
                let values = (ending, report, &self.run, self.epoch);
                match execute(&self.store.pool, end, values).await? {
                    0 => Err(superseded(&self.run)),
                    _ => self.store.summarise(&self.run, (ending, report)).await,
                }
            })
            .await
    }

    /// Locks the run for the rest of a transaction, if it is still ours.
    pub(super) async fn hold(&self, transaction: &mut Transaction<'static, Any>) -> Result<()> {
        let hold = "UPDATE runs SET epoch = epoch WHERE id = $1 AND epoch = $2";
        match execute(&mut **transaction, hold, (&self.run, self.epoch)).await? {
            0 => Err(superseded(&self.run)),
            _ => Ok(()),
        }
    }
}

impl patchwright_agent::journal::Journal for Journal {
    fn run(&self) -> &str {
        &self.run
    }

    fn append(&self, event: NewEvent) -> BoxFuture<'_, Result<i64, JournalError>> {
        Box::pin(async { Ok(self.append(event).await?) })
    }

    fn standing(&self) -> BoxFuture<'_, Result<Standing, JournalError>> {
        Box::pin(async { Ok(self.standing().await?) })
    }

    fn reserve(
        &self,
        number: i64,
        usd: f64,
        limits: SpendingLimits,
    ) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async move { Ok(self.reserve(number, usd, limits).await?) })
    }

    fn settle(&self, number: i64, usd: f64) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async move { Ok(self.settle(number, usd).await?) })
    }

    fn keep<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<String, JournalError>> {
        Box::pin(async { Ok(self.store.keep(bytes).await?) })
    }

    fn blob<'a>(&'a self, hash: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, JournalError>> {
        Box::pin(async { Ok(self.store.blob(hash).await?) })
    }
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Superseded { .. } => Self::Superseded(error.into()),
            StoreError::Money { .. } => Self::Money(error.into()),
            error => Self::Store(error.into()),
        }
    }
}

/// Writes an event down as the next one of a run, and returns its number; nothing where there is no
/// such run, or it is of another epoch.
pub(crate) async fn write_event(
    transaction: &mut Transaction<'static, Any>,
    (run, epoch): (&str, Option<i64>),
    (event, time, body): (&NewEvent, &str, &str),
) -> Result<Option<i64>> {
    let next = "UPDATE runs SET events = events + 1 WHERE id = $1 AND ($2 < 0 OR epoch = $2)
        RETURNING events, epoch";
    let next = row(&mut **transaction, next, (run, epoch.unwrap_or(-1))).await?;
    let Some((number, epoch)): Option<(i64, i64)> = next else {
        return Ok(None);
    };
    let add = "INSERT INTO events (run, number, epoch, time, lane, step, kind, name, summary, body)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let (lane, step) = (i64::from(event.step.lane), i64::from(event.step.number));
    let (kind, name, summary) = (event.kind.as_str(), &event.name, storable(&event.summary));
    let values = (
        run, number, epoch, time, lane, step, kind, name, summary, body,
    );
    execute(&mut **transaction, add, values).await?;
    Ok(Some(number))
}

fn superseded(run: &str) -> StoreError {
    StoreError::Superseded {
        run: run.to_owned(),
    }
}

const EVENTS: &str = "SELECT number, epoch, time, lane, step, kind, name, summary, body FROM events
    WHERE run = $1 AND number > $2 ORDER BY number LIMIT $3";

type Row = (i64, i64, String, i64, i64, String, String, String, String);

impl Store {
    /// The journal of a run, from its first event.
    pub async fn events(&self, run: &str) -> Result<Vec<Event>> {
        self.events_after(run, 0, u32::MAX).await
    }

    /// The events of a run with a higher number, at most `limit` of them.
    pub async fn events_after(&self, run: &str, after: i64, limit: u32) -> Result<Vec<Event>> {
        let found: Vec<Row> = self
            .patiently(|_| rows(&self.pool, EVENTS, (run, after, i64::from(limit))))
            .await?;
        found.into_iter().map(|row| event(run, row)).collect()
    }
}

/// Reads a lane or a step.
fn number_of(value: i64) -> Result<u32, sqlx::Error> {
    u32::try_from(value).map_err(|error| sqlx::Error::Decode(error.into()))
}

fn event(run: &str, row: Row) -> Result<Event> {
    let (number, epoch, time, lane, step, kind, name, summary, body) = row;
    let body = serde_json::from_str(&body);
    let body = body.map_err(damaged(format!("event {number} of run {run}")))?;
    Ok(Event {
        number,
        epoch,
        time,
        run: run.to_owned(),
        lane: number_of(lane)?,
        step: number_of(step)?,
        kind: EventKind::read(&kind).unwrap_or(EventKind::Note),
        name,
        summary,
        body,
    })
}
