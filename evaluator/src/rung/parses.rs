//! *parses*: the patch makes no syntax error that was not there before.

use crate::ladder::{AttemptFacts, RungName, RungResult};

pub(crate) fn climb(attempt: &AttemptFacts) -> RungResult {
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
