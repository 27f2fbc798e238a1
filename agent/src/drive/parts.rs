//! Parts of a driver: everything concrete that a run needs.

use super::recency::open_engine;
use crate::progress::Observer;
use crate::record::{CrashFrame, Purpose};
use crate::signals::Signals;
use patchwright_model::Model;
use patchwright_model::price::Prices;
use patchwright_model::tokens::Counter;
use patchwright_patcher::Guard;
use patchwright_retrieval::{Engine, Request, Settings};
use patchwright_source::Tree;
use patchwright_target::Target;
use patchwright_verdict::VerdictCache;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell};
use tokio::task::JoinHandle;

/// Somebody who can be asked, and what asking means.
#[derive(Debug, Clone)]
pub struct Speaker {
    /// The model that answers.
    pub model: Arc<dyn Model>,
    /// The most tokens of a reply.
    pub max_output_tokens: u32,
    /// The tokens that fit at once, request and reply together.
    pub window: u64,
    /// Counts the tokens of a request.
    pub counter: Counter,
    /// Prices; `None` when none are configured.
    pub prices: Option<Prices>,
    /// True when a call may cost money.
    pub paid: bool,
}

/// Pauses of a run that waits for models.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// At most, in all; a run that would wait longer is left paused.
    pub at_most: Duration,
    /// At a time, when nobody says how long.
    pub each: Duration,
}

/// Everything concrete that a run needs, put together by the crate `run`.
#[derive(Debug)]
pub struct Parts {
    /// Models of the lanes: lane 1 asks the first, lane 2 the second, and so on in turn.
    pub lanes: Vec<Speaker>,
    /// Model of the critic, where it is another one than that of the lane.
    pub critic: Option<Speaker>,
    /// Pauses of a run that waits for them.
    pub patience: Patience,
    /// Money of a day, over all runs of the store.
    pub usd_day: Option<f64>,
    /// Money of the store, ever.
    pub usd_total: Option<f64>,
    /// Target that is built, replayed and tested; none in a dry run.
    pub target: Option<Arc<dyn Target>>,
    /// Verdicts of earlier runs.
    pub verdicts: Option<VerdictCache>,
    pub tree: Arc<Tree>,
    pub engine: EngineCell,
    /// Guard over the files that must not be edited.
    pub guard: Guard,
    /// Request made of people's words about the bug, with the tokens of the code that goes with it.
    pub reported: Request,
    /// Signals that help to rank that code.
    pub signals: Signals,
    /// The watcher that is told how it goes.
    pub observer: Observer,
}

impl Parts {
    /// Returns the model that a lane asks for a purpose.
    pub fn speaker(&self, purpose: Purpose, lane: u32) -> Option<&Speaker> {
        let index = (lane as usize).saturating_sub(1) % self.lanes.len().max(1);
        let own = self.lanes.get(index);
        match purpose {
            Purpose::Repair | Purpose::Contest | Purpose::Compact | Purpose::RegressionTest => own,
            Purpose::Challenge | Purpose::Critic | Purpose::Judge => self.critic.as_ref().or(own),
        }
    }
}

/// The index of the tree, built beside the baseline and waited for when it is
/// first asked.
#[derive(Debug)]
pub struct EngineCell {
    opening: Mutex<Option<JoinHandle<Result<Engine, String>>>>,
    engine: OnceCell<Result<Arc<Engine>, String>>,
}

impl EngineCell {
    /// Begins to open the index of a tree.
    pub fn open(tree: PathBuf, cache: PathBuf, settings: Settings) -> Self {
        let opening = tokio::task::spawn_blocking(move || {
            open_engine(&tree, &cache, settings).map_err(|error| error.to_string())
        });
        Self {
            opening: Mutex::new(Some(opening)),
            engine: OnceCell::new(),
        }
    }

    /// The index. The frames of the first call are those that hits are ordered
    /// by.
    pub async fn get(&self, frames: &[CrashFrame]) -> Result<Arc<Engine>, String> {
        let opened = self.engine.get_or_init(|| async {
            let opening = self.opening.lock().await.take();
            let opening = opening.ok_or_else(|| "it was not opened".to_owned())?;
            let mut engine = opening.await.map_err(|error| error.to_string())??;
            let near = engine.set_crash(frames);
            near.map_err(|error| error.to_string())?;
            Ok(Arc::new(engine))
        });
        opened.await.clone()
    }
}
