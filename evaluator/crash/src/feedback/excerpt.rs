//! Log excerpt: the beginning and the end of a log, without noise and repetitions.

use super::{LocationTranslator, bytes};
use crate::crash::{ends, fold, phrases, scrub, visible};
use patchwright_source::{Pattern, regex};
use std::fmt::Write as _;

/// The longest line that is shown, in bytes.
const MAX_LINE: usize = 400;
/// The bytes of a log that are read, half from each end.
const MAX_LOG: usize = 4 * 1024 * 1024;
/// Divisor of the budget for the beginning, which shows the commands; errors stand at
/// the end.
const HEAD_SHARE: usize = 3;

static TIMES: Pattern = Pattern::new(
    r"(?x) (?P<iso>[0-9]{4}-[0-9]{2}-[0-9]{2}[T\ ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?
               (?:Z|[+-][0-9]{2}:?[0-9]{2})?)
        | (?P<clock>\b[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?\b)
        | (?P<span>(?i:\b(?:in|time|elapsed|took|after|real|user|sys|time\ elapsed)[:=]?\s+|\()
            [0-9]+(?:[.,:][0-9]+)*\s?(?:ms|s|sec|secs|seconds|minutes|m)\b\)?)
        | (?P<sec>\s[0-9]+\.[0-9]+\s(?:sec|s)\b)",
);

/// Removes the parts of a text that differ from run to run: addresses, process ids,
/// temporary paths, times.
pub fn steady(text: &str) -> String {
    TIMES.replace_all(&scrub(text), "<time>").into_owned()
}

/// Cleans a line of colours and overwritten text; none for noise.
pub fn clean(line: &str) -> Option<String> {
    let mut line = visible(line).into_owned();
    line.retain(|c| !c.is_control() || c == '\t');
    let text = line.trim();
    let progress = phrases::find("progress", |noise| text.starts_with(noise)).is_some();
    (!progress && !is_progress(text)).then(|| crate::crash::shorten(line.trim_end(), MAX_LINE))
}

/// `[ 45%] Building C object ..`, `[12/80] Compiling ..`, `#######  12.3%`.
fn is_progress(text: &str) -> bool {
    if text.starts_with('[') {
        let counted = regex!(r"^\[\s*[0-9]+(?:%|/[0-9]+)\s*\]").is_match(text);
        return counted && !text.contains("rror");
    }
    text.ends_with('%') && text.trim_start_matches(['#', ' ', '=', '>', '.']).len() < 8
}

/// Returns the beginning and the end of a log within a budget.
pub fn excerpt(log: &str, places: &LocationTranslator<'_>, tokens: usize) -> String {
    let (head, tail) = ends(log, MAX_LOG);
    let lines = head.lines().chain(tail.lines());
    let lines = lines.filter_map(clean).skip_while(String::is_empty);
    let mut lines: Vec<String> = lines.collect();
    lines.dedup_by(|line, last| line.is_empty() && last.is_empty());
    let lines = fold_lines(&lines);
    let text: Vec<String> = lines
        .iter()
        .map(|line| steady(&places.translate(line)))
        .collect();
    cut(&text, bytes(tokens))
}

/// Folds repeated lines and groups of lines.
pub(super) fn fold_lines(lines: &[String]) -> Vec<String> {
    let mut folded = Vec::new();
    for run in fold(lines) {
        let turn = lines
            .get(run.start..run.start + run.period)
            .unwrap_or_default();
        folded.extend(turn.iter().cloned());
        if run.times > 1 {
            folded.push(match run.period {
                1 => "(the line above repeats many times)".to_owned(),
                period => format!("(the {period} lines above repeat many times)"),
            });
        }
    }
    folded
}

/// Returns the first and the last lines that fit, and the number of lines left out.
pub(super) fn cut(lines: &[String], limit: usize) -> String {
    let size = |lines: &[String]| lines.iter().map(|line| line.len() + 1).sum::<usize>();
    if size(lines) <= limit {
        return lines.join("\n").trim_matches('\n').to_owned();
    }
    let fitting = |lines: &mut dyn Iterator<Item = &String>, limit: usize| {
        let mut used = 0;
        lines
            .take_while(|line| {
                used += line.len() + 1;
                used <= limit
            })
            .count()
    };
    let head = fitting(&mut lines.iter(), limit / HEAD_SHARE);
    let tail = fitting(
        &mut lines.iter().skip(head).rev(),
        limit - limit / HEAD_SHARE,
    );
    let missing = lines.len() - head - tail;
    let mut text = lines.get(..head).unwrap_or_default().join("\n");
    let _ = writeln!(text, "\n(.. {missing} lines left out ..)");
    text.push_str(
        &lines
            .get(lines.len() - tail..)
            .unwrap_or_default()
            .join("\n"),
    );
    text.trim_matches('\n').to_owned()
}
