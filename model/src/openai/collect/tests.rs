//! Cut streams, dialects and doubtful usage, read as replies.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn collect(events: &[Value]) -> Result<Collected> {
    let mut collector = Collector::new(1000);
    for event in events {
        collector.event(event)?;
        if collector.is_full() {
            break;
        }
    }
    collector.end()
}

fn delta(text: &str) -> Value {
    json!({ "model": "m-1", "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": null }] })
}

fn stop(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

#[test]
fn a_chat_stream_becomes_a_reply() {
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 9, "completion_tokens": 2,
        "prompt_tokens_details": { "cached_tokens": 4 } } });
    let reply = collect(&[delta("hel"), delta("lo"), stop("stop"), usage]).unwrap();
    assert_eq!(
        reply,
        Collected {
            text: "hello".to_owned(),
            finish: Finish::Stop,
            model: Some("m-1".to_owned()),
            usage: Some(Usage {
                tokens_in: 9,
                tokens_out: 2,
                tokens_cached: 4,
                estimated: false,
            }),
        }
    );
}

#[test]
fn endings_have_many_names() {
    for (reason, finish) in [
        ("stop", Finish::Stop),
        ("end_turn", Finish::Stop),
        ("tool_calls", Finish::Stop),
        ("length", Finish::Length),
        ("max_tokens", Finish::Length),
        ("MAX_TOKENS", Finish::Length),
        ("content_filter", Finish::Refused),
        ("SAFETY", Finish::Refused),
        ("refusal", Finish::Refused),
    ] {
        let reply = collect(&[delta("x"), stop(reason)]).unwrap();
        assert_eq!(reply.finish, finish, "{reason}");
    }
}

fn check_plain(name: &str, event: Value, text: &str, finish: Finish) {
    let reply = collect(&[event]).unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        (text, finish),
        "{name}"
    );
}

#[test]
fn dialects_of_chat_are_understood() {
    let parts = json!([{ "type": "thinking", "text": "hm" }, { "type": "text", "text": "yes" }]);
    let tagged = "<think>\nhm\n</think>\n\nyes";
    let calls = json!([{ "function": { "name": "f" } }]);
    for (name, message, text, finish) in [
        ("plain", json!({ "content": "yes" }), "yes", Finish::Stop),
        (
            "parts, with thinking",
            json!({ "content": parts }),
            "yes",
            Finish::Stop,
        ),
        (
            "thinking apart",
            json!({ "content": "yes", "reasoning_content": "hm" }),
            "yes",
            Finish::Stop,
        ),
        (
            "thinking in a tag",
            json!({ "content": tagged }),
            "yes",
            Finish::Stop,
        ),
        (
            "only thinking",
            json!({ "content": "<think>hm" }),
            "",
            Finish::Stop,
        ),
        ("no content", json!({ "content": null }), "", Finish::Stop),
        (
            "a tool call",
            json!({ "content": null, "tool_calls": calls }),
            "",
            Finish::Stop,
        ),
        (
            "a refusal",
            json!({ "content": null, "refusal": "no" }),
            "no",
            Finish::Refused,
        ),
    ] {
        let event = json!({ "choices": [{ "message": message, "finish_reason": "stop" }] });
        check_plain(name, event, text, finish);
    }
}

#[test]
fn a_plain_response_is_understood() {
    let said = json!({ "type": "output_text", "text": "yes" });
    let refused = json!({ "type": "refusal", "refusal": "no" });
    for (name, part, text, finish) in [
        ("an answer", said, "yes", Finish::Stop),
        ("a refusal", refused, "no", Finish::Refused),
    ] {
        let output = json!([{ "type": "reasoning" }, { "type": "message", "content": [part] }]);
        let event = json!({ "object": "response", "status": "completed", "output": output });
        check_plain(name, event, text, finish);
    }
}

