//! Failures of a step: the ending that each means, and another try where the machinery failed.

use crate::journal::JournalError;
use crate::record::{Attempt, Ending, EndingKind};
use crate::repair::Run;
use patchwright_crash::feedback;
use patchwright_sandbox::SandboxError;
use patchwright_target::TargetError;
use std::io::ErrorKind;

/// Number of times that a failing infrastructure is tried before the run ends.
const INFRASTRUCTURE_TRIES: u32 = 3;

/// Why a step has no outcome of its own.
#[derive(Debug)]
pub(super) enum Failure {
    /// The run ends.
    Ends(Ending),
    /// The journal cannot be written.
    Journal(JournalError),
}

impl From<Ending> for Failure {
    fn from(ending: Ending) -> Self {
        Self::Ends(ending)
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Self::Ends(ending(&error))
    }
}

/// Returns the attempt that a step is about.
pub(super) fn known(run: &Run, number: u32) -> Result<&Attempt, Ending> {
    let missing = || Ending::new(EndingKind::InfraError, "the attempt of a step is missing");
    run.attempt(number).ok_or_else(missing)
}

/// Asks something of the target, and asks again when the machinery failed.
pub(super) async fn retried<T, W>(work: impl Fn() -> W) -> Result<T, TargetError>
where
    W: Future<Output = Result<T, TargetError>>,
{
    let mut tries = 0;
    loop {
        tries += 1;
        match work().await {
            Err(TargetError::Sandbox(SandboxError::Infrastructure { .. }))
                if tries < INFRASTRUCTURE_TRIES => {}
            other => return other,
        }
    }
}

/// Returns the last lines of a log that tell something, without colours.
pub fn last_lines(log: &str, count: usize) -> Vec<String> {
    let telling = log.lines().rev().filter_map(feedback::clean);
    let telling = telling.filter(|line| !matches!(line.trim(), "" | "[ERROR]"));
    let mut last: Vec<String> = telling.take(count).collect();
    last.reverse();
    last
}

/// Returns the ending that a failure of the target means.
pub fn ending(error: &TargetError) -> Ending {
    let with_log = |log: &str| {
        let tail = last_lines(log, 40).join("\n");
        if tail.is_empty() {
            error.to_string()
        } else {
            format!("{error}\n{tail}")
        }
    };
    let (kind, detail) = match error {
        TargetError::InvalidTask { log, .. } => (EndingKind::InvalidTask, with_log(log)),
        TargetError::NotReproducible { log, .. } => (EndingKind::NotReproducible, with_log(log)),
        // Only a tree has paths that no system call takes: another try ends the same.
        TargetError::Sandbox(SandboxError::Infrastructure {
            source: Some(source),
            ..
        }) if source.kind() == ErrorKind::InvalidFilename => {
            let detail = format!("the tree has a path that is too long: {error}");
            (EndingKind::InvalidTask, detail)
        }
        TargetError::Sandbox(SandboxError::Canceled) => (EndingKind::Canceled, error.to_string()),
        TargetError::Sandbox(_) => (EndingKind::InfraError, error.to_string()),
    };
    Ending::new(kind, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_too_long_is_the_fault_of_the_task() {
        for (kind, expected) in [
            (ErrorKind::InvalidFilename, EndingKind::InvalidTask),
            (ErrorKind::StorageFull, EndingKind::InfraError),
        ] {
            let error = TargetError::io("cannot copy", "/a", kind.into());
            assert_eq!(ending(&error).kind, expected);
        }
    }
}
