//! Answers from the journal of a run: what makes a finished run a transcript.
//!
//! An answer is found by the last message of the request, which the journal keeps, and each is
//! given once. Numbers outside source lines may differ: what a search reached in its time is told
//! in prompts, and is another count each time. Of a request that opens a conversation of its own,
//! which is told what a search found as well, only the first words, the code and the patch have
//! to be the same. A request that the journal does not know is a failure; no model is ever asked
//! instead.

use crate::{Model, ModelError, Reply, Request, Result};
use futures::future::{BoxFuture, FutureExt};
use std::sync::Mutex;

/// A model that repeats what a journal holds.
#[derive(Debug, Default)]
pub struct Journaled {
    waiting: Mutex<Vec<(String, Reply)>>,
}

impl Journaled {
    /// Answers each prompt (the last message of a request) with its reply.
    pub fn new(exchanges: Vec<(String, Reply)>) -> Self {
        Self {
            waiting: Mutex::new(exchanges),
        }
    }
}

/// Returns a text without its numbers, but for lines of source.
fn without_counts(text: &str) -> impl Iterator<Item = char> {
    text.split_inclusive('\n').flat_map(|line| {
        let source = is_source(line);
        line.chars()
            .filter(move |character| source || !character.is_ascii_digit())
    })
}

/// Returns what a search has no part in: the words of the first line, the lines of source and
/// those of a patch.
fn steady(text: &str) -> impl Iterator<Item = String> {
    text.lines().enumerate().filter_map(|(place, line)| {
        if is_source(line) || line.starts_with('+') || line.starts_with("@@ ") {
            return Some(line.to_owned());
        }
        (place == 0).then(|| line.replace(|c: char| c.is_ascii_digit(), ""))
    })
}

/// Tells whether a line is one of source (`12: text`); a dump of bytes counts from 0.
fn is_source(line: &str) -> bool {
    let number = line.split(':').next().unwrap_or_default().trim_start();
    let counts = number.bytes().all(|byte| byte.is_ascii_digit());
    counts && number.starts_with(|first| ('1'..='9').contains(&first))
}

impl Model for Journaled {
    fn name(&self) -> &'static str {
        "journal"
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply>> {
        async move {
        let last = request.messages.last();
        let prompt = last.map_or("", |message| message.text.as_str());
        let waiting = self.waiting.lock();
        let mut waiting = waiting.map_err(|_| ModelError::fatal("the journal's answers are gone"))?;
        let exact = waiting.iter().position(|(asked, _)| asked == prompt);
        // Only who judges a patch in a conversation of its own is told what a search found.
        let alone = request.messages.len() == 1;
        let is_alike = |(asked, _): &(String, Reply)| {
            if alone {
                steady(asked).eq(steady(prompt))
            } else {
                without_counts(asked).eq(without_counts(prompt))
            }
        };
        let alike = || waiting.iter().position(is_alike);
        let at = exact.or_else(alike);
        if let Some(at) = at {
            return Ok(waiting.remove(at).1);
        }
        let head: String = prompt.chars().take(200).collect();
        Err(ModelError::fatal(format!(
            "the journal has no answer to this prompt (it was written by another version, or the tree changed): {head}"
        )))
    }.boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::Journaled;
    use crate::{Finish, Message, Model, Reply, Request, Usage};

    fn reply(text: &str) -> Reply {
        Reply {
            text: text.into(),
            finish: Finish::Stop,
            usage: Usage::default(),
            model: "m".into(),
        }
    }

    fn request(text: &str) -> Request {
        Request {
            messages: vec![Message::system("s"), Message::user(text)],
            max_output_tokens: 1,
        }
    }

    #[tokio::test]
    async fn each_answer_is_given_once_and_to_its_own_prompt() {
        let exchanges = vec![
            ("a".into(), reply("1")),
            ("b".into(), reply("2")),
            ("a".into(), reply("3")),
            ("532 inputs\n 7: int a = 1;".into(), reply("4")),
        ];
        let model = Journaled::new(exchanges);
        for (prompt, expected) in [
            ("b", Some("2")),
            ("a", Some("1")),
            ("a", Some("3")),
            ("a", None),
            ("1041 inputs\n 7: int a = 2;", None),
            ("1041 inputs found\n 7: int a = 1;", None),
            ("1041 inputs\n 7: int a = 1;", Some("4")),
        ] {
            let answer = model
                .ask(&request(prompt))
                .await
                .ok()
                .map(|reply| reply.text);
            assert_eq!(answer.as_deref(), expected);
        }
    }

    #[tokio::test]
    async fn a_question_apart_is_known_by_its_code_and_its_patch() {
        let known = "Judge.\n7: int a = 1;\n+int b;\nfound\n00000001: ab";
        for (prompt, is_known) in [
            (
                "Judge.\n7: int a = 1;\n+int b;\n00000000: cd\nfound more",
                true,
            ),
            ("Judge.\n7: int a = 2;\n+int b;\nfound", false),
            ("Judge.\n7: int a = 1;\n+int c;\nfound", false),
            ("Ask.\n7: int a = 1;\n+int b;\nfound", false),
        ] {
            let model = Journaled::new(vec![(known.into(), reply("1"))]);
            let apart = Request {
                messages: vec![Message::user(prompt)],
                max_output_tokens: 1,
            };
            assert_eq!(model.ask(&apart).await.is_ok(), is_known, "{prompt}");
        }
    }
}
