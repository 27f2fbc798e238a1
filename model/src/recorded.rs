//! Answers from a transcript, and the wrapper that writes one.
//!
//! A transcript is a file with one exchange a line: `{"request":..,"reply":..}`.
//! Replaying is strict: each recorded request is answered once, and one that was
//! not recorded is a failure that shows where it differs. That keeps prompts
//! reproducible and transcripts honest.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::{Model, ModelError, Reply, Request};

/// Lines of a difference that are shown; the rest is counted.
const SHOWN: usize = 120;
/// Unchanged lines around each difference.
const AROUND: usize = 3;

/// One exchange of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// What was asked.
    pub request: Request,
    /// What was answered.
    pub reply: Reply,
}

/// Reads a transcript.
///
/// # Errors
/// The file cannot be read, or a line is not an exchange.
pub fn read(path: &Path) -> Result<Vec<Exchange>, ModelError> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        ModelError::fatal(format!("transcript {shown} cannot be read: {error}"))
    })?;
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|error| {
                ModelError::fatal(format!("{shown}:{}: not an exchange: {error}", at + 1))
            })
        })
        .collect()
}

/// A model that only repeats what was recorded.
#[derive(Debug)]
pub struct Recorded {
    name: String,
    source: PathBuf,
    waiting: Mutex<Vec<Exchange>>,
    count: usize,
}

impl Recorded {
    /// Replays the transcript at `path`.
    ///
    /// # Errors
    /// As [`read`]; and a transcript without any exchange.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let exchanges = read(path)?;
        let Some(first) = exchanges.first() else {
            let shown = path.display();
            return Err(ModelError::fatal(format!("transcript {shown} is empty")));
        };
        Ok(Self {
            name: first.reply.model.clone(),
            source: path.to_owned(),
            count: exchanges.len(),
            waiting: Mutex::new(exchanges),
        })
    }

    /// How many exchanges were not asked for yet.
    pub fn left(&self) -> usize {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.len()
    }

    fn answer(&self, request: &Request) -> Result<Reply, ModelError> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Lanes run side by side, so their requests come in any order.
        let found = waiting
            .iter()
            .position(|exchange| exchange.request == *request);
        if let Some(found) = found {
            return Ok(waiting.remove(found).reply);
        }
        let shown = self.source.display();
        let Some(next) = waiting.first() else {
            return Err(ModelError::fatal(format!(
                "transcript {shown} has no more replies: all {} were given",
                self.count
            )));
        };
        Err(ModelError::fatal(format!(
            "this request was not recorded in {shown}; it differs from exchange {} of {} in:\n{}\n\
             record the transcript anew if the change is wanted",
            self.count - waiting.len() + 1,
            self.count,
            difference(&next.request, request)
        )))
    }
}

impl Model for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ModelError>> {
        std::future::ready(self.answer(request)).boxed()
    }
}

/// A model whose every exchange is written down.
#[derive(Debug)]
pub struct Recording {
    inner: Arc<dyn Model>,
    path: PathBuf,
    file: Arc<Mutex<File>>,
}

impl Recording {
    /// Writes the exchanges of `inner` to a new file at `path`.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn new(inner: Arc<dyn Model>, path: &Path) -> Result<Self, ModelError> {
        let file = File::create(path).map_err(|error| not_written(path, &error))?;
        Ok(Self {
            inner,
            path: path.to_owned(),
            file: Arc::new(Mutex::new(file)),
        })
    }

    /// Writes the exchanges of another model to the same file.
    #[must_use]
    pub fn beside(&self, inner: Arc<dyn Model>) -> Self {
        Self {
            inner,
            path: self.path.clone(),
            file: self.file.clone(),
        }
    }

    async fn ask_and_write(&self, request: &Request) -> Result<Reply, ModelError> {
        let exchange = Exchange {
            reply: self.inner.ask(request).await?,
            request: request.clone(),
        };
        let failed = |error: &dyn std::fmt::Display| not_written(&self.path, error);
        let mut line = serde_json::to_string(&exchange).map_err(|error| failed(&error))?;
        line.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes())
            .map_err(|error| failed(&error))?;
        Ok(exchange.reply)
    }
}

impl Model for Recording {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ModelError>> {
        self.ask_and_write(request).boxed()
    }
}

fn not_written(path: &Path, error: &dyn std::fmt::Display) -> ModelError {
    let shown = path.display();
    ModelError::fatal(format!("transcript {shown} cannot be written: {error}"))
}

/// Where two requests differ, for a person.
fn difference(recorded: &Request, asked: &Request) -> String {
    let (recorded, asked) = (readable(recorded), readable(asked));
    let diff = TextDiff::from_lines(&recorded, &asked)
        .unified_diff()
        .context_radius(AROUND)
        .header("recorded", "asked")
        .to_string();
    let mut lines: Vec<_> = diff.lines().take(SHOWN).collect();
    let rest = diff.lines().count() - lines.len();
    let more = format!("(and {rest} more lines)");
    if rest > 0 {
        lines.push(&more);
    }
    lines.join("\n")
}

fn readable(request: &Request) -> String {
    let limit = format!("max_output_tokens: {}\n", request.max_output_tokens);
    let messages = request.messages.iter().enumerate().map(|(at, message)| {
        let role = message.role.as_str();
        format!("---- message {} ({role})\n{}\n", at + 1, message.text)
    });
    std::iter::once(limit).chain(messages).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::test_double::{Script, hello, question};

    async fn record(path: &Path, requests: &[Request]) {
        let script = Script::new("m", vec![hello(); requests.len()]);
        let recording = Recording::new(script, path).unwrap();
        for request in requests {
            recording.ask(request).await.unwrap();
        }
    }

    fn longer() -> Request {
        let mut request = question();
        request
            .messages
            .push(Message::assistant("line 1\nline 2\nline 3"));
        request
    }

    #[tokio::test]
    async fn what_was_recorded_is_answered_once_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        record(&path, &[question(), longer()]).await;
        let recorded = Recorded::open(&path).unwrap();
        assert_eq!(recorded.ask(&longer()).await, hello());
        assert_eq!(recorded.left(), 1);
        assert_eq!(recorded.ask(&question()).await, hello());
        let error = recorded.ask(&question()).await.unwrap_err();
        assert!(
            error.to_string().contains("no more replies: all 2"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn another_request_is_shown_as_a_difference() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        record(&path, &[longer()]).await;
        let recorded = Recorded::open(&path).unwrap();
        let mut changed = longer();
        changed.messages.last_mut().unwrap().text = "line 1\nline two\nline 3".to_owned();
        let error = recorded.ask(&changed).await.unwrap_err().to_string();
        assert!(error.contains("exchange 1 of 1"), "{error}");
        assert!(
            error.contains("\n line 1\n-line 2\n+line two\n line 3\n"),
            "{error}"
        );
        assert_eq!(recorded.left(), 1, "a wrong request uses nothing up");
    }

    #[test]
    fn a_broken_transcript_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, "\n{\"request\":1}\n").unwrap();
        let error = Recorded::open(&path).unwrap_err().to_string();
        assert!(error.contains("t.jsonl:2: not an exchange"), "{error}");
        std::fs::write(&path, "\n").unwrap();
        assert!(
            Recorded::open(&path)
                .unwrap_err()
                .to_string()
                .contains("is empty")
        );
    }
}
