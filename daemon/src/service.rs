//! Service layer under every front: HTTP, the interfaces of cyber reasoning systems,
//! a batch, the command line.
//!
//! It is what is more than the store: submissions that share a commit, tasks that are followed, and
//! reports of tasks. It runs nothing. Cheap to clone.

use crate::submitter::Submitter;
use crate::task_watcher::TaskWatcher;
use patchwright_agent::report::Report;
use patchwright_agent::task::{Source, Task};
use patchwright_store::submissions::{NewTask, Submitted};
use patchwright_store::{Store, StoreError};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::Notify;

/// The queue and what came of it.
#[derive(Debug, Clone)]
pub struct Service {
    store: Store,
    submitter: Submitter,
    pub(crate) watcher: TaskWatcher,
    /// Told whenever there are new tasks.
    pub(crate) submitted: Arc<Notify>,
}

impl Service {
    /// Serves a store. Submissions are written by a task of its own, which
    /// ends with the last clone.
    pub fn new(store: Store) -> Self {
        let submitter = Submitter::start(store.clone());
        Self {
            watcher: TaskWatcher::new(store.clone()),
            store,
            submitter,
            submitted: Arc::new(Notify::new()),
        }
    }

    /// The store behind it.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Writes tasks down in one commit, together with those of whoever else
    /// submits at this moment. What this yields is not lost by a kill.
    pub async fn submit(&self, tasks: Vec<NewTask>) -> Result<Vec<Submitted>, StoreError> {
        let tasks = tasks.into_iter().map(placed).collect();
        let submitted = self.submitter.submit(tasks).await;
        self.submitted.notify_waiters();
        submitted
    }

    /// Fails while submissions fail: after one that was not written down, until
    /// a write of the same kind succeeds.
    pub(crate) async fn ready(&self) -> Result<(), StoreError> {
        let failing = &self.submitter.failing;
        if failing.load(Ordering::Relaxed) {
            self.store.try_submission().await?;
            failing.store(false, Ordering::Relaxed);
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
