//! The report of a run, as programs read it and as people do.

use crate::probability;
use crate::record::{
    Attempt, CommitRecord, Cost, Crash, CrashFrame, CrashHistory, Doubt, DoubtedInput, EndingKind,
    Observed, Rung, Seconds, SmallestRecord,
};
use crate::repair::Run;
use patchwright_sandbox::Isolation;
use patchwright_source::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the report's shape.
const SCHEMA: u32 = 1;

/// In place of an ending: no model can answer before a time.
const PAUSED: &str = "paused";

/// In place of an ending: somebody stopped it, and it can go on.
pub const INTERRUPTED: &str = "interrupted";

/// The report of a run: its ending, its attempts with their evidence, its cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The version of this shape: 1. Fields may be added to it.
    pub schema: u32,
    /// The run's id.
    pub run: String,
    /// The task's id.
    pub task: String,
    /// The ending of the run in one word: `verified`, `plausible`, `no_patch`, ...
    pub ending: String,
    /// Why it ended so, for people.
    pub detail: String,
    /// The commands on the unpatched tree. Absent when none was run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baseline: Vec<Observed>,
    /// The crash that is repaired. Absent where none was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<CrashSummary>,
    /// The commit upstream after which the PoVs do not crash any more. Absent when none was
    /// sought or found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_by: Option<CommitRecord>,
    /// The commit after which the PoVs crash. Absent when none was sought or found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introduced_by: Option<CommitRecord>,
    /// The smallest input that shows the crash. Absent when none was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest: Option<SmallestRecord>,
    /// The attempt with the strongest evidence.
    pub best: Option<AttemptReport>,
    /// All attempts, in the order in which they were made.
    pub attempts: Vec<AttemptReport>,
    /// Rounds of retrieval.
    pub rounds: u32,
    /// Cost of the run.
    pub cost: Cost,
    /// Times of the run.
    pub seconds: Seconds,
    /// Where the model's answers came from: `live from MODEL` (with `; answered by OTHER` where
    /// answers bear another name), `recorded in FILE`, `recorded in the journal of RUN` or `none`.
    pub answers: String,
    /// The isolation that the commands ran in. Absent when none ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Isolation>,
}

/// The crash that is repaired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashSummary {
    /// The kind, in the tool's own word: `heap-buffer-overflow`.
    pub kind: String,
    /// One line for people.
    pub summary: String,
    /// The function of the project in which it was noticed.
    pub function: Option<String>,
    /// Its file, relative to the tree.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// The signature by which crashes are compared. Absent when none was seen here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// One patch and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptReport {
    /// Its number, counted from 1.
    pub number: u32,
    /// The lane that made it.
    pub lane: u32,
    /// The unified diff against the unpatched tree.
    pub diff: String,
    /// The diff holds bytes that are no UTF-8: each of its characters stands for
    /// the byte of the same number (ISO 8859-1). Absent when it is false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub latin1: bool,
    /// Its author sent another patch in place of it. Absent when it is false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
    /// The model's explanation of the patch.
    pub explanation: Option<String>,
    /// Warnings about the patch, such as an edit that was left out. Absent when there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The evidence, one rung of the ladder after the other.
    pub rungs: Vec<RungReport>,
    /// Probability that the patch is right, by its evidence. Absent while no weights are
    /// fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_right: Option<f64>,
    /// The figures of the evidence that this probability is made of.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, f64>,
    /// Regression test that goes with the patch. Absent when none was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<TestReport>,
}

/// Regression test of a patch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestReport {
    /// Its own unified diff against the unpatched tree; empty when there is none.
    pub diff: String,
    /// True when it fails without the patch and passes with it.
    pub holds: bool,
    /// True when it also fails on each refuted attempt that it was run on.
    pub strong: bool,
    /// True when it is a script that runs the PoV, false when it is in the project's own
    /// framework.
    pub script: bool,
    /// The reason why it holds or not.
    pub reason: String,
}

