//! CTest output: `2/3 Test #2: name ....***Failed    0.01 sec`; and that of Meson:
//! ` 2/16 suite / name   FAIL   0.03s   exit status 1`.

use super::{MAX_DETAILS, NamedResults, Status, TestResult, lines, short};
use patchwright_source::regex;
use std::borrow::Cow;

/// The most lines of a failing test's output that are kept.
const MAX_OUTPUT: usize = 200;

pub(super) fn read(log: &str) -> NamedResults {
    let mut found: NamedResults = Vec::new();
    let mut output: Vec<String> = Vec::new();
    // What is printed below a result is of that test, below a start of the one to come (`ctest -V`).
    let mut follows = false;
    for line in lines(log).chain(["Start 0: ".into()]) {
        let result = result(&line);
        let is_end =
            regex!(r"^ *Start +\d+: |^\d+% tests passed|^Full log written to").is_match(&line);
        if result.is_none() && !is_end {
            if !line.trim().is_empty() && output.len() < MAX_OUTPUT {
                output.push(line.into_owned());
            }
            continue;
        }
        let mut printed = short(&output.join("\n"), MAX_DETAILS);
        output.clear();
        if let (true, Some((_, last))) = (follows, found.last_mut()) {
            // With `-V` several tests may print at once, each line with its number.
            let numbered =
                |text: &String| text.lines().all(|line| regex!(r"^\d+: ").is_match(line));
            let is_numbered = printed.as_ref().is_some_and(numbered);
            if last.status == Status::Failed && last.details.is_none() && !is_numbered {
                last.details = printed.take();
            }
        }
        follows = result.is_some();
        let Some((name, words)) = result else {
            continue;
        };
        let status = if regex!("^Passed|^(?:OK|EXPECTEDFAIL)$").is_match(words) {
            Status::Passed
        } else if regex!("Not Run|Skipped|^SKIP$").is_match(words) {
            Status::Skipped
        } else {
            Status::Failed
        };
        let reason = words.split("  ").next().unwrap_or(words);
        let mut result = TestResult::told(status, reason.trim_matches('*').trim());
        result.details = printed.filter(|_| status == Status::Failed);
        found.push((name.to_owned(), result));
    }
    found
}

/// Returns a log without the part that CTest or Meson wrote, and that part: with
/// `--output-on-failure` or `--print-errorlogs` it holds what failing tests print, and nothing of those that pass.
pub(super) fn split(log: &str) -> (Cow<'_, str>, &str) {
    let Some(begin) =
        regex!(r"(?m)^Test project |^ +Start +\d+: |^ *1/\d+ .*? (?:OK|EXPECTEDFAIL|SKIP|FAIL|ERROR|TIMEOUT|UNEXPECTEDPASS) +[\d.]+s(?:\s|$)").find(log)
    else {
        return (log.into(), "");
    };
    let (before, rest) = log.split_at(begin.start());
    let ends = regex!(r"(?m)^(?:\d+% tests passed, |Full log written to ).*$").find_iter(rest);
    let (shown, after) = rest.split_at(ends.last().map_or(rest.len(), |end| end.end()));
    (format!("{before}{after}").into(), shown)
}

/// Returns the test's name and the words after the dots, or those of a line of Meson.
fn result(line: &str) -> Option<(&str, &str)> {
    let form = regex!(
        r"(?x)^\s*(?:
              \d{1,9}/\d{1,9}\s*\ Test\ \s*\#.*?:\ (?:(?P<name>.*?)\ \.|(?P<long>.*?)\.\.\.)\.*\s*\**(?P<words>.*\ sec)$
            | \d+/\d+\ (?P<meson>.*?)\ (?P<word>OK|EXPECTEDFAIL|SKIP|FAIL|ERROR|TIMEOUT|UNEXPECTEDPASS)\ \s*[\d.]+s(?:\s|$)
            )"
    );
    let found = form.captures(line)?;
    let name = found.name("name").or(found.name("long"));
    let name = name.or(found.name("meson"))?;
    let words = found.name("words").or(found.name("word"))?;
    Some((name.as_str().trim(), words.as_str()))
}
