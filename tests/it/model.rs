//! The real model client against the scripted endpoint.

mod misbehaviours;

pub(crate) use misbehaviours::kind;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use patchwright_config::{self as settings, Flag, Sources};
use patchwright_model::openai::OpenAi;
use patchwright_model::recorded::{Recorded, Recording};
use patchwright_model::{Message, Model, Request, connect};
use patchwright_tests::model::{Answer, Misbehaviour, ScriptedModel};

const KEY: &str = "sk-a-key-that-nobody-may-see";

pub(crate) fn settings(endpoint: &str, values: &[(&str, &str)]) -> settings::Model {
    let mut all = vec![
        ("model.name", "scripted"),
        ("model.base_url", endpoint),
        ("model.api_key", KEY),
        ("model.retries.first_delay", "1ms"),
        ("model.retries.longest_delay", "5ms"),
    ];
    all.extend(values);
    let flags = all.iter().map(|(key, value)| Flag {
        name: (*key).to_owned(),
        key: (*key).to_owned(),
        value: (*value).to_owned(),
    });
    let sources = Sources {
        file: None,
        variables: BTreeMap::from([("HOME".to_owned(), "/nonexistent".to_owned())]),
        flags: flags.collect(),
    };
    settings::load(&sources).unwrap().settings.model
}

pub(crate) fn question() -> Request {
    Request {
        messages: vec![
            Message::system("Find the cause."),
            Message::user("Why does it crash?"),
            Message::assistant("Show me the code."),
            Message::user("  12: int x;\n"),
        ],
        max_output_tokens: 1234,
    }
}

/// Role and text of each message, as they go over the wire.
pub(crate) fn messages_of(request: Request) -> Vec<(String, String)> {
    let messages = request.messages.into_iter();
    let role = |message: &Message| serde_json::json!(message.role).as_str().map(str::to_owned);
    messages
        .map(|message| (role(&message).unwrap_or_default(), message.text))
        .collect()
}

#[tokio::test]
async fn the_request_arrives_as_it_was_meant() {
    for (api, path, limit) in [
        ("chat", "/v1/chat/completions?version=7", "max_tokens"),
        ("responses", "/v1/responses?version=7", "max_output_tokens"),
    ] {
        let endpoint = ScriptedModel::start(["hello"]).unwrap();
        let values = [
            ("model.api", api),
            ("model.headers.x-team", "blue"),
            ("model.query.version", "7"),
        ];
        let model = OpenAi::new(&settings(&endpoint.base_url(), &values)).unwrap();
        let reply = model.ask(&question()).await.unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.model.as_str()),
            ("hello", "scripted")
        );
        assert!(!reply.usage.estimated && reply.usage.tokens_in > 0);

        let asked = endpoint.requests().remove(0);
        assert_eq!(asked.path, path);
        assert_eq!(
            asked.header("authorization"),
            Some(format!("Bearer {KEY}").as_str())
        );
        assert_eq!(asked.header("x-team"), Some("blue"));
        assert_eq!(asked.body[limit], 1234);
        let expected = messages_of(question());
        assert_eq!(asked.messages(), expected);
    }
}

#[tokio::test]
async fn every_call_can_be_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let endpoint = ScriptedModel::start([Misbehaviour::EchoedKey.into(), Answer::from("hello")]);
    let endpoint = endpoint.unwrap();
    let values = [("model.wire_log", path.to_str().unwrap())];
    let model = OpenAi::new(&settings(&endpoint.base_url(), &values)).unwrap();
    model.ask(&question()).await.unwrap_err();
    model.ask(&question()).await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains(KEY), "{text}");
    let calls: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&calls[0]["status"], &calls[1]["status"]),
        (&401.into(), &200.into())
    );
    assert!(calls[0]["failure"].as_str().unwrap().contains("[key]"));
    assert_eq!(calls[1]["sent"], endpoint.requests()[1].body);
    assert!(
        calls[1]["received"]
            .as_str()
            .unwrap()
            .ends_with("data: [DONE]\n\n")
    );
    assert!(calls[1]["failure"].is_null());
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let endpoint = ScriptedModel::start(["hello"]).unwrap();
    let values = [("model.api_key", "")];
    let model = OpenAi::new(&settings(&endpoint.base_url(), &values)).unwrap();
    model.ask(&question()).await.unwrap();
    assert_eq!(endpoint.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_temporary_failure_is_retried_with_the_same_request() {
    let endpoint = ScriptedModel::start([
        Misbehaviour::TooManyRequestsShortWait.into(),
        Misbehaviour::HalfStream.into(),
        Misbehaviour::ServerError.into(),
        Answer::from("at last"),
    ])
    .unwrap();
    let model = connect(&settings(&endpoint.base_url(), &[])).unwrap();
    assert_eq!(model.ask(&question()).await.unwrap().text, "at last");
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 4);
    assert!(requests.iter().all(|asked| asked.body == requests[0].body));
}

