//! Verdict cache: results of rungs of earlier runs, kept on disk.
//!
//! The key covers everything that a result depends on: the task with its tree, commands
//! and compilers, the harmless inputs, this program, the patch and the lines it touches,
//! the inputs that refuted other attempts, the baseline, and the isolation. Only settled
//! results are kept. Rungs that cost nothing are always climbed, and so is the last check
//! of a patch before it is delivered ([`crate::confirm`]): a verified patch was checked in
//! the same run.

use crate::attempt::AttemptFacts;
use crate::cache::Cache;
use crate::evidence::{RungName, RungResult};
use crate::local::{LocalTarget, Scratch, TaskDigest, digest_of_inputs, put_record};
use crate::process::{Captured, Execution};
use crate::runner::Baseline;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The count that marks a result as taken from the cache.
const FROM_CACHE: &str = "from the cache";

/// Verdicts of one task.
#[derive(Debug)]
pub struct VerdictCache {
    cache: Cache,
    task: Arc<TaskDigest>,
    scratch: Arc<Scratch>,
    harmless: Vec<PathBuf>,
    /// Digest of the harmless inputs and of this program, computed at the first use.
    inputs: OnceCell<Option<String>>,
}

impl VerdictCache {
    /// Opens the verdicts of a target's task. There is none where paths cannot
    /// be mapped, as with builds.
    pub fn open(target: &LocalTarget, cache: Cache) -> Option<Self> {
        target.maps_paths().then(|| Self {
            cache,
            task: target.task_digest(),
            scratch: target.scratch(),
            harmless: target.harmless().to_vec(),
            inputs: OnceCell::new(),
        })
    }

    /// Returns the result of an earlier climb.
    pub(crate) async fn recall(&self, key: &VerdictKey) -> Option<RungResult> {
        let name = self.entry_name(key).await?;
        let (_entry, result) = self.cache.read::<RungResult>(&name)?;
        Some(result.count(FROM_CACHE, 1))
    }

    /// Keeps a result, unless another climb may give another one.
    pub(crate) async fn keep(&self, key: &VerdictKey, result: &RungResult) {
        if result.settled
            && result.holds.is_some()
            && let Some(name) = self.entry_name(key).await
        {
            put_record(&self.cache, &name, (&self.scratch.fresh("verdict"), result));
        }
    }

    async fn entry_name(&self, key: &VerdictKey) -> Option<String> {
        let inputs = self.inputs.get_or_init(|| async {
            let harmless = self.harmless.clone();
            let digest = move || digest_of_inputs(&harmless);
            tokio::task::spawn_blocking(digest).await.ok().flatten()
        });
        let inputs = inputs.await.as_deref()?;
        self.task.entry_name(&["verdict", inputs, &key.0]).await
    }
}

/// Digest of everything that a rung's result depends on besides the task.
#[derive(Debug)]
pub(crate) struct VerdictKey(String);

impl VerdictKey {
    /// Returns the key of a rung; none for rungs that cost nothing.
    pub(crate) fn of(baseline: &Baseline, attempt: &AttemptFacts, rung: RungName) -> Option<Self> {
        match rung {
            RungName::Applies | RungName::Parses | RungName::Reviewed => return None,
            RungName::Builds
            | RungName::Silent
            | RungName::Tested
            | RungName::Robust
            | RungName::SameElsewhere => {}
        }
        let mut parts = Parts(Sha256::new());
        parts.add(rung.name());
        parts.add(attempt.changes.digest());
        parts.add(format!("{:?}", attempt.touched));
        for input in &attempt.found {
            parts.add(&input.pov);
            parts.add(&input.bytes);
        }
        for accepted in &attempt.accepted {
            parts.add("accepted");
            parts.add(&accepted.bytes);
        }
        parts.add(format!("{:?}", baseline.isolation));
        for pov in &baseline.povs {
            parts.add(&pov.name);
            parts.add(format!("{} {} {}", pov.runs, pov.crashes, pov.repeat));
            parts.add(format!("{:?}", pov.replay.outcome));
            parts.execution(&pov.replay.execution);
        }
        if let Some(tests) = &baseline.tests {
            parts.execution(&tests.execution);
            for (path, report) in &tests.reports {
                parts.add(path);
                parts.add(report);
            }
        }
        Some(Self(format!("{:x}", parts.0.finalize())))
    }
}

/// The parts of a key, each hashed with its length.
struct Parts(Sha256);

impl Parts {
    fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    fn execution(&mut self, execution: &Execution) {
        self.add(execution.ending.to_string());
        let streams = [Some(&execution.output), execution.standard_output.as_ref()];
        for Captured { head, tail, total } in streams.into_iter().flatten() {
            self.add(head);
            self.add(tail);
            self.add(total.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests;
