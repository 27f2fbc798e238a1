//! What other signals say of a request, taken into the ranking: a re-ranker,
//! embeddings, words that a model adds. Who is asked and how is the caller's
//! business; here orders are fused and remembered.
//!
//! A signal only ever changes the order of candidates, so an engine that was
//! told nothing answers as it always does.

mod fuse;
#[cfg(test)]
mod tests;

pub use fuse::{by_words, fuse};

use crate::answer::Answer;
use crate::context::{Context, Request, Wanted};
use crate::engine::Engine;
use crate::engine::lookup::or_nothing;
use crate::engine::outline::with_comment;
use crate::error::RetrievalError;
use crate::relations::{SqlAnswer, SqlLimits};
use crate::snippet::line;
use crate::symbol::Symbol;
use crate::words::meaningful;
use patchwright_source::TreePath;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

/// How many candidates are offered to the signals: what one call of a
/// re-ranker takes.
const CANDIDATES: usize = 64;
/// The most characters of one candidate; re-rankers read little more.
const LONGEST: usize = 2_000;
/// The lines of a candidate that are read for them.
const LINES: u32 = 60;
/// How many requests are remembered.
const REMEMBERED: usize = 256;
/// How many functions that only signals name go into the context of a crash,
/// and how much the first of them matters.
const BESIDE_STACK: usize = 3;
const BESIDE_WEIGHT: f64 = 0.3;
/// How many functions of a stack say what a crash is about.
const TOLD: usize = 4;
/// How many rows of an SQL answer are followed.
const ROWS: usize = 60;

/// A definition that may be what a request means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its number in the index.
    pub id: i64,
    /// Its name with its scope.
    pub name: String,
    /// `path:first-last`.
    pub place: String,
    /// Its comment and its first lines.
    pub text: String,
}

/// Candidates and how words alone rank them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Each candidate once.
    pub list: Vec<Candidate>,
    /// Orders of their numbers, best first: by the request's own words, and by
    /// these and further words when there are any.
    pub rankings: Vec<Vec<i64>>,
}

/// Something that shall be in a context.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The number of the definition.
    pub id: i64,
    /// How much it matters, 0 to 1.
    pub weight: f64,
    /// Why it is shown.
    pub why: String,
}

/// The orders that an engine was told, by the words that they are for.
#[derive(Debug, Default)]
pub(crate) struct Told(Mutex<HashMap<String, Vec<i64>>>);

impl Told {
    fn get(&self, words: &str) -> Option<Vec<i64>> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.get(words.trim()).cloned()
    }

    fn is_empty(&self) -> bool {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.is_empty()
    }

    fn put(&self, words: &str, order: Vec<i64>) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= REMEMBERED {
            told.clear();
        }
        told.insert(words.trim().to_owned(), order);
    }
}

impl Engine {
    /// The definitions that words may mean. `further` words widen the choice.
    pub fn candidates(&self, words: &str, further: &str) -> Candidates {
        let mut rankings = vec![self.ids_for(words)];
        if !further.trim().is_empty() {
            rankings.push(self.ids_for(&format!("{words}\n{further}")));
        }
        let mut ids = fuse(&rankings);
        ids.truncate(CANDIDATES);
        let list = ids.iter().filter_map(|id| self.candidate(*id)).collect();
        self.forget_texts();
        Candidates { list, rankings }
    }

    /// Remembers in which order the definitions answer some words.
    pub fn prefer(&self, words: &str, order: Vec<i64>) {
        self.told.put(words, order);
    }

    /// Whether an order for these words is known.
    pub fn prefers(&self, words: &str) -> bool {
        self.told.get(words).is_some()
    }

    /// The words that a context is searched by: the request's own, or what a
    /// crash report says and the functions on its stack.
    pub fn words_of(&self, request: &Request) -> String {
        let located = self.locate(&request.frames);
        if located.is_empty() {
            return request.text.clone();
        }
        let mut words = crate::context::headline(&request.text);
        if located.iter().any(|place| !place.is_harness) {
            for place in located.iter().take(TOLD) {
                words.push('\n');
                words.push_str(&place.symbol.qualified());
            }
        }
        words
    }

    /// The definitions around the hits of an answer, each once, in its order.
    pub fn candidates_in(&self, answer: &Answer) -> Vec<Candidate> {
        let mut seen = BTreeSet::new();
        let around = answer.snippets.iter().flat_map(|snippet| {
            // Hits that touch are one snippet with the names of all functions.
            let mut found: Vec<Symbol> = snippet
                .symbols
                .iter()
                .flat_map(|name| self.named(name))
                .filter(|symbol| symbol.path == snippet.path)
                .collect();
            if found.is_empty() {
                // A structural hit is shown with two lines before it.
                let hit = (snippet.start_line + 2).min(snippet.end_line);
                found.extend(self.around(&snippet.path, hit));
            }
            found
        });
        let found = around.filter(|symbol| seen.insert(symbol.id));
        let list = found
            .filter_map(|symbol| self.candidate(symbol.id))
            .collect();
        self.forget_texts();
        list
    }

