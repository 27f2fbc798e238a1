//! Service layer under every front: HTTP, the interfaces of cyber reasoning systems,
//! a batch, the command line.
//!
//! It submits, shows, cancels and pauses; it runs nothing. Cheap to clone.

use patchwright_agent::journal::Event;
use patchwright_store::StoreError;
use patchwright_store::submissions::{
    Canceled, Depth, NewTask, Page, Submitted, TaskFilter, TaskRow,
};

use crate::submitter::{NotWritten, Submitter};
use crate::task_watcher::TaskWatcher;
use patchwright_agent::task::{Source, Task};
use patchwright_store::Store;
use patchwright_store::submissions::TaskVersion;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{Notify, watch};

/// The most events that one call yields.
const MOST_EVENTS: u32 = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store failed for everybody whose tasks went into the same commit.
    #[error(transparent)]
    NotWritten(#[from] NotWritten),
    /// A report that was written cannot be read.
    #[error("the report of task {task} is damaged: {source}")]
    Damaged {
        task: String,
        /// The error of the parser.
        #[source]
        source: serde_json::Error,
    },
}

/// The queue and what came of it.
#[derive(Debug, Clone)]
pub struct Service {
    store: Store,
    submitter: Submitter,
    watcher: TaskWatcher,
    submitted: Arc<Notify>,
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

    /// Told whenever there are new tasks.
    pub fn submitted(&self) -> Arc<Notify> {
        self.submitted.clone()
    }

    /// Writes tasks down in one commit, together with those of whoever else
    /// submits at this moment. What this yields is not lost by a kill.
    pub async fn submit(&self, tasks: Vec<NewTask>) -> Result<Vec<Submitted>, ServiceError> {
        let tasks = tasks.into_iter().map(placed).collect();
        let submitted = self.submitter.submit(tasks).await;
        self.submitted.notify_waiters();
        Ok(submitted?)
    }

    /// Fails while submissions fail: after one that was not written down, until
    /// a write of the same kind succeeds.
    pub(crate) async fn ready(&self) -> Result<(), ServiceError> {
        if self.submitter.is_failing() {
            self.store.try_submission().await?;
            self.submitter.recovered();
        }
        Ok(())
    }

    /// A task as it stands.
    pub async fn task(&self, id: &str) -> Result<Option<TaskRow>, ServiceError> {
        Ok(self.store.task(id).await?)
    }

    /// Tells whenever a task has come further. What was so before is not told.
    pub(crate) fn follow(&self, id: &str) -> watch::Receiver<TaskVersion> {
        self.watcher.follow(id)
    }

    /// A page of tasks, the newest first.
    pub async fn tasks(&self, filter: &TaskFilter) -> Result<Page, ServiceError> {
        Ok(self.store.tasks(filter).await?)
    }

    /// Takes a task out of the queue, or kills what runs for it.
    pub async fn cancel(&self, id: &str) -> Result<Canceled, ServiceError> {
        Ok(self.store.cancel(id).await?)
    }

    /// Lets no worker claim anything; what runs goes on.
    pub async fn pause(&self) -> Result<(), ServiceError> {
        Ok(self.store.set_paused(true).await?)
    }

    /// Lets workers claim again.
    pub async fn resume(&self) -> Result<(), ServiceError> {
        Ok(self.store.set_paused(false).await?)
    }

    /// Counts the tasks in each state.
    pub async fn depth(&self) -> Result<Depth, ServiceError> {
        Ok(self.store.depth().await?)
    }

    /// The events of a run with a higher number, at most `limit` of them.
    pub async fn events(
        &self,
        run: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Event>, ServiceError> {
        let limit = limit.clamp(1, MOST_EVENTS);
        Ok(self.store.events_after(run, after, limit).await?)
    }

    /// The report of a task's last run, once it has ended; the patch is the
    /// `diff` of its `best`.
    pub async fn report(&self, id: &str) -> Result<Option<Value>, ServiceError> {
        let Some(run) = self.store.task(id).await?.and_then(|task| task.run) else {
            return Ok(None);
        };
        let Some(report) = self.store.report(&run).await? else {
            return Ok(None);
        };
        let report = serde_json::from_str(&report).map_err(|source| ServiceError::Damaged {
            task: id.to_owned(),
            source,
        })?;
        Ok(Some(report))
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
