//! GoogleTest output, and that of Catch2's compatible reporter.

use super::{NamedResults, Status, TestResult, failed, lines};

/// The most lines between `RUN` and the result that are kept.
const MAX_OUTPUT: usize = 120;

pub(super) fn read(log: &str) -> NamedResults {
    let mut found: NamedResults = Vec::new();
    let mut running: Option<(String, Vec<String>)> = None;
    for line in lines(log) {
        if let Some(name) = line.strip_prefix("[ RUN      ] ") {
            // The one before never ended: it took its process with it.
            if let Some((name, output)) = running.take() {
                found.push((name, failed(&output)));
            }
            running = Some((name.trim().to_owned(), Vec::new()));
            continue;
        }
        let Some((status, rest)) = ended(&line) else {
            if let Some((_, output)) = &mut running
                && output.len() < MAX_OUTPUT
            {
                output.push(line.into_owned());
            }
            continue;
        };
        // The list at the end names the failures once more, without a time.
        let Some((name, output)) = running.take() else {
            continue;
        };
        let ended = rest.split([' ', ',']).next().unwrap_or(rest);
        if ended == name {
            let result = match status {
                Status::Failed => failed(&output),
                status => TestResult::new(status),
            };
            found.push((name, result));
        }
    }
    if let Some((name, output)) = running {
        found.push((name, failed(&output)));
    }
    found
}

fn ended(line: &str) -> Option<(Status, &str)> {
    let forms = [
        ("[       OK ] ", Status::Passed),
        ("[  FAILED  ] ", Status::Failed),
        ("[  SKIPPED ] ", Status::Skipped),
    ];
    // The program's own unfinished line may stand before it.
    forms.iter().find_map(|(mark, status)| {
        let at = line.find(mark)?;
        Some((*status, line.get(at + mark.len()..)?))
    })
}
