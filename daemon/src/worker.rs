//! Worker pool: takes tickets, carries the runs out, and records the ending of
//! each task.
//!
//! A task that its worker left in the middle goes on from its journal: a worker
//! that is stopped hands it back, and the task of one that died is taken over. A
//! worker that was superseded learns it at the next heartbeat of the run or the
//! next event, kills what it runs and writes nothing more. A worker that cannot
//! record an outcome takes nothing else until it can.

mod task;
#[cfg(test)]
mod tests;

use crate::machine;
use crate::queue::{LeaseHolder, Queue, QueueError, Ticket};
use crate::service::Service;
use patchwright_agent::progress::Observer;
use patchwright_agent::wire;
use patchwright_config::Loaded;
use patchwright_store::submissions::{Back, Claimed};
use patchwright_store::{Store, StoreError};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use task::{Outcome, Work};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Between two looks at an empty queue. Submissions of this process wake its
/// workers at once.
const POLL: Duration = Duration::from_millis(200);
/// After an error of the queue.
const PAUSE: Duration = Duration::from_millis(500);
/// Tickets that are put into the queue at once.
const ISSUES: u32 = 1000;
/// Time limit of the wait for a database that is away, before a run is given back.
const PATIENCE: Duration = Duration::from_mins(30);

/// Between two times that what ended long ago is forgotten.
const PRUNING: Duration = Duration::from_hours(1);

/// Makes the observer of a task.
pub type Observers = Arc<dyn Fn(&str) -> Observer + Send + Sync>;

/// All workers of a process.
#[derive(Clone)]
pub struct WorkerPool {
    store: Store,
    queue: Arc<Queue>,
    holder: LeaseHolder,
    host: String,
    loaded: Arc<Loaded>,
    observers: Observers,
    submitted: Arc<Notify>,
    issued: Arc<Notify>,
}

impl fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerPool")
            .field("queue", &self.queue)
            .field("holder", &self.holder)
            .finish_non_exhaustive()
    }
}

