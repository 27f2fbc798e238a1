//! The ways in which a real endpoint has been seen to misbehave: their names, and the bytes
//! that each sends.

use super::{
    plan::{Plan, Step},
    wire::{Dialect, Said, counts, done, frame},
};
use serde_json::{Value, json};
use std::time::Duration;

macro_rules! misbehaviours {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// One way to misbehave.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Misbehaviour { $($(#[doc = $doc])+ $name,)+ }

        impl Misbehaviour {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];
        }
    };
}

misbehaviours! {
    /// 429 without a word on when to come back.
    TooManyRequests,
    /// 429 with `retry-after-ms: 20`.
    TooManyRequestsShortWait,
    /// 429 with a `Retry-After` of a day.
    TooManyRequestsLongWait,
    /// 429 with a `Retry-After` that is a date in the past.
    TooManyRequestsDate,
    /// 429 because the account is empty.
    QuotaExhausted,
    /// 500 with plain text.
    ServerError,
    /// 502 with a web page, as a proxy sends it.
    BadGatewayPage,
    /// 503 without a body.
    Unavailable,
    /// 504 with JSON.
    GatewayTimeout,
    /// 529, Anthropic's word for busy.
    Overloaded,
    /// 401.
    Unauthorized,
    /// 401 with a message that repeats the key.
    EchoedKey,
    /// 402.
    PaymentRequired,
    /// 403.
    Forbidden,
    /// 404 for the model.
    UnknownModel,
    /// 404 for the path.
    UnknownPath,
    /// 301 to elsewhere.
    Redirect,
    /// 400 for a field.
    UnknownField,
    /// 400 because the prompt is too long.
    ContextLength,
    /// 413.
    PayloadTooLarge,
    /// 400 because a filter caught the prompt.
    FilteredPrompt,
    /// 200 with a web page.
    Html,
    /// 200 with nothing.
    EmptyBody,
    /// 200 with prose.
    Prose,
    /// 200 with the first half of a JSON document.
    HalfJson,
    /// 200 with JSON nested deeper than anybody reads.
    DeepJson,
    /// A stream that ends properly in the middle of the reply.
    HalfStream,
    /// A stream whose connection drops in the middle.
    BrokenStream,
    /// A stream that stalls in the middle.
    StalledStream,
    /// No answer at all.
    Silence,
    /// Signs of life for ever, and no reply.
    KeptAliveForever,
    /// An event that is not JSON.
    BrokenEvent,
    /// An error in the middle of a stream.
    ErrorInStream,
    /// No choice, or no output.
    EmptyChoices,
    /// A reply without text.
    EmptyText,
    /// A reply that is nothing but thinking, in a tag.
    OnlyThinking,
    /// Thinking in a field of its own before the text.
    ReasoningField,
    /// A call of a tool that nobody offered.
    ToolCall,
    /// A megabyte of text.
    Megabyte,
    /// Text without end.
    Endless,
    /// Tags that nobody asked for.
    WrongTags,
    /// A refusal in its own field.
    Refusal,
    /// A reply that a filter stopped.
    FilteredReply,
    /// A reply that the token limit cut off.
    CutOff,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// Characters torn apart between two pieces.
    TornUtf8,
    /// NUL and other control characters in the text.
    ControlCharacters,
    /// No usage.
    UsageMissing,
    /// A usage of zero.
    UsageZero,
    /// A usage beyond all measure.
    UsageAbsurd,
    /// A negative usage.
    UsageNegative,
    /// Events that nobody knows, and comments.
    UnknownEvents,
    /// The whole reply in one piece although a stream was asked for.
    PlainInsteadOfStream,
    /// A stream although it is called something else.
    WrongContentType,
    /// A stream without its last line.
    NoDone,
    /// Line ends of two characters.
    CarriageReturns,
    /// Content as a list of parts.
    ContentParts,
}

impl Misbehaviour {
    /// The name as a test prints it.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

/// Longer than any test waits.
const FOREVER: Duration = Duration::from_hours(1);

impl Misbehaviour {
    pub(super) fn plan(self, said: &Said, key: &str, (dialect, streamed): (Dialect, bool)) -> Plan {
        self.status_plan(key)
            .or_else(|| self.body_plan(said, dialect))
            .or_else(|| self.stream_plan(said, dialect))
            .unwrap_or_else(|| self.reply_plan(said.clone(), dialect, streamed))
    }

