//! The append-only list of a run's events.
//!
//! Two events a step: the intent before it is done, the outcome after. An
//! event is written together with the check that the writer still owns the
//! run, in one transaction.

use crate::store::{Store, StoreError, now, storable, write_run};
use crate::submissions::Claimed;
use futures::future::BoxFuture;
use patchwright_agent::journal::{Event, EventKind, JournalError, NewEvent, SpendingLimits};
use sqlx::{Any, Transaction};

/// Raises the epoch of a run.
const RAISE: &str = "UPDATE runs SET epoch = epoch + 1 WHERE id = $1 RETURNING epoch";

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
        let row: Option<(i64,)> = store
            .patiently(|_| async {
                let row = sqlx::query_as(RAISE).bind(run);
                Ok(row.fetch_optional(&store.pool).await?)
            })
            .await?;
        let (epoch,) = row.ok_or_else(|| store.no_run(run))?;
        Ok(Self {
            store: store.clone(),
            run: run.to_owned(),
            epoch,
        })
    }

    /// Begins a new run of a claimed task: the run is named there, written down
    /// and claimed in one commit, so that a start waits for the disk once.
    ///
    /// # Errors
    /// Superseded, when the claim of the task does not count any more.
    pub async fn begin(
        store: &Store,
        claimed: &Claimed,
        run: &str,
        (task, settings): (&str, &str),
    ) -> Result<Self, StoreError> {
        let epoch = store
            .patiently(|_| async {
                let mut transaction = store.begin().await?;
                if !claimed.name_run(&mut transaction, run).await? {
                    return Err(superseded(run));
                }
                write_run(&mut transaction, run, (&claimed.id, task), settings).await?;
                let row = sqlx::query_as(RAISE).bind(run);
                let row: Option<(i64,)> = row.fetch_optional(&mut *transaction).await?;
                transaction.commit().await?;
                row.map(|(epoch,)| epoch).ok_or_else(|| store.no_run(run))
            })
            .await?;
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

    /// Whether nobody else has claimed the run. A store that does not answer
    /// now says nothing about that; the next event finds out.
    ///
    /// # Errors
    /// When the run is somebody else's.
    pub async fn still_ours(&self) -> Result<(), StoreError> {
        let epoch: Result<Option<(i64,)>, _> =
            sqlx::query_as("SELECT epoch FROM runs WHERE id = $1")
                .bind(&self.run)
                .fetch_optional(&self.store.pool)
                .await;
        match epoch {
            Ok(Some((epoch,))) if epoch != self.epoch => Err(superseded(&self.run)),
            _ => Ok(()),
        }
    }

    /// Writes an event and returns its number.
    pub async fn append(&self, event: NewEvent) -> Result<i64, StoreError> {
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
    ) -> Result<i64, StoreError> {
        let mut transaction = self.store.begin().await?;
        let place = [event.step.lane, event.step.number].map(i64::from);
        if again {
            let written: Option<(i64,)> = sqlx::query_as(
                "SELECT number FROM events WHERE run = $1 AND epoch = $2 AND lane = $3 AND step = $4
                 AND kind = $5 AND time = $6",
            )
            .bind(&self.run)
            .bind(self.epoch)
            .bind(place[0])
            .bind(place[1])
            .bind(event.kind.as_str())
            .bind(time)
            .fetch_optional(&mut *transaction)
            .await?;
            if let Some((number,)) = written {
                return Ok(number);
            }
        }
        let next: Option<(i64,)> = sqlx::query_as(
            "UPDATE runs SET events = events + 1 WHERE id = $1 AND epoch = $2 RETURNING events",
        )
        .bind(&self.run)
        .bind(self.epoch)
        .fetch_optional(&mut *transaction)
        .await?;
        let (number,) = next.ok_or_else(|| superseded(&self.run))?;
        sqlx::query(
            "INSERT INTO events (run, number, epoch, time, lane, step, kind, name, summary, body)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        )
        .bind(&self.run)
        .bind(number)
        .bind(self.epoch)
        .bind(time)
        .bind(place[0])
        .bind(place[1])
        .bind(event.kind.as_str())
        .bind(&event.name)
        .bind(storable(&event.summary))
        .bind(body)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(number)
    }

    /// Writes down how the run ended.
    pub async fn finish(&self, ending: &str, report: &str) -> Result<(), StoreError> {
        self.store
            .patiently(|_| async {
                let done = sqlx::query(
                    "UPDATE runs SET ending = $1, report = $2 WHERE id = $3 AND epoch = $4",
                )
                .bind(ending)
                .bind(report)
                .bind(&self.run)
                .bind(self.epoch)
                .execute(&self.store.pool)
                .await?;
                match done.rows_affected() {
                    0 => Err(superseded(&self.run)),
                    _ => Ok(()),
                }
            })
            .await
    }

    /// Locks the run for the rest of a transaction, if it is still ours.
    pub(super) async fn hold(
        &self,
        transaction: &mut Transaction<'static, Any>,
    ) -> Result<(), StoreError> {
        let held = sqlx::query("UPDATE runs SET epoch = epoch WHERE id = $1 AND epoch = $2")
            .bind(&self.run)
            .bind(self.epoch)
            .execute(&mut **transaction)
            .await?;
        match held.rows_affected() {
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

    fn still_ours(&self) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async { Ok(self.still_ours().await?) })
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

fn superseded(run: &str) -> StoreError {
    StoreError::Superseded {
        run: run.to_owned(),
    }
}

type Row = (i64, i64, String, i64, i64, String, String, String, String);

impl Store {
    /// The journal of a run, from its first event.
    pub async fn events(&self, run: &str) -> Result<Vec<Event>, StoreError> {
        self.events_after(run, 0, u32::MAX).await
    }

    /// The events of a run with a higher number, at most `limit` of them.
    pub async fn events_after(
        &self,
        run: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let rows: Vec<Row> = self
            .patiently(|_| async {
                let rows = sqlx::query_as(
                    "SELECT number, epoch, time, lane, step, kind, name, summary, body FROM events
                     WHERE run = $1 AND number > $2 ORDER BY number LIMIT $3",
                )
                .bind(run)
                .bind(after)
                .bind(i64::from(limit));
                Ok(rows.fetch_all(&self.pool).await?)
            })
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