/// An error of the queue or of the store.
#[derive(Debug, thiserror::Error)]
enum TakeError {
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl WorkerPool {
    /// Opens a pool for the tasks of a service. `observers` makes the observer of
    /// each task.
    pub async fn open(
        service: &Service,
        loaded: Loaded,
        observers: Observers,
    ) -> Result<Self, QueueError> {
        let queue = Queue::open(service.store(), loaded.settings.queue.lost_after).await?;
        Ok(Self {
            store: service.store().patient(PATIENCE),
            queue: Arc::new(queue),
            holder: LeaseHolder {
                // Never the name of a process before: its heart may still be
                // believed to beat.
                name: format!("worker-{}", uuid::Uuid::now_v7().simple()),
                place: crate::machine::host(),
                shared: true,
            },
            host: crate::machine::host(),
            loaded: Arc::new(loaded),
            observers,
            submitted: service.submitted(),
            issued: Arc::new(Notify::new()),
        })
    }

    /// Returns the same pool for the tasks of one place alone.
    #[must_use]
    pub fn only(mut self, place: String) -> Self {
        self.holder.place = place;
        self.holder.shared = false;
        self
    }

    /// Returns the name of this process among the lease holders.
    pub fn name(&self) -> &str {
        &self.holder.name
    }

    /// Works with this many tasks at once until somebody says stop; then hands
    /// back what is not finished. With none, it only sees to the queue.
    pub async fn work(self, workers: usize, stop: CancellationToken) {
        let retired = CancellationToken::new();
        // The queue gives nothing to a holder without a heartbeat.
        while let Err(error) = self.queue.beat(&self.holder).await {
            warn("the queue is not there yet", "", &error);
            if waited(PAUSE, &stop).await.is_none() {
                return;
            }
        }
        let heart = tokio::spawn(self.clone().beat(retired.clone()));
        let issuer = tokio::spawn(self.clone().issue(stop.clone()));
        let pruner = tokio::spawn(self.clone().prune(stop.clone()));
        let slots = (0..workers).map(|_| tokio::spawn(self.clone().slot(stop.clone())));
        let slots: Vec<_> = slots.collect();
        stop.cancelled().await;
        futures::future::join_all(slots).await;
        let _ = futures::future::join(issuer, pruner).await;
        retired.cancel();
        let _ = heart.await;
    }

    /// Renews the leases of this process.
    async fn beat(self, retired: CancellationToken) {
        let interval = self.loaded.settings.queue.heartbeat;
        while waited(interval, &retired).await.is_some() {
            if let Err(error) = self.queue.beat(&self.holder).await {
                warn("the heartbeat was not written", "", &error);
            }
        }
    }

    /// Sees to it that every task that waits has a ticket in the queue.
    async fn issue(self, stop: CancellationToken) {
        loop {
            match self.queue.issue(ISSUES).await {
                Ok(0) => {}
                Ok(_) => {
                    self.issued.notify_waiters();
                    continue;
                }
                Err(error) => warn("tickets were not issued", "", &error),
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.submitted.notified() => {}
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
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

    /// One task after the other.
    async fn slot(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            // Listened to before the look: what is issued meanwhile is not missed.
            let issued = self.issued.notified();
            match self.take().await {
                Ok(Some(ticket)) => self.attend(ticket, &stop).await,
                Ok(None) => tokio::select! {
                    () = stop.cancelled() => {}
                    () = issued => {}
                    () = tokio::time::sleep(POLL) => {}
                },
                Err(error) => {
                    warn("no ticket can be taken", "", &error);
                    waited(PAUSE, &stop).await;
                }
            }
        }
    }

    /// The next ticket, unless the queue is paused or the disk is full.
    async fn take(&self) -> Result<Option<Ticket>, TakeError> {
        if self.store.paused().await? || !machine::has_room(&self.loaded.settings) {
            return Ok(None);
        }
        Ok(self.queue.take(&self.holder).await?)
    }

    /// Claims the task of a ticket, works on it, and takes the ticket away.
    /// Unless the outcome is recorded, the ticket stays leased to this process
    /// and whoever comes after it has the task.
    async fn attend(&self, ticket: Ticket, stop: &CancellationToken) {
        let Some(claimed) = self.claim(&ticket, stop).await else {
            return;
        };
        if let Some(claimed) = claimed {
            let outcome = self.carry_out(&claimed, stop).await;
            if !self.record(&claimed, &outcome, stop).await {
                return;
            }
        }
        while let Err(error) = self.queue.done(&self.holder, &ticket).await {
            warn("the ticket is not taken away", &ticket.task, &error);
            if waited(PAUSE, stop).await.is_none() {
                return;
            }
        }
    }

    /// Claims the task of a ticket, if the ticket still counts; nothing when
    /// somebody said stop. The ticket is ours while this process lives, so an
    /// error is no reason to leave it.
    async fn claim(&self, ticket: &Ticket, stop: &CancellationToken) -> Option<Option<Claimed>> {
        let run = wire::run_id(&ticket.task);
        loop {
            let ticket = (ticket.task.as_str(), ticket.number);
            match self.store.claim(ticket, &self.host, &run).await {
                Ok(claimed) => return Some(claimed),
                Err(error) => warn("the task is not claimed", ticket.0, &error),
            }
            waited(PAUSE, stop).await?;
        }
    }

    /// Works on a task until there is an outcome.
    async fn carry_out(&self, claimed: &Claimed, stop: &CancellationToken) -> Outcome {
        let work = Work::new(self, claimed);
        tokio::select! {
            biased;
            () = stop.cancelled() => Outcome::Stopped,
            // On the heap: the future of a whole run is large.
            outcome = Box::pin(work.carry_out()) => outcome,
        }
    }

    /// Records the outcome of a task, and tries again while the store cannot
    /// take it, as on a full disk; false when somebody said stop before.
    async fn record(&self, claimed: &Claimed, outcome: &Outcome, stop: &CancellationToken) -> bool {
        loop {
            match self.try_record(claimed, outcome).await {
                Ok(held) => {
                    self.submitted.notify_one();
                    let (task, claims) = (&claimed.id, claimed.claims);
                    tracing::info!(task, claims, held, %outcome, "left");
                    return true;
                }
                Err(error) => warn("the outcome is not recorded", &claimed.id, &error),
            }
            if waited(PAUSE, stop).await.is_none() {
                return false;
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
    tokio::select! {
        () = stop.cancelled() => None,
        () = tokio::time::sleep(time) => Some(()),
    }
}
