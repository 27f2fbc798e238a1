//! Findings of a static analyser, as SARIF 2.1.0 writes them: what was found,
//! and where. Read tolerantly: tools leave out much of what the standard has,
//! and what is missing is not shown.

use crate::record::{Crash, CrashFrame};
use patchwright_source::Role;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::fmt::Write as _;

/// Findings that are told; a report of a whole project may hold thousands.
const FINDINGS: usize = 5;
/// Steps of one path through the code that are told.
const STEPS: usize = 30;
/// Characters of a message.
const MESSAGE: usize = 1_500;

/// Finds the path of a tree that an address in a report means.
pub type Rebase<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads a report: its findings in words, with places, and the places themselves, where each
/// was found first, then the way there.
///
/// # Errors
/// It is no SARIF report, or holds no finding; in words.
pub fn read(report: &str, rebase: Rebase<'_>) -> Result<Crash, String> {
    let report: Value = serde_json::from_str(report.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("is no SARIF report: {error}"))?;
    let runs = report.get("runs").and_then(Value::as_array);
    let runs = runs.ok_or("is no SARIF report: it has no \"runs\"")?;
    let mut results: Vec<(&Value, &Value)> = Vec::new();
    for run in runs {
        let found = list(run, "/results").filter(|result| is_finding(result));
        results.extend(found.map(|result| (run, result)));
    }
    if results.is_empty() {
        return Err("holds no finding: its runs have no failing \"results\"".to_owned());
    }
    results.sort_by_key(|(_, result)| severity(result));
    let mut findings = Crash::default();
    for (run, result) in results.iter().take(FINDINGS) {
        let case = Case {
            run,
            result,
            rebase,
        };
        case.tell(&mut findings);
    }
    let more = results.len().saturating_sub(FINDINGS);
    if more > 0 {
        let _ = writeln!(findings.text, "[{more} more findings left out]");
    }
    Ok(findings)
}

fn is_finding(result: &Value) -> bool {
    let kind = text(result, "/kind").unwrap_or("fail");
    kind == "fail" && list(result, "/suppressions").next().is_none()
}

fn severity(result: &Value) -> u32 {
    match text(result, "/level") {
        Some("error") => 0,
        None | Some("warning") => 1,
        _ => 2,
    }
}

/// One finding and the run that it belongs to.
struct Case<'a> {
    run: &'a Value,
    result: &'a Value,
    rebase: Rebase<'a>,
}

