//! GoogleTest output, and that of Catch2's compatible reporter.

use super::{NamedResults, Status, TestResult, failed, lines};

/// The most lines between `RUN` and the result that are kept.
const MAX_OUTPUT: usize = 120;

pub(super) fn read(log: &str) -> NamedResults {
    let mut found: NamedResults = Vec::new();
    let died = |(name, output): (String, Vec<String>)| (name, failed(&output));
    let mut running: Option<(String, Vec<String>)> = None;
    for line in lines(log) {
        if let Some(name) = line.strip_prefix("[ RUN      ] ") {
            // The one before never ended: it took its process with it.
            let next = (name.trim().to_owned(), Vec::new());
            found.extend(running.replace(next).map(died));
        } else if let Some((status, rest)) = ended(&line) {
            // The list at the end names the failures once more, without a time.
            let ended = rest.split([' ', ',']).next();
            match running.take() {
                Some((name, _)) if ended != Some(&name) => {}
                Some(test) if status == Status::Failed => found.push(died(test)),
                Some((name, _)) => found.push((name, TestResult::new(status))),
                None => {}
            }
        } else if let Some((_, output)) = &mut running
            && output.len() < MAX_OUTPUT
        {
            output.push(line.into_owned());
        }
    }
    found.extend(running.map(died));
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
