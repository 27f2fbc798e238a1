//! Output of Rust's test harness and of Python's unittest with `-v`:
//! `test a::b ... ok`, `test_b (pkg.Case.test_b) ... ok`.

use super::{NamedResults, Status, TestResult, lines};
use patchwright_source::regex;

pub(super) fn read(log: &str) -> NamedResults {
    // Older releases of unittest leave the method out of the class.
    let form = regex!(
        r"^(?:test (?P<name>.*)|(?P<method>test[^ ]*) \((?P<class>[^)]*)\).*) \.\.\. (?P<word>.*)$"
    );
    let result = |line: &str| {
        let found = form.captures(line)?;
        let group = |name: &str| found.name(name).map_or("", |group| group.as_str());
        let status = match group("word").trim() {
            "ok" => Status::Passed,
            "FAILED" | "FAIL" | "ERROR" => Status::Failed,
            word if word.starts_with("ignored") || word.starts_with("skipped") => Status::Skipped,
            _ => return None,
        };
        let (name, method, class) = (group("name"), group("method"), group("class"));
        let name = match found.name("class") {
            None => name.to_owned(),
            Some(_) if class.ends_with(method) => class.to_owned(),
            Some(_) => format!("{class}.{method}"),
        };
        Some((name, TestResult::new(status)))
    };
    lines(log).filter_map(|line| result(&line)).collect()
}
