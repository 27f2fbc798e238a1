//! Worker pool: claims tasks, carries their runs out, and records the ending of
//! each.
//!
//! A task that its worker left in the middle goes on from its journal: a worker
//! that is stopped hands it back, and the task of one that died is taken over. A
//! worker that was superseded learns it at the next heartbeat of the run or the
//! next event, kills what it runs and writes nothing more. A worker that cannot
//! record an outcome takes nothing else until it can.
//!
//! The only queue is the table of the tasks. The lease in the row of a task says who
//! works on it; a submission wakes the workers of its process, those of others look again and again.

mod task;
#[cfg(test)]
mod tests;

use crate::machine;
use crate::service::Service;
use patchwright_config::Loaded;
use patchwright_store::submissions::{Back, Claimant, Claimed};
use patchwright_store::{Store, StoreError};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use task::Outcome;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Between two looks at an empty queue. Submissions of this process wake its
/// workers at once.
const POLL: Duration = Duration::from_millis(200);
/// After an error of the queue.
const PAUSE: Duration = Duration::from_millis(500);
/// Time limit of the wait for a database that is away, before a run is given back.
const PATIENCE: Duration = Duration::from_mins(30);

/// Between two times that what ended long ago is forgotten.
const PRUNING: Duration = Duration::from_hours(1);

/// All workers of a process.
#[derive(Debug, Clone)]
pub struct WorkerPool {
    store: Store,
    claimant: Claimant,
    loaded: Arc<Loaded>,
    submitted: Arc<Notify>,
}

impl WorkerPool {
    /// Makes a pool for the tasks of a service.
    pub fn new(service: &Service, loaded: Loaded) -> Self {
        Self {
            store: service.store().patient(PATIENCE),
            claimant: Claimant {
                // Never the name of a process before, whose leases are not its own.
                owner: format!("worker-{}", uuid::Uuid::now_v7().simple()),
                host: machine::host(),
                place: machine::host(),
                shared: true,
                lease: loaded.settings.queue.lost_after,
            },
            loaded: Arc::new(loaded),
            submitted: service.submitted.clone(),
        }
    }

    /// Returns the same pool for the tasks of one place alone.
    #[must_use]
    pub fn only(mut self, place: String) -> Self {
        self.claimant.place = place;
        self.claimant.shared = false;
        self
    }

    /// Returns the name of this process among the owners of leases.
    pub fn name(&self) -> &str {
        &self.claimant.owner
    }

    /// Works with this many tasks at once until somebody says stop; then hands
    /// back what is not finished. With none, it only takes away lost leases.
    pub async fn work(self, workers: usize, stop: CancellationToken) {
        let retired = CancellationToken::new();
        let heart = tokio::spawn(self.clone().beat(retired.clone()));
        let pruner = tokio::spawn(self.clone().prune(stop.clone()));
        let slots = (0..workers).map(|slot| tokio::spawn(self.slot(slot).work_on(stop.clone())));
        let slots: Vec<_> = slots.collect();
        stop.cancelled().await;
        futures::future::join_all(slots).await;
        let _ = pruner.await;
        retired.cancel();
        let _ = heart.await;
    }

    /// Renews the leases of this process, and takes away those of processes that
    /// do not. A process that was silent itself, as one that was frozen, first
    /// lets the others renew theirs.
    async fn beat(self, retired: CancellationToken) {
        let (interval, lease) = (self.loaded.settings.queue.heartbeat, self.claimant.lease);
        let mut last = Instant::now();
        loop {
            let steady = last.elapsed() < lease;
            match self.renew(steady).await {
                Ok(()) => last = Instant::now(),
                Err(error) => warn("the heartbeat was not written", "", &error),
            }
            if waited(interval, &retired).await.is_none() {
                return;
            }
        }
    }

