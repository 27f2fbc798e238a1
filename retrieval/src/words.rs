//! Words: those in names, those in requests, and what makes two of them the
//! same. English only, by a few rules; no dictionary.

use itertools::Itertools;
use patchwright_source::Pattern;
use std::borrow::Cow;

/// Limit on how deep the arguments of templates are looked into.
const NESTED: usize = 12;

/// Words that say nothing about code.
const STOP_WORDS: &str = include_str!("words/stop.txt");

/// Words, and what names make of each.
const SHORTENED: &str = include_str!("words/shortened.txt");

/// Returns what names write for a stem: `dir` for `directory`.
pub(crate) fn shortened(asked: &str) -> impl Iterator<Item = &'static str> {
    let pairs = SHORTENED.lines().filter_map(|pair| pair.split_once(' '));
    let found = pairs.filter(move |(long, _)| stem(long) == asked);
    found.map(|(_, short)| short)
}

/// The words of a name or of a text, lower case: `pngReadRow2` and
/// `png_read_row2` are `png`, `read`, `row2`.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    let characters: Vec<char> = text.chars().collect();
    for (at, character) in characters.iter().enumerate() {
        let next_is_lower = || {
            characters
                .get(at + 1)
                .is_some_and(|next| next.is_lowercase())
        };
        let starts = character.is_uppercase()
            && (before.is_lowercase()
                || before.is_ascii_digit()
                || (before.is_uppercase() && next_is_lower()));
        if (starts || !character.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        before = *character;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Returns what is left of a word without the endings of verbs and plurals:
/// `parsing`, `parsed`, `parses` and `parse` are the same.
pub(crate) fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    if let Some(root) = stem.strip_suffix("ies").filter(|root| root.len() > 2) {
        stem = format!("{root}y");
    } else if stem.ends_with('s') && !stem.ends_with("ss") && stem.len() > 3 {
        stem.pop();
    }
    for ending in ["ing", "ed", "ion", "er", "or"] {
        let Some(root) = stem.strip_suffix(ending) else {
            continue;
        };
        if root.len() >= 3 && root.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
            stem = root.to_owned();
            if doubled(&stem) {
                stem.pop();
            }
            break;
        }
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    stem
}

/// The stems of the words of a name or of a text, in order.
pub(crate) fn stems_of(text: &str) -> Vec<String> {
    split_words(text).iter().map(|word| stem(word)).collect()
}

/// Returns whether a word with one of some stems may be in a text. Cutting a text
/// into words and these to their stems takes long; most texts need not be cut, for
/// they hold none of the beginnings of such words.
pub(crate) fn may_say(text: &str, stems: &[String]) -> bool {
    // What other letters are in lower case is left to who cuts them.
    if !text.is_ascii() {
        return true;
    }
    let text = text.to_ascii_lowercase();
    let mut stems = stems.iter();
    stems.any(|stem| text.contains(stem.strip_suffix('y').unwrap_or(stem)))
}

fn doubled(stem: &str) -> bool {
    let mut last = stem.chars().rev();
    match (last.next(), last.next()) {
        (Some(a), Some(b)) => a == b && !"lsz".contains(a),
        _ => false,
    }
}

/// The stems of the words of a request that say something, in order, each once.
pub(crate) fn meaningful(text: &str) -> Vec<String> {
    let says_something = |word: &String| {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        let mut stop_words = STOP_WORDS.split_whitespace();
        word.len() > 1 && !is_number && !stop_words.any(|other| other == word)
    };
    let words = split_words(text).into_iter().filter(says_something);
    words.map(|word| stem(&word)).unique().collect()
}

/// The names that a request writes as names: in backticks, with `_`, `::`, `()`,
/// in CamelCase or in capitals. In order, each once.
pub(crate) fn identifiers(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        let name = name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if name.len() > 1 && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    };
    for quoted in text.split('`').skip(1).step_by(2) {
        if !quoted.contains(char::is_whitespace) {
            add(quoted.split('(').next().unwrap_or_default());
        }
    }
    let text = without_angles(text);
    for token in text.split(|c: char| c.is_whitespace() || "\"'`,;<>[]{}".contains(c)) {
        let is_call = token.contains("()");
        let name = token.split('(').next().unwrap_or_default();
        let name = name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if is_call || looks_like_code(name) {
            add(name);
        }
    }
    found
}

