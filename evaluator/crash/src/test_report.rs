//! Test reports: results of tests by name, read from result files and from output.
//!
//! Names make a baseline useful: a test that failed before is not counted against a
//! patch, and one that fails now is shown by name with its message. This module runs no
//! tests and does not decide from names alone that a run succeeded (the exit status does).

mod automake;
mod ctest;
mod google;
mod junit;
mod maven;
mod one_line;
mod prove;
mod tap;

use crate::crash::phrases;
use patchwright_source::regex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The most tests of one report. Large projects have some ten thousand.
const MAX_TESTS: usize = 500_000;
/// The most bytes that are kept of a message, and of the text below it.
const MAX_MESSAGE: usize = 2_000;
const MAX_DETAILS: usize = 16_000;
/// The largest file of results that is read, in bytes.
pub const MAX_FILE: usize = 256 * 1024 * 1024;

/// The result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It was not run, or its failure is expected.
    Skipped,
    Passed,
    /// It failed, crashed or timed out.
    Failed,
}

impl Status {
    /// The status that a word of a tool names.
    fn read(word: &str) -> Option<Self> {
        match word {
            "PASS" | "PASSED" => Some(Self::Passed),
            "FAIL" | "FAILED" | "ERROR" | "XPASS" => Some(Self::Failed),
            "SKIP" | "SKIPPED" | "XFAIL" => Some(Self::Skipped),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestResult {
    pub status: Status,
    /// The failing assertion, in one line or a few.
    pub message: Option<String>,
    /// Its stack, or what it printed.
    pub details: Option<String>,
}

impl TestResult {
    /// A result without further words.
    pub fn new(status: Status) -> Self {
        Self {
            status,
            message: None,
            details: None,
        }
    }

    /// A result with what is said of it, where that is a failure.
    fn told(status: Status, words: &str) -> Self {
        let mut result = Self::new(status);
        result.message = short(words, MAX_MESSAGE).filter(|_| status == Status::Failed);
        result
    }
}

/// The results of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestReport {
    /// Each test by its name.
    pub tests: BTreeMap<String, TestResult>,
    /// True where only failures are named: a missing test may have passed.
    pub partial: bool,
    /// The parts that could not be read, in words.
    pub problems: Vec<String>,
}

/// A run compared with the baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// Fail now and did not before.
    pub broken: Vec<String>,
    /// Passed before and were not run now.
    pub missing: Vec<String>,
    /// Failed before and pass now.
    pub fixed: Vec<String>,
    /// Failed before and fail still.
    pub still_failing: Vec<String>,
    /// Fail now, but are known to be flaky.
    pub flaky: Vec<String>,
}

impl Comparison {
    /// Tells whether every test that passed at the baseline still passes.
    pub fn holds(&self) -> bool {
        self.broken.is_empty() && self.missing.is_empty()
    }
}

/// The results that one reader found, by name.
type NamedResults = Vec<(String, TestResult)>;

/// Numbers a name that was there before: parametrised tests share one.
fn own_name(seen: &mut BTreeMap<String, usize>, name: String) -> String {
    let count = seen.entry(name.clone()).or_default();
    *count += 1;
    match *count {
        1 => name,
        count => format!("{name} ({count})"),
    }
}

impl TestReport {
    /// Reads the output of a test command; none where no test is named.
    ///
    /// All known formats are tried, since one command may run several kinds.
    pub fn read_log(log: &str) -> Option<Self> {
        let mut report = Self::default();
        report.add(ctest::read(log));
        let (others, shown) = ctest::split(log);
        // GoogleTest, TAP and automake may be wrapped by what follows them.
        for reader in [
            google::read,
            automake::read,
            tap::read,
            prove::read,
            one_line::harness,
        ] {
            report.add(reader(&others));
            // What passed within a test that fails is not shown where that test passes.
            let mut within = reader(shown);
            within.retain(|(_, test)| test.status == Status::Failed);
            report.add(within);
        }
        for reader in [one_line::pytest, maven::read] {
            let found = reader(log);
            // Without more words these name failures only.
            let passed = found.iter().any(|(_, test)| test.status == Status::Passed);
            report.partial |= !passed && !found.is_empty();
            report.add(found);
        }
        (!report.tests.is_empty()).then_some(report)
    }

    /// Returns the reason why a run with these results and this output shows nothing: a tool
    /// said that it ran no test, or all tests were skipped. A command that names no test may
    /// have run some all the same.
    pub fn nothing_run(&self, log: &str) -> Option<String> {
        match self.tests.len() {
            0 => {
                let said = phrases::find("no tests", |words| log.contains(words));
                let said = said.map(str::to_owned);
                // There is no such goal, but a file or a folder of its name. Makes that it calls
                // (`make[1]`) say so of one folder among many.
                let make = regex!(
                    r"(?m)^g?make: (?:Nothing to be done for )?['`](?:[^'\n]*/)?(?:check|tests?)'(?: is up to date)?"
                );
                let of_make = |line: &str| line.is_empty() || line.contains("make: ");
                let make = make.find(log).filter(|_| log.lines().all(of_make));
                said.or_else(|| make.map(|said| said.as_str().to_owned()))
            }
            all if self.count(Status::Skipped) == all => {
                Some(format!("0 of {all} tests were run, the rest skipped"))
            }
            _ => None,
        }
    }

