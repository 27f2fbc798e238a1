//! Submitter: groups the submissions of many callers into few commits.
//!
//! A commit that survives a power cut takes milliseconds; while one is made,
//! the next callers are gathered for the following one. Nobody is answered
//! before the commit that holds their tasks. Whether the last commit failed is
//! remembered for those who ask if submissions work.

use patchwright_store::submissions::{NewTask, Submitted};
use patchwright_store::{Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{mpsc, oneshot};

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

/// The way to the task that writes.
#[derive(Debug, Clone)]
pub(super) struct Submitter {
    sender: mpsc::Sender<Waiting>,
    /// True when the last submission was not written down.
    pub(super) failing: Arc<AtomicBool>,
}

impl Submitter {
    /// Starts the task that writes; it ends with the last clone of this.
    pub(super) fn start(store: Store) -> Self {
        let (sender, mut receiver) = mpsc::channel(WAITING);
        let failing = Arc::new(AtomicBool::new(false));
        let noted = failing.clone();
        tokio::spawn(async move {
            let mut group = Vec::with_capacity(GROUP);
            while receiver.recv_many(&mut group, GROUP).await > 0 {
                let written = write(&store, std::mem::take(&mut group)).await;
                noted.store(!written, Ordering::Relaxed);
            }
        });
        Self { sender, failing }
    }

    /// Submits tasks, and waits until they are written down.
    pub(super) async fn submit(&self, tasks: Vec<NewTask>) -> Answer {
        let (answer, answered) = oneshot::channel();
        let gone = || StoreError::NotWritten("the daemon is stopping".to_owned());
        let sent = self.sender.send(Waiting { tasks, answer }).await;
        sent.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

/// Writes the tasks of a group in one commit and answers everybody; false when
/// the store failed.
async fn write(store: &Store, group: Vec<Waiting>) -> bool {
    let tasks = group.iter().flat_map(|waiting| &waiting.tasks);
    let tasks: Vec<NewTask> = tasks.cloned().collect();
    let mut written = store.submit(&tasks).await.map(Vec::into_iter);
    for Waiting { tasks, answer } in group {
        let answered = match &mut written {
            Ok(submitted) => Ok(submitted.by_ref().take(tasks.len()).collect()),
            Err(error) => Err(StoreError::NotWritten(error.to_string())),
        };
        // Whoever went away does not want to know.
        let _ = answer.send(answered);
    }
    written.is_ok()
}