#[tokio::test]
async fn another_model_goes_on_with_the_same_conversation() {
    let first = ScriptedModel::start([Misbehaviour::Unauthorized]).unwrap();
    let second = ScriptedModel::start(["from the second", "again"]).unwrap();
    let fallbacks = format!(
        r#"[{{ name = "other", base_url = "{}", api = "responses" }}]"#,
        second.base_url()
    );
    let values = [("model.fallbacks", fallbacks.as_str())];
    let model = connect(&settings(&first.base_url(), &values)).unwrap();
    assert_eq!(
        model.ask(&question()).await.unwrap().text,
        "from the second"
    );
    assert_eq!(model.ask(&question()).await.unwrap().text, "again");
    assert_eq!((first.requests().len(), second.requests().len()), (1, 2));
    let asked = second.requests().remove(0);
    assert_eq!(asked.messages(), first.requests()[0].messages());
    assert_eq!(asked.body["model"], "other");
    assert_eq!(
        asked.header("authorization"),
        None,
        "the key is for the first endpoint"
    );
}

#[tokio::test]
async fn an_endpoint_that_is_down_is_named() {
    let base_url = ScriptedModel::start(["never"]).unwrap().base_url();
    let values = [("model.retries.count", "1")];
    let model = connect(&settings(&base_url, &values)).unwrap();
    let error = model.ask(&question()).await.unwrap_err();
    let words = format!("nothing listens at {base_url}: start the endpoint");
    assert!(error.to_string().contains(&words), "{error}");
    assert!(error.to_string().ends_with("tried 2 times"), "{error}");
}

#[test]
fn no_name_and_no_header_are_told_before_anything_is_sent() {
    let nameless = settings("http://127.0.0.1:9/v1", &[("model.name", "")]);
    let error = connect(&nameless).unwrap_err();
    assert!(error.to_string().contains("--model"), "{error}");
    let broken = settings("http://127.0.0.1:9/v1", &[("model.api_key", "a\nb")]);
    let error = connect(&broken).unwrap_err();
    assert!(error.to_string().contains("model.api_key"), "{error}");
}

#[test]
fn the_key_is_never_printed() {
    let values = [("model.headers.api-key", KEY)];
    let settings = settings("http://127.0.0.1:9/v1", &values);
    let model = OpenAi::new(&settings).unwrap();
    assert!(!format!("{settings:?} {model:?}").contains(KEY));
}

async fn record(path: &Path) -> Vec<Request> {
    let endpoint = ScriptedModel::start(["one", "two"]).unwrap();
    let model = connect(&settings(&endpoint.base_url(), &[])).unwrap();
    let recording = Recording::new(model, path).unwrap();
    let first = question();
    let reply = recording.ask(&first).await.unwrap();
    let mut second = first.clone();
    second.messages.push(Message::assistant(reply.text));
    second.messages.push(Message::user("and now?"));
    recording.ask(&second).await.unwrap();
    vec![first, second]
}

#[tokio::test]
async fn a_recorded_conversation_replays_without_an_endpoint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transcript.jsonl");
    let requests = record(&path).await;
    let recorded: Arc<dyn Model> = Arc::new(Recorded::open(&path).unwrap());
    let mut texts = Vec::new();
    for request in &requests {
        texts.push(recorded.ask(request).await.unwrap().text);
    }
    assert_eq!(texts, ["one", "two"]);
}
