//! Jazzer findings: those of its detectors, and exceptions that left the fuzz target.

use super::draft::Draft;
use super::log_lines::Log;
use super::{Family, Strength, Tool, java};

pub(super) const FAMILY: Family = Family {
    strength: Strength::Full,
    mark: r"^== Java ",
    begins: |line| headline(line).is_some(),
    read,
};

/// The prefix of the classes of detectors' findings.
const ISSUE: &str = "com.code_intelligence.jazzer.api.FuzzerSecurityIssue";

/// Words of a finding's message that make its kind.
const KIND_WORDS: usize = 6;

fn headline(line: &str) -> Option<&str> {
    line.strip_prefix("== Java Exception: ")
        .or_else(|| line.strip_prefix("== Java Assertion Error: "))
}

fn read(log: &Log<'_>, at: usize) -> Option<Draft> {
    let text = headline(log.line(at)?)?;
    let mut draft = java::read(log, at, text, Tool::Jazzer)?;
    if draft.kind.starts_with(ISSUE) {
        draft.kind = finding(&draft.kind, &draft.message);
    }
    Some(draft)
}

/// Names a detector's finding by its message (`os-command-injection`), since all
/// findings share a few classes.
fn finding(class: &str, message: &str) -> String {
    let named = message
        .split([':', '(', '\n', ','])
        .next()
        .unwrap_or_default();
    let words = named.split_whitespace().map(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.to_ascii_lowercase()
    });
    let words = words.filter(|word| !word.is_empty()).take(KIND_WORDS);
    let words: Vec<String> = words.collect();
    if words.is_empty() {
        class.rsplit('.').next().unwrap_or(class).to_owned()
    } else {
        words.join("-")
    }
}
