//! Word counts of the definitions of one file.

use super::postings::Posting;
use crate::error::Result;
use crate::index::Index;
use crate::snippet::{line, with_comment};
use crate::symbol::{Symbol, SymbolKind};
use crate::words::{split_words, stem};
use patchwright_source::{Text, TreePath};
use rustc_hash::FxHashMap;

/// Limit on how often a word of each place counts.
const IN_NAME: u32 = 8;
const IN_SCOPE: u32 = 4;
const IN_FILE: u32 = 2;
const IN_COMMENT: u32 = 2;
const IN_BODY: u32 = 1;
/// Lines of one body that are read for words.
const BODY_LINES: u32 = 400;
/// Lines that are read of definitions that only hold others: what their
/// members say belongs to these.
const SMALL: u32 = 60;
/// Longer words are data.
const LONGEST: usize = 40;

/// The words of a file, and its definitions that have them.
#[derive(Default)]
pub(super) struct Counted {
    pub(super) words: Vec<(String, Vec<Posting>)>,
    /// Number of definitions.
    pub(super) documents: u32,
    /// Number of their words, weighted by place.
    pub(super) length: u32,
}

/// Counts the stems of the words of the definitions of a file.
pub(super) fn count_file(index: &Index, path: &TreePath) -> Result<Counted> {
    let Ok(text) = index.tree().read(path) else {
        return Ok(Counted::default());
    };
    let stem_of_file = path.file_name().split('.').next().unwrap_or_default();
    let mut counter = Counter::default();
    let (mut documents, mut all) = (0, 0);
    for symbol in index.outline(path)? {
        if !is_document(&symbol) {
            continue;
        }
        let mut words = FxHashMap::default();
        counter.count(&mut words, &symbol.name, IN_NAME);
        counter.count(&mut words, &symbol.scope, IN_SCOPE);
        counter.count(&mut words, stem_of_file, IN_FILE);
        counter.count_lines(&mut words, &text, &symbol);
        let length = words.values().sum();
        for (number, count) in words {
            if let Some((_, postings)) = counter.words.get_mut(number as usize) {
                postings.push(Posting::new(symbol.id, count, length));
            }
        }
        documents += 1;
        all += length;
    }
    Ok(Counted {
        words: counter.words,
        documents,
        length: all,
    })
}

/// Numbers the words of one file; what was cut into words once is not cut again.
#[derive(Default)]
struct Counter {
    words: Vec<(String, Vec<Posting>)>,
    numbers: FxHashMap<String, u32>,
    seen: FxHashMap<String, Vec<u32>>,
}

impl Counter {
    fn count_lines(&mut self, words: &mut FxHashMap<u32, u32>, text: &Text, symbol: &Symbol) {
        let start = with_comment(text, symbol.start_line);
        for number in start..symbol.start_line {
            self.count(words, &line(text, number), IN_COMMENT);
        }
        let is_callable = symbol.kind.is_callable();
        let most = if is_callable { BODY_LINES } else { SMALL };
        for number in symbol.start_line..=symbol.end_line.min(symbol.start_line + most) {
            self.count(words, &line(text, number), IN_BODY);
        }
    }

    fn count(&mut self, words: &mut FxHashMap<u32, u32>, text: &str, weight: u32) {
        for run in text.split(|c: char| !c.is_alphanumeric()) {
            if run.len() < 2 {
                continue;
            }
            if !self.seen.contains_key(run) {
                let numbers = self.cut(run);
                self.seen.insert(run.to_owned(), numbers);
            }
            for number in self.seen.get(run).into_iter().flatten() {
                *words.entry(*number).or_default() += weight;
            }
        }
    }

    fn cut(&mut self, run: &str) -> Vec<u32> {
        split_words(run)
            .iter()
            .filter(|word| word.len() > 1 && word.len() < LONGEST)
            .map(|word| self.number(stem(word)))
            .collect()
    }

    fn number(&mut self, word: String) -> u32 {
        *self.numbers.entry(word).or_insert_with_key(|word| {
            self.words.push((word.clone(), Vec::new()));
            self.words.len() as u32 - 1
        })
    }
}

fn is_document(symbol: &Symbol) -> bool {
    symbol.kind.is_callable()
        || symbol.kind.is_type()
        || matches!(symbol.kind, SymbolKind::Macro | SymbolKind::Variable)
}
