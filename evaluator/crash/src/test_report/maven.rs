//! Surefire and Gradle output: the failures by name, and with Gradle's test logging the
//! tests that passed. Their XML has more detail and is preferred where it exists.

use super::{MAX_MESSAGE, NamedResults, Status, TestResult, lines, one_line, short};

pub(super) fn read(log: &str) -> NamedResults {
    let mut found: NamedResults = Vec::new();
    let mut wants_message = false;
    for line in lines(log) {
        let text = line.trim_start_matches("[ERROR]").trim();
        let failure = surefire(text).map(|name| (name, TestResult::new(Status::Failed)));
        if let Some((name, result)) = failure.or_else(|| one_line::result("Gradle", text)) {
            wants_message = result.status == Status::Failed;
            found.push((name, result));
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

/// Returns the test of `org.acme.ATest.f -- Time elapsed: 0.01 s <<< FAILURE!`, and of the older
/// `f(org.acme.ATest)  Time elapsed: 0.01 s  <<< ERROR!`
fn surefire(text: &str) -> Option<String> {
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
    Some(match name.split_once('(') {
        Some((method, class)) if class.ends_with(')') && class.contains('.') => {
            format!("{}.{method}", class.trim_end_matches(')'))
        }
        _ => name.to_owned(),
    })
}
