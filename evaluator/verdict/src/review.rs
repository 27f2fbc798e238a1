//! Rung *reviewed*: the diff deletes no functionality, hides no error, weakens no check.
//!
//! Rules over the text of the diff: cheap, deterministic, and written so that a right
//! patch passes. Whether the cause is treated is left to the critic that the agent may add.

mod brought;
mod code;
mod disguised;
mod literal;
mod removal;
mod suppression;
mod weakened;

use crate::attempt::{AttemptFacts, Ground};
use crate::evidence::{Doubt, Rung, RungName};
use crate::given_inputs;
pub(crate) use code::{bare, integer};
use patchwright_target::{Result, TargetError};
pub(crate) use suppression::ends_process;

use patchwright_source::{DiffLine, FileDiff, Side, SourceError, Tree, TreePath, visible_line};
use serde::Deserialize;
use std::fmt;

/// Bytes of a PoV that are compared with what the patch writes.
const POV_LIMIT: usize = 1 << 20;

pub(crate) fn climb((target, baseline, attempt): Ground<'_>) -> Result<Rung> {
    let open = |reason: &str| Rung::new(RungName::Reviewed, None, reason);
    let Some(mut files) = FileDiff::read(&attempt.diff) else {
        return Ok(open("a header of the diff cannot be read"));
    };
    files.extend(only_renamed(&files, attempt));
    if files.is_empty() {
        return Ok(open("there is no diff to read"));
    }
    let task = target.task();
    let tree = Tree::open(&task.tree).map_err(|error| TargetError::tree(&error, &task.tree))?;
    let mut before = baseline.povs.iter();
    let crash = before.find_map(|pov| pov.replay.crash.as_ref());
    let mut povs = given_inputs::povs(task)?;
    for pov in &mut povs {
        pov.truncate(POV_LIMIT);
    }
    let mut findings = Vec::new();
    for file in &files {
        let path = TreePath::new(file.path());
        let path = path.map_err(|error| TargetError::tree(&error, tree.root()))?;
        let old = pristine(&tree, &path, attempt)?;
        let case = Case {
            file,
            old: &old,
            kind: crash.map_or("", |crash| &crash.kind),
            povs: &povs,
        };
        findings.extend(apply(&case));
    }
    findings.extend(disguises(&tree, attempt)?);
    Ok(verdict(&findings))
}

/// Returns the files that are renamed and not changed otherwise, which have no lines in
/// the diff.
fn only_renamed(files: &[FileDiff], attempt: &AttemptFacts) -> Vec<FileDiff> {
    let renamed = attempt.changes.renamed.iter();
    let silent = renamed.filter(|(_, to)| files.iter().all(|file| file.path() != to.as_str()));
    let diff = |(from, _): (&TreePath, &TreePath)| FileDiff {
        old: Some(from.to_string()),
        ..FileDiff::default()
    };
    silent.map(diff).collect()
}

/// Returns the pristine text of a file; empty for a new file.
fn pristine(tree: &Tree, path: &TreePath, attempt: &AttemptFacts) -> Result<String> {
    match tree.read(attempt.changes.pristine_name(path)) {
        Ok(text) => Ok(String::from_utf8_lossy(text.bytes()).into_owned()),
        Err(SourceError::NotFound { .. }) => Ok(String::new()),
        Err(error) => Err(TargetError::tree(&error, tree.root())),
    }
}

/// Returns the findings on what is written otherwise than it reads. They look at the
/// bytes of the files, not at a diff of them.
fn disguises(tree: &Tree, attempt: &AttemptFacts) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (path, bytes) in &attempt.changes.files {
        let old = pristine(tree, path, attempt)?;
        let new = String::from_utf8_lossy(bytes);
        findings.extend(disguised::findings(path.as_str(), &old, &new));
    }
    let paths = attempt.changes.files.keys();
    for path in paths.chain(attempt.changes.renamed.values()) {
        let is_new = matches!(tree.read(path), Err(SourceError::NotFound { .. }));
        let finding = disguised::of_name(path.as_str()).filter(|_| is_new);
        findings.extend(finding.filter(|finding| !findings.contains(finding)));
    }
    Ok(findings)
}

