//! Rungs *applies*, *parses* and *builds*: the findings of the patcher and of the build command.

use super::feedback::FeedbackWriter;
use crate::attempt::AttemptFacts;
use crate::evidence::{Doubt, Rung, RungName};
use patchwright_crash::feedback::first_error;
use patchwright_sandbox::{Ending, Limit};
use patchwright_target::Result;
use patchwright_target::runner::{Build, BuildKind, Target, TargetTask};

/// Climbs *applies*: every edit was located without ambiguity, and the guard allows every file.
pub(crate) fn applies(attempt: &AttemptFacts) -> Rung {
    match &attempt.applies {
        Ok(()) if attempt.changes.is_empty() => {
            Rung::new(RungName::Applies, Some(false), "the patch changes nothing")
                .feedback("The patch changes nothing: the files are as they were before.")
        }
        Ok(()) => {
            let files = attempt.files().len() as u64;
            Rung::new(RungName::Applies, Some(true), "every edit was located").count("files", files)
        }
        Err(refusal) => {
            let first = refusal.lines().next().unwrap_or("an edit was refused");
            Rung::new(RungName::Applies, Some(false), first).feedback(refusal)
        }
    }
}

/// Climbs *parses*: the patch makes no syntax error that was not there before. A grammar
/// does not know what macros stand for, so where the tree is built the compiler decides.
pub(crate) fn parses(task: &TargetTask, attempt: &AttemptFacts) -> Rung {
    let Err(errors) = &attempt.parses else {
        return Rung::new(RungName::Parses, Some(true), "no new syntax error");
    };
    let first = errors.lines().next().unwrap_or("a new syntax error");
    if task.commands.build.trim().is_empty() {
        return Rung::new(RungName::Parses, Some(false), first).feedback(errors);
    }
    let reason = format!("the grammar objects, and the compiler decides: {first}");
    let doubts = errors.lines().map(|error| Doubt {
        settled: Some("the compiler decides".to_owned()),
        ..Doubt::new(error)
    });
    Rung::new(RungName::Parses, Some(true), reason)
        .count("objections of the grammar", errors.lines().count() as u64)
        .doubts(doubts.collect())
        .log(errors)
}

/// Climbs *builds*: the build command succeeds for every build that a PoV or the tests need.
pub(crate) async fn builds(target: &dyn Target, attempt: &AttemptFacts) -> Result<Rung> {
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
    let reason = match first_error(&feedback) {
        Some(error) => format!("{reason}: {error}"),
        None => reason,
    };
    Rung::new(RungName::Builds, Some(false), reason)
        .feedback(feedback)
        .log(log)
        .settled(matches!(build.execution.ending, Ending::Exited(_)))
}

#[cfg(test)]
mod tests {
    use super::parses;
    use crate::AttemptFacts;
    use patchwright_target::TargetTask;

    #[test]
    fn the_compiler_decides_where_the_tree_is_built() {
        let mut task = TargetTask::default();
        let mut attempt = AttemptFacts::default();
        assert_eq!(parses(&task, &attempt).holds, Some(true));
        attempt.parses = Err("a.c:3: unexpected `and`\na.c:9: missing `)`".to_owned());
        assert_eq!(parses(&task, &attempt).holds, Some(false));
        task.commands.build = "make".to_owned();
        let result = parses(&task, &attempt);
        assert_eq!(result.holds, Some(true));
        assert_eq!(result.doubts.len(), 2);
        assert!(result.doubts.iter().all(|doubt| !doubt.is_open()));
        assert!(result.reason.contains("a.c:3: unexpected `and`"));
    }
}
