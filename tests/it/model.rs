//! The real model client against the scripted endpoint.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::Arc,
};

use patchwright::{
    model::{
        Finish, Message, Model, ModelError, Reply, Request, connect,
        openai::OpenAi,
        recorded::{Recorded, Recording},
    },
    settings::{self, Flag, Sources},
};
use patchwright_tests::model::{Answer, Asked, Misbehaviour, ScriptedModel};

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

/// What a misbehaviour must come to: the kind of outcome, and words in it.
fn expected(misbehaviour: Misbehaviour) -> (&'static str, &'static str) {
    use Misbehaviour as M;
    match misbehaviour {
        M::TooManyRequests
        | M::TooManyRequestsShortWait
        | M::TooManyRequestsLongWait
        | M::TooManyRequestsDate => ("retry", "429 too many calls"),
        M::ServerError => ("retry", "500 the endpoint has an error of its own"),
        M::BadGatewayPage => ("retry", "502 the endpoint is not available"),
        M::Unavailable => ("retry", "503"),
        M::GatewayTimeout => ("retry", "upstream timed out"),
        M::Overloaded => ("retry", "529 the endpoint is overloaded"),
        M::EmptyBody => ("retry", "empty answer"),
        M::Prose => ("retry", "without any choice"),
        M::HalfJson | M::DeepJson => ("retry", "not JSON"),
        M::HalfStream => ("retry", "broke off in the middle"),
        M::BrokenStream => ("retry", "broke"),
        M::StalledStream => ("retry", "model.timeouts.silence"),
        M::Silence => ("retry", "model.timeouts.first_byte"),
        M::KeptAliveForever => ("retry", "model.timeouts.total"),
        M::BrokenEvent => ("retry", "an event that is not JSON"),
        M::ErrorInStream => ("retry", "the engine died"),
        M::EmptyChoices => ("retry", ""),
        M::QuotaExhausted => ("retry", "billing"),
        M::PaymentRequired => ("fatal", "billing"),
        M::Unauthorized => ("fatal", "PATCHWRIGHT_MODEL__API_KEY"),
        M::EchoedKey => ("fatal", "unknown key [key]"),
        M::Forbidden => ("fatal", "403"),
        M::UnknownModel => ("fatal", "model.name"),
        M::UnknownPath => ("fatal", "model.base_url"),
        M::Redirect => ("fatal", "has moved"),
        M::UnknownField => ("fatal", "model.omit"),
        M::Html => ("fatal", "web page"),
        M::ContextLength | M::PayloadTooLarge => ("too long", ""),
        M::FilteredPrompt => ("refused", "caught by the filter"),
        M::EmptyText | M::OnlyThinking | M::ToolCall => ("stop, empty", ""),
        M::Megabyte => ("stop", "0123456789abcdef"),
        M::WrongTags => ("stop", "<answer>"),
        M::Endless | M::CutOff => ("length", "a reply that is fine"),
        M::Refusal | M::FilteredReply => ("declined", "a reply that is fine"),
        M::InvalidUtf8 => ("stop", "\u{fffd}"),
        M::ControlCharacters => ("stop", "\u{0}\u{7}\u{1b}[31m\r\u{2028}"),
        M::UsageMissing | M::UsageZero | M::UsageAbsurd | M::UsageNegative => {
            ("stop, estimated", "grüße, a reply that is fine")
        }
        M::ReasoningField
        | M::TornUtf8
        | M::UnknownEvents
        | M::PlainInsteadOfStream
        | M::WrongContentType
        | M::NoDone
        | M::CarriageReturns
        | M::ContentParts => ("stop", "grüße, a reply that is fine"),
    }
}

pub(crate) fn kind(outcome: &Result<Reply, ModelError>) -> (&'static str, String) {
    match outcome {
        Err(error) => {
            let kind = match error {
                ModelError::Retry { .. } => "retry",
                ModelError::TooLong { .. } => "too long",
                ModelError::Refused { .. } => "refused",
                ModelError::Fatal { .. } => "fatal",
            };
            (kind, error.to_string())
        }
        Ok(reply) => {
            let kind = match reply.finish {
                Finish::Length => "length",
                Finish::Refused => "declined",
                Finish::Stop if reply.text.is_empty() => "stop, empty",
                Finish::Stop if reply.usage.estimated && reply.text.len() < 100 => {
                    "stop, estimated"
                }
                Finish::Stop => "stop",
            };
            (kind, reply.text.clone())
        }
    }
}

