//! JUnit XML, as Surefire, Gradle, pytest, GoogleTest and CTest write it.
//!
//! The reader streams, expands no entity but the five of XML and character
//! references, and keeps no output of tests that passed.

use super::{
    MAX_DETAILS, MAX_MESSAGE, MAX_TESTS, NamedResults, Status, TestReport, TestResult, own_name,
    short,
};
use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use std::collections::BTreeMap;

/// The deepest nesting that is read; no report comes near it.
const MAX_DEPTH: usize = 64;

pub(super) fn read(file: &str, text: &str) -> Option<TestReport> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    reader.config_mut().expand_empty_elements = true;
    reader.config_mut().allow_dangling_amp = true;
    let mut state = State::default();
    let problem = loop {
        match reader.read_event() {
            Ok(Event::Start(tag)) => state.open(&tag),
            Ok(Event::End(tag)) => state.close(local(tag.name().as_ref())),
            Ok(Event::Text(text)) => state.text(&text.xml10_content()),
            Ok(Event::CData(text)) => state.text(&text.xml10_content()),
            Ok(Event::GeneralRef(reference)) => state.reference(&reference),
            Ok(Event::Eof) => break None,
            Ok(_) => {}
            Err(error) => break Some(format!("{file}: {error}")),
        }
        if state.depth > MAX_DEPTH || state.found.len() > MAX_TESTS {
            break Some(format!("{file}: too deep or too many tests"));
        }
    };
    if !state.is_junit {
        return None;
    }
    let mut report = TestReport::default();
    state.finish();
    report.add(state.found);
    // The missing part may have held more tests.
    report.partial = problem.is_some() || state.depth > 0;
    report.problems.extend(problem);
    Some(report)
}

/// The state of the reader.
#[derive(Default)]
struct State {
    is_junit: bool,
    depth: usize,
    suite: String,
    current: Option<(String, TestResult)>,
    /// True while text belongs to a failure.
    in_failure: bool,
    text: String,
    found: NamedResults,
    seen: BTreeMap<String, usize>,
}

impl State {
    fn open(&mut self, tag: &BytesStart<'_>) {
        self.depth += 1;
        match local(tag.name().as_ref()) {
            "testsuites" => self.is_junit = true,
            "testsuite" => {
                self.is_junit = true;
                self.suite = attribute(tag, "name").unwrap_or_default();
            }
            "testcase" => self.open_case(tag),
            "failure" | "error" => self.open_failure(tag, Status::Failed),
            "skipped" | "disabled" => self.open_failure(tag, Status::Skipped),
            _ => {}
        }
    }

    fn open_case(&mut self, tag: &BytesStart<'_>) {
        self.finish();
        self.is_junit = true;
        let name = attribute(tag, "name").unwrap_or_default();
        let class = attribute(tag, "classname")
            .filter(|class| !class.is_empty())
            .unwrap_or_else(|| self.suite.clone());
        let name = if class.is_empty() || class == name {
            name
        } else {
            format!("{class}.{name}")
        };
        let skipped = attribute(tag, "status")
            .is_some_and(|status| matches!(status.as_str(), "notrun" | "disabled"));
        let status = if skipped {
            Status::Skipped
        } else {
            Status::Passed
        };
        self.current = Some((name, TestResult::new(status)));
    }

    fn open_failure(&mut self, tag: &BytesStart<'_>, status: Status) {
        let Some((_, result)) = &mut self.current else {
            return;
        };
        result.status = status;
        if result.message.is_none() {
            let message = attribute(tag, "message").unwrap_or_default();
            let class = attribute(tag, "type").unwrap_or_default();
            let message = match (message.is_empty(), message.contains(&class)) {
                (true, _) => class,
                (false, true) => message,
                (false, false) => format!("{class}: {message}"),
            };
            result.message = short(&message, MAX_MESSAGE);
        }
        self.in_failure = status == Status::Failed;
        self.text.clear();
    }

    fn text(&mut self, text: &str) {
        if self.in_failure && self.text.len() < MAX_DETAILS {
            let end = text.floor_char_boundary(MAX_DETAILS);
            self.text.push_str(text.get(..end).unwrap_or_default());
        }
    }

    fn reference(&mut self, reference: &BytesRef<'_>) {
        if !self.in_failure {
            return;
        }
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            self.text.push(character);
        } else if let Some(text) = quick_xml::escape::resolve_predefined_entity(reference) {
            self.text.push_str(text);
        }
    }

    fn close(&mut self, name: &str) {
        self.depth = self.depth.saturating_sub(1);
        match name {
            "failure" | "error" => self.close_failure(),
            "testcase" => self.finish(),
            _ => {}
        }
    }

    fn close_failure(&mut self) {
        if !self.in_failure {
            return;
        }
        self.in_failure = false;
        let Some((_, result)) = &mut self.current else {
            return;
        };
        let details = short(&self.text, MAX_DETAILS);
        if result.message.is_none() {
            result.message = details
                .as_deref()
                .and_then(|text| text.lines().find(|line| !line.trim().is_empty()))
                .map(str::to_owned);
        }
        result.details = result.details.take().or(details);
    }

    fn finish(&mut self) {
        self.close_failure();
        let Some((name, result)) = self.current.take() else {
            return;
        };
        let name = own_name(&mut self.seen, name);
        self.found.push((name, result));
    }
}

/// A tag's name without its namespace.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).ok()??;
    // An unknown entity is shown as it stands.
    let raw = attribute.value.clone();
    let value = quick_xml::escape::unescape(&raw).map_or_else(|_| raw.to_string(), Into::into);
    short(&value, MAX_MESSAGE)
}
