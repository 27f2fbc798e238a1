//! Confirmation: the last check of a patch before it is delivered, on a clean build.
//!
//! Attempts are built on top of the baseline's build, which is fast and could leave stale
//! files. The delivered patch is built once as its user will build it. Where both builds
//! give the same files, byte by byte, what was seen of the first holds for the second;
//! where they differ, PoVs and tests are run again.

use super::feedback::FeedbackWriter;
use super::tested;
use crate::attempt::{AttemptFacts, Ground};
use crate::evidence::{Rung, RungName};
use patchwright_target::Result;
use patchwright_target::runner::{Baseline, Build, BuildKind, Outcome, Pov, Replay, Target};

/// Builds an attempt from scratch, and runs its PoVs and tests there unless the build gives
/// the same files. The result is one of the rung *builds*, *silent* or *tested*: the first
/// that does not hold, else the last that was needed.
pub async fn confirm(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: &AttemptFacts,
) -> Result<Rung> {
    let started = std::time::Instant::now();
    let mut result = check((target, baseline, attempt)).await?;
    result.seconds = started.elapsed().as_secs_f64();
    Ok(result)
}

/// Makes the builds of [`confirm`] ahead of time, beside the rungs that come before it.
pub async fn confirm_ahead(target: &dyn Target, attempt: &AttemptFacts) -> Result<()> {
    for name in target.task().used_builds() {
        target.build_ahead(&attempt.changes, &name).await?;
    }
    Ok(())
}

async fn check((target, baseline, attempt): Ground<'_>) -> Result<Rung> {
    let task = target.task();
    let writer = FeedbackWriter::new(task, attempt);
    let changes = &attempt.changes;
    let refuted = |name, reason: String, log: String| {
        let feedback = writer.log(&reason, &log);
        Rung::new(name, Some(false), reason)
            .feedback(feedback)
            .log(log)
    };
    for name in task.used_builds() {
        let build = target.build(changes, &name, BuildKind::Clean).await?;
        if !build.succeeded() {
            let reason = format!("the clean build failed: {}", build.execution.ending);
            return Ok(refuted(RungName::Builds, reason, build.execution.text()));
        }
    }
    if gives_the_same_files(target, attempt).await? {
        let reason = "a clean build gives the same files as the build that was judged";
        return Ok(Rung::new(RungName::Builds, Some(true), reason));
    }
    if let Some((reason, replay)) = failing(target, attempt).await? {
        let crash = replay.crash.map(|crash| writer.kept(crash));
        return Ok(refuted(RungName::Silent, reason, replay.execution.text()).crash(crash));
    }
    let Some(before) = &baseline.tests else {
        let reason = "the clean build succeeds and every PoV is silent; there are no tests";
        return Ok(Rung::new(RungName::Silent, Some(true), reason));
    };
    let name = task.main_build();
    let build = target.build(changes, &name, BuildKind::Clean).await?;
    tested::on_build((target, baseline, attempt), before, &build).await
}

/// Tells whether the clean builds have the same products as those that the rungs were climbed
/// with. Without its source a product may stay behind unnoticed.
async fn gives_the_same_files(target: &dyn Target, attempt: &AttemptFacts) -> Result<bool> {
    let changes = &attempt.changes;
    if !changes.deleted.is_empty() || !changes.renamed.is_empty() {
        return Ok(false);
    }
    for name in target.task().used_builds() {
        let judged = target.build(changes, &name, BuildKind::Incremental).await?;
        let clean = target.build(changes, &name, BuildKind::Clean).await?;
        if !judged.has_products_of(&clean).await {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the first run of a PoV, or of an input that refuted an earlier attempt, that fails on
/// its clean build, and the reason that it gives.
async fn failing(target: &dyn Target, attempt: &AttemptFacts) -> Result<Option<(String, Replay)>> {
    let task = target.task();
    for pov in &task.povs {
        let build = clean_build(target, attempt, pov).await?;
        let replay = target.replay(&build, pov).await?;
        if replay.outcome != Outcome::Silent {
            let reason = format!("{} is not silent on a clean build", pov.name());
            return Ok(Some((reason, replay)));
        }
    }
    for input in &attempt.found {
        let Some(pov) = task.pov_like(&input.pov) else {
            continue;
        };
        let build = clean_build(target, attempt, pov).await?;
        let replay = super::replay_input(target, &build, pov, input.blob.bytes()).await?;
        if replay.outcome.is_failure() {
            let reason = "an input that refuted an earlier attempt is not silent on a clean build";
            return Ok(Some((reason.to_owned(), replay)));
        }
    }
    Ok(None)
}

async fn clean_build(target: &dyn Target, attempt: &AttemptFacts, pov: &Pov) -> Result<Build> {
    let name = target.task().build_of(pov);
    let build = target.build(&attempt.changes, &name, BuildKind::Clean);
    build.await
}
