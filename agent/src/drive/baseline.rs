//! The baseline: the unpatched tree builds, crashes, and is tested.

use super::{Drive, convert};
use crate::journal::JournalError;
use crate::progress::Notice;
use crate::record::{BaselineSummary, Crash, Ending, EndingKind, Outcome, SandboxRecord, StepId};
use patchwright_evaluator::test_report::{Status, TestReport};
use patchwright_evaluator::{Baseline, TargetError, TestRun};
use serde_json::json;
use std::io::ErrorKind;
use std::sync::Arc;

/// Number of times that a failing infrastructure is tried again before the run ends.
pub(super) const INFRASTRUCTURE_TRIES: u32 = 3;

impl Drive {
    pub(super) async fn baseline(&self, id: StepId) -> Result<Outcome, JournalError> {
        let summary =
            "building the unpatched tree, replaying every PoV, running the tests".to_owned();
        self.intend(id, "baseline", summary, json!({})).await?;
        Ok(match self.target_baseline().await {
            Ok(baseline) => {
                let sandbox = SandboxRecord::from(&baseline.isolation);
                let remark = format!("  sandbox: {sandbox}");
                self.parts.observer.tell(&Notice::Remark(&remark));
                Outcome::Baseline(self.summary(&baseline))
            }
            Err(ending) => Outcome::Stopped {
                ending,
                seconds: 0.0,
            },
        })
    }

    /// The baseline, made once and then remembered by the target.
    pub(super) async fn target_baseline(&self) -> Result<Arc<Baseline>, Ending> {
        let Some(target) = &self.parts.target else {
            return Err(Ending::new(
                EndingKind::InfraError,
                "a dry run has no target",
            ));
        };
        let mut tries = 0;
        loop {
            tries += 1;
            match target.baseline().await {
                Ok(baseline) => return Ok(baseline),
                Err(TargetError::Infrastructure { .. }) if tries < INFRASTRUCTURE_TRIES => {}
                Err(error) => return Err(ending(&error)),
            }
        }
    }

    fn summary(&self, baseline: &Baseline) -> BaselineSummary {
        let mut crashes: Vec<Crash> = Vec::new();
        let mut signatures = Vec::new();
        for report in baseline
            .povs
            .iter()
            .filter_map(|pov| pov.replay.crash.clone())
        {
            let signature = report.signature(&|frame| {
                frame
                    .file
                    .as_deref()
                    .is_some_and(|file| self.parts.tree.rebase(file).is_some())
            });
            if !signatures.contains(&signature) {
                signatures.push(signature);
                crashes.push(convert::crash_from_report(report, &self.parts.tree));
            }
        }
        BaselineSummary {
            crashes,
            tests: baseline.tests.as_ref().map_or_else(
                || {
                    "the task has none, so nothing but your care protects what works today."
                        .to_owned()
                },
                tests_in_words,
            ),
            has_tests: baseline.tests.is_some(),
            sandbox: Some(SandboxRecord::from(&baseline.isolation)),
            seconds: baseline.seconds,
        }
    }
}

fn tests_in_words(run: &TestRun) -> String {
    let mut all = TestReport::default();
    for report in run
        .reports
        .iter()
        .filter_map(|(name, bytes)| TestReport::read_file(name, bytes))
    {
        all.merge(report);
    }
    let (passed, failed) = (all.count(Status::Passed), all.count(Status::Failed));
    match (run.execution.ending.success(), passed + failed) {
        (true, 0) => "they pass on the unpatched tree and will be run on every patch.".to_owned(),
        (true, _) => format!("{passed} pass on the unpatched tree and will be run on every patch."),
        (false, 0) => {
            "they fail already on the unpatched tree; that is not held against a patch.".to_owned()
        }
        (false, _) => format!(
            "{passed} pass on the unpatched tree, {failed} fail already and are not held against a patch."
        ),
    }
}

/// Returns the ending that a failure of the target means.
pub fn ending(error: &TargetError) -> Ending {
    let with_log = |log: &str| {
        let lines: Vec<&str> = log.trim_end().lines().collect();
        let tail = lines
            .get(lines.len().saturating_sub(40)..)
            .unwrap_or_default()
            .join("\n");
        if tail.is_empty() {
            error.to_string()
        } else {
            format!("{error}\n{tail}")
        }
    };
    match error {
        TargetError::InvalidTask { log, .. } => Ending::new(EndingKind::InvalidTask, with_log(log)),
        TargetError::NotReproducible { log, .. } => {
            Ending::new(EndingKind::NotReproducible, with_log(log))
        }
        // Only a tree has paths that no system call takes: another try ends the same.
        TargetError::Infrastructure {
            source: Some(source),
            ..
        } if source.kind() == ErrorKind::InvalidFilename => Ending::new(
            EndingKind::InvalidTask,
            format!("the tree has a path that is too long: {error}"),
        ),
        TargetError::Infrastructure { .. } => {
            Ending::new(EndingKind::InfraError, error.to_string())
        }
        TargetError::Canceled => Ending::new(EndingKind::Canceled, error.to_string()),
    }
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
            let error = TargetError::Infrastructure {
                what: "cannot copy".to_owned(),
                where_: "/a".to_owned(),
                source: Some(kind.into()),
            };
            assert_eq!(ending(&error).kind, expected);
        }
    }
}
