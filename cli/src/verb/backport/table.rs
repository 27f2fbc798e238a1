//! The result: a table for people, or a document for programs.

use super::branch::{Affected, Branch};
use super::fix::{Fix, Size};
use patchwright_agent::record::CommitRecord;
use patchwright_source::visible_line;
use serde_json::json;
use std::fmt::Write;

/// Returns the document.
pub(super) fn json(task: &str, fix: &Fix, branches: &[Branch]) -> serde_json::Result<String> {
    let all = json!({ "schema": 1, "task": task, "fix": fix, "branches": branches });
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

/// Returns the table: a line for each branch, and below it what has to be read.
pub(super) fn text(fix: &Fix, branches: &[Branch]) -> String {
    let named = fix.commit.as_ref().map(CommitRecord::in_words);
    let named = named.unwrap_or_else(|| "the candidate of a run".to_owned());
    let mut text = format!("{}: {}\n", visible_line(&named), in_words(fix.size));
    if !fix.left_out.is_empty() {
        let _ = writeln!(
            text,
            "not carried: {}",
            visible_line(&fix.left_out.join(", "))
        );
    }
    let names = branches
        .iter()
        .map(|branch| visible_line(&branch.name).chars().count());
    let width = names.chain([6]).max().unwrap_or_default();
    let _ = writeln!(
        text,
        "\n{:<width$}  affected  carried  verdict       size",
        "branch"
    );
    for branch in branches {
        let affected = match branch.affected {
            Affected::Yes => "yes",
            Affected::No => "no",
            Affected::Unknown => "unknown",
        };
        let carried = match (branch.carried, branch.affected) {
            (Some(carried), _) => carried.in_words(),
            (None, Affected::Yes) => "no",
            (None, _) => "-",
        };
        let verdict = branch.ending.as_deref().unwrap_or("-");
        let name = visible_line(&branch.name);
        let _ = writeln!(
            text,
            "{name:<width$}  {affected:<8}  {carried:<7}  {verdict:<12}  {}",
            size(branch)
        );
        for line in below(branch) {
            let _ = writeln!(text, "  {}", visible_line(&line));
        }
    }
    text
}

fn in_words(size: Size) -> String {
    format!("+{} -{}", size.added, size.removed)
}

fn size(branch: &Branch) -> String {
    match branch.size {
        None => "-".to_owned(),
        Some(size) if branch.unchanged => format!("{}, the lines of the original", in_words(size)),
        Some(size) => format!("{}, other lines than the original", in_words(size)),
    }
}

/// The lines below a branch.
fn below(branch: &Branch) -> Vec<String> {
    let mut lines = vec![branch.evidence.clone(), branch.detail.clone()];
    if !branch.missing.is_empty() {
        lines.push(format!("it lacks {}", branch.missing.join(", ")));
    }
    lines.extend(branch.run.as_ref().map(|run| format!("run {run}")));
    lines.extend(
        branch
            .mail
            .as_ref()
            .map(|mail| format!("mail {}", mail.display())),
    );
    lines.retain(|line| !line.is_empty());
    lines
}
