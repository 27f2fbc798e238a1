//! Clean builds ahead of time: the builds of the confirmation, made beside the rungs that come
//! before it.

use patchwright_target::Target;
use patchwright_verdict::{AttemptFacts, confirm_ahead};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinHandle;

/// The clean builds that are being made, by the number of the attempt.
#[derive(Debug, Default)]
pub(super) struct CleanBuilds(Mutex<BTreeMap<u32, Building>>);

/// A build in the background, which ends when this is dropped.
#[derive(Debug)]
struct Building(JoinHandle<()>);

impl Drop for Building {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl CleanBuilds {
    /// Starts the clean builds of an attempt.
    pub(super) fn start(&self, number: u32, target: Arc<dyn Target>, facts: Arc<AttemptFacts>) {
        self.spawn(number, async move {
            // The confirmation meets the same error, and tells it.
            if let Err(error) = confirm_ahead(target.as_ref(), &facts).await {
                tracing::debug!(%error, "no clean build ahead of time");
            }
        });
    }

    fn spawn(&self, number: u32, builds: impl Future<Output = ()> + Send + 'static) {
        let building = Building(tokio::spawn(builds));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(number, building);
    }

    /// Waits until the clean builds of an attempt are made, if they were started.
    pub(super) async fn finish(&self, number: u32) {
        if let Some(mut building) = self.take(number) {
            let _ = (&mut building.0).await;
        }
    }

    /// Ends the clean builds of an attempt that is refuted.
    pub(super) fn stop(&self, number: u32) {
        drop(self.take(number));
    }

    fn take(&self, number: u32) -> Option<Building> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::CleanBuilds;
    use futures::FutureExt;
    use futures::channel::oneshot;
    use std::future::pending;

    /// A sender that is gone tells that the future which held it was dropped.
    #[tokio::test]
    async fn builds_are_waited_for_and_end_with_their_attempt() {
        let builds = CleanBuilds::default();
        let (done, told) = oneshot::channel();
        builds.spawn(1, async move { done.send(7).unwrap() });
        builds.finish(1).await;
        assert_eq!(told.now_or_never(), Some(Ok(7)));
        builds.finish(1).await;
        for end in [|builds: CleanBuilds| builds.stop(2), drop] {
            let builds = CleanBuilds::default();
            let (held, told) = oneshot::channel::<u8>();
            builds.spawn(2, async move {
                let _held = held;
                pending::<()>().await;
            });
            tokio::task::yield_now().await;
            end(builds);
            assert!(told.await.is_err());
        }
    }
}
