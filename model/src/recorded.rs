//! Transcript of a model: the replay that answers from one, and the wrapper that
//! writes one.
//!
//! A transcript is a file with one exchange a line: `{"request":..,"reply":..}`.
//! It is replayed turn by turn, and each reply is given once. A prompt that
//! differs from the recorded one is *drift*: the person in front of the run is
//! told the turn and a short diff, and the recorded reply is used all the same.
//! A request after the last reply fails.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use diffy::DiffOptions;
use futures::future::{BoxFuture, FutureExt};
use serde::{Deserialize, Serialize};

use crate::{Model, ModelError, Reply, Request, Result, Role};

/// Lines of a diff that are shown; the rest is counted.
const SHOWN_LINES: usize = 24;
/// Unchanged lines around each difference.
const CONTEXT_LINES: usize = 1;

/// One exchange of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    pub request: Request,
    /// The answer.
    pub reply: Reply,
}

/// Reads a transcript.
///
/// # Errors
/// The file cannot be read, or a line is not an exchange.
pub fn read(path: &Path) -> Result<Vec<Exchange>> {
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

/// A model that repeats what was recorded.
#[derive(Debug)]
pub struct Recorded {
    name: String,
    source: PathBuf,
    /// The exchanges whose replies were not given yet, with their numbers.
    waiting: Mutex<Vec<(usize, Exchange)>>,
    count: usize,
}

impl Recorded {
    /// Replays the transcript at `path`.
    ///
    /// # Errors
    /// As [`read`]; and a transcript without any exchange.
    pub fn open(path: &Path) -> Result<Self> {
        let exchanges = read(path)?;
        let Some(first) = exchanges.first() else {
            let shown = path.display();
            return Err(ModelError::fatal(format!("transcript {shown} is empty")));
        };
        let name = first.reply.model.clone();
        let waiting: Vec<(usize, Exchange)> = (1..).zip(exchanges).collect();
        Ok(Self {
            name,
            source: path.to_owned(),
            count: waiting.len(),
            waiting: Mutex::new(waiting),
        })
    }

    /// Takes the reply of the turn that fits the request best.
    fn take(&self, request: &Request) -> Result<Reply> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match best_fit(&waiting, request) {
            Some(at) => Ok(waiting.remove(at).1.reply),
            None => Err(ModelError::fatal(format!(
                "transcript {} has no more replies: all {} were given",
                self.source.display(),
                self.count
            ))),
        }
    }

    /// Returns the turn that answers a request, and how the prompt differs from that of the turn.
    fn drift(&self, request: &Request) -> Option<(usize, String)> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let (turn, exchange) = waiting.get(best_fit(&waiting, request)?)?;
        Some((*turn, difference(&exchange.request, request)?))
    }
}

/// Finds the turn that a request belongs to.
///
/// Lanes run side by side and a critic asks between them, so requests come in
/// any order: a turn after the same replies goes first, then the one whose
/// prompt is the most similar, then the earlier one.
fn best_fit(waiting: &[(usize, Exchange)], request: &Request) -> Option<usize> {
    let exact = |(_, exchange): &(usize, Exchange)| exchange.request == *request;
    if let Some(at) = waiting.iter().position(exact) {
        return Some(at);
    }
    let (replies, prompt) = (replies(request), prompt(request));
    let score = |(_, exchange): &(usize, Exchange)| {
        let recorded = &exchange.request;
        let similarity = similarity(&self::prompt(recorded), &prompt);
        (self::replies(recorded) == replies, similarity)
    };
    let scores = waiting.iter().map(score).enumerate();
    // Of equals, `max_by` returns the last one.
    let best = scores.rev().max_by(|(_, left), (_, right)| {
        let by_replies = left.0.cmp(&right.0);
        by_replies.then(left.1.total_cmp(&right.1))
    });
    best.map(|(at, _)| at)
}

/// Returns the share of the lines of two texts that both have, from 0 to 1.
fn similarity(left: &str, right: &str) -> f64 {
    let patch = DiffOptions::new()
        .set_context_len(0)
        .create_patch(left, right);
    let changed: usize = patch.hunks().iter().map(|hunk| hunk.lines().len()).sum();
    let lines = left.lines().count() + right.lines().count();
    1.0 - changed as f64 / lines.max(1) as f64
}

