//! What Perl's `prove` prints without `-v`: a line for each file.

use super::{Found, Status, TestResult, lines};

pub(super) fn read(log: &str) -> Found {
    let mut found: Found = Vec::new();
    let mut in_summary = false;
    for line in lines(log) {
        if line.starts_with("Test Summary Report") {
            in_summary = true;
        } else if in_summary {
            summary_line(&mut found, &line);
        } else if let Some((file, words)) = file_line(&line) {
            let result = if words.starts_with("ok") {
                TestResult::new(Status::Passed)
            } else if words.starts_with("skipped") {
                TestResult::new(Status::Skipped)
            } else {
                TestResult {
                    status: Status::Failed,
                    message: Some(words.trim().to_owned()).filter(|words| !words.is_empty()),
                    details: None,
                }
            };
            found.push((file.to_owned(), result));
        }
    }
    found
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
fn summary_line(found: &mut Found, line: &str) {
    if let Some((file, counts)) = line.split_once(" (Wstat: ") {
        let message = format!("Wstat: {}", counts.trim_end_matches(')'));
        match found.iter_mut().find(|(name, _)| name == file.trim()) {
            Some((_, result)) => {
                result.status = Status::Failed;
                result.details = Some(message);
            }
            None => found.push((
                file.trim().to_owned(),
                TestResult {
                    status: Status::Failed,
                    message: Some(message),
                    details: None,
                },
            )),
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