/// A text with `map<K, V>::begin()` as `map::begin() K, V`, so that a member is read with its class.
fn without_angles(text: &str) -> String {
    static ANGLES: Pattern = Pattern::new(r"<((?:[^<>]|->)*)>((?:::[~\w]+(?:\(\))?)*)");
    let mut text = text.to_owned();
    for _ in 0..NESTED {
        let Cow::Owned(replaced) = ANGLES.replace_all(&text, "$2 $1 ") else {
            break;
        };
        text = replaced;
    }
    text
}

fn looks_like_code(name: &str) -> bool {
    let mut inner = name.chars().skip(1);
    let is_plain = |c: char| c.is_alphanumeric() || "_:.#$->".contains(c);
    if !name.chars().all(is_plain) || name.contains('/') || name.is_empty() {
        return false;
    }
    let is_capital = |c: char| c.is_uppercase() || c.is_ascii_digit() || c == '_';
    let capitals = name.len() > 2 && name.chars().all(is_capital) && name.contains('_');
    let camel = inner.any(char::is_uppercase) && name.chars().any(char::is_lowercase);
    let qualified = name.contains("::") || name.contains("->") || name.contains('#');
    let dotted = name.contains('.') && !name.ends_with('.') && camel;
    (name.contains('_') && !name.starts_with(|c: char| c.is_ascii_digit()))
        || capitals
        || camel
        || qualified
        || dotted
}

#[cfg(test)]
mod tests {
    use super::{identifiers, may_say, meaningful, split_words, stem, stems_of};
    use proptest::prelude::*;

    #[test]
    fn splits_names() {
        for (name, words) in [
            ("png_read_row2", vec!["png", "read", "row2"]),
            ("readHTTPHeader", vec!["read", "http", "header"]),
            ("ABC", vec!["abc"]),
            ("__init__", vec!["init"]),
            ("", vec![]),
        ] {
            assert_eq!(split_words(name), words, "{name}");
        }
    }

    #[test]
    fn words_of_one_root_are_the_same() {
        for words in [
            vec!["parse", "parsing", "parsed", "parses", "parser"],
            vec!["building", "build", "builds", "builder"],
            vec!["entry", "entries"],
            vec!["allocate", "allocation", "allocating", "allocator"],
            vec!["run", "running", "runs"],
            vec!["request", "requests"],
        ] {
            for word in &words {
                assert_eq!(stem(word), stem(words[0]), "{word}");
            }
        }
        assert_ne!(stem("string"), stem("str"));
        assert_eq!(stem("class"), "class");
    }

    #[test]
    fn finds_what_is_written_as_code() {
        for (text, expected) in [
            (
                "fix the bug in `get_x` and ChatGPT",
                vec!["get_x", "ChatGPT"],
            ),
            ("where is SweepConfig defined?", vec!["SweepConfig"]),
            ("call run() or A::b, not main.c", vec!["run", "A::b"]),
            ("handle MAX_SIZE and DFS in it", vec!["MAX_SIZE"]),
            ("nothing here, e.g. words.", vec![]),
        ] {
            assert_eq!(identifiers(text), expected, "{text}");
        }
        assert_eq!(
            meaningful("Make the code review process faster by parallelizing the annotation step"),
            ["review", "process", "fast", "paralleliz", "annotat", "step"]
        );
    }

    proptest! {
        #[test]
        fn a_word_with_a_stem_has_its_beginning(
            text in "([A-Za-z]{0,4}(ies|ing|sses|ed|ion|y|es|ers|_| |É|2)){1,6}",
            other in "[a-z]{1,6}",
        ) {
            let stems = stems_of(&text);
            for stem in &stems {
                prop_assert!(may_say(&text, std::slice::from_ref(stem)), "{stem} {text}");
            }
            let begins = stems.iter().any(|stem| stem.starts_with(&other));
            prop_assert!(!begins || may_say(&text, std::slice::from_ref(&other)), "{other} {text}");
        }
    }
}
