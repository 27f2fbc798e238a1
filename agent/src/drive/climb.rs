//! Climbs one rung with one attempt.

use super::baseline::{INFRASTRUCTURE_TRIES, ending};
use super::{Drive, convert, locate};
use crate::journal::JournalError;
use crate::record::{
    AcceptedInput, Attempt, Blob, Crash, Doubt, DoubtedInput, Ending, EndingKind, FoundInput,
    Outcome, Rung, StepId,
};
use patchwright_crash::{CrashReport, feedback};
use patchwright_target::{Baseline, Target, TargetError};
use patchwright_verdict::{
    AcceptedDifference, AttemptFacts, Ladder, RungName, RungResult, confirm,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

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
        rung: RungName,
        ((attempt, found), decisions): ((Option<Attempt>, Vec<FoundInput>), Vec<AcceptedInput>),
    ) -> Result<Outcome, JournalError> {
        let stopped = |ending| Outcome::Stopped {
            ending,
            seconds: 0.0,
        };
        let (Some(attempt), Some(target)) = (attempt, self.parts.target.clone()) else {
            return Ok(stopped(Ending::new(
                EndingKind::InfraError,
                "there is nothing to evaluate",
            )));
        };
        let summary = format!("attempt {}: climbing {}", attempt.number, rung.name());
        self.intend(
            id,
            "climb",
            summary,
            json!({ "attempt": attempt.number, "rung": rung }),
        )
        .await?;
        let baseline = match self.target_baseline().await {
            Ok(baseline) => baseline,
            Err(ending) => return Ok(stopped(ending)),
        };
        let facts = match self.facts(&attempt).await {
            Ok(facts) => facts,
            Err(ending) => return Ok(stopped(ending)),
        };
        let facts = self.with_inputs(facts, found, decisions).await?;
        if rung == RungName::Tested {
            let target = Arc::clone(&target);
            self.clean_builds
                .start(attempt.number, target, facts.clone());
        }
        let ladder = Ladder::new(target.as_ref(), &baseline);
        let ladder = ladder.with_verdicts(self.parts.verdicts.as_ref());
        match climb_patiently(ladder, &facts, (&attempt, rung)).await {
            Ok(result) => {
                if result.holds == Some(false) {
                    self.clean_builds.stop(attempt.number);
                }
                let at_the_top = rung.next().is_none() && result.holds != Some(false);
                let result = if at_the_top {
                    let started = Instant::now();
                    self.clean_builds.finish(attempt.number).await;
                    let waited = started.elapsed().as_secs_f64();
                    match confirmed(target.as_ref(), &baseline, &facts, (result, waited)).await {
                        Ok(result) => result,
                        Err(error) => return Ok(stopped(ending(&error))),
                    }
                } else {
                    result
                };
                crate::telemetry::metrics::verdict(&result);
                Ok(Outcome::Climbed(self.record_of(result, &facts).await?))
            }
            Err(error) => Ok(stopped(ending(&error))),
        }
    }

    /// Returns the facts that the evaluator needs of an attempt. Placing is deterministic,
    /// so a resumed run makes the same facts again.
    pub(super) async fn facts(&self, attempt: &Attempt) -> Result<Arc<AttemptFacts>, Ending> {
        let kept = self
            .parts
            .facts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&attempt.number)
            .cloned();
        if let Some(facts) = kept {
            return Ok(facts);
        }
        let prepared = locate::prepare(&self.parts, &attempt.patch, &[])
            .await
            .map_err(|refusals| {
                let reasons: Vec<String> = refusals.iter().map(ToString::to_string).collect();
                Ending::new(
                    EndingKind::InfraError,
                    format!(
                        "the tree changed during the run, a patch that was placed no longer is: {}",
                        reasons.join("; ")
                    ),
                )
            })?;
        let facts = Arc::new(convert::facts(prepared));
        if let Ok(mut all) = self.parts.facts.lock() {
            all.insert(attempt.number, facts.clone());
        }
        Ok(facts)
    }

    /// The facts of an attempt together with the inputs that refuted others, and
    /// the answers to others that were found right.
    pub(super) async fn with_inputs(
        &self,
        facts: Arc<AttemptFacts>,
        found: Vec<FoundInput>,
        accepted: Vec<AcceptedInput>,
    ) -> Result<Arc<AttemptFacts>, JournalError> {
        if found.is_empty() && accepted.is_empty() {
            return Ok(facts);
        }
        let mut facts = AttemptFacts::clone(&facts);
        let earlier = found.len().saturating_sub(MOST_FOUND);
        for record in found.into_iter().skip(earlier) {
            if let Some(bytes) = self.journal.blob(record.blob.hash()).await? {
                facts.found.push(patchwright_verdict::FoundInput {
                    bytes,
                    reason: record.reason,
                    pov: record.pov,
                });
            }
        }
        for record in accepted {
            if let Some(bytes) = self.journal.blob(record.blob.hash()).await? {
                facts.accepted.push(AcceptedDifference {
                    bytes,
                    answer: record.answer,
                    reason: record.reason,
                });
            }
        }
        Ok(Arc::new(facts))
    }

    async fn keep_found(
        &self,
        found: Vec<patchwright_verdict::FoundInput>,
    ) -> Result<Vec<FoundInput>, JournalError> {
        let mut kept = Vec::new();
        for input in found {
            kept.push(FoundInput {
                blob: Blob::Kept(self.journal.keep(&input.bytes).await?),
                reason: input.reason,
                pov: input.pov,
            });
        }
        Ok(kept)
    }

    async fn keep_doubts(
        &self,
        doubts: Vec<patchwright_verdict::Doubt>,
    ) -> Result<Vec<Doubt>, JournalError> {
        let mut kept = Vec::new();
        for doubt in doubts.into_iter().take(DOUBTS) {
            let input = match doubt.input {
                Some(input) => Some(DoubtedInput {
                    blob: Blob::Kept(self.journal.keep(&input.bytes).await?),
                    text: feedback::input(&input.bytes),
                    name: input.name,
                    pov: input.pov,
                    change: input.change,
                    before: input.before,
                    after: input.after,
                    diverges: input.diverges,
                }),
                None => None,
            };
            kept.push(Doubt {
                what: doubt.what.chars().take(DOUBT).collect(),
                settled: doubt.settled,
                contested: None,
                input,
            });
        }
        Ok(kept)
    }

    pub(super) async fn record_of(
        &self,
        result: RungResult,
        facts: &AttemptFacts,
    ) -> Result<Rung, JournalError> {
        Ok(Rung {
            doubts: self.keep_doubts(result.doubts).await?,
            name: result.name,
            holds: result.holds,
            reason: result.reason,
            seconds: result.seconds,
            log: Blob::Kept(self.journal.keep(result.log.as_bytes()).await?),
            counts: result.counts,
            answers: result.answers,
            conditions: result.conditions,
            feedback: result.feedback,
            crash: result
                .crash
                .map(|report| self.pristine_crash(report, facts)),
            found: self.keep_found(result.found).await?,
            settled: result.settled,
        })
    }

    /// A crash of the patched tree, its lines those of the pristine one.
    fn pristine_crash(&self, report: CrashReport, facts: &AttemptFacts) -> Crash {
        let mut crash = convert::crash_from_report(report, &self.parts.tree);
        convert::to_pristine_lines(&mut crash, &facts.changes, &self.parts.tree);
        crash
    }
}

