//! The baseline: the unpatched tree builds, crashes, and is tested.

use super::Drive;
use super::failure::{Failure, ending, last_lines, retried};
use super::task_files::{TaskFile, files_named};
use crate::journal::Result;
use crate::progress::Notice;
use crate::record::{
    BaselineSummary, Crash, Ending, EndingKind, Observed, Outcome, PovRecord, StepId,
};
use itertools::Itertools;
use patchwright_crash::test_report::Status;
use patchwright_crash::{TestReport, feedback, rebased};
use patchwright_retrieval::function_around;
use patchwright_source::{Language, Role, Tree};
use patchwright_target::{Baseline, BaselinePov, Target, TargetError, TargetTask, TestRun, advice};
use serde_json::json;
use std::cmp::Reverse;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// PoVs that are shown to whoever writes other inputs.
const MOST_POVS: usize = 3;
/// Lines of a harness before and after the one on the crash stack.
const HARNESS_LINES: u32 = 80;
/// First lines of the function of a harness, where the others begin within it.
const HARNESS_HEAD: u32 = 40;
/// Interval at which the part of the baseline that is being made is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Names of failing tests that are told, and lines of their log.
const SHOWN_NAMES: usize = 5;
/// Names of tests that the model is told.
const PROMPTED_NAMES: usize = 12;
const SHOWN_LINES: usize = 8;
/// The end of the names of functions that a fuzzer's driver calls.
const OF_FUZZERS: &str = "TestOneInput";

impl Drive {
    /// Makes the baseline; `reported` is the crash that the task brought along.
    pub(super) async fn baseline(
        &self,
        id: StepId,
        reported: Option<&Crash>,
    ) -> Result<Outcome, Failure> {
        let summary =
            "building the unpatched tree, replaying every PoV, running the tests".to_owned();
        self.intend(id, "baseline", summary, json!({})).await?;
        let made = self.target_baseline().await;
        let baseline = made.map_err(|mut ending| {
            if let (EndingKind::NotReproducible, Some(crash), Some(target)) =
                (ending.kind, reported, &self.parts.target)
                && let Some(cause) = advice::of_report(target.task(), &crash.text)
            {
                tell_cause(&mut ending, &cause);
            }
            ending
        })?;
        let sandbox = baseline.isolation.clone();
        self.parts.observer.remark(&format!("  sandbox: {sandbox}"));
        let observed = self.observed(&baseline).await?;
        Ok(Outcome::Baseline(BaselineSummary {
            sandbox: Some(sandbox),
            observed,
            ..self.summary(&baseline)
        }))
    }

    /// The baseline, made once and then remembered by the target.
    pub(super) async fn target_baseline(&self) -> Result<Arc<Baseline>, Ending> {
        let target = self.target()?;
        let made = retried(|| self.watched(target.as_ref())).await;
        made.map_err(|error| explained(target.task(), &error))
    }

    /// Makes the baseline and tells its parts as they begin.
    async fn watched(&self, target: &dyn Target) -> Result<Arc<Baseline>, TargetError> {
        let mut baseline = target.baseline();
        let mut look = tokio::time::interval(LOOK);
        let mut told = None;
        loop {
            tokio::select! {
                biased;
                done = &mut baseline => return done,
                _ = look.tick() => {
                    let doing = target.doing();
                    if let Some(part) = doing.as_ref().filter(|_| doing != told) {
                        self.parts.observer.tell(&Notice::Part(part));
                    }
                    told = doing;
                }
            }
        }
    }

    fn summary(&self, baseline: &Baseline) -> BaselineSummary {
        let mut crashes: Vec<Crash> = Vec::new();
        let mut signatures: Vec<String> = Vec::new();
        let povs = baseline.povs.iter();
        for report in povs.filter_map(|pov| pov.replay.crash.clone()) {
            let is_own = |file: &str| self.parts.tree.rebase(file).is_some();
            let signature = report.signature(&|frame| frame.file.as_deref().is_some_and(is_own));
            let signature = signature.to_string();
            if !signatures.contains(&signature) {
                signatures.push(signature);
                crashes.push(Crash::from(rebased(report, &self.parts.tree)));
            }
        }
        let without =
            || "the task has none, so nothing but your care protects what works today.".to_owned();
        BaselineSummary {
            harness: self.harness(&crashes).unwrap_or_default(),
            crashes,
            signatures,
            tests: (baseline.tests.as_ref()).map_or_else(without, tests_in_words),
            has_tests: baseline.tests.is_some(),
            povs: self.pov_records(),
            seconds: baseline.seconds,
            ..BaselineSummary::default()
        }
    }

