//! Cost of signals and models in a command outside a run: printed in one line at
//! the end, and limited like one run.

use super::pipeline::{self, PATTERNS, SQL};
use super::{scene, scored, search, with_reranker};
use patchwright_tests::command::Patchwright;
use patchwright_tests::model::{Answer, ScriptedModel};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

/// A re-ranker that takes 2,000 tokens each time.
fn reranker() -> ScriptedModel {
    ScriptedModel::answering(|asked| {
        let results: Vec<Value> = scored(asked, "documents", "int drop_link(int link)")
            .into_iter()
            .map(|(index, score)| json!({ "index": index, "relevance_score": score }))
            .collect();
        let usage = json!({ "total_tokens": 2_000 });
        Answer::Json(200, json!({ "results": results, "usage": usage }))
    })
    .unwrap()
}

fn priced(reranker: &ScriptedModel, price: &str, limit: &str) -> Patchwright {
    with_reranker(scene(), &reranker.base_url())
        .with("PATCHWRIGHT_RERANK__USD_PER_MILLION", price)
        .with("PATCHWRIGHT_RERANK__TIMEOUT", "20s")
        .with("PATCHWRIGHT_LIMITS__USD", limit)
}

#[test]
fn a_search_prints_its_cost() {
    for (price, expected) in [
        ("1000", "cost: 2000 tokens in, 0 out, 2.0000 USD\n"),
        ("0", "cost: 2000 tokens in, 0 out, 0.0000 USD\n"),
        (
            "unset",
            "cost: 2000 tokens in, 0 out, USD unknown (no price is set for rerank)\n",
        ),
    ] {
        let reranker = reranker();
        let patchwright = priced(&reranker, price, "unset");
        assert_eq!(search(&patchwright, "close a link").stderr, expected);
        // The second time nobody is asked.
        assert_eq!(search(&patchwright, "close a link").stderr, "");
    }
}

#[test]
fn a_signal_beyond_the_limit_is_not_asked() {
    let plain = search(&scene(), "close a link");
    for (price, limit, reason) in [
        ("1000", "0.001", "money: limits.usd is 0.0010 USD: "),
        (
            "unset",
            "9",
            "money: a limit is set, but the price of rerank is not",
        ),
    ] {
        let reranker = reranker();
        let finished = search(&priced(&reranker, price, limit), "close a link");
        assert_eq!(finished.stdout, plain.stdout);
        assert_eq!(reranker.requests().len(), 0);
        let note = format!("note: rerank was left out: {reason}");
        let told = finished.stderr.starts_with(&note) && finished.stderr.lines().count() == 1;
        assert!(told, "{}", finished.stderr);
    }
}

/// `context --model` with a dollar for each thousand tokens of a reply.
fn helped(limit: &str) -> (ScriptedModel, String, String) {
    let model = ScriptedModel::start([PATTERNS, SQL]).unwrap();
    let patchwright = scene()
        .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_IN", "0")
        .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_OUT", "1000")
        .with("PATCHWRIGHT_MODEL__MAX_OUTPUT_TOKENS", "1000")
        .with("PATCHWRIGHT_MODEL__RETRIES__BROKEN", "0")
        .with("PATCHWRIGHT_LIMITS__USD", limit);
    let finished = pipeline::helped(&patchwright, &model);
    (model, finished.stdout, finished.stderr)
}

#[test]
fn a_context_prints_the_cost_of_its_calls() {
    let (model, context, told) = helped("unset");
    assert_eq!(model.requests().len(), 2);
    let line = told.lines().last().unwrap_or_default();
    let numbers: Vec<f64> = line
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    let &[_, tokens_out, usd] = numbers.as_slice() else {
        panic!("{line}");
    };
    assert!(tokens_out > 0.0 && line.starts_with("cost: "), "{line}");
    assert!((usd - tokens_out / 1000.0).abs() < 1e-4, "{line}");
    // Who reads the context as JSON finds what was there before.
    let context: Value = serde_json::from_str(&context).unwrap();
    assert!(context.get("cost").is_none() && context["snippets"].is_array());
}

#[test]
fn a_call_beyond_the_limit_is_not_made_and_the_context_is_plain() {
    // Each call may cost a dollar: none, one, and both can be paid.
    for (limit, calls, lost) in [("0.5", 0, "patterns"), ("1.0", 1, "SQL"), ("2.0", 2, "")] {
        let (model, _, told) = helped(limit);
        assert_eq!(model.requests().len(), calls, "{limit}: {told}");
        let note = format!(
            "note: this is the context without the model: the call for {lost} failed: \
             the model cannot be used: money: limits.usd is "
        );
        assert_eq!(told.contains(&note), calls < 2, "{limit}: {told}");
        assert_eq!(told.contains("cost: "), calls > 0, "{limit}: {told}");
    }
}

#[test]
fn a_session_over_mcp_tells_what_it_cost_when_it_ends() {
    let reranker = reranker();
    let patchwright = priced(&reranker, "1000", "unset");
    let mut command = patchwright.command(&["mcp", "--repo", "tree"]).unwrap();
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "a test", "version": "1" } });
    let call = json!({ "name": "search", "arguments": { "words": "close a link" } });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ] {
        writeln!(input, "{message}").unwrap();
        if !message["id"].is_null() {
            output.next().expect("an answer").unwrap();
        }
    }
    drop(input);
    let mut told = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut told)
        .unwrap();
    assert!(child.wait().unwrap().success());
    let line = "cost: 2000 tokens in, 0 out, 2.0000 USD";
    assert_eq!(told.lines().last(), Some(line), "{told}");
}
