//! Test feedback: the tests that a patch broke, each by name with the failing assertion
//! and its stack.

use super::excerpt::{clean, cut, excerpt, fold_lines, steady};
use super::{LocationTranslator, bytes};
use crate::crash::{FrameOrigin, read_java_frame};
use crate::test_report::{Comparison, TestReport};
use patchwright_source::counted;
use std::fmt::Write as _;

/// Broken tests that are shown in full. More seldom add information.
const SHOWN: usize = 12;
/// Further tests of which only the names are listed.
const NAMED: usize = 40;

/// Renders the broken tests within a budget; without names, an excerpt of the log.
pub fn tests(
    comparison: &Comparison,
    report: &TestReport,
    log: &str,
    places: &LocationTranslator<'_>,
    tokens: usize,
) -> String {
    let mut text = String::new();
    let limit = bytes(tokens);
    let number_of = |names: &[String]| counted(names.len() as u64, "test");
    if !comparison.broken.is_empty() {
        let count = number_of(&comparison.broken);
        let _ = writeln!(text, "{count} failing now and not before:");
        for name in comparison.broken.iter().take(SHOWN) {
            if text.len() > limit {
                break;
            }
            let share = (limit.saturating_sub(text.len()) / 2).clamp(600, limit.max(600));
            one(&mut text, name, report, places, share);
        }
        let further = comparison.broken.get(SHOWN..).unwrap_or_default();
        names(&mut text, "also", further);
    }
    if !comparison.missing.is_empty() {
        let count = number_of(&comparison.missing);
        let _ = writeln!(text, "\n{count} that passed before, not run now:");
        names(&mut text, "missing", &comparison.missing);
    }
    if !comparison.still_failing.is_empty() {
        let count = number_of(&comparison.still_failing);
        let _ = writeln!(text, "\n({count} failing with and without the patch.)");
    }
    let details = |name: &String| report.tests.get(name)?.details.as_ref();
    let told = comparison.broken.iter().any(|name| details(name).is_some());
    // The log may have the details that the results lack.
    if !told && limit > text.len() + 600 {
        let rest = (limit - text.len()) / super::BYTES_PER_TOKEN;
        let log = excerpt(log, places, rest.saturating_sub(20));
        if !log.is_empty() {
            let _ = write!(text, "\nThe tests printed:\n{log}\n");
        }
    }
    text
}

fn one(
    text: &mut String,
    name: &str,
    report: &TestReport,
    places: &LocationTranslator<'_>,
    limit: usize,
) {
    let _ = writeln!(text, "\n{}", steady(name));
    let Some(test) = report.tests.get(name) else {
        return;
    };
    let message = test.message.as_deref().unwrap_or_default();
    let details = test.details.as_deref().unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    let first = message.lines().next().unwrap_or_default();
    if !details.contains(first) || details.is_empty() {
        lines.extend(message.lines().map(str::to_owned));
    }
    lines.extend(own_lines(details));
    let shown: Vec<String> = fold_lines(&lines)
        .iter()
        .filter_map(|line| clean(line))
        .map(|line| format!("  {}", steady(&places.translate(&line))))
        .collect();
    text.push_str(&cut(&shown, limit));
    text.push('\n');
}

/// Returns the lines of a stack without the frames of the JDK and the test runner below
/// the test's own.
fn own_lines(details: &str) -> Vec<String> {
    let mut hidden = false;
    let mut kept = Vec::new();
    for line in details.lines() {
        match read_java_frame(line) {
            Some(frame) if FrameOrigin::of(&frame) == FrameOrigin::Runtime => hidden = true,
            _ => kept.push(line.to_owned()),
        }
    }
    if hidden && kept.iter().all(|line| read_java_frame(line).is_none()) {
        return details.lines().take(20).map(str::to_owned).collect();
    }
    kept
}

fn names(text: &mut String, word: &str, names: &[String]) {
    for name in names.iter().take(NAMED) {
        let _ = writeln!(text, "- {word}: {}", steady(name));
    }
    if names.len() > NAMED {
        let _ = writeln!(text, "- and {} more", names.len() - NAMED);
    }
}