/// Observation at one rung.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RungReport {
    /// The rung: `applies`, `parses`, `builds`, `silent`, `tested`, `robust`,
    /// `same elsewhere` or `reviewed`.
    pub name: String,
    /// The result. `null`: the rung could not be climbed.
    pub holds: Option<bool>,
    /// Why, for people.
    pub reason: String,
    /// Duration in seconds.
    pub seconds: f64,
    /// The log: a file below the `--out` folder, or a hash in the store.
    pub log: Option<String>,
    /// Counts of inputs, tests and so on, by name.
    pub counts: BTreeMap<String, u64>,
    /// Inputs that refuted the patch: files below the `--out` folder, or hashes
    /// in the store. Absent when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// Observations that speak against the patch and may be wrong. Absent when there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<DoubtReport>,
}

/// An observation that somebody has to weigh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoubtReport {
    /// The observation, in one line.
    pub what: String,
    /// The experiment or the opinion that settled it. Absent while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<String>,
    /// The author's reason why the new behaviour is right. Absent when the author was
    /// not heard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contested: Option<String>,
    /// The input that shows it: a file below the `--out` folder, or a hash in the
    /// store. Absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The difference of that input to the PoV.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub change: String,
    /// End and output of the unpatched program on that input.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// The same of the patched program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub after: String,
}

impl Report {
    /// The report of a run that has ended.
    pub fn of(run: &Run, id: &str, task: &str, answers: &str) -> Self {
        let spent = run.spent();
        let baseline = run.baseline.clone();
        let signature = baseline.signatures.first().cloned();
        let (ending, detail) = match (run.ending(), run.paused()) {
            (Some(ending), _) => (ending.kind.as_str(), ending.detail.clone()),
            (None, Some((until, reason))) => (
                PAUSED,
                format!("until {until}: {reason}; go on with: patchwright resume {id}"),
            ),
            (None, None) => (
                INTERRUPTED,
                format!("stopped by request; go on with: patchwright resume {id}"),
            ),
        };
        Self {
            ending: ending.to_owned(),
            detail,
            schema: SCHEMA,
            run: id.to_owned(),
            task: task.to_owned(),
            baseline: baseline.observed,
            crash: run
                .crash()
                .and_then(|crash| crash_summary(crash, signature)),
            fixed_by: None,
            introduced_by: None,
            smallest: run.smallest.clone(),
            best: run.best().map(attempt_report),
            attempts: run.attempts().iter().map(attempt_report).collect(),
            rounds: spent.rounds,
            cost: spent.cost,
            seconds: spent.seconds,
            answers: answers.to_owned(),
            sandbox: baseline.sandbox,
        }
    }

    /// Returns the diff of the commit that fixed the crash upstream, where it is no patch
    /// for this tree.
    pub fn foreign_fix(&self) -> Option<&str> {
        let placed = self.best.as_ref().is_some_and(|best| !best.diff.is_empty());
        let fix = self.fixed_by.as_ref().filter(|_| !placed)?;
        Some(&fix.diff)
    }

    /// Adds the history of the crash; the detail names a commit that fixed it.
    #[must_use]
    pub fn with_history(mut self, history: CrashHistory) -> Self {
        if let Some(fix) = &history.fixed_by {
            let ending = EndingKind::read(&self.ending);
            let holds = matches!(ending, Some(EndingKind::Verified | EndingKind::Plausible));
            let here = if holds {
                "its changes to the code hold here as a patch"
            } else {
                "its changes to the code are no patch for this tree, so take a later version"
            };
            let commit = fix.in_words();
            self.detail = format!("already fixed by {commit}; {here}: {}", self.detail);
        }
        self.fixed_by = history.fixed_by;
        self.introduced_by = history.introduced_by;
        self
    }
}

impl AttemptReport {
    /// The diff of the regression test that holds.
    pub fn test_diff(&self) -> Option<&str> {
        let test = self.test.as_ref().filter(|test| test.holds)?;
        Some(&test.diff)
    }

