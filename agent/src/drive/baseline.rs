//! The baseline: the unpatched tree builds, crashes, and is tested.

use super::{Drive, convert};
use crate::journal::JournalError;
use crate::progress::Notice;
use crate::record::{
    BaselineSummary, Crash, Ending, EndingKind, Outcome, PovRecord, SandboxRecord, StepId,
};
use patchwright_evaluator::test_report::{Status, TestReport};
use patchwright_evaluator::{Baseline, TargetError, TestRun, feedback};
use patchwright_source::{Role, Tree};
use serde_json::json;
use std::io::ErrorKind;
use std::sync::Arc;

/// PoVs that are shown to whoever writes other inputs.
const MOST_POVS: usize = 3;
/// Lines of a harness before and after the one on the crash stack.
const HARNESS_LINES: usize = 80;
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
        let crashes_seen = crashes.clone();
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
            povs: self.pov_records(),
            harness: self.harness(&crashes_seen).unwrap_or_default(),
            sandbox: Some(SandboxRecord::from(&baseline.isolation)),
            seconds: baseline.seconds,
        }
    }
}

impl Drive {
    /// The PoVs as whoever writes other inputs is shown them.
    fn pov_records(&self) -> Vec<PovRecord> {
        let task = self.parts.target.as_ref().map(|target| target.task());
        let povs = task.into_iter().flat_map(|task| {
            let povs = task.povs.iter().take(MOST_POVS);
            povs.map(move |pov| (pov, task.commands.pov.as_deref()))
        });
        povs.map(|(pov, common)| PovRecord {
            name: pov.name(),
            command: pov
                .command
                .as_deref()
                .or(common)
                .unwrap_or_default()
                .to_owned(),
            text: feedback::input(&std::fs::read(&pov.file).unwrap_or_default()),
        })
        .collect()
    }

    /// The code of the outermost function of a crash stack whose file is at hand: in the
    /// tree, or in the task's folder.
    fn harness(&self, crashes: &[Crash]) -> Option<String> {
        let task = self.parts.target.as_ref()?.task();
        let folder = Tree::open(&task.task_folder).ok();
        let mut frames: Vec<_> = crashes
            .first()?
            .frames
            .iter()
            .filter(|frame| frame.role == Role::Crash)
            .collect();
        frames.sort_by_key(|frame| std::cmp::Reverse(frame.depth));
        frames.into_iter().find_map(|frame| {
            let file = frame.file.as_deref()?;
            let trees = [Some(self.parts.tree.as_ref()), folder.as_ref()];
            let text = trees.into_iter().flatten().find_map(|tree| {
                let found = tree.read(&tree.rebase(file)?).ok()?;
                Some(String::from_utf8_lossy(found.bytes()).into_owned())
            })?;
            let line = frame.line.unwrap_or(1) as usize;
            let from = line.saturating_sub(HARNESS_LINES);
            let lines = text.lines().skip(from).take(2 * HARNESS_LINES);
            Some(lines.collect::<Vec<_>>().join("\n"))
        })
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
