//! Preferences: the orders in which embeddings and a re-ranker put the definitions
//! that some words may mean. They change the order of answers and nothing else.

use super::Engine;
use crate::error::Result;
use crate::symbol::Symbol;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

/// Limit on how many requests are remembered.
const REMEMBERED: usize = 256;
/// The orders that an engine was told, by the words that they are for.
#[derive(Debug, Default)]
pub(super) struct Preferences(Mutex<HashMap<String, Vec<i64>>>);

impl Preferences {
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
    /// Remembers in which order the definitions answer some words.
    pub fn prefer(&self, words: &str, order: Vec<i64>) {
        self.preferences.put(words, order);
    }

    /// Returns whether an order for these words is known.
    pub fn prefers(&self, words: &str) -> bool {
        self.preferences.get(words).is_some()
    }

    /// A ranking with what signals say of the same words: the order changes, the
    /// scores by rank stay.
    pub(crate) fn with_signals(
        &self,
        words: &str,
        ranked: Vec<(f64, Symbol)>,
    ) -> Result<Vec<(f64, Symbol)>> {
        let Some(mut order) = self.preferences.get(words) else {
            return Ok(ranked);
        };
        let scores: Vec<f64> = ranked.iter().map(|(score, _)| *score).collect();
        order.extend(ranked.iter().map(|(_, symbol)| symbol.id));
        let mut known: BTreeMap<i64, Symbol> = ranked
            .into_iter()
            .map(|(_, symbol)| (symbol.id, symbol))
            .collect();
        let least = scores.last().copied().unwrap_or(1.0);
        let mut seen = BTreeSet::new();
        order.retain(|id| seen.insert(*id));
        let symbols = order.into_iter().map(|id| match known.remove(&id) {
            Some(symbol) => Ok(Some(symbol)),
            None => self.index.symbol(id),
        });
        let symbols: Vec<Symbol> = symbols
            .filter_map(Result::transpose)
            .collect::<Result<_>>()?;
        let scores = scores.into_iter().chain(std::iter::repeat(least));
        Ok(scores.zip(symbols).collect())
    }

    /// The order that is known for some words; nothing when none is.
    pub(crate) fn preferred(&self, words: &str) -> Option<Vec<i64>> {
        self.preferences.get(words)
    }

    /// Returns whether any order is known.
    pub(crate) fn has_preferences(&self) -> bool {
        !self.preferences.is_empty()
    }
}
