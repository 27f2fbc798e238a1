//! Verdicts that are kept from run to run.
//!
//! Beside the question that a rung asks, an entry depends on all that a build
//! depends on, on the harmless inputs, and on the program that judges.

use super::LocalTarget;
use super::digest;
use crate::cache::Cache;
use crate::ladder::RungResult;

/// Where verdicts lie, and what all of them depend on.
#[derive(Debug)]
pub(super) struct Verdicts {
    cache: Cache,
    /// The harmless inputs and the program; made when it is first asked for.
    inputs: tokio::sync::OnceCell<Option<String>>,
}

impl LocalTarget {
    /// Uses the verdicts that earlier runs came to, and leaves its own there.
    /// Only where paths can be mapped, as with builds.
    #[must_use]
    pub fn recalling(mut self, cache: Cache) -> Self {
        let inputs = tokio::sync::OnceCell::new();
        let maps = self.sandbox.maps_paths();
        self.verdicts = maps.then_some(Verdicts { cache, inputs });
        self
    }

    async fn verdict_name(&self, question: &str) -> Option<(&Cache, String)> {
        let Verdicts { cache, inputs } = self.verdicts.as_ref()?;
        let inputs = inputs.get_or_init(|| async {
            let harmless = self.task.harmless.clone();
            let digest = move || digest::of_inputs(&harmless);
            tokio::task::spawn_blocking(digest).await.ok().flatten()
        });
        let inputs = inputs.await.as_deref()?;
        let name = self.entry_name(&["verdict", inputs, question]).await?;
        Some((cache, name))
    }

    pub(super) async fn recalled(&self, question: &str) -> Option<RungResult> {
        let (cache, name) = self.verdict_name(question).await?;
        let (_entry, result) = cache.read(&name)?;
        Some(result)
    }

    pub(super) async fn keep_result(&self, question: &str, result: &RungResult) {
        if let Some((cache, name)) = self.verdict_name(question).await {
            super::kept::put(cache, &name, (&self.fresh("verdict"), result));
        }
    }
}

#[cfg(test)]
mod tests;
