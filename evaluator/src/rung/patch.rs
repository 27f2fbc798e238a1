//! Rungs *applies* and *parses*: the findings of the patcher about the edits.

use crate::attempt::AttemptFacts;
use crate::evidence::{RungName, RungResult};

/// Climbs *applies*: every edit was located without ambiguity, and the guard allows every file.
pub(crate) fn applies(attempt: &AttemptFacts) -> RungResult {
    match &attempt.applies {
        Ok(()) if attempt.changes.is_empty() => {
            RungResult::new(RungName::Applies, Some(false), "the patch changes nothing")
                .feedback("The patch changes nothing: the files are as they were before.")
        }
        Ok(()) => {
            let files = attempt.files().len() as u64;
            RungResult::new(RungName::Applies, Some(true), "every edit was located")
                .count("files", files)
        }
        Err(refusal) => RungResult::new(
            RungName::Applies,
            Some(false),
            refusal.lines().next().unwrap_or("an edit was refused"),
        )
        .feedback(refusal),
    }
}

/// Climbs *parses*: the patch makes no syntax error that was not there before.
pub(crate) fn parses(attempt: &AttemptFacts) -> RungResult {
    match &attempt.parses {
        Ok(()) => RungResult::new(RungName::Parses, Some(true), "no new syntax error"),
        Err(errors) => RungResult::new(
            RungName::Parses,
            Some(false),
            errors.lines().next().unwrap_or("a new syntax error"),
        )
        .feedback(errors),
    }
}