    /// Answers one SELECT over the documented views.
    pub fn rows(&self, statement: &str) -> Result<SqlAnswer, RetrievalError> {
        self.index.sql(statement, SqlLimits::default())
    }

    /// The definitions that rows speak of: by path and line where the rows have
    /// them, else by name.
    pub fn definitions_in(&self, rows: &SqlAnswer) -> Vec<i64> {
        let column = |name: &str| rows.columns.iter().position(|column| column == name);
        let place = column("path").zip(column("line"));
        let mut found = Vec::new();
        for row in rows.rows.iter().take(ROWS) {
            let by_place = place.and_then(|(path, line)| {
                let path = TreePath::new(row.get(path)?).ok()?;
                self.around(&path, row.get(line)?.parse().ok()?)
            });
            let by_name = || {
                row.iter()
                    .filter(|cell| cell.len() > 1 && cell.parse::<f64>().is_err())
                    .find_map(|cell| self.named(cell).into_iter().next())
            };
            if let Some(symbol) = by_place.or_else(by_name)
                && !found.contains(&symbol.id)
            {
                found.push(symbol.id);
            }
        }
        found
    }

    /// The context made of chosen definitions, packed to the request's budget.
    pub fn context_of(&self, request: &Request, choices: &[Choice]) -> Context {
        let wanted = choices
            .iter()
            .filter_map(|choice| {
                let symbol = or_nothing(self.index.symbol(choice.id))?;
                Some(Wanted::new(symbol, choice.weight, &choice.why))
            })
            .collect();
        self.pack_chosen(request, wanted)
    }

    /// A ranking with what signals say of the same words: the order changes, the
    /// scores by rank stay.
    pub(crate) fn with_signals(
        &self,
        words: &str,
        ranked: Vec<(f64, Symbol)>,
    ) -> Vec<(f64, Symbol)> {
        let Some(mut order) = self.told.get(words) else {
            return ranked;
        };
        let scores: Vec<f64> = ranked.iter().map(|(score, _)| *score).collect();
        order.extend(ranked.iter().map(|(_, symbol)| symbol.id));
        let mut known: BTreeMap<i64, Symbol> = ranked
            .into_iter()
            .map(|(_, symbol)| (symbol.id, symbol))
            .collect();
        let least = scores.last().copied().unwrap_or(1.0);
        let mut seen = BTreeSet::new();
        let symbols = order
            .into_iter()
            .filter(|id| seen.insert(*id))
            .filter_map(|id| {
                known
                    .remove(&id)
                    .or_else(|| or_nothing(self.index.symbol(id)))
            });
        symbols
            .enumerate()
            .map(|(rank, symbol)| (scores.get(rank).copied().unwrap_or(least), symbol))
            .collect()
    }

    /// What signals add to the functions of a crash.
    pub(crate) fn beside_stack(&self, request: &Request, wanted: &[Wanted]) -> Vec<Wanted> {
        if self.told.is_empty() {
            return Vec::new();
        }
        let order = self.told.get(&self.words_of(request)).unwrap_or_default();
        let is_new = |id: &i64| wanted.iter().all(|one| one.symbol.id != *id);
        order
            .into_iter()
            .filter(is_new)
            .filter_map(|id| or_nothing(self.index.symbol(id)))
            .filter(|symbol| symbol.kind.is_callable())
            .take(BESIDE_STACK)
            .enumerate()
            .map(|(rank, symbol)| {
                let weight = BESIDE_WEIGHT - 0.01 * rank as f64;
                Wanted::new(symbol, weight, "fits the words of the report")
            })
            .collect()
    }

    fn ids_for(&self, words: &str) -> Vec<i64> {
        let scored = self.by_words(&meaningful(words), CANDIDATES);
        scored.into_iter().map(|one| one.id).collect()
    }

    fn around(&self, path: &TreePath, line: u32) -> Option<Symbol> {
        or_nothing(self.index.enclosing_function(path, line))
            .or_else(|| or_nothing(self.index.enclosing(path, line)))
    }

    fn candidate(&self, id: i64) -> Option<Candidate> {
        let symbol = or_nothing(self.index.symbol(id))?;
        let text = self.text(&symbol.path).ok()?;
        let last = symbol.end_line.min(symbol.start_line.saturating_add(LINES));
        let mut shown = String::new();
        for number in with_comment(&text, symbol.start_line)..=last {
            shown.push_str(&line(&text, number));
            shown.push('\n');
        }
        Some(Candidate {
            id,
            name: symbol.qualified(),
            place: format!("{}:{}-{}", symbol.path, symbol.start_line, symbol.end_line),
            text: shown.chars().take(LONGEST).collect(),
        })
    }
}