    /// Tells what every command did, and keeps its log.
    async fn observed(&self, baseline: &Baseline) -> Result<Vec<Observed>> {
        let mut observed = Vec::new();
        for (name, build) in &baseline.builds {
            let name = format!("build {name}").trim_end().to_owned();
            let text = format!("succeeds ({:.1} s)", build.execution.seconds);
            observed.push((name, true, text, &build.execution));
        }
        for pov in &baseline.povs {
            let (good, text) = pov_in_words(pov);
            observed.push((pov.name.clone(), good, text, &pov.replay.execution));
        }
        if let Some(tests) = &baseline.tests {
            let good = tests.execution.ending.success();
            let text = tests_for_people(tests);
            observed.push(("tests".to_owned(), good, text, &tests.execution));
        }
        let mut kept = Vec::new();
        for (name, good, text, execution) in observed {
            let log = Some(self.journal.keep(execution.text().as_bytes()).await?);
            kept.push(Observed {
                name,
                good,
                text,
                log,
            });
        }
        if baseline.tests.is_none() {
            kept.push(Observed {
                name: "tests".to_owned(),
                good: false,
                text: "there are none: the best ending is plausible (commands.test)".to_owned(),
                log: None,
            });
        }
        Ok(kept)
    }

    /// The PoVs as whoever writes other inputs is shown them.
    fn pov_records(&self) -> Vec<PovRecord> {
        let Some(task) = self.parts.target.as_ref().map(|target| target.task()) else {
            return Vec::new();
        };
        let povs = task.povs.iter().take(MOST_POVS);
        povs.map(|pov| {
            let command = pov.command.as_ref().or(task.commands.pov.as_ref());
            let command = command.cloned().unwrap_or_default();
            let beside = files_named(&command, &task.task_folder).unwrap_or_default();
            let texts = beside.iter().filter_map(TaskFile::text);
            let texts = texts.map(|(name, text)| format!("{name}:\n{text}"));
            PovRecord {
                name: pov.name(),
                beside: texts.collect(),
                command,
                text: match std::fs::read(&pov.file) {
                    Ok(bytes) => feedback::input(&bytes),
                    Err(error) => format!("(it cannot be read: {error})"),
                },
            }
        })
        .collect()
    }

    /// Returns the code of the harness: of the function that a fuzzer's driver calls, else of the
    /// outermost one of a crash stack, whose file is at hand in the tree or in the task's folder.
    fn harness(&self, crashes: &[Crash]) -> Option<String> {
        let task = self.parts.target.as_ref()?.task();
        let folder = Tree::open(&task.task_folder).ok();
        let frames = crashes.first()?.frames.iter();
        let mut frames: Vec<_> = frames.filter(|one| one.role == Role::Crash).collect();
        let is_harness = |function: &str| function.ends_with(OF_FUZZERS);
        frames.sort_by_key(|frame| (!is_harness(&frame.function), Reverse(frame.depth)));
        frames.into_iter().find_map(|frame| {
            let file = frame.file.as_deref()?;
            let trees = [Some(self.parts.tree.as_ref()), folder.as_ref()];
            trees.into_iter().flatten().find_map(|tree| {
                let path = tree.rebase(file)?;
                let found = tree.read(&path).ok()?;
                let language = Language::of(&path, found.bytes());
                let line = frame.line.unwrap_or(1);
                Some(function_at(language, found.bytes(), line))
            })
        })
    }
}

/// Returns the lines around a line; where they begin within a function, its beginning, which
/// says what the program is given, takes the place of some of them.
fn function_at(language: Option<Language>, code: &[u8], line: u32) -> String {
    let text = String::from_utf8_lossy(code);
    let shown = |first: u32, last: u32| {
        let first = first.max(1);
        let count = last.saturating_sub(first).saturating_add(1) as usize;
        let lines = text.lines().skip(first as usize - 1);
        lines.take(count).join("\n")
    };
    let around = |reach: u32| (line.saturating_sub(reach), line.saturating_add(reach));
    let (from, to) = around(HARNESS_LINES);
    let function = language.and_then(|language| function_around(language, code, line));
    let Some((_, function)) = function.filter(|(_, function)| function.first < from) else {
        return shown(from, to);
    };
    let (from, to) = around(HARNESS_LINES - HARNESS_HEAD / 2);
    let head = function.first + HARNESS_HEAD;
    if from <= head {
        return shown(function.first, to);
    }
    format!(
        "{}\n[... {} lines not shown ...]\n{}",
        shown(function.first, head - 1),
        from - head,
        shown(from, to)
    )
}

