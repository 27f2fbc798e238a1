//! Rung *builds*: the build command succeeds for every build that a PoV or the tests need.

use super::feedback::FeedbackWriter;
use crate::attempt::AttemptFacts;
use crate::evidence::{Rung, RungName};
use patchwright_sandbox::{Ending, Limit};
use patchwright_target::Result;
use patchwright_target::runner::{Build, BuildKind, Target};

pub(crate) async fn climb(target: &dyn Target, attempt: &AttemptFacts) -> Result<Rung> {
    let mut log = String::new();
    let names = target.task().used_builds();
    for name in &names {
        let build = build(target, attempt, name).await?;
        log.push_str(&build.execution.text());
        if !build.succeeded() {
            let writer = FeedbackWriter::new(target.task(), attempt);
            return Ok(failed(&build, log, &writer));
        }
    }
    let result = Rung::new(RungName::Builds, Some(true), "the build command succeeds");
    let result = result.count("builds", names.len() as u64);
    Ok(result.log(log).settled(true))
}

/// Builds an attempt on top of the baseline. Removed files can break an incremental build,
/// whose dependency lists name them; then a clean build decides.
pub(crate) async fn build(
    target: &dyn Target,
    attempt: &AttemptFacts,
    name: &str,
) -> Result<Build> {
    let changes = &attempt.changes;
    let build = target.build(changes, name, BuildKind::Incremental).await?;
    let files_went = !changes.deleted.is_empty() || !changes.renamed.is_empty();
    if build.succeeded() || !files_went {
        return Ok(build);
    }
    target.build(changes, name, BuildKind::Clean).await
}

fn failed(build: &Build, log: String, writer: &FeedbackWriter<'_>) -> Rung {
    let named = if build.name.is_empty() {
        String::new()
    } else {
        format!(" {:?}", build.name)
    };
    let reason = match build.execution.ending {
        Ending::Limit(Limit::WallTime) => format!("the build{named} did not end in time"),
        ending => format!("the build{named} failed: {ending}"),
    };
    let feedback = writer.build(&reason, &log);
    Rung::new(RungName::Builds, Some(false), reason)
        .feedback(feedback)
        .log(log)
        .settled(matches!(build.execution.ending, Ending::Exited(_)))
}