fn verdict(findings: &[Finding]) -> Rung {
    let of = |weight| -> Vec<String> {
        let found = findings.iter().filter(|finding| finding.weight == weight);
        found.map(ToString::to_string).collect()
    };
    let (refuting, holding, told) = (of(Weight::Refutes), of(Weight::HoldsBack), of(Weight::Told));
    let result = match (refuting.first(), holding.first()) {
        (Some(first), _) => {
            let lead = "The patch silences the crash in a way that is not a repair";
            let feedback = format!("{lead}:\n{}\n", refuting.join("\n"));
            Rung::new(RungName::Reviewed, Some(false), first).feedback(feedback)
        }
        (None, Some(first)) => {
            let reason = format!("a critic or a person has to look at this first: {first}");
            Rung::new(RungName::Reviewed, None, reason)
        }
        (None, None) => Rung::new(RungName::Reviewed, Some(true), "no rule objects"),
    };
    let log: String = findings.iter().map(|one| format!("{one}\n")).collect();
    let doubts: Vec<Doubt> = holding.into_iter().chain(told).map(Doubt::new).collect();
    result
        .count("objections", refuting.len() as u64)
        .count("doubts", doubts.len() as u64)
        .log(log)
        .doubts(doubts)
}

/// One file of an attempt, and the facts that a rule may use.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    file: &'a FileDiff,
    /// The pristine text; empty for a new file.
    old: &'a str,
    /// The kind of the crash, in the tool's word.
    kind: &'a str,
    povs: &'a [Vec<u8>],
}

impl Case<'_> {
    /// Finds the lines of a side that show something.
    fn find(&self, side: Side, what: &str, shows: impl Fn(&DiffLine) -> bool) -> Vec<Finding> {
        let lines = self.file.lines(side).filter(|line| shows(line));
        lines
            .map(|line| Finding::new(self, Some(line), what))
            .collect()
    }
}

/// Meaning of a finding for the patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Weight {
    Refutes,
    /// A doubt that leaves the rung open until a critic or a person has looked at it.
    HoldsBack,
    /// A doubt that stands beside the patch.
    Told,
}

/// A finding of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    weight: Weight,
    path: String,
    line: Option<(u32, String)>,
    what: String,
}

impl Finding {
    fn new(case: &Case<'_>, line: Option<&DiffLine>, what: impl Into<String>) -> Self {
        Self {
            line: line.map(|line| (line.number(), line.text.trim().to_owned())),
            ..Self::of_file(case.file.path(), what)
        }
    }

    /// A finding about a whole file.
    fn of_file(path: &str, what: impl Into<String>) -> Self {
        Self {
            weight: Weight::Refutes,
            path: path.to_owned(),
            line: None,
            what: what.into(),
        }
    }

    fn weighing(mut self, weight: Weight) -> Self {
        self.weight = weight;
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, what) = (visible_line(&self.path), &self.what);
        match &self.line {
            Some((number, text)) => write!(f, "{path}:{number}: {what}: `{}`", visible_line(text)),
            None => write!(f, "{path}: {what}"),
        }
    }
}

/// Returns the lines of a patched hunk without comments and without empty lines.
fn patched(hunk: &[DiffLine]) -> Vec<(&DiffLine, String)> {
    code(hunk.iter().filter(|line| line.side != Side::Old))
}

/// Returns lines without comments and without empty lines.
fn code<'a>(lines: impl Iterator<Item = &'a DiffLine>) -> Vec<(&'a DiffLine, String)> {
    lines
        .map(|line| (line, bare(&line.text)))
        .filter(|(_, code)| !code.is_empty())
        .collect()
}

/// Applies all rules to one file.
fn apply(case: &Case<'_>) -> Vec<Finding> {
    let rules: [fn(&Case<'_>) -> Vec<Finding>; 13] = [
        suppression::forbidden_place,
        suppression::catches_everything,
        suppression::swallows_the_report,
        suppression::ends_the_process,
        brought::brought,
        removal::switched_off,
        removal::unreachable_rest,
        removal::lost_calls,
        removal::lost_assertions,
        literal::knows_the_pov,
        weakened::no_longer_refused,
        weakened::ends_as_if_done,
        weakened::only_padding,
    ];
    rules.iter().flat_map(|rule| rule(case)).collect()
}

#[cfg(test)]
mod tests;
