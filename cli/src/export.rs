//! A finished run in forms that people and their tools take in: a folder with
//! its story, a mail for `git am`, a branch of a repository.
//!
//! Exports are read from the report and the journal; nothing is built,
//! asked or judged here, and no work tree is touched.

mod branch;
mod mbox;
mod story;

pub(crate) use branch::{Branch, make as make_branch};
pub(crate) use mbox::mail;
pub(crate) use story::story;

use patchwright_agent::report::{AttemptReport, Report};
use patchwright_source::visible_line;
use std::fmt::Write;

/// Author of an exported patch.
const AUTHOR: (&str, &str) = ("Patchwright", "patchwright@localhost");

/// The subject of a commit: one line, whatever the title holds.
fn subject(title: Option<&str>, report: &Report) -> String {
    let title = title.unwrap_or(&report.task);
    let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("Repair {}", visible_line(&line))
        .chars()
        .take(120)
        .collect()
}

/// The body of a commit: where it comes from first, so that no word of a model
/// is taken for a header.
fn message(report: &Report, attempt: &AttemptReport) -> String {
    let mut text = format!(
        "Written and checked by Patchwright: {} (run {}, candidate {}).\n",
        report.ending, report.run, attempt.number
    );
    if let Some(explanation) = &attempt.explanation {
        text.push('\n');
        for line in explanation.trim().lines() {
            let line = visible_line(line);
            // Such lines end a message or begin a patch.
            let marks = ["---", "diff -", "Index: ", "From "];
            let space = if marks.iter().any(|mark| line.starts_with(mark)) {
                " "
            } else {
                ""
            };
            let _ = writeln!(text, "{space}{line}");
        }
    }
    if !attempt.rungs.is_empty() {
        text.push_str("\nEvidence:\n");
    }
    for rung in &attempt.rungs {
        let word = match rung.holds {
            Some(true) => "holds",
            Some(false) => "DOES NOT HOLD",
            None => "could not be climbed",
        };
        let reason = visible_line(rung.reason.lines().next().unwrap_or_default());
        let _ = writeln!(text, "  {} {word}: {reason}", rung.name);
    }
    text
}

/// The whole message of a commit.
pub(crate) fn commit_message(
    title: Option<&str>,
    report: &Report,
    attempt: &AttemptReport,
) -> String {
    format!("{}\n\n{}", subject(title, report), message(report, attempt))
}

#[cfg(test)]
mod tests;
