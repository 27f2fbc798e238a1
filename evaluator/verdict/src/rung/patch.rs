//! Rungs *applies* and *parses*: the findings of the patcher about the edits.

use crate::attempt::AttemptFacts;
use crate::evidence::{Doubt, Rung, RungName};
use patchwright_target::runner::TargetTask;

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