#[test]
fn a_response_stream_becomes_a_reply() {
    let text = |text: &str| json!({ "type": "response.output_text.delta", "delta": text });
    let end = |kind: &str, rest: Value| json!({ "type": kind, "response": rest });
    let usage = json!({ "input_tokens": 5, "output_tokens": 2, "input_tokens_details": { "cached_tokens": 1 } });
    let whole = json!({ "object": "response", "status": "completed", "model": "m", "usage": usage,
        "output": [{ "type": "message", "content": [{ "type": "output_text", "text": "hello" }] }] });
    let reply = collect(&[text("hel"), text("lo"), end("response.completed", whole)]).unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("hello", Finish::Stop));
    assert_eq!(reply.usage.unwrap().tokens_cached, 1);

    let cut =
        json!({ "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" } });
    let reply = collect(&[text("hel"), end("response.incomplete", cut)]).unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("hel", Finish::Length));

    let filtered =
        json!({ "status": "incomplete", "incomplete_details": { "reason": "content_filter" } });
    let reply = collect(&[end("response.incomplete", filtered)]).unwrap();
    assert_eq!(reply.finish, Finish::Refused);

    let failed =
        json!({ "status": "failed", "error": { "code": "server_error", "message": "oops" } });
    let error = collect(&[end("response.failed", failed)]).unwrap_err();
    assert!(matches!(error, ModelError::Retry { .. }), "{error}");
}

#[test]
fn what_is_no_reply_is_sorted() {
    let error = |error: Value| json!({ "error": error });
    let cases = [
        ("half a stream", vec![delta("x")], "broke off"),
        ("nothing", vec![], "without any choice"),
        (
            "no choice",
            vec![json!({ "choices": [] })],
            "without any choice",
        ),
        (
            "an error in the stream",
            vec![delta("x"), error(json!({ "message": "overloaded" }))],
            "overloaded",
        ),
        (
            "a rate limit in the stream",
            vec![error(json!({ "type": "rate_limit_error" }))],
            "too many calls",
        ),
        (
            "an error as the ending",
            vec![stop("error")],
            "broke the reply off",
        ),
        (
            "an error event",
            vec![json!({ "type": "error", "message": "boom" })],
            "an error of its own",
        ),
    ];
    for (name, events, words) in cases {
        let error = collect(&events).unwrap_err();
        assert!(
            matches!(error, ModelError::Retry { .. }),
            "{name}: {error:?}"
        );
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
    let long = error(json!({ "code": "context_length_exceeded", "message": "no" }));
    assert!(matches!(collect(&[long]), Err(ModelError::TooLong(_))));
}

#[test]
fn text_beyond_the_limit_is_cut_between_characters() {
    let reply = collect(&[
        delta(&"ä".repeat(400)),
        delta(&"ä".repeat(400)),
        stop("stop"),
    ])
    .unwrap();
    assert_eq!(reply.text, "ä".repeat(500));
    assert_eq!(reply.finish, Finish::Length);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z<>/]{0,12}".prop_map(Value::from),
        Just(json!("response.completed")),
    ];
    let key = prop_oneof![
        Just("choices"),
        Just("delta"),
        Just("message"),
        Just("content"),
        Just("usage"),
        Just("type"),
        Just("response"),
        Just("error"),
        Just("status"),
        Just("output"),
        Just("text"),
        Just("finish_reason"),
        Just("prompt_tokens"),
        Just("index"),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..5).prop_map(|fields| {
                fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_event_surprises_it(events in proptest::collection::vec(any_json(), 0..4)) {
        let _ = collect(&events);
    }
}

/// Streams as the makers of these endpoints document them: fields, ending, usage.
/// They stand for endpoints that no test can reach.
const DIALECTS: &str = include_str!("../dialects.jsonl");

#[test]
fn the_dialects_of_endpoints_are_understood() {
    for line in DIALECTS.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = &case["endpoint"];
        let reply = collect(case["events"].as_array().unwrap());
        let reply = reply.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(case["text"], reply.text, "{name}");
        assert_eq!(
            case["finish"],
            serde_json::to_value(reply.finish).unwrap(),
            "{name}"
        );
        let usage = reply
            .usage
            .map(|counts| [counts.tokens_in, counts.tokens_out, counts.tokens_cached]);
        assert_eq!(
            case["usage"],
            serde_json::to_value(usage).unwrap(),
            "{name}"
        );
    }
}
