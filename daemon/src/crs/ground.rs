//! Crashes measured once on the unpatched program, and patches tried on them.
//!
//! It says which PoVs a patch stops, and nothing about whether the patch is right.

use patchwright_agent::drive;
use patchwright_agent::record::Ending;
use patchwright_crash::Signature;
use patchwright_patcher::Guard;
use patchwright_source::Tree;
use patchwright_target::{Baseline, BaselinePov, Target};
use patchwright_verdict::stopped;
use std::sync::Arc;

/// PoVs, the unpatched program, and what it did with them.
#[derive(Debug)]
pub struct Ground {
    target: Arc<dyn Target>,
    baseline: Arc<Baseline>,
    tree: Tree,
}

impl Ground {
    /// Builds the unpatched program and replays the PoVs of the target's task.
    ///
    /// # Errors
    /// The ending of a run that found the same.
    pub async fn measure(target: Arc<dyn Target>, tree: Tree) -> Result<Self, Ending> {
        let baseline = target.baseline().await;
        let baseline = baseline.map_err(|error| drive::ending_of(&error))?;
        Ok(Self {
            target,
            baseline,
            tree,
        })
    }

    /// Returns the number of PoVs.
    pub fn povs(&self) -> usize {
        self.baseline.povs.len()
    }

    /// Returns true when the unpatched program crashes with the PoV at this place.
    pub fn reproduces(&self, place: usize) -> bool {
        let before = self.baseline.povs.get(place);
        before.is_some_and(BaselinePov::reproduces)
    }

    /// The signature of the crash of the PoV at this place.
    pub fn signature(&self, place: usize) -> Option<Signature> {
        let crash = self.baseline.povs.get(place)?.replay.crash.as_ref()?;
        Some(crash.signature(&|frame| {
            let file = frame.file.as_deref();
            file.is_some_and(|file| self.tree.rebase(file).is_some())
        }))
    }

    /// The places of the PoVs that a patch stops. A diff that does not apply
    /// stops none.
    ///
    /// # Errors
    /// When it could not be tried.
    pub async fn stops(&self, diff: &[u8]) -> Result<Vec<usize>, Ending> {
        let Ok(guard) = Guard::new(&[]) else {
            return Ok(Vec::new());
        };
        let read = patchwright_patcher::read_diff_bytes(&self.tree, diff, &guard, &|_| true);
        let Ok(prepared) = read else {
            return Ok(Vec::new());
        };
        let facts = drive::facts(prepared);
        let stopped = stopped(self.target.as_ref(), &self.baseline, &facts)
            .await
            .map_err(|error| drive::ending_of(&error))?;
        let places = stopped.iter().enumerate().filter(|(_, stops)| **stops);
        Ok(places.map(|(place, _)| place).collect())
    }
}