    /// Answers with another status than success.
    fn status_plan(self, key: &str) -> Option<Plan> {
        let error = |status, message: &str, code: &str| {
            let error = json!({ "message": message, "type": code, "code": code });
            Plan::json(status, &json!({ "error": error }))
        };
        let busy = || error(429, "Rate limit reached", "rate_limit_exceeded");
        Some(match self {
            Self::TooManyRequests => busy(),
            Self::TooManyRequestsShortWait => busy().header("retry-after-ms", "20"),
            Self::TooManyRequestsLongWait => busy().header("retry-after", "86400"),
            Self::TooManyRequestsDate => {
                busy().header("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")
            }
            Self::QuotaExhausted => error(429, "You exceeded your quota", "insufficient_quota"),
            Self::ServerError => Plan::new(500, "text/plain", "Internal Server Error"),
            Self::BadGatewayPage => Plan::html(502),
            Self::Unavailable => Plan::new(503, "text/plain", ""),
            Self::GatewayTimeout => error(504, "upstream timed out", "timeout"),
            Self::Overloaded => error(529, "Overloaded", "overloaded_error"),
            Self::Unauthorized => error(401, "Incorrect API key provided", "invalid_api_key"),
            Self::EchoedKey => error(401, &format!("unknown key {key}"), "invalid_api_key"),
            Self::PaymentRequired => error(402, "Payment required", "billing"),
            Self::Forbidden => error(403, "Not for this account", "permission_error"),
            Self::UnknownModel => error(404, "The model does not exist", "model_not_found"),
            Self::UnknownPath => Plan::json(404, &json!({ "detail": "Not Found" })),
            Self::Redirect => {
                Plan::new(301, "text/plain", "").header("location", "http://127.0.0.1:9/v1")
            }
            Self::UnknownField => error(400, "Unknown field: store", "invalid_request_error"),
            Self::ContextLength => error(
                400,
                "maximum context length is 9",
                "context_length_exceeded",
            ),
            Self::PayloadTooLarge => Plan::new(413, "text/plain", "Payload Too Large"),
            Self::FilteredPrompt => error(400, "caught by the filter", "content_filter"),
            _ => return None,
        })
    }

    /// Answers with success and a body that is no reply.
    fn body_plan(self, said: &Said, dialect: Dialect) -> Option<Plan> {
        Some(match self {
            Self::Html => Plan::html(200),
            Self::EmptyBody => Plan::new(200, "application/json", ""),
            Self::Prose => Plan::new(200, "text/plain", "Certainly! Here is the answer."),
            Self::HalfJson => {
                let mut body = said.whole(dialect).to_string();
                body.truncate(body.floor_char_boundary(body.len() / 2));
                Plan::new(200, "application/json", body)
            }
            Self::DeepJson => Plan::new(200, "application/json", "{\"a\":[".repeat(20_000)),
            Self::PlainInsteadOfStream => Plan::json(200, &said.whole(dialect)),
            Self::Silence => Plan::stream(vec![Step::Wait(FOREVER)]),
            Self::KeptAliveForever => {
                let comment = b": waiting\n\n".to_vec();
                Plan::stream(vec![Step::Repeat(comment, Duration::from_millis(5))])
            }
            Self::EmptyChoices => {
                let nothing = match dialect {
                    Dialect::Chat => json!({ "model": said.model, "choices": [] }),
                    Dialect::Responses => {
                        json!({ "object": "response", "status": "failed", "output": [] })
                    }
                };
                Plan::json(200, &nothing)
            }
            _ => return None,
        })
    }

    /// Answers with a stream that goes wrong.
    fn stream_plan(self, said: &Said, dialect: Dialect) -> Option<Plan> {
        let send = |event: &Value| Step::Send(frame(event));
        let deltas = said.deltas(dialect, 7);
        let half: Vec<_> = deltas
            .iter()
            .take(deltas.len().div_ceil(2))
            .map(send)
            .collect();
        let whole = deltas.iter().map(send);
        let end = || {
            said.end(dialect)
                .into_iter()
                .map(|event| Step::Send(frame(&event)))
        };
        let then = |mut steps: Vec<Step>, last: Step| {
            steps.push(last);
            Some(Plan::stream(steps))
        };
        match self {
            Self::HalfStream => Some(Plan::stream(half)),
            Self::BrokenStream => then(half, Step::Break),
            Self::StalledStream => then(half, Step::Wait(FOREVER)),
            Self::BrokenEvent => then(half, Step::Send(b"data: {\"choices\": [\n\n".to_vec())),
            Self::ErrorInStream => {
                let error = json!({ "error": { "message": "the engine died", "code": 500 } });
                then(half, send(&error))
            }
            Self::Endless => {
                let text = said.text.repeat(256);
                let event = said.delta(dialect, &json!({ "content": text }), &text);
                Some(Plan::stream(vec![Step::Repeat(
                    frame(&event),
                    Duration::ZERO,
                )]))
            }
            Self::NoDone => Some(Plan::stream(whole.chain(end()).collect())),
            Self::UnknownEvents => {
                let odd =
                    b": hello\n\nevent: ping\nid: 7\nretry: 10\ndata: {\"type\":\"ping\"}\n\n";
                let first = Step::Send(odd.to_vec());
                let steps = std::iter::once(first).chain(whole).chain(end());
                then(steps.collect(), Step::Send(done()))
            }
            Self::WrongContentType => {
                let mut plan = Plan::stream(whole.chain(end()).collect());
                plan.headers = vec![("content-type", "application/octet-stream".to_owned())];
                Some(plan)
            }
            Self::CarriageReturns | Self::TornUtf8 | Self::InvalidUtf8 => {
                let steps = whole.chain(end()).chain([Step::Send(done())]);
                Some(Plan::stream(self.reshape(steps.collect())))
            }
            _ => None,
        }
    }

