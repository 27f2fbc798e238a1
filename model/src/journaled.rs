//! Answers from the journal of a run: what makes a finished run a transcript.
//!
//! An answer is found by the last message of the request, which the journal keeps, and each is
//! given once. Where no message is the same, the first one serves that opens with the same words
//! and shows the same code and the same patch: what a search found in its time is told in
//! prompts too, and is something else each time. A request that the journal does not know is a
//! failure; no model is ever asked instead.

use crate::{Model, ModelError, Reply, Request};
use futures::FutureExt;
use futures::future::BoxFuture;
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

    fn take(&self, request: &Request) -> Result<Reply, ModelError> {
        let prompt = request
            .messages
            .last()
            .map_or("", |message| message.text.as_str());
        let mut waiting = self
            .waiting
            .lock()
            .map_err(|_| ModelError::fatal("the journal's answers are gone"))?;
        let exact = waiting.iter().position(|(asked, _)| asked == prompt);
        let alike = || {
            let mut asked = waiting.iter().map(|(asked, _)| asked);
            asked.position(|asked| steady(asked).eq(steady(prompt)))
        };
        let at = exact.or_else(alike);
        if let Some(at) = at {
            return Ok(waiting.remove(at).1);
        }
        let head: String = prompt.chars().take(200).collect();
        Err(ModelError::fatal(format!(
            "the journal has no answer to this prompt (it was written by another version, or the tree changed): {head}"
        )))
    }
}

/// Returns what does not depend on the time: the words of the first line, the lines of source
/// (`12: text`; a dump of bytes counts from 0) and those of a patch.
fn steady(text: &str) -> impl Iterator<Item = String> {
    text.lines().enumerate().filter_map(|(place, line)| {
        let number = line.split(':').next().unwrap_or_default().trim_start();
        let counts = number.bytes().all(|byte| byte.is_ascii_digit());
        let is_source = counts && number.starts_with(|first| ('1'..='9').contains(&first));
        if is_source || line.starts_with('+') || line.starts_with("@@ ") {
            return Some(line.to_owned());
        }
        (place == 0).then(|| line.replace(|c: char| c.is_ascii_digit(), ""))
    })
}

impl Model for Journaled {
    fn name(&self) -> &'static str {
        "journal"
    }

    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ModelError>> {
        async { self.take(request) }.boxed()
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
            ("532 inputs\n7: int a = 1;".into(), reply("4")),
            ("Judge.\n+int a;\nfound 00000001: ab".into(), reply("5")),
        ];
        let model = Journaled::new(exchanges);
        for (prompt, expected) in [
            ("b", Some("2")),
            ("a", Some("1")),
            ("a", Some("3")),
            ("a", None),
            ("1041 inputs\n7: int a = 2;", None),
            ("1041 inputs\nfound nothing\n7: int a = 1;", Some("4")),
            ("Judge.\n+int b;\nfound 00000001: ab", None),
            ("Ask.\n+int a;", None),
            ("Judge.\n+int a;\n00000000: cd\nfound more", Some("5")),
        ] {
            let answer = model
                .ask(&request(prompt))
                .await
                .ok()
                .map(|reply| reply.text);
            assert_eq!(answer.as_deref(), expected);
        }
    }
}
