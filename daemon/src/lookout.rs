//! Looks at the tasks that somebody follows: one look at the store for all of
//! them, however many follow and whatever they follow.
//!
//! It tells that a task has come further, and not what happened: whoever wants
//! to know reads it. While nobody follows anything, nothing is looked at.

use patchwright_store::Store;
use patchwright_store::submissions::Sight;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Between two looks: while something happens, and when nothing has for a while.
const LOOK: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));
/// Tasks of one statement; SQLite takes 32,766 values in one.
const AT_ONCE: usize = 1000;

/// Where tasks are followed. Clones look together.
#[derive(Debug, Clone)]
pub(super) struct Lookout {
    store: Store,
    followed: Arc<Mutex<Followed>>,
    /// Somebody new follows something.
    joined: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Followed {
    tasks: BTreeMap<String, watch::Sender<Sight>>,
    /// Whether somebody looks.
    looking: bool,
}

impl Lookout {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            followed: Arc::default(),
            joined: Arc::new(Notify::new()),
        }
    }

    /// Follows a task until the receiver is dropped. It is told when the task is
    /// not as it was at the look before; at the first look it may be told
    /// although nothing happened.
    pub(super) fn follow(&self, id: &str) -> watch::Receiver<Sight> {
        let mut followed = self.followed();
        let sender = followed.tasks.entry(id.to_owned()).or_default();
        let receiver = sender.subscribe();
        if !std::mem::replace(&mut followed.looking, true) {
            tokio::spawn(self.clone().look_on());
        }
        self.joined.notify_one();
        receiver
    }

    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks until nobody follows anything any more.
    async fn look_on(self) {
        let mut pause = LOOK.0;
        while let Some(ids) = self.wanted() {
            pause = if self.look(&ids).await {
                LOOK.0
            } else {
                (pause * 3 / 2).min(LOOK.1)
            };
            // Who joins is not looked for at once: many who come together are
            // one look.
            if tokio::time::timeout(pause, self.joined.notified())
                .await
                .is_ok()
            {
                pause = LOOK.0;
                tokio::time::sleep(pause).await;
            }
        }
    }

    /// Looks once; whether anything has changed.
    async fn look(&self, ids: &[String]) -> bool {
        let mut changed = false;
        for ids in ids.chunks(AT_ONCE) {
            match self.store.sights(ids).await {
                Ok(sights) => changed |= self.tell(sights),
                Err(error) => tracing::warn!(%error, "what is followed was not looked at"),
            }
        }
        changed
    }

    /// What is followed; when nothing is, whoever asks stops looking.
    fn wanted(&self) -> Option<Vec<String>> {
        let mut followed = self.followed();
        followed.tasks.retain(|_, task| task.receiver_count() > 0);
        followed.looking = !followed.tasks.is_empty();
        let ids = followed.looking.then(|| followed.tasks.keys().cloned());
        ids.map(Iterator::collect)
    }

    /// Tells those who follow what has changed; whether anything has.
    fn tell(&self, sights: Vec<(String, Sight)>) -> bool {
        let followed = self.followed();
        let mut changed = false;
        for (id, sight) in sights {
            if let Some(task) = followed.tasks.get(&id) {
                changed |= task.send_if_modified(|before| {
                    let differs = *before != sight;
                    *before = sight;
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
    async fn all_who_follow_share_one_look_and_are_told_of_changes() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        store.submit(&[new("a"), new("b")]).await.unwrap();
        let lookout = Lookout::new(store.clone());
        let mut followers: Vec<_> = (0..24).map(|_| lookout.follow("a")).collect();
        let mut other = lookout.follow("b");
        assert_eq!(lookout.followed().tasks.len(), 2);
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
            lookout.wanted(),
            None,
            "nobody looks at what nobody follows"
        );
        // Whoever comes then finds somebody who looks.
        let mut late = lookout.follow("b");
        late.changed().await.unwrap();
    }
}
