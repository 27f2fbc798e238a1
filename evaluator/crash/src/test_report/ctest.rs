//! CTest output: `2/3 Test #2: name ....***Failed    0.01 sec`; and that of Meson:
//! ` 2/16 suite / name   FAIL   0.03s   exit status 1`.

use super::{NamedResults, Status, TestResult, failed, lines};
use patchwright_source::Pattern;

/// The most lines of a failing test's output that are kept.
const MAX_OUTPUT: usize = 60;

pub(super) fn read(log: &str) -> NamedResults {
    let mut found: NamedResults = Vec::new();
    let mut output: Vec<String> = Vec::new();
    for line in lines(log) {
        let Some((name, words)) = result(&line).or_else(|| of_meson(&line)) else {
            // `ctest -V` prefixes a test's output with its number.
            if line.trim_start().starts_with("Start ") {
                output.clear();
            } else if !line.trim().is_empty() && output.len() < MAX_OUTPUT {
                output.push(line.into_owned());
            }
            continue;
        };
        let result = if words.starts_with("Passed") {
            TestResult::new(Status::Passed)
        } else if words.contains("Not Run") || words.contains("Skipped") {
            TestResult::new(Status::Skipped)
        } else {
            let mut result = failed(&output);
            let reason = words.split("  ").next().unwrap_or(words).trim_matches('*');
            result.details = result.details.or(result.message);
            result.message = Some(reason.trim().to_owned());
            result
        };
        output.clear();
        found.push((name.to_owned(), result));
    }
    found
}

static OF_MESON: Pattern = Pattern::new(
    r"^\s*\d+/\d+ (?P<name>.*?) (?P<word>OK|EXPECTEDFAIL|SKIP|FAIL|ERROR|TIMEOUT|UNEXPECTEDPASS) \s*[\d.]+s(?:\s|$)",
);

/// Returns the test's name and its result, in CTest's words where it has some, of a line of Meson.
fn of_meson(line: &str) -> Option<(&str, &str)> {
    let found = OF_MESON.captures(line)?;
    let group = |name: &str| found.name(name).map(|group| group.as_str());
    let result = match group("word")? {
        "OK" | "EXPECTEDFAIL" => "Passed",
        "SKIP" => "Skipped",
        word => word,
    };
    Some((group("name")?.trim(), result))
}

/// Returns the test's name and the words after the dots.
fn result(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let (before, rest) = line.split_once(" Test ")?;
    let (done, all) = before.trim().split_once('/')?;
    if done.parse::<u32>().is_err() || all.parse::<u32>().is_err() || !line.ends_with(" sec") {
        return None;
    }
    let (_, rest) = rest.trim_start().strip_prefix('#')?.split_once(": ")?;
    let (name, words) = match rest.split_once(" .") {
        Some((name, words)) => (name, words.trim_start_matches('.')),
        None => rest.split_once("...")?,
    };
    Some((
        name.trim(),
        words
            .trim_start_matches('.')
            .trim_start()
            .trim_start_matches('*'),
    ))
}