/// The last rung's result, when the patch also holds on a clean build, as
/// somebody else would build it; else what refuted it there. The clean build was waited for.
async fn confirmed(
    target: &dyn Target,
    baseline: &Baseline,
    facts: &AttemptFacts,
    (mut top, waited): (RungResult, f64),
) -> Result<RungResult, TargetError> {
    let clean = confirm(target, baseline, facts).await?;
    if clean.holds == Some(false) {
        return Ok(RungResult {
            reason: format!("on a clean build: {}", clean.reason),
            ..clean
        });
    }
    top.seconds += waited + clean.seconds;
    top.counts.insert("clean builds".to_owned(), 1);
    Ok(top)
}

/// Climbs, and tries again when the machinery failed.
async fn climb_patiently(
    ladder: Ladder<'_>,
    facts: &AttemptFacts,
    (attempt, rung): (&Attempt, RungName),
) -> Result<RungResult, TargetError> {
    let climbed: Vec<RungResult> = attempt.rungs.iter().map(result_of).collect();
    let mut tries = 0;
    loop {
        tries += 1;
        match ladder.climb(facts, &climbed, rung).await {
            Err(TargetError::Infrastructure { .. }) if tries < INFRASTRUCTURE_TRIES => {}
            other => return other,
        }
    }
}

fn result_of(rung: &Rung) -> RungResult {
    RungResult {
        name: rung.name,
        holds: rung.holds,
        reason: rung.reason.clone(),
        seconds: rung.seconds,
        log: String::new(),
        counts: BTreeMap::clone(&rung.counts),
        feedback: rung.feedback.clone(),
        crash: None,
        doubts: Vec::new(),
        answers: Vec::new(),
        conditions: Vec::new(),
        found: Vec::new(),
        settled: false,
    }
}
