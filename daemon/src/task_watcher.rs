//! Task watcher: polls the tasks that somebody follows, one query for all of
//! them, however many follow and whatever they follow.
//!
//! It notifies that a task has changed, and not how: whoever wants to know reads
//! the task. While nobody follows anything, nothing is polled.

use patchwright_store::Store;
use patchwright_store::submissions::TaskVersion;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Shortest and longest interval of the polls.
const INTERVAL: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));
/// Tasks of one statement; SQLite takes 32,766 values in one.
const AT_ONCE: usize = 1000;

/// The watcher of a process; clones share their polls.
#[derive(Debug, Clone)]
pub(crate) struct TaskWatcher {
    store: Store,
    followed: Arc<Mutex<Followed>>,
    /// Somebody new follows something.
    joined: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Followed {
    tasks: BTreeMap<String, watch::Sender<TaskVersion>>,
    /// True while a task polls.
    polling: bool,
}

impl TaskWatcher {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            followed: Arc::default(),
            joined: Arc::new(Notify::new()),
        }
    }

    /// Follows a task until the receiver is dropped. The receiver is notified
    /// when the task is not as it was at the poll before; at the first poll it
    /// may be notified although nothing happened.
    pub(crate) fn follow(&self, id: &str) -> watch::Receiver<TaskVersion> {
        let mut followed = self.followed();
        let sender = followed.tasks.entry(id.to_owned()).or_default();
        let receiver = sender.subscribe();
        if !std::mem::replace(&mut followed.polling, true) {
            tokio::spawn(self.clone().poll_on());
        }
        self.joined.notify_one();
        receiver
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls until nobody follows anything any more.
    async fn poll_on(self) {
        let mut pause = INTERVAL.0;
        while let Some(ids) = self.wanted() {
            pause = if self.poll(&ids).await {
                INTERVAL.0
            } else {
                (pause * 3 / 2).min(INTERVAL.1)
            };
            // A new follower does not start a poll at once: many who come
            // together share one.
            let joined = tokio::time::timeout(pause, self.joined.notified()).await;
            if joined.is_ok() {
                pause = INTERVAL.0;
                tokio::time::sleep(pause).await;
            }
        }
    }

    /// Polls once; true when anything has changed.
    async fn poll(&self, ids: &[String]) -> bool {
        let mut changed = false;
        for ids in ids.chunks(AT_ONCE) {
            match self.store.versions(ids).await {
                Ok(versions) => changed |= self.notify(versions),
                Err(error) => tracing::warn!(%error, "the tasks that are followed were not read"),
            }
        }
        changed
    }

    /// Returns the tasks that are followed; `None` ends the polls.
    fn wanted(&self) -> Option<Vec<String>> {
        let mut followed = self.followed();
        followed.tasks.retain(|_, task| task.receiver_count() > 0);
        followed.polling = !followed.tasks.is_empty();
        let ids = followed.polling.then(|| followed.tasks.keys().cloned());
        ids.map(Iterator::collect)
    }

    /// Notifies the followers of changed tasks; true when there are any.
    fn notify(&self, versions: Vec<(String, TaskVersion)>) -> bool {
        let followed = self.followed();
        let mut changed = false;
        for (id, version) in versions {
            if let Some(task) = followed.tasks.get(&id) {
                changed |= task.send_if_modified(|before| {
                    let differs = *before != version;
                    *before = version;
                    differs
                });
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_store::submissions::NewTask;

    fn new(id: &str) -> NewTask {
        NewTask {
            id: id.to_owned(),
            task: "{}".to_owned(),
            origin: "api".to_owned(),
            ..NewTask::default()
        }
    }

    #[tokio::test]
    async fn followers_share_one_poll_and_are_notified_of_changes() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        store.submit(&[new("a"), new("b")]).await.unwrap();
        let watcher = TaskWatcher::new(store.clone());
        let mut followers: Vec<_> = (0..24).map(|_| watcher.follow("a")).collect();
        let mut other = watcher.follow("b");
        assert_eq!(watcher.followed().tasks.len(), 2);
        for follower in &mut followers {
            follower.changed().await.unwrap();
        }
        other.changed().await.unwrap();
        let before = other.borrow().clone();
        assert_eq!(*followers[0].borrow(), before, "both wait");
        store.cancel("a").await.unwrap();
        for follower in &mut followers {
            follower.changed().await.unwrap();
            assert_ne!(*follower.borrow(), before);
        }
        assert_eq!(*other.borrow(), before, "nothing happened to it");
        drop((followers, other));
        assert_eq!(
            watcher.wanted(),
            None,
            "nobody looks at what nobody follows"
        );
        // Whoever comes then finds somebody who looks.
        let mut late = watcher.follow("b");
        late.changed().await.unwrap();
    }
}
