//! Counts tokens: exactly for the families whose vocabulary is public, and never
//! too few for all others.

use tiktoken_rs::o200k_base_singleton;

use crate::Request;

/// Tokens of a message besides its text: the marks around it and its role.
const PER_MESSAGE: u64 = 4;
/// Tokens of every request besides its messages: the opening of the reply.
const PER_REQUEST: u64 = 3;
/// Other vocabularies need more tokens for the same text: measurements published
/// for source code lie between 1.1 and 1.35 times those of `o200k_base`.
const MARGIN: f64 = 1.4;
/// Above this size text is counted in pieces, because the merge step of the
/// tokenizer is slow on long runs without a space.
const PIECE: usize = 64 * 1024;
/// Names, or beginnings of names, of models that use `o200k_base`.
const O200K: [&str; 10] = [
    "gpt-4o",
    "chatgpt-4o",
    "gpt-4.1",
    "gpt-4.5",
    "gpt-5",
    "o1",
    "o3",
    "o4",
    "gpt-oss",
    "codex-",
];

/// Counts the tokens of one model's family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// The vocabulary of OpenAI's models since GPT-4o.
    O200k,
    /// A vocabulary that is not known: counted generously.
    Unknown,
}

impl Counter {
    /// The counter for a model, by its name. A provider's prefix, as in
    /// `openai/gpt-5`, does not matter.
    pub fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
        if O200K.iter().any(|family| name.starts_with(family)) {
            Self::O200k
        } else {
            Self::Unknown
        }
    }

    /// The counter that is right for several models: theirs, when they share
    /// one, else the generous one.
    pub fn of_all<'a>(models: impl IntoIterator<Item = &'a str>) -> Self {
        let mut counters = models.into_iter().map(Self::of);
        let first = counters.next().unwrap_or(Self::Unknown);
        if counters.all(|counter| counter == first) {
            first
        } else {
            Self::Unknown
        }
    }

    /// The tokens of a text.
    pub fn count(self, text: &str) -> u64 {
        let vocabulary = o200k_base_singleton();
        let counts = pieces(text).map(|piece| vocabulary.encode_ordinary(piece).len() as u64);
        let exact: u64 = counts.sum();
        match self {
            Self::O200k => exact,
            // No vocabulary has more tokens than the text has bytes.
            Self::Unknown => ((exact as f64 * MARGIN).ceil() as u64).min(text.len() as u64),
        }
    }

    /// The tokens of a request, with what frames its messages.
    pub fn count_request(self, request: &Request) -> u64 {
        let messages = request.messages.iter();
        let counts = messages.map(|message| self.count(&message.text) + PER_MESSAGE);
        PER_REQUEST + counts.sum::<u64>()
    }
}

/// Cuts a text at line ends, or else at characters, into pieces of bounded size.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.floor_char_boundary(PIECE.min(rest.len()));
        let (head, _) = rest.split_at_checked(end)?;
        let cut = match head.rfind('\n') {
            Some(at) if end < rest.len() => at + 1,
            _ => end,
        };
        let (piece, after) = rest.split_at_checked(cut)?;
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Message;

    #[test]
    fn families_are_known_by_name() {
        for (name, counter) in [
            ("gpt-4o-mini", Counter::O200k),
            ("openai/gpt-5.1", Counter::O200k),
            ("o3", Counter::O200k),
            ("gpt-4-turbo", Counter::Unknown),
            ("claude-sonnet-4", Counter::Unknown),
            ("qwen3-coder", Counter::Unknown),
        ] {
            assert_eq!(Counter::of(name), counter, "{name}");
        }
        assert_eq!(Counter::of_all(["gpt-5", "o3"]), Counter::O200k);
        assert_eq!(Counter::of_all(["gpt-5", "qwen3"]), Counter::Unknown);
    }

    #[test]
    fn counts_are_those_of_the_published_vocabularies() {
        assert_eq!(Counter::O200k.count("hello world"), 2);
        assert_eq!(Counter::Unknown.count("hello world"), 3);
        let request = Request {
            messages: vec![Message::user("hello world")],
            max_output_tokens: 1,
        };
        assert_eq!(Counter::O200k.count_request(&request), 9);
    }

    #[test]
    fn a_long_text_without_a_space_is_counted() {
        let text = "a".repeat(300_000);
        assert!(Counter::O200k.count(&text) >= 300_000 / 128);
    }

    proptest! {
        #[test]
        fn an_unknown_vocabulary_is_never_counted_below_a_known_one(text in "\\PC{0,200}") {
            prop_assert!(Counter::Unknown.count(&text) >= Counter::O200k.count(&text));
            prop_assert!(Counter::Unknown.count(&text) <= text.len() as u64);
        }
    }
}
