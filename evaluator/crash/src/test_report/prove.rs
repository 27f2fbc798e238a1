//! Output of Perl's `prove`: a line for each file. The lines in between with `-v` are
//! TAP and read as such.

use super::{NamedResults, Status, TestResult, lines};

pub(super) fn read(log: &str) -> NamedResults {
    let mut found: NamedResults = Vec::new();
    let mut in_summary = false;
    // A file whose result did not follow its name on the same line.
    let mut running: Option<String> = None;
    for line in lines(log) {
        if line.starts_with("Test Summary Report") {
            in_summary = true;
        } else if in_summary {
            summary_line(&mut found, &line);
        } else if let Some((file, words)) = file_line(&line) {
            running = words.is_empty().then(|| file.to_owned());
            if running.is_none() {
                found.push((file.to_owned(), result(words)));
            }
        } else if let Some(file) = running.take_if(|_| is_result(&line)) {
            found.push((file, result(line.trim())));
        }
    }
    found
}

/// Tells whether a line of its own is the result of the file named before; `ok 1` is a
/// test point of its TAP.
fn is_result(line: &str) -> bool {
    let words = ["skipped", "Dubious, ", "Failed ", "No subtests run"];
    line == "ok" || words.iter().any(|word| line.starts_with(word))
}

fn result(words: &str) -> TestResult {
    let status = match words {
        words if words.starts_with("ok") => Status::Passed,
        words if words.starts_with("skipped") => Status::Skipped,
        _ => Status::Failed,
    };
    TestResult::told(status, words)
}

/// `t/01-basic.t .... ok`
fn file_line(line: &str) -> Option<(&str, &str)> {
    let (file, rest) = line.split_once(" ..")?;
    let words = rest.trim_start_matches('.').trim_start();
    let extension = file.rsplit_once('.').map(|(_, extension)| extension);
    let looks = matches!(extension, Some("t" | "pl")) || file.starts_with("t/");
    // A count is progress, overwritten by the result.
    let progress = words.starts_with(|c: char| c.is_ascii_digit());
    (looks && !progress && !file.contains(' ')).then_some((file, words))
}

/// Below the summary: `t/bad.t (Wstat: 256 Tests: 3 Failed: 1)`, then
/// `  Failed test:  2`.
fn summary_line(found: &mut NamedResults, line: &str) {
    if let Some((file, counts)) = line.split_once(" (Wstat: ") {
        let message = format!("Wstat: {}", counts.trim_end_matches(')'));
        let name = file.trim();
        if let Some((_, result)) = found.iter_mut().find(|(known, _)| known == name) {
            result.status = Status::Failed;
            result.details = Some(message);
        } else {
            let result = TestResult::told(Status::Failed, &message);
            found.push((name.to_owned(), result));
        }
    } else if line.starts_with("  ")
        && let Some((_, result)) = found
            .iter_mut()
            .rfind(|(_, result)| result.details.is_some() || result.status == Status::Failed)
    {
        let details = result.details.get_or_insert_default();
        if details.len() < super::MAX_DETAILS {
            details.push('\n');
            details.push_str(line.trim());
        }
    }
}
