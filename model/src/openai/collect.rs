//! Puts a reply together from the events of a stream. A plain reply is read as a
//! stream of one event, so that both ways share every rule. Pure, and never
//! surprised: an event that it does not know is skipped.

use serde_json::Value;

use super::failure;
use crate::{Finish, ModelError, Result, Usage};

/// Text and counts of a stream so far.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) text: String,
    refusal: String,
    finish: Option<Finish>,
    model: Option<String>,
    usage: Option<Usage>,
    tool_calls: bool,
    choices: bool,
    limit: usize,
}

/// A whole reply, before its counts are checked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Collected {
    pub(super) text: String,
    pub(super) finish: Finish,
    pub(super) model: Option<String>,
    pub(super) usage: Option<Usage>,
}

impl Collector {
    /// Takes at most `limit` bytes of text.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    pub(super) fn event(&mut self, event: &Value) -> Result<()> {
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            return Err(failure::in_stream(error));
        }
        if let Some(kind) = word(event, "type") {
            self.response_event(kind, event)
        } else if word(event, "object") == Some("response") {
            self.response(event)
        } else {
            self.chat(event)
        }
    }

    /// Returns true when no more text is taken.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.limit && self.finish == Some(Finish::Length)
    }

    /// The reply, once no more events come.
    pub(super) fn end(self) -> Result<Collected> {
        let Some(finish) = self.finish else {
            return Err(ModelError::retry(if self.choices {
                "the reply broke off in the middle".to_owned()
            } else {
                "the endpoint sent a reply without any choice".to_owned()
            }));
        };
        if self.tool_calls {
            tracing::warn!("the model called a tool although none was offered");
        }
        let refused = !self.refusal.is_empty() && self.text.is_empty();
        Ok(Collected {
            text: if refused {
                self.refusal
            } else {
                without_thinking(&self.text).to_owned()
            },
            finish: if refused { Finish::Refused } else { finish },
            model: self.model,
            usage: self.usage,
        })
    }

    fn chat(&mut self, event: &Value) -> Result<()> {
        self.note_model(event);
        self.note_usage(event);
        let is_first = |choice: &&Value| choice.get("index").is_none_or(|index| index == 0);
        let Some(choice) = list(event.get("choices")).find(is_first) else {
            return Ok(());
        };
        self.choices = true;
        // "delta" in a stream, "message" in a plain reply.
        if let Some(part) = choice.get("delta").or_else(|| choice.get("message")) {
            self.add_content(part.get("content"));
            self.add_refusal(part);
            self.tool_calls |= part.get("tool_calls").is_some_and(|calls| !calls.is_null());
        }
        match word(choice, "finish_reason") {
            Some("error") => return Err(ModelError::retry("the endpoint broke the reply off")),
            Some(reason) => self.finish_with(finish_of(reason)),
            None => {}
        }
        Ok(())
    }

    /// A string, or a list of parts of which only those of text count.
    fn add_content(&mut self, content: Option<&Value>) {
        if let Some(text) = content.and_then(Value::as_str) {
            self.add(text);
        }
        for part in list(content) {
            if matches!(word(part, "type"), None | Some("text" | "output_text"))
                && let Some(text) = word(part, "text")
            {
                self.add(text);
            }
        }
    }

    fn add_refusal(&mut self, part: &Value) {
        self.refusal
            .push_str(word(part, "refusal").unwrap_or_default());
    }

    fn response_event(&mut self, kind: &str, event: &Value) -> Result<()> {
        self.choices = true;
        match (kind, word(event, "delta")) {
            ("response.output_text.delta", Some(delta)) => self.add(delta),
            ("response.refusal.delta", Some(delta)) => self.refusal.push_str(delta),
            ("error", _) => return Err(failure::in_stream(event)),
            ("response.completed" | "response.incomplete" | "response.failed", _) => {
                if let Some(response) = event.get("response") {
                    self.response(response)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The whole object: at the end of a stream, or all that a plain reply has.
    fn response(&mut self, response: &Value) -> Result<()> {
        self.choices = true;
        self.note_model(response);
        self.note_usage(response);
        if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
            return Err(failure::in_stream(error));
        }
        if self.text.is_empty() && self.refusal.is_empty() {
            self.take_output(response);
        }
        match word(response, "status") {
            Some("completed") => self.finish_with(Finish::Stop),
            Some("incomplete") => {
                let why = response.pointer("/incomplete_details/reason");
                let why = why.and_then(Value::as_str).unwrap_or("max_output_tokens");
                self.finish_with(finish_of(why));
            }
            Some("failed" | "cancelled") => {
                return Err(ModelError::retry("the endpoint gave the reply up"));
            }
            _ => {}
        }
        Ok(())
    }

    fn take_output(&mut self, response: &Value) {
        for item in list(response.get("output")) {
            let kind = word(item, "type");
            self.tool_calls |= kind == Some("function_call");
            if kind != Some("message") {
                continue;
            }
            let content = item.get("content");
            self.add_content(content);
            for part in list(content) {
                self.add_refusal(part);
            }
        }
    }

    fn add(&mut self, text: &str) {
        let room = self.limit.saturating_sub(self.text.len());
        let end = text.floor_char_boundary(room.min(text.len()));
        self.text.push_str(text.get(..end).unwrap_or_default());
        if end < text.len() {
            self.finish = Some(Finish::Length);
        }
    }

    /// The first reason stands: a later "stop" does not undo a cut.
    fn finish_with(&mut self, finish: Finish) {
        self.finish.get_or_insert(finish);
    }

    fn note_model(&mut self, event: &Value) {
        if let Some(model) = word(event, "model").filter(|model| !model.is_empty()) {
            self.model = Some(model.to_owned());
        }
    }

    fn note_usage(&mut self, event: &Value) {
        let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) else {
            return;
        };
        let number = |pointers: &[&str]| {
            let mut pointers = pointers.iter();
            pointers.find_map(|pointer| usage.pointer(pointer)?.as_u64())
        };
        if let (Some(tokens_in), Some(tokens_out)) = (
            number(&["/prompt_tokens", "/input_tokens"]),
            number(&["/completion_tokens", "/output_tokens"]),
        ) {
            self.usage = Some(Usage {
                tokens_in,
                tokens_out,
                tokens_cached: number(&[
                    "/prompt_tokens_details/cached_tokens",
                    "/input_tokens_details/cached_tokens",
                    "/cache_read_input_tokens",
                    "/prompt_cache_hit_tokens",
                ])
                .unwrap_or(0),
                estimated: false,
            });
        }
    }
}

/// Returns the text of a field.
fn word<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// Returns the entries of a list; none where there is no list.
fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// The words that providers use for the same three endings.
fn finish_of(reason: &str) -> Finish {
    match reason.to_lowercase().as_str() {
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => Finish::Length,
        "content_filter" | "refusal" | "safety" | "recitation" | "prohibited_content"
        | "blocklist" => Finish::Refused,
        _ => Finish::Stop,
    }
}

/// Servers of open models leave the thinking in the text, in a tag at its start.
/// Drafts in it must not be taken for the answer.
fn without_thinking(text: &str) -> &str {
    let inside = text
        .trim_start()
        .strip_prefix("<think>")
        .map(|rest| rest.split_once("</think>").map_or("", |(_, answer)| answer));
    inside.map_or(text, str::trim_start)
}

#[cfg(test)]
mod tests;
