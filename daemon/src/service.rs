//! Service layer under every front: HTTP, the interfaces of cyber reasoning systems,
//! a batch, the command line.
//!
//! It is what is more than the store: submissions that share a commit, tasks that are
//! followed, and reports of tasks. It runs nothing. Cheap to clone.
//!
//! A commit that survives a power cut takes milliseconds; while one is made,
//! the next callers are gathered for the following one. Nobody is answered
//! before the commit that holds their tasks. Whether the last commit failed is
//! remembered for those who ask if submissions work.

use crate::task_watcher::TaskWatcher;
use patchwright_agent::report::Report;
use patchwright_agent::task::{Source, Task};
use patchwright_store::submissions::{NewTask, Submitted};
use patchwright_store::{Store, StoreError};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Notify, mpsc, oneshot};

/// Callers that may wait; the next ones wait for a place.
const WAITING: usize = 1024;
/// Callers whose tasks go into one commit.
const GROUP: usize = 256;

type Answer = Result<Vec<Submitted>, StoreError>;

/// One caller's tasks, and where the answer goes.
#[derive(Debug)]
struct Waiting {
    tasks: Vec<NewTask>,
    answer: oneshot::Sender<Answer>,
}

/// The queue and what came of it.
#[derive(Debug, Clone)]
pub struct Service {
    store: Store,
    pub(crate) watcher: TaskWatcher,
    /// The way to the task that writes.
    sender: mpsc::Sender<Waiting>,
    /// True when the last submission was not written down.
    failing: Arc<AtomicBool>,
    /// Told whenever there are new tasks.
    pub(crate) submitted: Arc<Notify>,
}

impl Service {
    /// Serves a store. Submissions are written by a task of its own, which
    /// ends with the last clone.
    pub fn new(store: Store) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        let failing = Arc::new(AtomicBool::new(false));
        tokio::spawn(write_groups(store.clone(), receiver, failing.clone()));
        Self {
            watcher: TaskWatcher::new(store.clone()),
            store,
            sender,
            failing,
            submitted: Arc::new(Notify::new()),
        }
    }

    /// The store behind it.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Writes tasks down in one commit, together with those of whoever else
    /// submits at this moment. What this yields is not lost by a kill.
    pub async fn submit(&self, tasks: Vec<NewTask>) -> Answer {
        let tasks = tasks.into_iter().map(placed).collect();
        let (answer, answered) = oneshot::channel();
        let gone = || not_written(&"the daemon is stopping");
        let sent = self.sender.send(Waiting { tasks, answer }).await;
        sent.map_err(|_| gone())?;
        let submitted = answered.await.map_err(|_| gone())?;
        self.submitted.notify_waiters();
        submitted
    }

    /// Fails while submissions fail: after one that was not written down, until
    /// a write of the same kind succeeds.
    pub(crate) async fn ready(&self) -> Result<(), StoreError> {
        if self.failing.load(Ordering::Relaxed) {
            self.store.try_submission().await?;
            self.failing.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The report of a task's last run, once it has ended.
    pub async fn report(&self, id: &str) -> Result<Option<Report>, StoreError> {
        let Some(run) = self.store.task(id).await?.and_then(|task| task.run) else {
            return Ok(None);
        };
        self.store.report(&run).await
    }
}

/// Writes the tasks of one group after the other in one commit each, and answers everybody.
async fn write_groups(
    store: Store,
    mut receiver: mpsc::Receiver<Waiting>,
    failing: Arc<AtomicBool>,
) {
    let mut group = Vec::with_capacity(GROUP);
    while receiver.recv_many(&mut group, GROUP).await > 0 {
        let tasks = group.iter().flat_map(|waiting| &waiting.tasks);
        let tasks: Vec<NewTask> = tasks.cloned().collect();
        let mut written = store.submit(&tasks).await.map(Vec::into_iter);
        for Waiting { tasks, answer } in group.drain(..) {
            let answered = match &mut written {
                Ok(submitted) => Ok(submitted.by_ref().take(tasks.len()).collect()),
                Err(error) => Err(not_written(error)),
            };
            // Whoever went away does not want to know.
            let _ = answer.send(answered);
        }
        failing.store(written.is_err(), Ordering::Relaxed);
    }
}

fn not_written(reason: &dyn Display) -> StoreError {
    StoreError::Unusable(format!("the tasks were not written down: {reason}"))
}

/// A task whose source or files lie on this machine is for this machine; one
/// that every worker can get is for all.
fn placed(task: NewTask) -> NewTask {
    let read: Option<Task> = serde_json::from_str(&task.task).ok();
    let here = read.is_some_and(|read| match &read.source {
        Source::Path(_) => true,
        Source::Archive { location, .. } if Path::new(location).is_absolute() => true,
        _ => read.sent.is_empty() && !read.povs.is_empty(),
    });
    let place = task.place.or_else(|| here.then(crate::machine::host));
    NewTask { place, ..task }
}
