//! Climbs one rung with one attempt.

use super::failure::{Failure, known, retried};
use super::{Drive, convert, locate};
use crate::journal::Result;
use crate::record::{Attempt, Blob, Ending, EndingKind, FoundInput, Outcome, Rung, StepId};
use crate::repair::Run;
use itertools::Itertools;
use patchwright_crash::feedback;
use patchwright_target::Target;
use patchwright_verdict::{AttemptFacts, Ladder, RungName, confirm, confirm_ahead};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::task::JoinSet;

/// Inputs found by earlier attempts that a patch is run on, the latest ones.
const MOST_FOUND: usize = 16;
/// Doubts of one rung that are kept, and characters of each.
const DOUBTS: usize = 24;
/// See [`DOUBTS`].
const DOUBT: usize = 300;

impl Drive {
    pub(super) async fn climb(
        &self,
        id: StepId,
        (number, rung): (u32, RungName),
        run: &Run,
    ) -> Result<Outcome, Failure> {
        let (attempt, target) = (known(run, number)?, self.target()?);
        let summary = format!("attempt {number}: climbing {rung}");
        let body = json!({ "attempt": number, "rung": rung });
        self.intend(id, "climb", summary, body).await?;
        let baseline = self.target_baseline().await?;
        let facts = self.facts(attempt).await?;
        let facts = self.with_inputs(facts, run.found(), run).await?;
        if rung == RungName::Tested {
            let target = Arc::clone(target);
            self.clean_builds.start(number, target, facts.clone());
        }
        let ladder = Ladder::new(target.as_ref(), &baseline);
        let ladder = ladder.with_verdicts(self.parts.verdicts.as_ref());
        let mut result = retried(|| ladder.climb(&facts, &attempt.rungs, rung)).await?;
        if result.holds == Some(false) {
            self.clean_builds.stop(number);
        } else if rung.next().is_none() {
            let started = Instant::now();
            self.clean_builds.finish(number).await;
            let waited = started.elapsed().as_secs_f64();
            // As somebody else would build it.
            let clean = confirm(target.as_ref(), &baseline, &facts).await?;
            if clean.holds == Some(false) {
                result = Rung {
                    reason: format!("on a clean build: {}", clean.reason),
                    ..clean
                };
            } else {
                result.seconds += waited + clean.seconds;
                result.counts.insert("clean builds".to_owned(), 1);
            }
        }
        crate::telemetry::metrics::verdict(&result);
        Ok(Outcome::Climbed(self.kept(result).await?))
    }

    /// Returns the facts that the evaluator needs of an attempt. Placing is deterministic,
    /// so a resumed run makes the same facts again.
    pub(super) async fn facts(&self, attempt: &Attempt) -> Result<Arc<AttemptFacts>, Ending> {
        let facts = || self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = facts().get(&attempt.number) {
            return Ok(Arc::clone(facts));
        }
        let patch = (&attempt.patch, &self.parts.guard);
        let prepared = locate::prepare(&self.parts, patch, &[]).await;
        let prepared = prepared.map_err(|refusals| {
            let reasons = refusals.iter().join("; ");
            let detail = format!(
                "the tree changed during the run, a patch that was placed no longer is: {reasons}"
            );
            Ending::new(EndingKind::InfraError, detail)
        })?;
        let made = Arc::new(convert::facts(prepared));
        facts().insert(attempt.number, made.clone());
        Ok(made)
    }

    /// The facts of an attempt together with the inputs that refuted others, and
    /// the answers to others that were found right.
    pub(super) async fn with_inputs(
        &self,
        facts: Arc<AttemptFacts>,
        found: Vec<FoundInput>,
        run: &Run,
    ) -> Result<Arc<AttemptFacts>> {
        let accepted = run.decisions().to_vec();
        if found.is_empty() && accepted.is_empty() {
            return Ok(facts);
        }
        let mut facts = AttemptFacts::clone(&facts);
        let earlier = found.len().saturating_sub(MOST_FOUND);
        for mut input in found.into_iter().skip(earlier) {
            if let Some(bytes) = self.journal.blob(input.blob.hash()).await? {
                input.blob = bytes.into();
                facts.found.push(input);
            }
        }
        for mut input in accepted {
            if let Some(bytes) = self.journal.blob(input.blob.hash()).await? {
                input.blob = bytes.into();
                facts.accepted.push(input);
            }
        }
        Ok(Arc::new(facts))
    }

    /// Returns a rung whose bytes are kept with the journal.
    pub(super) async fn kept(&self, mut rung: Rung) -> Result<Rung> {
        self.keep(&mut rung.log).await?;
        for input in &mut rung.found {
            self.keep(&mut input.blob).await?;
        }
        rung.doubts.truncate(DOUBTS);
        for doubt in &mut rung.doubts {
            doubt.what = doubt.what.chars().take(DOUBT).collect();
            if let Some(input) = &mut doubt.input {
                input.text = feedback::input(input.blob.bytes());
                self.keep(&mut input.blob).await?;
            }
        }
        Ok(rung)
    }

    /// Hands the bytes of a blob to the journal.
    pub(super) async fn keep(&self, blob: &mut Blob) -> Result<()> {
        if let Blob::Held { bytes } = blob {
            *blob = Blob::Kept(self.journal.keep(bytes).await?);
        }
        Ok(())
    }
}

/// The clean builds that are being made, by the number of the attempt. They end when they are
/// taken away from here.
#[derive(Debug, Default)]
pub(super) struct CleanBuilds(Mutex<BTreeMap<u32, JoinSet<()>>>);

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
        let mut building = JoinSet::new();
        building.spawn(builds);
        self.all().insert(number, building);
    }

    /// Waits until the clean builds of an attempt are made, if they were started.
    pub(super) async fn finish(&self, number: u32) {
        let building = self.all().remove(&number);
        if let Some(mut building) = building {
            building.join_next().await;
        }
    }

    /// Ends the clean builds of an attempt that is refuted.
    pub(super) fn stop(&self, number: u32) {
        self.all().remove(&number);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<u32, JoinSet<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
