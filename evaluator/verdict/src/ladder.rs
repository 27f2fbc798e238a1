//! Ladder: climbs the rungs of an attempt, one rung a call.
//!
//! The caller climbs while rungs hold and keeps the results, so an interrupted run
//! continues at the rung where it stopped. A rung that cannot be checked has the result
//! `None` with a reason; a failure of the infrastructure is an error and never a verdict.

use crate::attempt::AttemptFacts;
use crate::evidence::{Rung, RungName};
use crate::verdict_cache::VerdictCache;
use crate::{review, robust, rung, same_elsewhere};
use patchwright_target::Result;
use patchwright_target::runner::{Baseline, Target};
use std::time::Instant;

/// The rungs of one target, climbed against its baseline.
#[derive(Debug, Clone, Copy)]
pub struct Ladder<'a> {
    target: &'a dyn Target,
    baseline: &'a Baseline,
    verdicts: Option<&'a VerdictCache>,
}

impl<'a> Ladder<'a> {
    /// Creates a ladder that climbs every rung anew.
    pub fn new(target: &'a dyn Target, baseline: &'a Baseline) -> Self {
        Self {
            target,
            baseline,
            verdicts: None,
        }
    }

    /// Takes verdicts of earlier runs from a cache, and keeps new ones there.
    #[must_use]
    pub fn with_verdicts(mut self, verdicts: Option<&'a VerdictCache>) -> Self {
        self.verdicts = verdicts;
        self
    }

    /// Climbs one rung. The rungs below must have been climbed and hold.
    pub async fn climb(
        &self,
        attempt: &AttemptFacts,
        climbed: &[Rung],
        next: RungName,
    ) -> Result<Rung> {
        let started = Instant::now();
        let mut below = climbed.iter();
        if let Some(broken) = below.find(|rung| rung.name < next && rung.holds == Some(false)) {
            let reason = format!("the rung {:?} below does not hold", broken.name.as_str());
            return Ok(Rung::new(next, None, reason));
        }
        let mut result = self.recall_or_climb(attempt, next).await?;
        result.seconds = started.elapsed().as_secs_f64();
        Ok(result)
    }

    async fn recall_or_climb(&self, attempt: &AttemptFacts, next: RungName) -> Result<Rung> {
        let Some(verdicts) = self.verdicts else {
            return self.climb_anew(attempt, next).await;
        };
        let Some(entry) = verdicts.entry(self.baseline, attempt, next).await else {
            return self.climb_anew(attempt, next).await;
        };
        if let Some(result) = verdicts.recall(&entry) {
            return Ok(result);
        }
        let result = self.climb_anew(attempt, next).await?;
        verdicts.keep(&entry, &result);
        Ok(result)
    }

    async fn climb_anew(&self, attempt: &AttemptFacts, next: RungName) -> Result<Rung> {
        let on = (self.target, self.baseline, attempt);
        Ok(match next {
            RungName::Applies => rung::patch::applies(attempt),
            RungName::Parses => rung::patch::parses(self.target.task(), attempt),
            RungName::Builds => rung::patch::builds(self.target, attempt).await?,
            RungName::Silent => rung::silent::climb(on).await?,
            RungName::Tested => rung::tested::climb(on).await?,
            RungName::Robust => robust::climb(on).await?,
            RungName::SameElsewhere => same_elsewhere::climb(on).await?,
            RungName::Reviewed => review::climb(on)?,
        })
    }
}
