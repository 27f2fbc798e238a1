//! Ranked search by words: which definitions speak of what a request speaks
//! of, by BM25 over the words of names, scopes, files, comments and bodies.
//!
//! The table of words is built at the first search of an engine and kept in
//! memory with it. Embeddings, where configured, are fused elsewhere.

use crate::engine::Engine;
use crate::engine::lookup::or_nothing;
use crate::engine::outline::with_comment;
use crate::snippet::line;
use crate::symbol::{Symbol, SymbolKind};
use crate::words::{split_words, stem};
use patchwright_source::{Text, TreePath};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// BM25's saturation of repeated words and its regard for length.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;
/// How often a word of each place counts.
const IN_NAME: u32 = 8;
const IN_SCOPE: u32 = 2;
const IN_FILE: u32 = 2;
const IN_COMMENT: u32 = 2;
const IN_BODY: u32 = 1;
/// Lines of one body that are read for words.
const BODY_LINES: u32 = 400;
/// What a word counts that only begins like the asked one: `init`, `len`.
const BEGINS_ALIKE: f64 = 0.45;
/// The shortest beginning that counts.
const SHORTEST: usize = 3;

/// A definition and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scored {
    pub(crate) id: i64,
    pub(crate) score: f64,
}

/// The words of all definitions.
#[derive(Debug, Default)]
pub(crate) struct WordTable {
    documents: Vec<Document>,
    words: BTreeMap<String, Vec<(u32, u16)>>,
    mean_length: f64,
}

#[derive(Debug)]
struct Document {
    id: i64,
    length: f64,
}

impl WordTable {
    /// Reads every definition of a tree.
    pub(crate) fn build(engine: &Engine) -> Self {
        let files: Vec<TreePath> = engine
            .index
            .files()
            .into_iter()
            .filter(|file| file.language.is_some())
            .map(|file| file.path)
            .collect();
        let counted: Vec<Vec<(i64, HashMap<String, u32>)>> = files
            .par_iter()
            .map(|path| count_file(engine, path))
            .collect();
        let mut table = Self::default();
        let mut words: HashMap<String, Vec<(u32, u16)>> = HashMap::new();
        for (id, counts) in counted.into_iter().flatten() {
            let number = table.documents.len() as u32;
            let length: u32 = counts.values().sum();
            table.documents.push(Document {
                id,
                length: f64::from(length),
            });
            for (word, count) in counts {
                let count = u16::try_from(count).unwrap_or(u16::MAX);
                words.entry(word).or_default().push((number, count));
            }
        }
        let total: f64 = table.documents.iter().map(|one| one.length).sum();
        table.mean_length = total / table.documents.len().max(1) as f64;
        table.words = words.into_iter().collect();
        table
    }

    /// The definitions that fit some stems best, at most `limit`.
    pub(crate) fn search(&self, stems: &[String], limit: usize) -> Vec<Scored> {
        let mut scores: HashMap<u32, f64> = HashMap::new();
        for stem in stems {
            for (word, share) in self.alike(stem) {
                self.add(&mut scores, word, share);
            }
        }
        let mut scored: Vec<Scored> = scores
            .into_iter()
            .filter_map(|(number, score)| {
                let id = self.documents.get(number as usize)?.id;
                Some(Scored { id, score })
            })
            .collect();
        scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        scored.truncate(limit);
        scored
    }

    /// The words of the table that a stem means, with what each counts.
    fn alike(&self, stem: &str) -> Vec<(&str, f64)> {
        let mut alike: Vec<(&str, f64)> = Vec::new();
        if let Some((word, _)) = self.words.get_key_value(stem) {
            alike.push((word, 1.0));
        }
        let ends = (SHORTEST..stem.len()).filter_map(|end| stem.get(..end));
        for beginning in ends {
            if let Some((word, _)) = self.words.get_key_value(beginning) {
                // `con` begins `connect` and much else.
                let share = beginning.len() as f64 / stem.len() as f64;
                alike.push((word, BEGINS_ALIKE * share));
            }
        }
        if stem.len() >= SHORTEST {
            let longer = self
                .words
                .range(stem.to_owned()..)
                .take_while(|(word, _)| word.starts_with(stem))
                .filter(|(word, _)| word.as_str() != stem)
                .take(20);
            alike.extend(longer.map(|(word, _)| {
                let share = stem.len() as f64 / word.len() as f64;
                (word.as_str(), BEGINS_ALIKE * share)
            }));
        }
        alike
    }

    fn add(&self, scores: &mut HashMap<u32, f64>, word: &str, share: f64) {
        let Some(found) = self.words.get(word) else {
            return;
        };
        let all = self.documents.len() as f64;
        let with = found.len() as f64;
        let rarity = ((all - with + 0.5) / (with + 0.5)).ln_1p();
        for (number, count) in found {
            let length = self
                .documents
                .get(*number as usize)
                .map_or(self.mean_length, |one| one.length);
            let count = f64::from(*count);
            let norm = 1.0 - LENGTH + LENGTH * length / self.mean_length.max(1.0);
            let weight = count * (SATURATION + 1.0) / (count + SATURATION * norm);
            *scores.entry(*number).or_default() += share * rarity * weight;
        }
    }
}

fn count_file(engine: &Engine, path: &TreePath) -> Vec<(i64, HashMap<String, u32>)> {
    let Ok(text) = engine.tree().read(path) else {
        return Vec::new();
    };
    let stem_of_file = path.file_name().split('.').next().unwrap_or_default();
    or_nothing(engine.index.outline(path))
        .into_iter()
        .filter(is_document)
        .map(|symbol| {
            let mut counts = HashMap::new();
            count(&mut counts, &symbol.name, IN_NAME);
            count(&mut counts, &symbol.scope, IN_SCOPE);
            count(&mut counts, stem_of_file, IN_FILE);
            count_lines(&mut counts, &text, &symbol);
            (symbol.id, counts)
        })
        .collect()
}

fn count_lines(counts: &mut HashMap<String, u32>, text: &Text, symbol: &Symbol) {
    let start = with_comment(text, symbol.start_line);
    for number in start..symbol.start_line {
        count(counts, &line(text, number), IN_COMMENT);
    }
    let is_small = symbol.end_line - symbol.start_line < 60;
    if symbol.kind.is_callable() || is_small {
        let last = symbol.end_line.min(symbol.start_line + BODY_LINES);
        for number in symbol.start_line..=last {
            count(counts, &line(text, number), IN_BODY);
        }
    }
}

fn is_document(symbol: &Symbol) -> bool {
    symbol.kind.is_callable()
        || symbol.kind.is_type()
        || matches!(symbol.kind, SymbolKind::Macro | SymbolKind::Variable)
}

fn count(counts: &mut HashMap<String, u32>, text: &str, weight: u32) {
    for word in split_words(text) {
        if word.len() > 1 && word.len() < 40 {
            *counts.entry(stem(&word)).or_default() += weight;
        }
    }
}
