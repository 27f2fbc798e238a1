//! Cost of signals in a run: charged to its limits like model calls, recorded in
//! its journal, and left out when the budget does not allow them.

use crate::scene::{GOOD, KEY, Scene, Told, events};
use patchwright_tests::model::{Answer, Asked, ScriptedModel};
use serde_json::{Value, json};
use std::time::Duration;

/// A round that asks for words, which signals help with.
const SEARCH: &str = "<analysis>Where are names copied?</analysis>
<queries>
<symbol>copy_name</symbol>
<search>copy the name of a record</search>
<file>records.h</file>
</queries>";
/// The tokens that the re-ranker reports for each call.
const TOLD: u64 = 2_000;

fn scored(asked: &Asked, tokens: u64) -> Answer {
    let texts = asked.body["documents"].as_array().expect("texts").len();
    let results: Vec<Value> = (0..texts)
        .map(|index| json!({ "index": index, "relevance_score": index }))
        .collect();
    Answer::Json(
        200,
        json!({ "results": results, "usage": { "total_tokens": tokens } }),
    )
}

/// The same with two questions for signals.
fn twice() -> String {
    SEARCH.replace("<file>", "<search>the limit of a value</search>\n<file>")
}

fn scene(reranker: &ScriptedModel, price: &str) -> Scene {
    Scene::new()
        .with("PATCHWRIGHT_RERANK__BASE_URL", &reranker.base_url())
        .with("PATCHWRIGHT_RERANK__USD_PER_MILLION", price)
        .with("PATCHWRIGHT_RERANK__TIMEOUT", "20s")
        .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_IN", "0")
        .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_OUT", "0")
}

/// A dry run with a re-ranker of this price and these limits; how often the
/// re-ranker was asked.
fn run(price: &str, limits: &[&str]) -> (Scene, Told, usize) {
    let reranker = ScriptedModel::answering(|asked| scored(asked, TOLD)).unwrap();
    let model = ScriptedModel::start([SEARCH, GOOD]).unwrap();
    let scene = scene(&reranker, price);
    let mut arguments = vec!["--dry-run"];
    for limit in limits {
        arguments.extend(["--set", limit]);
    }
    let told = scene.run(&model, &arguments);
    told.expect("proposed", 0, "");
    let asked = reranker.requests().len();
    (scene, told, asked)
}

fn tokens(told: &Told) -> u64 {
    told.report["cost"]["tokens_in"].as_u64().unwrap()
}

fn usd(told: &Told) -> f64 {
    told.report["cost"]["usd"].as_f64().unwrap()
}

#[test]
fn a_signal_is_charged_and_journaled() {
    let (_scene, free, _) = run("unset", &[]);
    assert!(usd(&free).abs() < 1e-9, "{free:#?}");
    let (scene, told, asked) = run("1000", &["limits.usd=1000"]);
    assert!(asked > 0, "{told:#?}");
    let spent = (asked as u64 * TOLD) as f64 * 1000.0 / 1e6;
    assert!((usd(&told) - spent).abs() < 1e-6, "{} {spent}", usd(&told));
    let journal = scene.plain(&["show", told.run(), "--journal", "--format", "json"]);
    let said = &journal.stdout;
    assert!(said.contains("asking rerank (about "), "{said}");
    assert!(said.contains("\"signal\": \"rerank\"") || said.contains("\"signal\":\"rerank\""));
    // The model's own tokens come on top.
    assert!(tokens(&told) > asked as u64 * TOLD, "{told:#?}");
}

#[test]
fn a_signal_is_left_out_when_nothing_is_left_for_it() {
    for (price, limits, reason) in [
        (
            "1000",
            &["limits.usd=0.001"],
            "rerank was left out: money: ",
        ),
        (
            "unset",
            &["limits.usd=1000"],
            "rerank was left out: money: a limit is set, but the price of rerank is not",
        ),
    ] {
        let (_scene, told, asked) = run(price, limits);
        assert_eq!(asked, 0, "{limits:?}");
        let said = &told.finished.stderr;
        assert!(said.contains(reason), "{reason}: {said}");
        assert!(usd(&told).abs() < 1e-9, "{told:#?}");
    }
}

