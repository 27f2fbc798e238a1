//! pytest output: a line for each test with `-v`, else the failures of its short summary.

use super::{NamedResults, Status, TestResult, lines};

const WORDS: [(&str, Status); 6] = [
    ("PASSED", Status::Passed),
    ("FAILED", Status::Failed),
    ("ERROR", Status::Failed),
    ("SKIPPED", Status::Skipped),
    ("XFAIL", Status::Skipped),
    ("XPASS", Status::Passed),
];

pub(super) fn read(log: &str) -> NamedResults {
    let found = lines(log).filter_map(|line| {
        let (name, status, words) = verbose(&line).or_else(|| summary(&line))?;
        Some((name.to_owned(), TestResult::told(status, words)))
    });
    found.collect()
}

/// `tests/test_a.py::test_x[1-2] PASSED    [ 10%]`
fn verbose(line: &str) -> Option<(&str, Status, &str)> {
    let line = line.trim_end();
    let line = match line.rsplit_once(" [") {
        Some((before, percent)) if percent.ends_with("%]") => before.trim_end(),
        _ => line,
    };
    WORDS.iter().find_map(|(word, status)| {
        let (name, rest) = line.split_once(&format!(" {word}"))?;
        let own = name.contains(".py::") && !name.starts_with("FAILED ");
        (own && (rest.is_empty() || rest.starts_with(' '))).then_some((name, *status, rest.trim()))
    })
}

/// `FAILED tests/test_a.py::test_x - assert 1 == 2`
fn summary(line: &str) -> Option<(&str, Status, &str)> {
    let rest = line
        .strip_prefix("FAILED ")
        .or_else(|| line.strip_prefix("ERROR "))?;
    let (name, message) = rest.split_once(" - ").unwrap_or((rest, ""));
    let named = (name.trim(), Status::Failed, message);
    name.contains(".py").then_some(named)
}
