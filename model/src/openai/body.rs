//! Writes the body of a request for either interface. Pure: settings and a
//! request in, JSON out.

use serde_json::{Map, Value, json};

use crate::{Message, Request, Role};
use patchwright_config::{Api, Model, OutputLimitField};

/// The body for the interface that the settings name.
pub(super) fn write(settings: &Model, request: &Request) -> Value {
    let is_chat = settings.api == Api::Chat;
    let last = request.messages.len().saturating_sub(1);
    let messages = request.messages.iter().enumerate().map(|(at, told)| {
        let is_mark = told.role == Role::System || at == last;
        message(told, is_chat && settings.cache_marks && is_mark)
    });
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("model", json!(settings.name));
    let place = if is_chat { "messages" } else { "input" };
    put(place, messages.collect());
    put("stream", json!(settings.stream));
    if is_chat && settings.stream {
        put("stream_options", json!({ "include_usage": true }));
    }
    if !is_chat {
        // Nothing of a task is left behind at the provider.
        put("store", json!(false));
    }
    let limit = request.max_output_tokens.min(settings.max_output_tokens);
    put(output_limit_field(settings), json!(limit));
    match &settings.reasoning_effort {
        Some(effort) if is_chat => put("reasoning_effort", json!(effort)),
        Some(effort) => put("reasoning", json!({ "effort": effort })),
        None => None,
    };
    if let Some(temperature) = settings.temperature {
        put("temperature", json!(temperature));
    }
    for (name, value) in &settings.extra {
        put(name, value.clone());
    }
    for name in &settings.omit {
        body.shift_remove(name);
    }
    Value::Object(body)
}

/// Anthropic's way to mark how far a conversation is worth caching; its
/// compatible proxies pass it on.
fn message(message: &Message, marked: bool) -> Value {
    let content = if marked {
        json!([{
            "type": "text",
            "text": message.text,
            "cache_control": { "type": "ephemeral" },
        }])
    } else {
        json!(message.text)
    };
    json!({ "role": message.role, "content": content })
}

fn output_limit_field(settings: &Model) -> &'static str {
    if settings.api == Api::Responses {
        return "max_output_tokens";
    }
    let newer = match settings.output_limit_field {
        OutputLimitField::MaxTokens => false,
        OutputLimitField::MaxCompletionTokens => true,
        OutputLimitField::Auto => reqwest::Url::parse(&settings.base_url).is_ok_and(|url| {
            let host = url.host_str().unwrap_or_default();
            host == "api.openai.com" || host.ends_with(".openai.azure.com")
        }),
    };
    if newer {
        "max_completion_tokens"
    } else {
        "max_tokens"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_config::Settings;

    fn request() -> Request {
        Request {
            messages: vec![
                Message::system("rules"),
                Message::user("ask"),
                Message::assistant("answer"),
                Message::user("more"),
            ],
            max_output_tokens: 77,
        }
    }

    #[test]
    fn a_chat_request_has_what_every_server_reads_and_nothing_more() {
        let settings =
            Settings::with(&[("model.name", "m"), ("model.base_url", "http://h/v1")]).unwrap();
        let body = write(&settings.model, &request());
        assert_eq!(
            body.to_string(),
            r#"{"model":"m","messages":[{"role":"system","content":"rules"},{"role":"user","content":"ask"},{"role":"assistant","content":"answer"},{"role":"user","content":"more"}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":77}"#
        );
    }

    type Values<'a> = &'a [(&'a str, &'a str)];

    #[test]
    fn settings_shape_the_body() {
        let cases: [(Values<'_>, &str, Value); 8] = [
            (
                &[("model.temperature", "0.25")],
                "/temperature",
                json!(0.25),
            ),
            (
                &[("model.reasoning_effort", "low")],
                "/reasoning_effort",
                json!("low"),
            ),
            (
                &[
                    ("model.reasoning_effort", "low"),
                    ("model.api", "responses"),
                ],
                "/reasoning/effort",
                json!("low"),
            ),
            (
                &[("model.base_url", "https://api.openai.com/v1")],
                "/max_completion_tokens",
                json!(77),
            ),
            (
                &[("model.api", "responses")],
                "/max_output_tokens",
                json!(77),
            ),
            (
                &[("model.api", "responses")],
                "/input/2/content",
                json!("answer"),
            ),
            (&[("model.extra.top_p", "0.5")], "/top_p", json!(0.5)),
            (
                &[("model.cache_marks", "true")],
                "/messages/3/content/0/cache_control/type",
                json!("ephemeral"),
            ),
        ];
        for (values, pointer, expected) in cases {
            let body = write(&Settings::with(values).unwrap().model, &request());
            assert_eq!(body.pointer(pointer), Some(&expected), "{values:?}");
        }
    }

    #[test]
    fn omitted_fields_and_unset_ones_are_not_sent() {
        let settings = Settings::with(&[(
            "model.omit",
            r#"["stream_options", "max_completion_tokens"]"#,
        )])
        .unwrap();
        let body = write(&settings.model, &request());
        let fields: Vec<_> = body.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["model", "messages", "stream"]);
    }
}
