//! Surroundings of a piece of a sentence: what stands next to a name says what it names. Which words
//! say what is decided by who asks.

use super::phrases;
use patchwright_source::regex;
use regex::Captures;

/// The text around a piece of a sentence.
pub(super) struct Around<'a> {
    /// True where a letter stands right before or behind it: it is a part of a word.
    pub(super) joined: bool,
    pub(super) quoted: bool,
    pub(super) indexed: bool,
    /// True between double quotes.
    pub(super) literal: bool,
    pub(super) previous: Option<char>,
    /// The words before and behind it.
    pub(super) words: [&'a str; 2],
}

impl<'a> Around<'a> {
    pub(super) fn of(text: &'a str, found: &Captures<'_>, start: usize) -> Self {
        let name = found.name("name").or(found.get(0));
        let end = name.map_or(start, |name| name.end());
        let before = text.get(..start).unwrap_or_default();
        let behind = text.get(end..).unwrap_or_default();
        let (previous, next) = (before.chars().next_back(), behind.chars().next());
        // Scripts without spaces between words stand right beside a name.
        // A slash is part of a path.
        let joins = |c: char| c == '/' || c.is_alphanumeric() && c < '\u{2e80}';
        let letter = |c: Option<char>| c.is_some_and(joins);
        // Between a dot and a letter a longer name goes on, which is of no known form.
        let dotted = regex!(r"^\.[A-Za-z0-9]").is_match(behind)
            || regex!(r"[A-Za-z0-9]\.+$").is_match(before);
        let edge = |c: char| !c.is_ascii_alphanumeric();
        let last = before.trim_end_matches(edge).rsplit(edge).next();
        let first = behind.trim_start_matches(edge).split(edge).next();
        Self {
            joined: letter(previous) || letter(next) || dotted,
            quoted: previous == Some('`') && next == Some('`'),
            indexed: next == Some('['),
            literal: previous == Some('"') && next == Some('"'),
            previous,
            words: [last.unwrap_or_default(), first.unwrap_or_default()],
        }
    }

    /// Tells whether a word beside it is in a table of phrases.
    pub(super) fn is_among(&self, table: &str) -> bool {
        let mut words = self.words.iter();
        words.any(|word| phrases::has(table, &word.to_lowercase()))
    }

    /// Tells whether a word with a dash in front is an option here.
    pub(super) fn is_option(&self, word: &str) -> bool {
        let apart = |c: char| c.is_whitespace() || "`\"'([,/".contains(c);
        // `--args` is a debugger's.
        self.previous.is_none_or(apart)
            && word != "--args"
            && (word.starts_with("--") || self.quoted || self.is_among("words of options"))
    }
}

/// Tells whether a block of code is prose: half of its lines are of words.
pub(super) fn is_told(block: &str) -> bool {
    let of_words = |line: &&str| {
        let plain = |word: &&str| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || c == '\'')
        };
        let (words, others): (Vec<&str>, Vec<&str>) = line.split_whitespace().partition(plain);
        words.len() >= 5 && others.len() * 4 <= words.len()
    };
    let lines = || block.lines().filter(|line| !line.trim().is_empty());
    let told = lines().filter(of_words).count();
    // Forms ask, and code does not.
    let asked = lines().filter(|line| line.trim_end().ends_with('?') && of_words(line));
    told >= 2 && told * 2 >= lines().count() || asked.count() >= 2
}