#[test]
fn the_tokens_of_signals_count_against_the_limit_of_tokens() {
    // The first asking takes more than there is: the second is left out, and
    // nothing is left for the model either.
    let reranker = ScriptedModel::answering(|asked| scored(asked, 10_000_000)).unwrap();
    let model = ScriptedModel::start([twice().as_str(), GOOD]).unwrap();
    let told =
        scene(&reranker, "unset").run(&model, &["--dry-run", "--set", "limits.tokens=500000"]);
    told.expect("budget_exhausted", 3, "tokens: ");
    assert_eq!((reranker.requests().len(), model.requests().len()), (1, 1));
    let said = &told.finished.stderr;
    assert!(said.contains("rerank was left out: tokens: 100"), "{said}");
}

#[test]
fn an_unused_reservation_is_released() {
    let run = |limit: &str| {
        let reranker = ScriptedModel::answering(|asked| scored(asked, 1)).unwrap();
        let model = ScriptedModel::start([twice().as_str(), GOOD]).unwrap();
        let scene = scene(&reranker, "1000");
        let told = scene.run(&model, &["--dry-run", "--set", limit]);
        let journal = scene.plain(&["show", told.run(), "--journal", "--format", "json"]);
        (reranker.requests().len(), journal.stdout)
    };
    let (asked, journal) = run("limits.usd=1000");
    assert_eq!(asked, 2);
    let reserved: Vec<f64> = journal
        .split("\"usd_at_most\":")
        .skip(1)
        .filter_map(|rest| rest.split([',', '}']).next()?.trim().parse().ok())
        .filter(|usd| *usd > 0.0)
        .collect();
    assert_eq!(reserved.len(), 2, "{journal}");
    // There is room for the dearer one of them, not for both at once.
    let dearest = reserved.iter().copied().fold(0.0, f64::max);
    let (asked, _) = run(&format!("limits.usd={:.6}", dearest * 1.05));
    assert_eq!(asked, 2);
}

/// The events of a dry run whose re-ranker is at this address, and the journal
/// for people.
fn journal_with(url: &str) -> (Vec<Value>, String) {
    let model = ScriptedModel::start([SEARCH, GOOD]).unwrap();
    let scene = Scene::new()
        .with("PATCHWRIGHT_RERANK__BASE_URL", url)
        .with("PATCHWRIGHT_RERANK__TIMEOUT", "300ms");
    let told = scene.run(&model, &["--dry-run"]);
    told.expect("proposed", 0, "");
    let shown = scene.plain(&["show", told.run(), "--journal"]).stdout;
    let written = scene.plain(&["show", told.run(), "--journal", "--format", "json"]);
    (events(&written.stdout), shown)
}

#[test]
fn why_a_signal_gave_nothing_stands_in_the_journal() {
    let broken = ScriptedModel::answering(|_| {
        let said = format!("{KEY} is not welcome");
        Answer::Json(503, json!({ "error": said }))
    });
    let nonsense = ScriptedModel::answering(|_| Answer::Json(200, json!({ "hello": 1 })));
    let slow = ScriptedModel::answering(|_| {
        let answer = Answer::Json(200, json!([]));
        Answer::After(Duration::from_secs(30), Box::new(answer))
    });
    let (broken, nonsense, slow) = (broken.unwrap(), nonsense.unwrap(), slow.unwrap());
    // An address that holds a password, which is shown nowhere.
    let secret = format!("http://me:{KEY}@");
    for (url, reason) in [
        (
            broken.base_url().replace("http://", &secret),
            "answered 503",
        ),
        (nonsense.base_url(), "no list of results"),
        (slow.base_url(), "no answer within 300ms (rerank.timeout)"),
        (
            format!("{secret}127.0.0.1:9/v1"),
            "127.0.0.1:9/v1/rerank cannot be reached",
        ),
    ] {
        let (events, shown) = journal_with(&url);
        let records: Vec<&Value> = events
            .iter()
            .filter_map(|event| event.pointer("/body/outcome/signals")?.as_array()?.first())
            .collect();
        let missing = records.first().and_then(|one| one["missing"].as_str());
        assert!(missing.unwrap_or_default().contains(reason), "{events:#?}");
        let line = shown
            .lines()
            .find(|line| line.contains("rerank was left out: "));
        assert!(line.unwrap_or_default().contains(reason), "{shown}");
    }
}