    /// The diff as `git apply` takes it, with the regression test behind it.
    pub fn delivered_bytes(&self) -> Vec<u8> {
        let mut bytes = self.diff_bytes();
        bytes.extend_from_slice(self.test_diff().unwrap_or_default().as_bytes());
        bytes
    }

    /// The diff as `git apply` takes it.
    pub fn diff_bytes(&self) -> Vec<u8> {
        if !self.latin1 {
            return self.diff.clone().into_bytes();
        }
        let characters = self.diff.chars();
        characters
            .map(|one| u8::try_from(one).unwrap_or(b'?'))
            .collect()
    }
}

fn crash_summary(crash: &Crash, signature: Option<String>) -> Option<CrashSummary> {
    let own = |frame: &&CrashFrame| {
        let file = frame.file.as_deref();
        frame.role == Role::Crash && file.is_some_and(|file| !file.starts_with('/'))
    };
    let frame = crash.frames.iter().find(own);
    (!crash.kind.is_empty()).then(|| CrashSummary {
        kind: crash.kind.clone(),
        summary: crash.summary.clone(),
        function: frame.map(|frame| frame.function.clone()),
        file: frame.and_then(|frame| frame.file.clone()),
        line: frame.and_then(|frame| frame.line),
        signature,
    })
}

fn attempt_report(attempt: &Attempt) -> AttemptReport {
    AttemptReport {
        number: attempt.number,
        lane: attempt.lane,
        diff: attempt.diff.clone(),
        latin1: attempt.latin1,
        withdrawn: attempt.withdrawn,
        explanation: attempt.patch.explanation.clone(),
        warnings: attempt.warnings.clone(),
        rungs: attempt.rungs.iter().map(rung_report).collect(),
        p_right: probability::of_right(attempt),
        features: probability::features(attempt),
        test: attempt.regression.as_ref().map(|test| TestReport {
            diff: test.diff.clone(),
            holds: test.holds,
            strong: test.is_strong(),
            script: test.script,
            reason: test.reason.clone(),
        }),
    }
}

fn rung_report(rung: &Rung) -> RungReport {
    let found = rung.found.iter();
    let found = found.map(|input| input.blob.hash().to_owned());
    RungReport {
        name: rung.name.as_str().to_owned(),
        holds: rung.holds,
        reason: rung.reason.clone(),
        seconds: rung.seconds,
        log: (!rung.log.is_empty()).then(|| rung.log.hash().to_owned()),
        counts: rung.counts.clone(),
        found: found.collect(),
        doubts: rung.doubts.iter().map(doubt_report).collect(),
    }
}

fn doubt_report(doubt: &Doubt) -> DoubtReport {
    let input = doubt.input.as_ref();
    let text = |of: fn(&DoubtedInput) -> &String| input.map(of).cloned().unwrap_or_default();
    DoubtReport {
        what: doubt.what.clone(),
        settled: doubt.settled.clone(),
        contested: doubt.contested.clone(),
        input: input.map(|input| input.blob.hash().to_owned()),
        change: text(|input| &input.change),
        before: text(|input| &input.before),
        after: text(|input| &input.after),
    }
}

#[cfg(test)]
mod tests {
    use super::Report;
    use schemars::generate::SchemaSettings;
    use std::path::Path;

    /// After a change of the report, `UPDATE_SCHEMA=1` writes the file anew.
    #[test]
    fn the_documented_schema_is_that_of_the_report() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/report.schema.json");
        let settings = SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<Report>();
        let schema = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let documented = std::fs::read_to_string(&file).unwrap_or_default();
        if option_env!("UPDATE_SCHEMA").is_some() {
            std::fs::write(&file, &schema).unwrap();
        }
        assert!(
            documented == schema,
            "docs/report.schema.json is not the schema of the report"
        );
    }
}
