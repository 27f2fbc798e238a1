//! *applies*: every edit was located without ambiguity, and the guard allows every file.

use crate::ladder::{AttemptFacts, RungName, RungResult};

pub(crate) fn climb(attempt: &AttemptFacts) -> RungResult {
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