impl Case<'_> {
    fn tell(&self, findings: &mut Crash) {
        let rule = self.rule();
        let id = text(self.result, "/ruleId").or_else(|| rule.and_then(|rule| text(rule, "/id")));
        let level = text(self.result, "/level").unwrap_or("warning");
        let _ = writeln!(
            findings.text,
            "{} ({level}): {}",
            id.unwrap_or("finding"),
            message(self.result, rule)
        );
        let about = ["/fullDescription/text", "/shortDescription/text"];
        if let Some(about) = rule.and_then(|rule| about.iter().find_map(|at| text(rule, at))) {
            let _ = writeln!(findings.text, "  about the rule: {}", one_line(about));
        }
        for location in list(self.result, "/locations").take(STEPS) {
            self.place(location, "  at", findings);
        }
        let steps = list(self.result, "/codeFlows")
            .flat_map(|flow| list(flow, "/threadFlows"))
            .take(1)
            .flat_map(|thread| list(thread, "/locations"));
        let mut steps: Vec<&Value> = steps.filter_map(|step| step.get("location")).collect();
        if steps.is_empty() {
            let stacks = list(self.result, "/stacks").take(1);
            let frames = stacks.flat_map(|stack| list(stack, "/frames"));
            steps = frames.filter_map(|frame| frame.get("location")).collect();
        }
        for step in steps.into_iter().take(STEPS) {
            self.place(step, "  on the way there:", findings);
        }
        for related in list(self.result, "/relatedLocations").take(STEPS) {
            self.place(related, "  related:", findings);
        }
    }

    /// Writes a place down, and takes it as a frame.
    fn place(&self, location: &Value, lead: &str, findings: &mut Crash) {
        let region = location.pointer("/physicalLocation/region");
        let number = |name: &str| {
            let number = region?.get(name)?.as_u64()?;
            u32::try_from(number).ok().filter(|line| *line > 0)
        };
        let (line, end) = (number("startLine"), number("endLine"));
        let logical = [
            "/logicalLocations/0/fullyQualifiedName",
            "/logicalLocations/0/name",
        ];
        let function = logical.iter().find_map(|at| text(location, at));
        let Some(path) = self.path(location) else {
            return;
        };
        let told = [
            line.map(|line| format!(":{line}")),
            end.filter(|end| Some(*end) > line)
                .map(|end| format!("-{end}")),
            function.map(|function| format!(" in {}", one_line(function))),
            location
                .get("message")
                .map(|_| format!(": {}", message(location, None))),
        ];
        let told: String = told.into_iter().flatten().collect();
        let _ = writeln!(findings.text, "{lead} {path}{told}");
        let frame = CrashFrame {
            function: function.unwrap_or_default().to_owned(),
            file: Some(path),
            line,
            role: Role::Crash,
            depth: findings.frames.len() as u32,
        };
        let known = |other: &CrashFrame| other.file == frame.file && other.line == frame.line;
        if !findings.frames.iter().any(known) {
            findings.frames.push(frame);
        }
    }

    fn path(&self, location: &Value) -> Option<String> {
        let artifact = location.pointer("/physicalLocation/artifactLocation")?;
        let uri = text(artifact, "/uri").or_else(|| {
            let index = artifact.get("index")?.as_u64()?;
            text(self.run, &format!("/artifacts/{index}/location/uri"))
        })?;
        let path = percent_decode_str(uri.strip_prefix("file://").unwrap_or(uri));
        let path = path.decode_utf8_lossy();
        Some((self.rebase)(&path).unwrap_or_else(|| one_line(&path)))
    }

    fn rule(&self) -> Option<&Value> {
        let rules = self.run.pointer("/tool/driver/rules")?.as_array()?;
        let result = self.result;
        let index = result.get("ruleIndex");
        let index = index.or_else(|| result.pointer("/rule/index"));
        let index = index.and_then(Value::as_u64);
        let by_index = index.and_then(|index| rules.get(usize::try_from(index).ok()?));
        by_index.or_else(|| {
            let id = text(result, "/ruleId")?;
            rules.iter().find(|rule| text(rule, "/id") == Some(id))
        })
    }
}

/// A message, in its own words or by the rule's, its gaps filled.
fn message(owner: &Value, rule: Option<&Value>) -> String {
    let own = text(owner, "/message/text");
    let by_id = || {
        let id = text(owner, "/message/id")?;
        rule?.get("messageStrings")?.get(id)?.get("text")?.as_str()
    };
    let mut words = own.or_else(by_id).unwrap_or("no message").to_owned();
    let arguments = list(owner, "/message/arguments");
    for (number, argument) in arguments.enumerate().take(20) {
        let argument = argument.as_str().unwrap_or_default();
        words = words.replace(&format!("{{{number}}}"), argument);
    }
    one_line(&words)
}

fn text<'a>(value: &'a Value, at: &str) -> Option<&'a str> {
    value.pointer(at)?.as_str()
}

fn list<'a>(value: &'a Value, at: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let list = value.pointer(at).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// A text on one line, not too long.
fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(MESSAGE).collect()
}

#[cfg(test)]
mod tests {
    //! Reports of several tools, and of none.

    use super::read;
    use crate::record::Crash;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn findings(runs: &Value) -> Result<Crash, String> {
        let report = json!({ "version": "2.1.0", "runs": runs }).to_string();
        read(&report, &|path| {
            path.strip_prefix("/build/").map(ToOwned::to_owned)
        })
    }

