//! The index of the tree, kept open and brought up to date before an answer:
//! people edit while they ask.

use patchwright_agent::drive::open_engine;
use patchwright_retrieval::{Engine, Settings};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Looking for changes takes at most this share of the time: one look of 10 ms
/// is good for 100 ms.
const REST: u32 = 10;

#[derive(Debug, Clone)]
pub(crate) struct ServedTree {
    /// The source tree.
    pub tree: PathBuf,
    /// Where its index is kept.
    pub cache: PathBuf,
    /// The settings of the search, the size of answers among them.
    pub settings: Settings,
}

/// An engine that is up to date when it is asked for.
#[derive(Debug)]
pub(super) struct Kept {
    place: ServedTree,
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    engine: Arc<Engine>,
    /// When the tree was last looked at, and how long that took.
    looked: Instant,
    took: Duration,
}

impl Open {
    fn is_recent(&self) -> bool {
        self.looked.elapsed() < self.took.saturating_mul(REST)
    }
}

impl Kept {
    pub(super) fn new(place: ServedTree) -> Self {
        Self {
            place,
            open: Mutex::new(None),
        }
    }

    /// The engine, after a look at what changed in the tree.
    pub(super) async fn engine(&self) -> Result<Arc<Engine>, String> {
        let mut open = self.open.lock().await;
        if let Some(open) = open.as_ref().filter(|open| open.is_recent()) {
            return Ok(Arc::clone(&open.engine));
        }
        let place = self.place.clone();
        let started = Instant::now();
        let fresh = tokio::task::spawn_blocking(move || {
            open_engine(&place.tree, &place.cache, place.settings)
        })
        .await
        .map_err(|error| error.to_string())?
        .map_err(|error| format!("{:#}", anyhow::Error::from(error)))?;
        let took = started.elapsed();
        // What an engine has worked out so far is worth keeping.
        let engine = match open.take() {
            Some(old) if old.engine.sees_the_same(&fresh) => old.engine,
            _ => Arc::new(fresh),
        };
        *open = Some(Open {
            engine: Arc::clone(&engine),
            looked: Instant::now(),
            took,
        });
        Ok(engine)
    }
}
