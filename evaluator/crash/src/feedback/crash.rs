//! Crash feedback: the purified report of a remaining crash or hang, and its differences
//! from the last one.

use super::excerpt::cut;
use super::{LocationTranslator, bytes};
use crate::crash::{CrashReport, Frame, FrameOrigin, describe_access, plain_name};
use crate::signature::{Change, compare};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Renders the crash of the patched program.
///
/// `before` is the crash of the previous attempt, or of the unpatched program.
pub fn crash(
    before: Option<&CrashReport>,
    now: &CrashReport,
    in_project: &dyn Fn(&Frame) -> bool,
    places: &LocationTranslator<'_>,
    tokens: usize,
) -> String {
    let mut now = now.clone();
    now.rebase(places.rebase);
    let mut text = String::new();
    if let Some(before) = before {
        let mut before = before.clone();
        before.rebase(places.rebase);
        let change = compare(&before, &now, in_project);
        text.push_str(match change {
            Change::Same => "It is the same crash as before.\n",
            Change::Moved => "The crash has moved.\n",
            Change::New => "It is a new crash, not the one of before.\n",
        });
        describe_change(&mut text, &before, &now, places);
        text.push('\n');
    }
    let report = places.translate(&now.purified);
    let lines: Vec<String> = report.lines().map(str::to_owned).collect();
    text.push_str(&cut(&lines, bytes(tokens).saturating_sub(text.len())));
    text.push('\n');
    text
}

/// Lists the differences in kind, access, position and functions on the stack.
fn describe_change(
    text: &mut String,
    before: &CrashReport,
    now: &CrashReport,
    places: &LocationTranslator<'_>,
) {
    let mut differs = |what: &str, old: &str, new: &str| {
        if old != new {
            let _ = writeln!(text, "- {what} before: {old}\n  {what} now: {new}");
        }
    };
    differs("kind", &before.kind, &now.kind);
    let access = |report: &CrashReport| {
        let words = report.access.as_ref().map(describe_access);
        let words = words.filter(|words| !words.is_empty());
        words.unwrap_or_else(|| "none".to_owned())
    };
    differs("access", &access(before), &access(now));
    let place = |report: &CrashReport| {
        let frame = report.first_project_frame();
        frame.map_or_else(|| "unknown".to_owned(), ToString::to_string)
    };
    differs("place", &place(before), &places.translate(&place(now)));
    let (old, new) = (functions(before), functions(now));
    for (words, one, other) in [("no longer", &old, &new), ("new", &new, &old)] {
        let names: Vec<&str> = one.difference(other).map(String::as_str).take(8).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "- {words} on the stack: {}", names.join(", "));
        }
    }
}

fn functions(report: &CrashReport) -> BTreeSet<String> {
    let stack = report.main_stack().into_iter();
    stack
        .flat_map(|stack| &stack.frames)
        .filter(|frame| FrameOrigin::of(frame) == FrameOrigin::Project)
        .map(|frame| plain_name(&frame.function))
        .collect()
}
