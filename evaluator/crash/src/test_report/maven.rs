//! Surefire and Gradle output: the failures by name, and with Gradle's test logging the
//! tests that passed. Their XML has more detail and is preferred where it exists.

use super::{MAX_MESSAGE, NamedResults, Status, TestResult, lines, short};
use patchwright_source::regex;

pub(super) fn read(log: &str) -> NamedResults {
    let mut found: NamedResults = Vec::new();
    let mut wants_message = false;
    for line in lines(log) {
        let text = line.trim_start_matches("[ERROR]").trim();
        if let Some((name, status)) = surefire(text).or_else(|| gradle(text)) {
            found.push((name, TestResult::new(status)));
            wants_message = status == Status::Failed;
        } else if wants_message
            && !text.is_empty()
            && let Some((_, result)) = found.last_mut()
        {
            result.message = short(text, MAX_MESSAGE);
            wants_message = false;
        }
    }
    found
}

/// `org.acme.ATest.f -- Time elapsed: 0.01 s <<< FAILURE!`, and the older
/// `f(org.acme.ATest)  Time elapsed: 0.01 s  <<< ERROR!`
fn surefire(text: &str) -> Option<(String, Status)> {
    let (head, mark) = text.split_once("<<< ")?;
    if !(mark.starts_with("FAILURE!") || mark.starts_with("ERROR!")) {
        return None;
    }
    let (name, _) = head.split_once("Time elapsed:")?;
    let name = name.trim().trim_end_matches("--").trim();
    // The line of a whole class counts its tests.
    if name.starts_with("Tests run:") || name.is_empty() {
        return None;
    }
    let name = match name.split_once('(') {
        Some((method, class)) if class.ends_with(')') && class.contains('.') => {
            format!("{}.{method}", class.trim_end_matches(')'))
        }
        _ => name.to_owned(),
    };
    Some((name, Status::Failed))
}

/// `org.acme.ATest > f() FAILED`
fn gradle(text: &str) -> Option<(String, Status)> {
    let found = regex!("^([^: ][^ ]*) > (.*) (PASSED|FAILED|SKIPPED)$").captures(text)?;
    let (_, [class, method, word]) = found.extract();
    Some((
        format!("{class}.{}", method.trim_end_matches("()")),
        Status::read(word)?,
    ))
}
