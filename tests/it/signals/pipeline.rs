//! The context that a model helps with: `context --model`, with a scripted model
//! and a scripted re-ranker.

use super::{as_documents, scene, with_reranker};
use patchwright_tests::command::{Finished, Patchwright};
use patchwright_tests::model::{Answer, ScriptedModel};
use serde_json::{Value, json};
use std::fs;

/// Asks for a context; the request is in a file.
fn context(patchwright: &Patchwright, request: &str, arguments: &[&str]) -> Finished {
    let file = patchwright.scratch("request.txt");
    fs::write(&file, request).unwrap();
    let mut command = patchwright.command(&["context", "--repo", "tree"]).unwrap();
    let output = command.args(arguments).arg(&file).output().unwrap();
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Asks for the context of [`REQUEST`] with the help of a model, as JSON.
pub(super) fn helped(patchwright: &Patchwright, model: &ScriptedModel) -> Finished {
    let url = model.base_url();
    let model = ["--model", "scripted", "--base-url", &url];
    let arguments = [&model[..], &["--format", "json"]].concat();
    let finished = context(patchwright, REQUEST, &arguments);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    finished
}

const REQUEST: &str = "Where are attempts repeated when the other side does not answer?";
pub(super) const PATTERNS: &str = "<queries>
<pattern>while ($A < 0) { $$$ }</pattern>
<rule><kind>while_statement</kind></rule>
<symbol>not_asked_for</symbol>
</queries>";
pub(super) const SQL: &str = "<queries>
<sql>SELECT caller FROM calls WHERE callee = 'open_link'</sql>
<sql>SELECT broken FROM nothing</sql>
</queries>";

#[test]
fn a_model_writes_patterns_and_sql_and_the_reranker_picks_the_anchors() {
    let model = ScriptedModel::start([PATTERNS, SQL]).unwrap();
    let reranker =
        ScriptedModel::answering(|asked| as_documents(asked, "int drop_link(int link)")).unwrap();
    let patchwright = with_reranker(scene(), &reranker.base_url());
    let finished = helped(&patchwright, &model);
    let told: Value = serde_json::from_str(&finished.stdout).unwrap();
    let names: Vec<&str> = told["snippets"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|snippet| snippet["symbols"][0].as_str())
        .collect();
    // Both loops were hit, the re-ranker's choice first; the caller came by SQL.
    assert_eq!(names, ["drop_link", "open_link", "renew_link"], "{told}");
    assert!(told["tokens"].as_u64().unwrap() > 0 && told["intent"].is_string());
    let notes = told["notes"].to_string();
    assert!(
        notes.contains("a statement of the model was left out"),
        "{notes}"
    );
    let asked = model.requests();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].last().contains(REQUEST) && !asked[0].last().contains("open_link"));
    assert!(asked[1].last().contains("int open_link(const char *host)"));
    assert_eq!(reranker.requests()[0].body["query"], REQUEST);
}

#[test]
fn there_are_five_anchors_and_words_choose_them_without_a_reranker() {
    let patchwright = scene();
    let loops: String = (0..8)
        .map(|n| {
            format!("int turn_{n}(int n)\n{{\n  while (n < 0) {{ n++; }}\n  return n;\n}}\n\n")
        })
        .collect();
    let last = "int repeated_attempts(int n)\n{\n  while (n < 0) { n++; }\n  return n;\n}\n";
    fs::write(patchwright.scratch("tree").join("link.c"), loops + last).unwrap();
    let model = ScriptedModel::start([PATTERNS, SQL]).unwrap();
    let url = model.base_url();
    let arguments = ["--model", "scripted", "--base-url", &url];
    let finished = context(&patchwright, REQUEST, &arguments);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let asked = model.requests();
    let anchors = asked[1].last();
    assert!(anchors.contains("int repeated_attempts"), "{anchors}");
    assert_eq!(anchors.matches("int turn_").count(), 4, "{anchors}");
}

#[test]
fn a_call_that_fails_leads_back_to_the_plain_context() {
    let plain = context(&scene(), REQUEST, &[]);
    assert_eq!(plain.stderr, "");
    let down = Answer::Json(500, json!({ "error": { "message": "no" } }));
    for (answers, reason) in [
        (vec![down.clone()], "the call for patterns failed"),
        (vec!["I cannot help.".into()], "the reply held no patterns"),
        (
            vec!["<queries><pattern>no_such($A)</pattern></queries>".into()],
            "has a hit",
        ),
        (vec![PATTERNS.into(), down], "the call for SQL failed"),
        (
            vec![PATTERNS.into(), "What do you mean?".into()],
            "the reply held no SQL",
        ),
    ] {
        let model = ScriptedModel::start(answers).unwrap();
        let url = model.base_url();
        let finished = context(
            &scene(),
            REQUEST,
            &["--model", "scripted", "--base-url", &url],
        );
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        assert_eq!(finished.stdout, plain.stdout, "{reason}");
        let note = "note: this is the context without the model: ";
        let told = finished.stderr.contains(note) && finished.stderr.contains(reason);
        assert!(told, "{reason}: {}", finished.stderr);
    }
}
