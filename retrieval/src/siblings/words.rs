//! Words of code lines, and how much each tells.

use patchwright_source::Pattern;
use std::collections::{BTreeSet, HashMap};

static WORD: Pattern = Pattern::new(
    r#""(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[\p{Alphabetic}_$][\w$]*|\d[\w.]*|->|::|&&|\|\||\+\+|--|<<=?|>>=?|[<>=!+\-*/%&|^]=|\S"#,
);

/// Words of statements that many languages share: they relate no line to another.
const CONTROL: &str = "if else for while do return break continue goto switch case default sizeof const int char \
                       unsigned void null NULL nullptr new delete static struct try catch throw finally final long \
                       size_t bool boolean true false this auto let var";

/// Weight of an operator or a bracket.
const OPERATOR: f64 = 0.15;
/// Weight of a number.
const NUMBER: f64 = 0.2;
/// Weight of a plain name beside that of a function, field, constant or type.
const PLAIN: f64 = 0.5;

/// Kind of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A function that is called, a field, a constant, a type, a text.
    Fixed,
    /// Another name: mostly a local variable, whose name is free.
    Plain,
    Number,
    Operator,
}

/// A word of the fix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    /// Its place in the vocabulary.
    pub(super) id: u32,
    pub(super) kind: Kind,
    /// True for what relates a line to another one.
    pub(super) relates: bool,
}

/// A line of a function: its words as far as the fix has them, how often each, and how many it has in all.
#[derive(Debug, Clone)]
pub(super) struct FunctionLine {
    pub(super) number: u32,
    pub(super) length: usize,
    pub(super) words: Vec<(u32, u32)>,
}

/// The words of a fix, and in how many functions each is.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    ids: HashMap<String, u32>,
    functions: usize,
    said: Vec<usize>,
}

impl Vocabulary {
    /// Reads a line of the fix.
    pub(super) fn read(&mut self, line: &str) -> Vec<Word> {
        let read = words(line).into_iter().map(|(text, kind)| {
            let next = self.ids.len() as u32;
            let is_name = matches!(kind, Kind::Fixed | Kind::Plain);
            Word {
                id: *self.ids.entry(text.to_owned()).or_insert(next),
                kind,
                relates: is_name && !is_control(text),
            }
        });
        read.collect()
    }

    /// Reads a line of a function; none where it has no word.
    pub(super) fn line(&self, number: u32, line: &str) -> Option<FunctionLine> {
        let mut counts: Vec<(u32, u32)> = Vec::new();
        let mut length = 0;
        for word in WORD.find_iter(line) {
            length += 1;
            let Some(id) = self.ids.get(word.as_str()) else {
                continue;
            };
            match counts.iter_mut().find(|(known, _)| known == id) {
                Some((_, count)) => *count += 1,
                None => counts.push((*id, 1)),
            }
        }
        (length > 0).then_some(FunctionLine {
            number,
            length,
            words: counts,
        })
    }

    /// Counts in how many functions each word is.
    pub(super) fn count<'l>(&mut self, functions: impl Iterator<Item = &'l [FunctionLine]>) {
        self.said = vec![0; self.ids.len()];
        for lines in functions {
            self.functions += 1;
            let words = lines.iter().flat_map(|line| &line.words);
            let words: BTreeSet<u32> = words.map(|(id, _)| *id).collect();
            for id in words {
                if let Some(said) = self.said.get_mut(id as usize) {
                    *said += 1;
                }
            }
        }
    }

    /// Weight of a word: the fewer functions say it, the more it tells.
    pub(super) fn weight(&self, word: Word) -> f64 {
        let said = self.said.get(word.id as usize).copied().unwrap_or_default();
        let rarity = (1.0 + self.functions as f64 / (1.0 + said as f64)).ln();
        match word.kind {
            Kind::Fixed => rarity,
            Kind::Plain => rarity * PLAIN,
            Kind::Number => NUMBER,
            Kind::Operator => OPERATOR,
        }
    }
}

/// Lists the words of a line, each with its kind.
fn words(line: &str) -> Vec<(&str, Kind)> {
    let texts: Vec<&str> = WORD.find_iter(line).map(|found| found.as_str()).collect();
    let kinds = texts.iter().enumerate().map(|(at, text)| {
        let before = at.checked_sub(1).and_then(|at| texts.get(at));
        (
            *text,
            kind(text, before.copied(), texts.get(at + 1).copied()),
        )
    });
    kinds.collect()
}

fn is_control(word: &str) -> bool {
    CONTROL.split_whitespace().any(|control| control == word)
}

/// Lists the variables that a line names.
pub(super) fn variables(line: &str) -> impl Iterator<Item = &str> {
    let words = words(line).into_iter();
    let plain = words.filter(|(text, kind)| *kind == Kind::Plain && !is_control(text));
    plain.map(|(text, _)| text)
}

/// Returns whether a line decides something.
pub(super) fn is_condition(line: &str) -> bool {
    let decides = |word: &str| ["if", "while", "assert", "unless"].contains(&word);
    let mut first = words(line).into_iter().take(3);
    first.any(|(text, _)| decides(text))
}

/// Tells the kind of a word by what stands beside it.
fn kind(text: &str, before: Option<&str>, after: Option<&str>) -> Kind {
    let Some(first) = text.chars().next() else {
        return Kind::Operator;
    };
    if first.is_ascii_digit() {
        return Kind::Number;
    }
    if "\"'".contains(first) {
        return Kind::Fixed;
    }
    if !first.is_alphabetic() && !"_$".contains(first) {
        return Kind::Operator;
    }
    let is_member = matches!(before, Some("." | "->" | "::"));
    if is_member || after == Some("(") || first.is_uppercase() {
        Kind::Fixed
    } else {
        Kind::Plain
    }
}