    /// Changes the bytes of a stream that was fine.
    fn reshape(self, steps: Vec<Step>) -> Vec<Step> {
        let pieces = steps.into_iter().filter_map(|step| match step {
            Step::Send(bytes) => Some(bytes),
            _ => None,
        });
        let mut all: Vec<u8> = pieces.flatten().collect();
        match self {
            Self::CarriageReturns => {
                let text = String::from_utf8_lossy(&all).replace('\n', "\r\n");
                vec![Step::Send(text.into_bytes())]
            }
            Self::InvalidUtf8 => {
                // Into the first text, after its opening quote.
                let at = find(&all, b"content\":\"").or_else(|| find(&all, b"delta\":\""));
                let at = at.unwrap_or(0);
                all.splice(at..at, [0xff, 0xfe, 0xc3]);
                vec![Step::Send(all)]
            }
            _ => all
                .chunks(1)
                .map(|piece| Step::Send(piece.to_vec()))
                .collect(),
        }
    }

    /// Answers that are replies, but odd ones.
    fn reply_plan(self, mut said: Said, dialect: Dialect, streamed: bool) -> Plan {
        match self {
            Self::EmptyText => said.text.clear(),
            Self::OnlyThinking => said.text = String::from("<think>Let me see. First,"),
            Self::Megabyte => said.text = "0123456789abcdef".repeat(65_536),
            Self::WrongTags => said.text = String::from("<answer><code>fix it</code></answer>"),
            Self::FilteredReply => said.finish = "content_filter",
            Self::CutOff => said.finish = "length",
            Self::ControlCharacters => said.text.push_str("\u{0}\u{7}\u{1b}[31m\r\u{2028}"),
            Self::UsageMissing => said.usage = Value::Null,
            Self::UsageZero => said.usage = counts(&json!(0), &json!(0)),
            Self::UsageAbsurd => said.usage = counts(&json!(u64::MAX), &json!(u64::MAX)),
            Self::UsageNegative => said.usage = counts(&json!(-1), &json!(-1)),
            _ => return self.odd_fields(said, dialect, streamed),
        }
        Plan::good(&said, dialect, streamed)
    }

    /// Replies with fields that others do not have.
    fn odd_fields(self, mut said: Said, dialect: Dialect, streamed: bool) -> Plan {
        let text = std::mem::take(&mut said.text);
        let call = json!([{ "index": 0, "id": "c", "type": "function",
            "function": { "name": "shell", "arguments": "{\"cmd\":\"id\"}" } }]);
        let parts = json!([{ "type": "text", "text": text }]);
        let (fields, output) = match self {
            Self::ToolCall => (json!({ "tool_calls": call }), json!([])),
            Self::Refusal => (
                json!({ "refusal": text }),
                json!([{ "type": "refusal", "refusal": text }]),
            ),
            Self::ReasoningField => (
                json!({ "reasoning_content": "hm", "content": text }),
                json!([{ "type": "reasoning", "text": "hm" }, { "type": "output_text", "text": text }]),
            ),
            _ => (
                json!({ "content": parts }),
                json!([{ "type": "output_text", "text": text }]),
            ),
        };
        match (dialect, streamed) {
            (Dialect::Chat, true) => {
                let first = said.delta(dialect, &fields, "");
                let events = std::iter::once(first).chain(said.end(dialect));
                Plan::stream(events.map(|event| Step::Send(frame(&event))).collect())
            }
            (Dialect::Chat, false) => {
                let choice = json!({ "message": fields, "finish_reason": said.finish });
                let whole =
                    json!({ "model": said.model, "choices": [choice], "usage": said.usage });
                Plan::json(200, &whole)
            }
            (Dialect::Responses, _) => Plan::json(200, &said.response(&output)),
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut windows = bytes.windows(wanted.len());
    Some(windows.position(|window| window == wanted)? + wanted.len())
}