/// Tells what a PoV did, and whether it crashed.
fn pov_in_words(pov: &BaselinePov) -> (bool, String) {
    let runs = format!("{} of {} runs", pov.crashes, pov.runs);
    let seen = match (&pov.replay.crash, &pov.replay.outcome) {
        (Some(crash), _) => crash.summary.clone(),
        (None, patchwright_target::Outcome::NotRun(reason)) => reason.clone(),
        (None, _) => pov.replay.execution.ending.to_string(),
    };
    let verb = if pov.reproduces() {
        "crashes"
    } else {
        "does not crash here"
    };
    (pov.reproduces(), format!("{verb} ({runs}): {seen}"))
}

/// Tells how the tests ended; where some fail, their names, the end of the log and
/// the likely cause.
fn tests_for_people(run: &TestRun) -> String {
    let report = run.report();
    let (passed, failed) = (report.count(Status::Passed), report.count(Status::Failed));
    let mut text = match passed + failed {
        0 => format!("{}; no single tests recognised", run.execution.ending),
        _ => format!("{passed} passed, {failed} failed"),
    };
    let names = report.failed().map(|(name, _)| name);
    let names: Vec<&str> = names.take(SHOWN_NAMES).collect();
    if !names.is_empty() {
        let _ = write!(text, ": {} (not held against a patch)", names.join(", "));
    }
    if !run.execution.ending.success() {
        for line in last_lines(&run.execution.text(), SHOWN_LINES) {
            let _ = write!(text, "\n  | {line}");
        }
    }
    if let Some(advice) = advice::of_tests(run) {
        let _ = write!(text, "\n  likely cause: {advice}");
    }
    text
}

fn tests_in_words(run: &TestRun) -> String {
    let report = run.report();
    let (passed, failed) = (report.count(Status::Passed), report.count(Status::Failed));
    if let Some(why) = run.nothing_run() {
        return format!("{why}, so they show nothing.");
    }
    match (run.execution.ending.success(), passed + failed) {
        (true, 0) => "they pass on the unpatched tree and will be run on every patch.".to_owned(),
        (true, _) => format!(
            "{passed} pass on the unpatched tree and will be run on every patch: {}.",
            named(&report)
        ),
        (false, 0) => {
            "they fail already on the unpatched tree; that is not held against a patch.".to_owned()
        }
        (false, _) => format!(
            "{passed} pass on the unpatched tree, {failed} fail already and are not held against a patch."
        ),
    }
}

/// Names the first tests of a report that pass, which say what is covered.
fn named(report: &TestReport) -> String {
    let passed = report.tests.iter();
    let passed = passed.filter(|(_, result)| result.status == Status::Passed);
    let shown = passed.map(|(name, _)| name).take(PROMPTED_NAMES).join(", ");
    match report.count(Status::Passed).saturating_sub(PROMPTED_NAMES) {
        0 => shown,
        rest => format!("{shown} and {rest} more"),
    }
}

/// Returns the ending that a failed baseline means, with the commands as they were
/// run and the likely causes.
fn explained(task: &TargetTask, error: &TargetError) -> Ending {
    let mut explained = ending(error);
    if !matches!(error, TargetError::Sandbox(_)) {
        for command in advice::commands_as_run(task) {
            let _ = write!(explained.detail, "\nas run: {command}");
        }
        for cause in advice::of_failure(task, error) {
            tell_cause(&mut explained, &cause);
        }
    }
    explained
}

fn tell_cause(ending: &mut Ending, cause: &str) {
    let _ = write!(ending.detail, "\nlikely cause: {cause}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_harness_is_shown_from_the_beginning_of_its_function() {
        let code: String = [String::from("int unrelated;\n\nint main(int argc) {\n")]
            .into_iter()
            .chain((4..=300).map(|line| format!("  step({line});\n")))
            .chain([String::from("}\n\nint after;\n")])
            .collect();
        let shown = |line| function_at(Some(Language::C), code.as_bytes(), line);
        let lines = |line| -> Vec<String> { shown(line).lines().map(str::to_owned).collect() };
        // All of it is near, its beginning is, and it is not.
        let (all, near, far) = (lines(50), lines(90), lines(290));
        assert_eq!((all[0].as_str(), all.len()), ("int unrelated;", 130));
        assert_eq!(
            (near[0].as_str(), near.len()),
            ("int main(int argc) {", 148)
        );
        assert_eq!(far[0], "int main(int argc) {");
        assert_eq!(far[40], "[... 187 lines not shown ...]");
        assert_eq!(
            (far[41].as_str(), far.last().unwrap().as_str()),
            ("  step(230);", "int after;")
        );
        assert_eq!(shown(u32::MAX), "");
        assert!(function_at(None, code.as_bytes(), 290).starts_with("  step(210);"));
    }
}
