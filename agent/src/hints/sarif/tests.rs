//! Reports of several tools, and of none.

use super::{Findings, decoded, read};
use proptest::prelude::*;
use serde_json::{Value, json};

fn findings(runs: &Value) -> Result<Findings, String> {
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
    assert_eq!(decoded("a%2fb%"), "a/b%");
    assert_eq!(decoded("%zz%e"), "%zz%e");
}

proptest! {
    #[test]
    fn no_shape_makes_it_panic(key in "(message|locations|codeFlows|ruleIndex|kind|level)", value in "(1|\"x\"|null|\\[\\]|\\[1\\]|\\{\"text\":2\\}|\\{\"text\":\"%\"\\}|\\[\\{\"physicalLocation\":\\{\"artifactLocation\":\\{\"index\":9\\}\\}\\}\\])") {
        let report = format!("{{\"runs\":[{{\"results\":[{{\"{key}\":{value}}}]}}]}}");
        let _ = read(&report, &|_| None);
    }
}
