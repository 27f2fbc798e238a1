//! Results that stand in one line each, of Rust's test harness, Python's unittest, pytest and
//! Gradle; pytest without `-v` names the failures of its short summary.

use super::{NamedResults, Status, TestResult, lines};
use crate::crash::phrases;
use patchwright_source::built_in_regex;
use regex::Regex;
use std::sync::LazyLock;

/// Forms of lines, by tools.
static FORMS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let rows = phrases::rows("results in one line");
    rows.map(|(tool, form)| (tool, built_in_regex(form)))
        .collect()
});

pub(super) fn harness(log: &str) -> NamedResults {
    lines(log)
        .filter_map(|line| result("harness", &line))
        .collect()
}

pub(super) fn pytest(log: &str) -> NamedResults {
    lines(log)
        .filter_map(|line| result("pytest", &line))
        .collect()
}

/// Reads a line by the forms of a tool.
pub(super) fn result(tool: &str, line: &str) -> Option<(String, TestResult)> {
    let mut forms = FORMS.iter().filter(|(of, _)| *of == tool);
    let found = forms.find_map(|(_, form)| form.captures(line))?;
    let group = |name: &str| found.name(name).map_or("", |group| group.as_str());
    let status = match group("word") {
        "ok" | "PASSED" | "XPASS" => Status::Passed,
        "FAILED" | "FAIL" | "ERROR" => Status::Failed,
        _ => Status::Skipped,
    };
    let name = match (group("class"), group("name")) {
        ("", name) => name.to_owned(),
        (class, name) if class.rsplit('.').next() == Some(name) => class.to_owned(),
        (class, name) => format!("{class}.{name}"),
    };
    Some((name, TestResult::told(status, group("said").trim())))
}
