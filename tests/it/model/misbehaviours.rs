//! Misbehaviours of an endpoint and the outcome of each, over each interface.

use super::{KEY, question, settings};
use patchwright_model::openai::OpenAi;
use patchwright_model::{Finish, Message, Model, ModelError, Reply};
use patchwright_tests::model::{Answer, Asked, Misbehaviour, ScriptedModel};
use std::collections::HashMap;

/// Returns the expected outcome of a misbehaviour: its kind, and words in it.
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
                ModelError::TooLong(_) => "too long",
                ModelError::Refused(_) => "refused",
                ModelError::Fatal(_) => "fatal",
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