    fn at(uri: &str, line: u32) -> Value {
        json!({ "physicalLocation": { "artifactLocation": { "uri": uri }, "region": { "startLine": line } } })
    }

    #[test]
    fn a_finding_is_told_with_its_places() {
        let runs = json!([{
            "tool": { "driver": { "name": "t", "rules": [
                { "id": "cpp/overflow", "shortDescription": { "text": "short" }, "fullDescription": { "text": "A copy\nmay overflow." } }
            ] } },
            "artifacts": [{ "location": { "uri": "src/b.c" } }],
            "results": [
                { "ruleId": "style", "level": "note", "message": { "text": "too long a line" }, "locations": [at("src/z.c", 1)] },
                {
                    "ruleIndex": 0, "ruleId": "cpp/overflow", "level": "error",
                    "message": { "text": "{0} overflows", "arguments": ["name"] },
                    "locations": [{
                        "physicalLocation": { "artifactLocation": { "uri": "file:///build/src/a%20b.c" }, "region": { "startLine": 8, "endLine": 9 } },
                        "logicalLocations": [{ "fullyQualifiedName": "copy_name" }]
                    }],
                    "codeFlows": [{ "threadFlows": [{ "locations": [
                        { "location": { "physicalLocation": { "artifactLocation": { "index": 0 }, "region": { "startLine": 3 } }, "message": { "text": "read here" } } }
                    ] }] }],
                    "relatedLocations": [at("src/c.c", 5)]
                },
                { "ruleId": "cpp/overflow", "kind": "pass", "message": { "text": "fine" } },
                { "ruleId": "cpp/overflow", "suppressions": [{ "kind": "inSource" }], "message": { "text": "known" } }
            ]
        }]);
        let found = findings(&runs).unwrap();
        insta::assert_snapshot!(found.text, @r"
    cpp/overflow (error): name overflows
      about the rule: A copy may overflow.
      at src/a b.c:8-9 in copy_name
      on the way there: src/b.c:3: read here
      related: src/c.c:5
    style (note): too long a line
      at src/z.c:1
    ");
        let places: Vec<_> = found
            .frames
            .iter()
            .map(|frame| (frame.function.as_str(), frame.file.as_deref(), frame.line))
            .collect();
        assert_eq!(
            places,
            [
                ("copy_name", Some("src/a b.c"), Some(8)),
                ("", Some("src/b.c"), Some(3)),
                ("", Some("src/c.c"), Some(5)),
                ("", Some("src/z.c"), Some(1)),
            ]
        );
    }

    #[test]
    fn many_findings_are_cut() {
        let results: Vec<Value> = (1..=9)
        .map(|line| json!({ "message": { "text": "m".repeat(5000) }, "locations": [at("a.c", line)] }))
        .collect();
        let found = findings(&json!([{ "results": results }])).unwrap();
        assert!(found.text.ends_with("[4 more findings left out]\n"));
        assert!(found.text.len() < 10_000 && found.frames.len() == 5);
    }

    #[test]
    fn what_is_no_report_is_said() {
        for (report, words) in [
            ("", "no SARIF report"),
            ("{}", "no \"runs\""),
            ("{\"runs\": []}", "no finding"),
            (
                "{\"runs\": [{\"results\": [{\"kind\": \"pass\"}]}]}",
                "no finding",
            ),
        ] {
            let error = read(report, &|_| None).unwrap_err();
            assert!(error.contains(words), "{report}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_shape_makes_it_panic(key in "(message|locations|codeFlows|ruleIndex|kind|level)", value in "(1|\"x\"|null|\\[\\]|\\[1\\]|\\{\"text\":2\\}|\\{\"text\":\"%\"\\}|\\[\\{\"physicalLocation\":\\{\"artifactLocation\":\\{\"index\":9\\}\\}\\}\\])") {
            let report = format!("{{\"runs\":[{{\"results\":[{{\"{key}\":{value}}}]}}]}}");
            let _ = read(&report, &|_| None);
        }
    }
}
