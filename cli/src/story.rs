//! Story of a run in the terminal: what its page shows, with colours and a pager.

use patchwright_agent::report::Report;
use patchwright_agent::report_text::render;
use patchwright_agent::template;
use patchwright_source::built_in_regex;
use patchwright_store::reviews::Decision;
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::{Command, Stdio};

const GREEN: &str = "32";
const RED: &str = "31";
const YELLOW: &str = "33";
const CYAN: &str = "36";
const BOLD: &str = "1";

/// Writes crash, attempts, verdict and decisions. Nothing in it controls a terminal.
pub(crate) fn text(report: &Report, decisions: &[Decision]) -> anyhow::Result<String> {
    let decisions = decisions.iter().map(|decision| {
        let time = decision.time.get(..16).unwrap_or_default();
        json!({ "time": time, "sentence": decision.made.sentence() })
    });
    let values = json!({
        "crash": report.crash,
        "baseline": report.baseline,
        "report": render(report)?,
        "decisions": decisions.collect::<Vec<_>>(),
    });
    Ok(template::fill(include_str!("story.txt"), &values)?)
}

/// Lines of a story that have a colour: the pattern whose group is painted, and the colour.
const OF_TEXT: [(&str, &str); 8] = [
    (r"^(verified)(?::|$)", GREEN),
    (r"^(plausible|unverified|proposed)(?::|$)", YELLOW),
    (
        r"^(no_patch|invalid_task|budget_exhausted|deadline|not_reproducible|infra_error)(?::|$)",
        RED,
    ),
    (r"^(Crash):", BOLD),
    (r"^(Attempt .*|Decisions)$", BOLD),
    // Two spaces, the name of a rung in fifteen columns or more, and its word.
    (r"^  \S.{13}\s*(true)(?:\s|$)", GREEN),
    (r"^  \S.{13}\s*(FALSE)(?:\s|$)", RED),
    (r"^  \S.{13}\s*(null)(?:\s|$)", YELLOW),
];
/// Lines of a diff.
const OF_DIFF: [(&str, &str); 4] = [
    (r"^((?:\+\+\+|---|diff) .*)$", BOLD),
    (r"^(\+.*)$", GREEN),
    (r"^(-.*)$", RED),
    (r"^(@.*)$", CYAN),
];

/// Paints a story line by line: verdicts, rungs and diffs.
pub(crate) fn painted(text: &str) -> String {
    let compiled = |(pattern, color)| (built_in_regex(pattern), color);
    let (of_text, of_diff) = (OF_TEXT.map(compiled), OF_DIFF.map(compiled));
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut diff = false;
    for line in text.lines() {
        // A diff ends with an empty line, which no line of a diff is.
        let begins = line.starts_with("diff --git ") || line.starts_with("--- a/");
        diff = !line.is_empty() && (diff || begins);
        let rows = if diff { &of_diff[..] } else { &of_text[..] };
        let mut found = rows
            .iter()
            .filter_map(|(pattern, color)| Some((pattern.captures(line)?.get(1)?.range(), color)));
        let Some((part, color)) = found.next() else {
            let _ = writeln!(out, "{line}");
            continue;
        };
        let mut line = line.to_owned();
        line.insert_str(part.end, "\u{1b}[0m");
        line.insert_str(part.start, &format!("\u{1b}[{color}m"));
        let _ = writeln!(out, "{line}");
    }
    out
}

/// Shows a text in a pager: the words of `command`, which is no line for a shell. Returns
/// false when the pager does not start.
pub(crate) fn paged(text: &str, command: &str) -> io::Result<bool> {
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else {
        return Ok(false);
    };
    let started = Command::new(program)
        .args(words)
        // Colours are shown, a short text ends it at once, and it stays on the screen.
        .env("LESS", "FRX")
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut pager) = started else {
        return Ok(false);
    };
    if let Some(mut input) = pager.stdin.take() {
        // Somebody who leaves the pager early has seen enough.
        let _ = input.write_all(text.as_bytes());
    }
    pager.wait()?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::painted;

    #[test]
    fn verdicts_rungs_and_diffs_have_colours() {
        let text = "verified: attempt 1\n\nAttempt 1\n  builds          true      0.1 s  ok\n  \
                    silent          FALSE     0.1 s  crashes\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\n+no diff\n";
        let shown = painted(text);
        for part in [
            "\u{1b}[32mverified\u{1b}[0m: attempt 1",
            "\u{1b}[1mAttempt 1\u{1b}[0m",
            "  builds          \u{1b}[32mtrue\u{1b}[0m ",
            "  silent          \u{1b}[31mFALSE\u{1b}[0m ",
            "\u{1b}[1m--- a/x\u{1b}[0m",
            "\u{1b}[36m@@ -1 +1 @@\u{1b}[0m",
            "\u{1b}[31m-a\u{1b}[0m",
            "\u{1b}[32m+b\u{1b}[0m",
            "\n+no diff\n",
        ] {
            assert!(shown.contains(part), "{part:?}: {shown:?}");
        }
    }
}