impl Model for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply>> {
        async move { self.take(request) }.boxed()
    }

    fn notice(&self, request: &Request) -> Option<String> {
        let (turn, diff) = self.drift(request)?;
        let (source, count) = (self.source.display(), self.count);
        Some(format!(
            "drift in turn {turn} of {count} of {source}: the prompt differs from the recorded one, and the recorded \
             reply is used all the same\n{diff}"
        ))
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
    pub fn new(inner: Arc<dyn Model>, path: &Path) -> Result<Self> {
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
}

impl Model for Recording {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply>> {
        async move {
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
        .boxed()
    }

    fn notice(&self, request: &Request) -> Option<String> {
        self.inner.notice(request)
    }
}

fn not_written(path: &Path, error: &dyn std::fmt::Display) -> ModelError {
    let shown = path.display();
    ModelError::fatal(format!("transcript {shown} cannot be written: {error}"))
}

/// Returns a short diff of the prompts of two requests, if they differ.
fn difference(recorded: &Request, asked: &Request) -> Option<String> {
    let (recorded, asked) = (prompt(recorded), prompt(asked));
    if recorded == asked {
        return None;
    }
    let diff = DiffOptions::new()
        .set_context_len(CONTEXT_LINES)
        .set_original_filename("recorded")
        .set_modified_filename("asked")
        .create_patch(&recorded, &asked)
        .to_string();
    let mut lines: Vec<_> = diff.lines().take(SHOWN_LINES).collect();
    let rest = diff.lines().count() - lines.len();
    let more = format!("(and {rest} more lines)");
    if rest > 0 {
        lines.push(&more);
    }
    Some(lines.join("\n"))
}

/// Returns what a request adds to its conversation: the messages after the last
/// reply. What stands before was compared in its own turn.
fn prompt(request: &Request) -> String {
    let messages = &request.messages;
    let newest = messages.rsplit(|message| message.role == Role::Assistant);
    let messages = newest.take(1).flatten().map(|message| {
        // Replies are not among them.
        let is_system = message.role == Role::System;
        let role = if is_system { "system" } else { "user" };
        format!("---- {role}\n{}\n", message.text)
    });
    messages.collect()
}

/// Returns the replies that a conversation holds so far.
fn replies(request: &Request) -> Vec<&str> {
    let messages = request.messages.iter();
    let replies = messages.filter(|message| message.role == Role::Assistant);
    replies.map(|message| message.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use crate::test_double::{Script, hello, question};

    fn told(text: &str) -> Reply {
        Reply {
            text: text.to_owned(),
            ..hello().unwrap()
        }
    }

    /// The request that follows when `reply` was given to `before`.
    fn after(before: &Request, reply: &str, prompt: &str) -> Request {
        let mut request = before.clone();
        request.messages.push(Message::assistant(reply));
        request.messages.push(Message::user(prompt));
        request
    }

    fn asked(prompt: &str) -> Request {
        let mut request = question();
        request.messages.last_mut().unwrap().text = prompt.to_owned();
        request
    }

    /// A transcript that answers the requests with "1", "2" and so on.
    async fn recorded(folder: &Path, requests: &[Request]) -> Recorded {
        let path = folder.join("t.jsonl");
        let replies = (1..=requests.len()).map(|at| Ok(told(&at.to_string())));
        let script = Script::new("m", replies.collect());
        let recording = Recording::new(script, &path).unwrap();
        for request in requests {
            recording.ask(request).await.unwrap();
        }
        Recorded::open(&path).unwrap()
    }

    fn answer(recorded: &Recorded, request: &Request) -> (String, Option<(usize, String)>) {
        let drift = recorded.drift(request);
        (recorded.take(request).unwrap().text, drift)
    }

    #[tokio::test]
    async fn recorded_requests_are_answered_once_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let (first, other) = (asked("why?"), asked("how?"));
        let recorded = recorded(folder.path(), &[first.clone(), other.clone()]).await;
        assert_eq!(answer(&recorded, &other), ("2".to_owned(), None));
        assert_eq!(answer(&recorded, &first), ("1".to_owned(), None));
        let error = recorded.ask(&first).await.unwrap_err().to_string();
        assert!(error.contains("no more replies: all 2"), "{error}");
    }

    #[tokio::test]
    async fn a_changed_prompt_is_drift_in_its_own_turn_only() {
        let folder = tempfile::tempdir().unwrap();
        let first = asked("line 1\nline 2\nline 3");
        let second = after(&first, "1", "and now?");
        let recorded = recorded(folder.path(), &[first, second]).await;

        let changed = asked("line 1\nline two\nline 3");
        let (text, drift) = answer(&recorded, &changed);
        let (turn, diff) = drift.unwrap();
        assert_eq!((text.as_str(), turn), ("1", 1));
        assert!(
            diff.contains("\n line 1\n-line 2\n+line two\n line 3"),
            "{diff}"
        );
        let next = after(&changed, "1", "and now?");
        assert_eq!(answer(&recorded, &next), ("2".to_owned(), None));
    }

    #[tokio::test]
    async fn a_changed_prompt_gets_the_reply_of_its_own_conversation() {
        let folder = tempfile::tempdir().unwrap();
        let start = asked("why?");
        let left = after(&start, "left", "try\nagain\nnow");
        let right = after(&start, "right", "stop\nhere\nnow");
        let recorded = recorded(folder.path(), &[left, right]).await;
        // The words are those of the left lane, the replies those of the right one.
        let changed = after(&start, "right", "try\nagain\nnow");
        let (text, drift) = answer(&recorded, &changed);
        assert_eq!((text.as_str(), drift.unwrap().0), ("2", 2));
    }

    #[tokio::test]
    async fn an_unknown_conversation_gets_the_most_similar_turn() {
        let folder = tempfile::tempdir().unwrap();
        let texts = ["repair\nthis\ncrash", "judge\nthis\npatch"];
        let recorded = recorded(folder.path(), &texts.map(asked)).await;
        let (text, drift) = answer(&recorded, &asked("judge\nthat\npatch"));
        assert_eq!((text.as_str(), drift.unwrap().0), ("2", 2));
        let (text, _) = answer(&recorded, &asked("something else"));
        assert_eq!(text, "1", "what is left is given");
    }

    #[test]
    fn a_long_diff_is_cut() {
        let lines = |word: &str| {
            (0..90)
                .map(|at| format!("{word} {at}\n"))
                .collect::<String>()
        };
        let diff = difference(&asked(&lines("a")), &asked(&lines("b"))).unwrap();
        assert_eq!(diff.lines().count(), SHOWN_LINES + 1, "{diff}");
        assert!(diff.ends_with("more lines)"), "{diff}");
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
