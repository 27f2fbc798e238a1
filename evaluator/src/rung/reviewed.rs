//! *reviewed*: the diff deletes no functionality, hides no error, weakens no check.
//!
//! These are rules over the text of the diff: cheap, the same every time, and
//! made so that a right patch passes. What only a reader can judge, whether the
//! cause is treated, is left to the critic that the agent may add.

pub(super) mod code;
pub(super) mod diff;
mod rules;

use crate::ladder::{AttemptFacts, RungName, RungResult};
use crate::target::{Baseline, Target};
use diff::FileDiff;
use patchwright_source::{Tree, TreePath};
use rules::{Case, Finding};

/// Bytes of a PoV that are compared with what the patch writes.
const POV_LIMIT: usize = 1 << 20;

pub(crate) fn climb(
    target: &dyn Target,
    baseline: &Baseline,
    attempt: &AttemptFacts,
) -> RungResult {
    let files = diff::read(&attempt.diff);
    if files.is_empty() {
        return RungResult::new(RungName::Reviewed, None, "there is no diff to read");
    }
    let task = target.task();
    let tree = Tree::open(&task.tree).ok();
    let kind = baseline
        .povs
        .iter()
        .find_map(|pov| pov.replay.crash.as_ref())
        .map(|crash| crash.kind.clone())
        .unwrap_or_default();
    let povs: Vec<Vec<u8>> = task
        .povs
        .iter()
        .filter_map(|pov| std::fs::read(&pov.file).ok())
        .map(|mut bytes| {
            bytes.truncate(POV_LIMIT);
            bytes
        })
        .collect();
    let mut findings = Vec::new();
    for file in &files {
        let old = tree.as_ref().and_then(|tree| pristine(tree, file));
        let case = Case {
            file,
            old: old.as_deref().unwrap_or_default(),
            kind: &kind,
            povs: &povs,
        };
        findings.extend(rules::apply(&case));
    }
    verdict(&findings)
}

fn pristine(tree: &Tree, file: &FileDiff) -> Option<String> {
    let path = TreePath::new(&file.path).ok()?;
    let text = tree.read(&path).ok()?;
    Some(String::from_utf8_lossy(text.bytes()).into_owned())
}

fn verdict(findings: &[Finding]) -> RungResult {
    let mut log = String::new();
    for finding in findings {
        log.push_str(&finding.to_string());
        log.push('\n');
    }
    let refuting: Vec<&Finding> = findings.iter().filter(|f| f.refutes).collect();
    let result = match refuting.first() {
        None => RungResult::new(RungName::Reviewed, Some(true), "no rule objects"),
        Some(first) => {
            let text: Vec<String> = refuting.iter().map(ToString::to_string).collect();
            RungResult::new(RungName::Reviewed, Some(false), first.to_string()).feedback(format!(
                "The patch silences the crash in a way that is not a repair:\n{}\n",
                text.join("\n")
            ))
        }
    };
    result
        .count("objections", refuting.len() as u64)
        .count("doubts", (findings.len() - refuting.len()) as u64)
        .log(log)
}

#[cfg(test)]
mod tests;
