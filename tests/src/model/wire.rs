//! Replies as OpenAI's two interfaces write them, whole or as events.

use serde_json::{Value, json};

/// The interface that was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `/chat/completions`.
    Chat,
    /// `/responses`.
    Responses,
}

/// A reply to be written.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) model: String,
    pub(super) text: String,
    /// In the words of the chat interface: `stop`, `length`, `content_filter`, ..
    pub(super) finish: &'static str,
    /// The field `usage`, in the form of the chat interface.
    pub(super) usage: Value,
}

impl Said {
    /// An ordinary reply with honest counts: a token for four bytes.
    pub(super) fn new(model: &str, text: &str, prompt_bytes: usize) -> Self {
        let tokens_in = prompt_bytes / 4 + 1;
        let tokens_out = text.len() / 4 + 1;
        Self {
            model: model.to_owned(),
            text: text.to_owned(),
            finish: "stop",
            usage: counts(&json!(tokens_in), &json!(tokens_out)),
        }
    }

    /// The whole reply in one piece.
    pub(super) fn whole(&self, dialect: Dialect) -> Value {
        match dialect {
            Dialect::Chat => json!({
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": self.model,
                "choices": [{
                    "index": 0,
                    "message": { "role": "assistant", "content": self.text },
                    "finish_reason": self.finish,
                }],
                "usage": self.usage,
            }),
            Dialect::Responses => {
                let said = json!({ "type": "output_text", "text": self.text, "annotations": [] });
                self.response(&json!([said]))
            }
        }
    }

    /// A response object around the given parts of its message.
    pub(super) fn response(&self, parts: &Value) -> Value {
        let (status, why) = match self.finish {
            "stop" => ("completed", Value::Null),
            "length" => ("incomplete", json!({ "reason": "max_output_tokens" })),
            other => ("incomplete", json!({ "reason": other })),
        };
        json!({
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": status,
            "incomplete_details": why,
            "error": null,
            "model": self.model,
            "output": [{
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": status,
                "content": parts,
            }],
            "usage": self.response_usage(),
        })
    }

    fn response_usage(&self) -> Value {
        let Some(usage) = self.usage.as_object() else {
            return self.usage.clone();
        };
        let field = |name: &str| usage.get(name).cloned().unwrap_or_default();
        json!({
            "input_tokens": field("prompt_tokens"),
            "output_tokens": field("completion_tokens"),
            "total_tokens": 0,
            "input_tokens_details": { "cached_tokens": 0 },
        })
    }

    /// The events of the text, without those that end the reply.
    pub(super) fn deltas(&self, dialect: Dialect, size: usize) -> Vec<Value> {
        let mut events = Vec::new();
        let mut rest = self.text.as_str();
        while !rest.is_empty() {
            let end = rest.ceil_char_boundary(size.min(rest.len()));
            let (head, tail) = rest.split_at(end);
            events.push(self.delta(dialect, &json!({ "content": head }), head));
            rest = tail;
        }
        events
    }

    /// One event: a chat delta with the given fields, or a response's text.
    pub(super) fn delta(&self, dialect: Dialect, fields: &Value, text: &str) -> Value {
        match dialect {
            Dialect::Chat => self.chunk(fields, &Value::Null),
            Dialect::Responses => json!({
                "type": "response.output_text.delta",
                "item_id": "msg_1",
                "output_index": 0,
                "content_index": 0,
                "delta": text,
                "sequence_number": 1,
            }),
        }
    }

    /// The events that end the reply.
    pub(super) fn end(&self, dialect: Dialect) -> Vec<Value> {
        match dialect {
            Dialect::Chat => {
                let mut events = vec![self.chunk(&json!({}), &json!(self.finish))];
                if !self.usage.is_null() {
                    events.push(json!({
                        "id": "chatcmpl-1",
                        "object": "chat.completion.chunk",
                        "model": self.model,
                        "choices": [],
                        "usage": self.usage,
                    }));
                }
                events
            }
            Dialect::Responses => {
                let kind = if self.finish == "stop" {
                    "response.completed"
                } else {
                    "response.incomplete"
                };
                vec![json!({
                    "type": kind,
                    "response": self.whole(dialect),
                    "sequence_number": 2,
                })]
            }
        }
    }

    fn chunk(&self, delta: &Value, finish: &Value) -> Value {
        json!({
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": self.model,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        })
    }
}

/// Token counts in the words of the chat interface.
pub(super) fn counts(tokens_in: &Value, tokens_out: &Value) -> Value {
    json!({
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": 0,
        "prompt_tokens_details": { "cached_tokens": 0 },
    })
}

/// One event as it travels.
pub(super) fn frame(event: &Value) -> Vec<u8> {
    format!("data: {event}\n\n").into_bytes()
}

/// The frame that ends a stream.
pub(super) fn done() -> Vec<u8> {
    b"data: [DONE]\n\n".to_vec()
}
