//! Signals that are asked over HTTP, and the context that a model helps with:
//! through the command line, against scripted endpoints.

use patchwright_tests::command::{Finished, Patchwright};
use patchwright_tests::model::{Answer, Asked, ScriptedModel};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const KEY: &str = "key-that-nobody-may-see";

/// Functions that words cannot tell apart.
const SOURCE: &str = "#include <stdlib.h>
int connect_host(const char *host);
int wait_for(int seconds);

int open_link(const char *host)
{
  int tries = 0;
  while (connect_host(host) < 0) {
    if (++tries > 3) return -1;
    wait_for(1 << tries);
  }
  return 0;
}

int close_link(int link) { return link < 0 ? -1 : 0; }

int renew_link(const char *host, int link)
{
  close_link(link);
  return open_link(host);
}

int drop_link(int link)
{
  while (close_link(link) < 0) { link++; }
  return 0;
}
";

fn scene() -> Patchwright {
    let patchwright = Patchwright::new().expect("patchwright builds");
    let tree = patchwright.scratch("tree");
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join("link.c"), SOURCE).unwrap();
    patchwright
        .with("PATCHWRIGHT_MODEL__RETRIES__COUNT", "0")
        .with("PATCHWRIGHT_MODEL__API_KEY", KEY)
}

fn with_reranker(patchwright: Patchwright, url: &str) -> Patchwright {
    patchwright
        .with("PATCHWRIGHT_RERANK__BASE_URL", url)
        .with("PATCHWRIGHT_RERANK__API_KEY", KEY)
        .with("PATCHWRIGHT_RERANK__NAME", "judge")
}

fn search(patchwright: &Patchwright, words: &str) -> Finished {
    let query = format!("search:{words}");
    let finished = patchwright
        .run(&["retrieve", "--repo", "tree", &query])
        .unwrap();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(!finished.stdout.contains(KEY) && !finished.stderr.contains(KEY));
    finished
}

fn first_hit(finished: &Finished) -> String {
    let hit = finished
        .stdout
        .lines()
        .find(|line| line.starts_with("link.c:"));
    hit.unwrap_or_default().to_owned()
}

/// Scores by what a text holds, in the shape that an interface has.
fn scored(asked: &Asked, field: &str, best: &str) -> Vec<(usize, f64)> {
    let texts = asked.body[field].as_array().expect("a list of texts");
    let score = |text: &Value| f64::from(u8::from(text.as_str().unwrap().contains(best)));
    let mut scored: Vec<(usize, f64)> = texts.iter().map(score).enumerate().collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1));
    scored
}

fn as_documents(asked: &Asked, best: &str) -> Answer {
    let results: Vec<Value> = scored(asked, "documents", best)
        .into_iter()
        .map(|(index, score)| json!({ "index": index, "relevance_score": score }))
        .collect();
    Answer::Json(200, json!({ "id": "1", "results": results, "meta": {} }))
}

#[test]
fn a_reranker_changes_the_order_and_is_asked_once() {
    let reranker =
        ScriptedModel::answering(|asked| as_documents(asked, "int drop_link(int link)")).unwrap();
    let plain = search(&scene(), "close a link");
    assert!(!first_hit(&plain).contains("drop_link"), "{}", plain.stdout);
    let patchwright = with_reranker(scene(), &reranker.base_url());
    let ranked = search(&patchwright, "close a link");
    assert!(
        first_hit(&ranked).contains("drop_link"),
        "{}",
        ranked.stdout
    );
    assert_eq!(ranked.stderr, "");
    let again = search(&patchwright, "close a link");
    assert_eq!(again.stdout, ranked.stdout);
    // The second time its scores come out of the cache.
    let asked = reranker.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].path, "/v1/rerank");
    assert_eq!(asked[0].body["model"], "judge");
    assert_eq!(asked[0].body["query"], "close a link");
    assert_eq!(
        asked[0].header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
}

#[test]
fn a_reranker_that_takes_texts_is_found_out() {
    let reranker = ScriptedModel::answering(|asked| {
        if asked.body.get("texts").is_none() {
            return Answer::Json(422, json!({ "error": "missing field `texts`" }));
        }
        let list: Vec<Value> = scored(asked, "texts", "int drop_link(int link)")
            .into_iter()
            .map(|(index, score)| json!({ "index": index, "score": score }))
            .collect();
        Answer::Json(200, json!(list))
    })
    .unwrap();
    let patchwright = with_reranker(scene(), &reranker.base_url());
    let ranked = search(&patchwright, "close a link");
    assert!(
        first_hit(&ranked).contains("drop_link"),
        "{}",
        ranked.stdout
    );
    assert_eq!(ranked.stderr, "");
}