    async fn renew(&self, steady: bool) -> Result<(), StoreError> {
        let (owners, lease) = (&self.claimant.owner, self.claimant.lease);
        self.store.renew(owners, lease).await?;
        if steady {
            self.store.take_away_lost().await?;
        }
        Ok(())
    }

    /// Forgets what ended long ago.
    async fn prune(self, stop: CancellationToken) {
        let keep = self.loaded.settings.queue.keep;
        while waited(PRUNING, &stop).await.is_some() {
            if let Err(error) = self.store.prune(keep).await {
                warn("not all that ended long ago was forgotten", "", &error);
            }
        }
    }

    /// Returns the pool for one of its workers, which owns its lease alone.
    fn slot(&self, number: usize) -> Self {
        let mut slot = self.clone();
        slot.claimant.owner = format!("{}/{number}", self.claimant.owner);
        slot
    }

    /// Works on one task after the other.
    async fn work_on(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            // Listened to before the look: what is submitted meanwhile is not missed.
            let submitted = self.submitted.notified();
            match self.claim().await {
                Ok(Some(claimed)) => {
                    let outcome = self.carry_out(&claimed, &stop).await;
                    self.record(&claimed, &outcome, &stop).await;
                }
                Ok(None) => tokio::select! {
                    () = stop.cancelled() => {}
                    () = submitted => {}
                    () = tokio::time::sleep(POLL) => {}
                },
                Err(error) => {
                    warn("no task can be claimed", "", &error);
                    waited(PAUSE, &stop).await;
                }
            }
        }
    }

    /// Claims the next task, unless the queue is paused or the disk is full.
    async fn claim(&self) -> Result<Option<Claimed>, StoreError> {
        if self.store.paused().await? || !machine::has_room(&self.loaded.settings) {
            return Ok(None);
        }
        self.store
            .claim(&self.claimant, patchwright_run::run_id)
            .await
    }

    /// Works on a task until there is an outcome.
    async fn carry_out(&self, claimed: &Claimed, stop: &CancellationToken) -> Outcome {
        tokio::select! {
            biased;
            () = stop.cancelled() => Outcome::Stopped,
            // On the heap: the future of a whole run is large.
            outcome = Box::pin(self.outcome(claimed)) => outcome,
        }
    }

    /// Records the outcome of a task, and tries again while the store cannot
    /// take it, as on a full disk, until somebody says stop. The lease of a task
    /// whose outcome is not recorded runs out, and somebody else claims it.
    async fn record(&self, claimed: &Claimed, outcome: &Outcome, stop: &CancellationToken) {
        loop {
            match self.try_record(claimed, outcome).await {
                Ok(held) => {
                    self.submitted.notify_waiters();
                    let (task, claims) = (&claimed.id, claimed.epoch);
                    tracing::info!(task, claims, held, %outcome, "left");
                    return;
                }
                Err(error) => warn("the outcome is not recorded", &claimed.id, &error),
            }
            if waited(PAUSE, stop).await.is_none() {
                return;
            }
        }
    }

    /// Records an outcome; false when the claim does not count any more.
    async fn try_record(&self, claimed: &Claimed, outcome: &Outcome) -> Result<bool, StoreError> {
        let now = jiff::Timestamp::now();
        let (due, why) = match outcome {
            Outcome::Lost => return Ok(false),
            Outcome::Ended(ending) => return self.store.end(claimed, ending).await,
            Outcome::Stopped => (now, Back::Stopped),
            Outcome::Paused(due) => (*due, Back::Paused),
            Outcome::Failed(due) => (*due, Back::Failed),
        };
        self.store.hand_back(claimed, due, why).await
    }
}

fn warn(what: &'static str, task: &str, error: &dyn fmt::Display) {
    tracing::warn!(task, %error, "{what}");
}

/// Waits; nothing when somebody said stop.
async fn waited(time: Duration, stop: &CancellationToken) -> Option<()> {
    stop.run_until_cancelled(tokio::time::sleep(time)).await
}
