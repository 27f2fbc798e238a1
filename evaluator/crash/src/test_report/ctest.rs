//! CTest output: `2/3 Test #2: name ....***Failed    0.01 sec`; and that of Meson:
//! ` 2/16 suite / name   FAIL   0.03s   exit status 1`.

use super::{NamedResults, Status, TestResult, failed, lines};
use patchwright_source::regex;
use std::borrow::Cow;

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

/// Returns a log without the part that CTest wrote, and that part: with `--output-on-failure` it
/// holds what failing tests print, and nothing of those that pass.
pub(super) fn split(log: &str) -> (Cow<'_, str>, &str) {
    let Some(begin) = regex!(r"(?m)^Test project |^ +Start +\d+: ").find(log) else {
        return (log.into(), "");
    };
    let (before, rest) = log.split_at(begin.start());
    let ends = regex!(r"(?m)^\d+% tests passed, .*$").find_iter(rest);
    let (shown, after) = rest.split_at(ends.last().map_or(rest.len(), |end| end.end()));
    (format!("{before}{after}").into(), shown)
}

/// Returns the test's name and its result, in CTest's words where it has some, of a line of Meson.
fn of_meson(line: &str) -> Option<(&str, &str)> {
    let form = regex!(
        r"^\s*\d+/\d+ (?P<name>.*?) (?P<word>OK|EXPECTEDFAIL|SKIP|FAIL|ERROR|TIMEOUT|UNEXPECTEDPASS) \s*[\d.]+s(?:\s|$)"
    );
    let found = form.captures(line)?;
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
    let form = regex!(
        r"^\s*\d{1,9}/\d{1,9}\s* Test \s*#.*?: (?:(?P<name>.*?) \.|(?P<long>.*?)\.\.\.)\.*\s*\**(?P<words>.* sec)$"
    );
    let found = form.captures(line)?;
    let name = found.name("name").or(found.name("long"))?;
    Some((name.as_str().trim(), found.name("words")?.as_str()))
}
