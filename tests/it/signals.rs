//! Signals that are asked over HTTP: through the command line, against scripted
//! endpoints.

mod cost;
mod pipeline;

use patchwright_tests::command::{Finished, Patchwright};
use patchwright_tests::model::{Answer, Asked, ScriptedModel};
use serde_json::{Value, json};
use std::fs;
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

/// Tells whether standard error holds one line, the cost.
fn only_the_cost(finished: &Finished) -> bool {
    finished.stderr.starts_with("cost: about ") && finished.stderr.lines().count() == 1
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
    assert!(only_the_cost(&ranked), "{}", ranked.stderr);
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
    assert!(only_the_cost(&ranked), "{}", ranked.stderr);
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
    assert!(only_the_cost(&ranked), "{}", ranked.stderr);
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