    /// Reads a file of results: JUnit XML, or one of the forms of a log.
    pub fn read_file(name: &str, bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_FILE {
            let bytes = bytes.len();
            let problem = format!("{name}: {bytes} bytes of results, more than {MAX_FILE}");
            return Some(Self {
                problems: vec![problem],
                ..Self::default()
            });
        }
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with('<') {
            return junit::read(name, text);
        }
        if name.rsplit_once('.').is_some_and(|(_, end)| end == "trs") {
            let mut report = Self::default();
            report.add(automake::read_trs(name, text));
            return (!report.tests.is_empty()).then_some(report);
        }
        Self::read_log(text)
    }

    /// Adds results. Of two results with one name the worse one counts; of equal ones the
    /// one with a message.
    fn add(&mut self, found: NamedResults) {
        for (name, result) in found {
            if self.tests.len() >= MAX_TESTS && !self.tests.contains_key(&name) {
                self.partial = true;
                continue;
            }
            let worse = |old: &TestResult| {
                result.status > old.status || result.status == old.status && old.message.is_none()
            };
            if self.tests.get(&name).is_none_or(worse) {
                self.tests.insert(name, result);
            }
        }
    }

    /// Adds the results of another file of the same run.
    pub fn merge(&mut self, other: Self) {
        self.add(other.tests.into_iter().collect());
        self.partial |= other.partial;
        self.problems.extend(other.problems);
    }

    /// Counts the tests with a result.
    pub fn count(&self, status: Status) -> usize {
        let with = self.tests.values().filter(|test| test.status == status);
        with.count()
    }

    /// The tests that failed, in the order of their names.
    pub fn failed(&self) -> impl Iterator<Item = (&str, &TestResult)> {
        let tests = self.tests.iter().map(|(name, test)| (name.as_str(), test));
        tests.filter(|(_, test)| test.status == Status::Failed)
    }

    /// Returns the tests with another result in a second run of the same tree.
    pub fn unstable(&self, again: &Self) -> BTreeSet<String> {
        let names = self.tests.keys().chain(again.tests.keys());
        let unstable = names.filter(|name| self.status(name) != again.status(name));
        unstable.cloned().collect()
    }

    fn status(&self, name: &str) -> Option<Status> {
        self.tests.get(name).map(|test| test.status)
    }

    /// Compares with the run of the unpatched tree. `flaky` tests are listed but never
    /// counted against the patch.
    pub fn compare(&self, baseline: &Self, flaky: &BTreeSet<String>) -> Comparison {
        let mut comparison = Comparison::default();
        for (name, test) in &self.tests {
            let before = baseline.status(name);
            let list = match (before, test.status) {
                (Some(Status::Failed), Status::Failed) => &mut comparison.still_failing,
                (_, Status::Failed) if flaky.contains(name) => &mut comparison.flaky,
                (_, Status::Failed) => &mut comparison.broken,
                (Some(Status::Failed), Status::Passed) => &mut comparison.fixed,
                (Some(Status::Passed), Status::Skipped) => &mut comparison.missing,
                _ => continue,
            };
            list.push(name.clone());
        }
        if !self.partial {
            let passed = |name: &String| baseline.status(name) == Some(Status::Passed);
            let of_before = baseline.tests.keys().filter(|name| !flaky.contains(*name));
            let gone = of_before.filter(|name| passed(name) && !self.tests.contains_key(*name));
            comparison.missing.extend(gone.cloned());
            comparison.missing.sort();
        }
        comparison
    }
}

/// Returns the beginning of a text without control characters.
fn short(text: &str, limit: usize) -> Option<String> {
    let text = text.trim_matches('\n').trim_end();
    if text.trim().is_empty() {
        return None;
    }
    let end = text.floor_char_boundary(limit);
    let mut kept = text.get(..end).unwrap_or_default().to_owned();
    kept.retain(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    if end < text.len() {
        kept.push_str("..");
    }
    Some(kept)
}

/// The lines of a log, without colours.
fn lines(log: &str) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    log.lines()
        .map(|line| crate::crash::strip_colours(line.trim_end_matches('\r')))
}

/// Returns a failed test with the lines that belong to it; the first is its message.
fn failed(lines: &[String]) -> TestResult {
    let first = lines.iter().find(|line| !line.trim().is_empty());
    let mut result = TestResult::told(Status::Failed, first.map_or("", |line| line.trim()));
    if lines.len() > 1 {
        result.details = short(&lines.join("\n"), MAX_DETAILS);
    }
    result
}

#[cfg(test)]
mod tests;