/// Short waits only where waiting is the point: a busy machine must not decide.
fn waits(misbehaviour: Misbehaviour) -> &'static [(&'static str, &'static str)] {
    match misbehaviour {
        Misbehaviour::StalledStream => &[("model.timeouts.silence", "200ms")],
        Misbehaviour::Silence => &[("model.timeouts.first_byte", "200ms")],
        Misbehaviour::KeptAliveForever => &[("model.timeouts.total", "300ms")],
        _ => &[],
    }
}

async fn every_misbehaviour_has_its_outcome(api: &str, stream: &str) {
    // By name and not in order: a wait may end before its request was even sent.
    let endpoint = ScriptedModel::answering(|asked| {
        let name = asked.last();
        let mut all = Misbehaviour::ALL.iter().copied();
        let wanted = all.find(|misbehaviour| misbehaviour.name() == name);
        wanted.map_or_else(|| Answer::from("no such misbehaviour"), Answer::from)
    })
    .unwrap();
    let mut models = HashMap::new();
    for misbehaviour in Misbehaviour::ALL.iter().copied() {
        let waits = waits(misbehaviour);
        let model = models.entry(waits).or_insert_with(|| {
            let mut values = vec![("model.api", api), ("model.stream", stream)];
            values.extend(waits);
            OpenAi::new(&settings(&endpoint.base_url(), &values)).unwrap()
        });
        let mut request = question();
        request.messages.push(Message::user(misbehaviour.name()));
        let outcome = model.ask(&request).await;
        check(misbehaviour, &outcome);
    }
    let mut names: Vec<_> = endpoint.requests().iter().map(Asked::last).collect();
    let asked = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), asked, "each is asked once");
}

fn check(misbehaviour: Misbehaviour, outcome: &Result<Reply, ModelError>) {
    let (kind, text) = kind(outcome);
    let (expected_kind, words) = expected(misbehaviour);
    let name = misbehaviour.name();
    let shown: String = text.chars().take(300).collect();
    assert_eq!(kind, expected_kind, "{name}: {shown}");
    assert!(text.contains(words), "{name}: {shown}");
    assert!(!text.contains(KEY), "{name}: {shown}");
    assert!(text.len() <= 1 << 20, "{name}: {} bytes", text.len());
    if let Err(ModelError::Retry { spent, .. }) = outcome {
        // Whoever answers with an error asks no money; a reply that began may be charged.
        let refused = text.split(' ').any(|word| {
            let status = word.parse::<u16>();
            status.is_ok_and(|status| (400..600).contains(&status))
        });
        let charged = !refused || misbehaviour == Misbehaviour::ErrorInStream;
        assert_eq!(spent.is_some(), charged, "{name}: {spent:?}");
        assert!(
            spent.is_none_or(|spent| spent.estimated && spent.tokens_in > 0),
            "{name}"
        );
    }
}

#[tokio::test]
async fn every_misbehaviour_of_a_chat_stream_has_its_outcome() {
    every_misbehaviour_has_its_outcome("chat", "true").await;
}

#[tokio::test]
async fn every_misbehaviour_of_a_plain_chat_has_its_outcome() {
    every_misbehaviour_has_its_outcome("chat", "false").await;
}

#[tokio::test]
async fn every_misbehaviour_of_a_response_stream_has_its_outcome() {
    every_misbehaviour_has_its_outcome("responses", "true").await;
}

#[tokio::test]
async fn every_misbehaviour_of_a_plain_response_has_its_outcome() {
    every_misbehaviour_has_its_outcome("responses", "false").await;
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
        let expected: Vec<_> = question()
            .messages
            .into_iter()
            .map(|message| (message.role.as_str().to_owned(), message.text))
            .collect();
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
async fn what_passes_is_asked_again_with_the_same_request() {
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
