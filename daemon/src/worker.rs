//! Workers: they take tickets, carry the runs out, and write down how each
//! task ended.
//!
//! A task that its worker left in the middle goes on from its journal: of a
//! worker that was stopped it is handed back, of one that died it is taken
//! over. Who was superseded learns it at the next look at the row or the next
//! event, kills what it runs and writes nothing more.

mod task;
#[cfg(test)]
mod tests;

use crate::machine;
use crate::queue::{Queue, QueueError, Taker, Ticket};
use crate::service::Service;
use patchwright_agent::progress::Observer;
use patchwright_config::Loaded;
use patchwright_store::submissions::{Back, Claimed};
use patchwright_store::{Store, StoreError};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use task::{Came, Work};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Between two looks at an empty queue. Submissions of this process wake its
/// workers at once.
const POLL: Duration = Duration::from_millis(200);
/// After an error of the queue.
const PAUSE: Duration = Duration::from_millis(500);
/// Tickets that are put into the queue at once.
const ISSUES: u32 = 1000;
/// How long a database that is away is waited for before a run is given back.
const PATIENCE: Duration = Duration::from_mins(30);

/// Between two times that what ended long ago is forgotten.
const PRUNING: Duration = Duration::from_hours(1);

/// Makes the observer of a task.
pub type Observers = Arc<dyn Fn(&str) -> Observer + Send + Sync>;

/// All workers of a process.
#[derive(Clone)]
pub struct Crew {
    store: Store,
    queue: Arc<dyn Queue>,
    taker: Taker,
    host: String,
    loaded: Arc<Loaded>,
    observers: Observers,
    submitted: Arc<Notify>,
    issued: Arc<Notify>,
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew")
            .field("queue", &self.queue)
            .field("taker", &self.taker)
            .finish_non_exhaustive()
    }
}

/// Why a worker got nothing.
#[derive(Debug, thiserror::Error)]
enum TakeError {
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Crew {
    /// A crew for the tasks of a service. `observers` makes who watches each.
    pub async fn open(
        service: &Service,
        loaded: Loaded,
        observers: Observers,
    ) -> Result<Self, QueueError> {
        let queue = crate::queue::open(service.store(), loaded.settings.queue.lost_after).await?;
        Ok(Self::new(service, queue, loaded, observers))
    }

    fn new(service: &Service, queue: Arc<dyn Queue>, loaded: Loaded, observers: Observers) -> Self {
        Self {
            store: service.store().patient(PATIENCE),
            queue,
            taker: Taker {
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
        }
    }

    /// The same crew, for the tasks of one place alone.
    pub fn only(mut self, place: String) -> Self {
        self.taker.place = place;
        self.taker.shared = false;
        self
    }

    /// The name of this process among the workers.
    pub fn name(&self) -> &str {
        &self.taker.name
    }

    /// Works with this many tasks at once until somebody says stop; then hands
    /// back what is not finished. With none, it only sees to the queue.
    pub async fn work(self, workers: usize, stop: CancellationToken) {
        let retired = CancellationToken::new();
        // The database does not know a taker that has not been heard of.
        while let Err(error) = self.queue.beat(&self.taker).await {
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

    /// Says that this process lives.
    async fn beat(self, retired: CancellationToken) {
        let interval = self.loaded.settings.queue.heartbeat;
        while waited(interval, &retired).await.is_some() {
            if let Err(error) = self.queue.beat(&self.taker).await {
                warn("the heartbeat was not written", "", &error);
            }
        }
    }

    /// Sees to it that every task that waits has a ticket in the queue.
    async fn issue(self, stop: CancellationToken) {
        loop {
            match self.issue_some().await {
                Ok(ISSUES) => continue,
                Ok(_) => {}
                Err(error) => warn("tickets were not issued", "", &error),
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.submitted.notified() => {}
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    async fn issue_some(&self) -> Result<u32, TakeError> {
        let issues = self.store.to_issue(ISSUES).await?;
        if issues.is_empty() {
            return Ok(0);
        }
        self.queue.put(&issues).await?;
        self.issued.notify_waiters();
        self.store.issued(&issues).await?;
        Ok(u32::try_from(issues.len()).unwrap_or(ISSUES))
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
        Ok(self.queue.take(&self.taker).await?)
    }

    /// Claims the task of a ticket, works on it, and takes the ticket away.
    async fn attend(&self, ticket: Ticket, stop: &CancellationToken) {
        let Some(claimed) = self.claim(&ticket, stop).await else {
            return;
        };
        if let Some(claimed) = claimed
            && let Err(error) = self.carry_out(&claimed, stop).await
        {
            // The ticket stays ours; whoever comes after this process has it.
            warn(
                "the end of the task is not written down",
                &claimed.id,
                &error,
            );
            return;
        }
        while let Err(error) = self.queue.done(&self.taker, &ticket).await {
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
        loop {
            let claimed = self.store.claim(&ticket.task, ticket.number, &self.host);
            match claimed.await {
                Ok(claimed) => return Some(claimed),
                Err(error) => warn("the task is not claimed", &ticket.task, &error),
            }
            waited(PAUSE, stop).await?;
        }
    }

    /// Works on a task, and writes down what came of it.
    async fn carry_out(
        &self,
        claimed: &Claimed,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        let work = Work::new(self, claimed);
        let came = tokio::select! {
            biased;
            () = stop.cancelled() => Came::Stopped,
            () = work.lost() => Came::Lost,
            // On the heap: what holds a whole run is large.
            came = Box::pin(work.carry_out()) => came,
        };
        let now = jiff::Timestamp::now();
        let held = match &came {
            Came::Lost => false,
            Came::Stopped => self.store.hand_back(claimed, now, Back::Stopped).await?,
            Came::Paused(due) => self.store.hand_back(claimed, *due, Back::Paused).await?,
            Came::Failed(due) => self.store.hand_back(claimed, *due, Back::Failed).await?,
            Came::Ended(ending) => self.store.end(claimed, ending).await?,
        };
        self.submitted.notify_one();
        tell(claimed, &came, held);
        Ok(())
    }
}

fn tell(claimed: &Claimed, came: &Came, held: bool) {
    tracing::info!(task = claimed.id, claims = claimed.claims, held, %came, "left");
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
