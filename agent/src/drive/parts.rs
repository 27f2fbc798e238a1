//! What the driver works with: everything concrete that a run needs.

use crate::display::Display;
use crate::model::Model;
use crate::model::price::Prices;
use crate::model::tokens::Counter;
use crate::repair::CrashFrame;
use patchwright_evaluator::{AttemptFacts, Target};
use patchwright_patcher::Guard;
use patchwright_retrieval::{Engine, Settings};
use patchwright_source::Tree;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;

/// Everything concrete that a run needs, put together by `wire`.
pub struct Parts {
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// The most tokens of a reply.
    pub max_output_tokens: u32,
    /// Counts the tokens of a request.
    pub counter: Counter,
    /// What they cost; `None` when no price is configured.
    pub prices: Option<Prices>,
    /// Money of a day, over all runs of the store.
    pub usd_day: Option<f64>,
    /// Money of the store, ever.
    pub usd_total: Option<f64>,
    /// What is built, replayed and tested; nothing in a dry run.
    pub target: Option<Arc<dyn Target>>,
    /// The pristine tree.
    pub tree: Arc<Tree>,
    /// Its index.
    pub engine: EngineCell,
    /// What must not be edited.
    pub guard: Guard,
    /// Tokens of the code that goes with an issue.
    pub context_tokens: usize,
    /// What a person sees.
    pub display: Display,
    /// The facts of attempts that are being evaluated.
    pub facts: Mutex<BTreeMap<u32, Arc<AttemptFacts>>>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("model", &self.model)
            .field("tree", &self.tree)
            .finish_non_exhaustive()
    }
}

impl Parts {
    /// No attempt is being evaluated yet.
    pub fn no_facts() -> Mutex<BTreeMap<u32, Arc<AttemptFacts>>> {
        Mutex::new(BTreeMap::new())
    }
}

/// The index of the tree, built beside the baseline and waited for when it is
/// first asked.
pub struct EngineCell {
    opening: Mutex<Option<JoinHandle<Result<Engine, String>>>>,
    engine: OnceCell<Result<Arc<Engine>, String>>,
}

impl fmt::Debug for EngineCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineCell").finish_non_exhaustive()
    }
}

impl EngineCell {
    /// Begins to open the index of a tree.
    pub fn open(tree: PathBuf, cache: PathBuf, settings: Settings) -> Self {
        let opening = tokio::task::spawn_blocking(move || {
            Engine::open(&tree, &cache, settings).map_err(|error| error.to_string())
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
            let opening = self
                .opening
                .lock()
                .ok()
                .and_then(|mut opening| opening.take());
            let opening = opening.ok_or_else(|| "it was not opened".to_owned())?;
            let mut engine = opening.await.map_err(|error| error.to_string())??;
            let frames: Vec<_> = frames
                .iter()
                .map(super::convert::frame_for_retrieval)
                .collect();
            engine.set_crash(&frames);
            Ok(Arc::new(engine))
        });
        opened.await.clone()
    }
}