#[test]
fn embeddings_change_the_order() {
    let endpoint = ScriptedModel::answering(|asked| {
        let input = asked.body["input"].as_array().expect("texts").clone();
        let near = |text: &Value| {
            let text = text.as_str().unwrap();
            text == "close a link" || text.contains("int drop_link(int link)")
        };
        let vector = |text: &Value| if near(text) { [1.0, 0.0] } else { [0.0, 1.0] };
        let data: Vec<Value> = input
            .iter()
            .enumerate()
            .rev()
            .map(|(index, text)| json!({ "index": index, "embedding": vector(text) }))
            .collect();
        Answer::Json(200, json!({ "object": "list", "data": data }))
    })
    .unwrap();
    let patchwright = scene()
        .with("PATCHWRIGHT_EMBEDDING__NAME", "small")
        .with("PATCHWRIGHT_EMBEDDING__BASE_URL", &endpoint.base_url());
    let ranked = search(&patchwright, "close a link");
    assert_eq!(ranked.stderr, "");
    let plain = search(&scene(), "close a link");
    let place = |finished: &Finished| {
        let mut hits = finished
            .stdout
            .lines()
            .filter(|line| line.starts_with("link.c:"));
        hits.position(|line| line.contains("drop_link"))
    };
    assert!(
        place(&ranked) < place(&plain),
        "{}\n{}",
        ranked.stdout,
        plain.stdout
    );
    let asked = endpoint.requests();
    assert_eq!((asked.len(), asked[0].path.as_str()), (1, "/v1/embeddings"));
    assert_eq!(asked[0].body["model"], "small");
}

#[test]
fn words_of_the_model_widen_a_search() {
    let model = ScriptedModel::start(["connect_host tries seconds"]).unwrap();
    let patchwright = scene()
        .with("PATCHWRIGHT_MODEL__NAME", "scripted")
        .with("PATCHWRIGHT_MODEL__BASE_URL", &model.base_url())
        .with("PATCHWRIGHT_EXPANSION__ENABLED", "true");
    let widened = search(&patchwright, "renew");
    assert!(widened.stdout.contains("tries"), "{}", widened.stdout);
    assert!(!search(&scene(), "renew").stdout.contains("tries"));
    assert!(model.requests()[0].last().contains("renew"));
}

#[test]
fn signals_that_are_down_are_left_out_with_a_note() {
    let plain = search(&scene(), "close a link");
    let slow = ScriptedModel::answering(|_| {
        let answer = Answer::Json(200, json!([]));
        Answer::After(Duration::from_secs(30), Box::new(answer))
    })
    .unwrap();
    let broken = ScriptedModel::answering(|_| {
        Answer::Json(500, json!({ "error": format!("{KEY} is not welcome") }))
    })
    .unwrap();
    let nonsense = ScriptedModel::answering(|_| Answer::Json(200, json!({ "hello": 1 }))).unwrap();
    for (url, reason) in [
        (slow.base_url(), "no answer within 200ms (rerank.timeout)"),
        (broken.base_url(), "answered 500"),
        (nonsense.base_url(), "no list of results"),
        ("http://127.0.0.1:9/v1".to_owned(), "cannot be reached"),
    ] {
        let patchwright = with_reranker(scene(), &url).with("PATCHWRIGHT_RERANK__TIMEOUT", "200ms");
        let finished = search(&patchwright, "close a link");
        assert_eq!(finished.stdout, plain.stdout, "{url}");
        let expected = finished.stderr.contains("note: rerank was left out: ");
        assert!(
            expected && finished.stderr.contains(reason),
            "{}",
            finished.stderr
        );
    }
}

/// Asks for a context; the request is on standard input.
fn context(patchwright: &Patchwright, request: &str, arguments: &[&str]) -> Finished {
    let file = patchwright.scratch("request.txt");
    fs::write(&file, request).unwrap();
    let mut command = patchwright.command(&["context", "--repo", "tree"]).unwrap();
    let input = fs::File::open(Path::new(&file)).unwrap();
    let output = command
        .args(arguments)
        .stdin(Stdio::from(input))
        .output()
        .unwrap();
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

const REQUEST: &str = "Where are attempts repeated when the other side does not answer?";
const PATTERNS: &str = "<queries>
<pattern>while ($A < 0) { $$$ }</pattern>
<rule><kind>while_statement</kind></rule>
<symbol>not_asked_for</symbol>
</queries>";
const SQL: &str = "<queries>
<sql>SELECT caller FROM calls WHERE callee = 'open_link'</sql>
<sql>SELECT broken FROM nothing</sql>
</queries>";

#[test]
fn a_model_writes_patterns_and_sql_and_the_reranker_picks_the_anchors() {
    let model = ScriptedModel::start([PATTERNS, SQL]).unwrap();
    let reranker =
        ScriptedModel::answering(|asked| as_documents(asked, "int drop_link(int link)")).unwrap();
    let patchwright = with_reranker(scene(), &reranker.base_url());
    let url = model.base_url();
    let arguments = [
        "--model",
        "scripted",
        "--base-url",
        &url,
        "--format",
        "json",
    ];
    let finished = context(&patchwright, REQUEST, &arguments);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
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
