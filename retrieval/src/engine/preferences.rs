//! Preferences: the orders in which embeddings and a re-ranker put the definitions
//! that some words may mean. They change the order of answers and nothing else.

use super::{Engine, locked};
use crate::error::Result;
use crate::symbol::Weighed;
use itertools::Itertools;
use std::collections::HashMap;
use std::sync::Mutex;

/// Limit on how many requests are remembered.
const REMEMBERED: usize = 256;
/// The orders that an engine was told, by the words that they are for.
pub(super) type Preferences = Mutex<HashMap<String, Vec<i64>>>;

impl Engine {
    /// Remembers in which order the definitions answer some words.
    pub fn prefer(&self, words: &str, order: Vec<i64>) {
        let mut told = locked(&self.preferences);
        if told.len() >= REMEMBERED {
            told.clear();
        }
        told.insert(words.trim().to_owned(), order);
    }

    /// Returns whether an order for these words is known.
    pub fn prefers(&self, words: &str) -> bool {
        self.preferred(words).is_some()
    }

    /// A ranking with what signals say of the same words: the order changes, the
    /// scores by rank stay.
    pub(crate) fn with_signals(&self, words: &str, ranked: Vec<Weighed>) -> Result<Vec<Weighed>> {
        let Some(mut order) = self.preferred(words) else {
            return Ok(ranked);
        };
        order.extend(ranked.iter().map(|(_, symbol)| symbol.id));
        let scores: Vec<f64> = ranked.iter().map(|(score, _)| *score).collect();
        let least = scores.last().copied().unwrap_or(1.0);
        let order = order.into_iter().unique();
        let scores = scores.into_iter().chain(std::iter::repeat(least));
        Ok(scores.zip(self.symbols(order)?).collect())
    }

    /// The order that is known for some words; nothing when none is.
    pub(crate) fn preferred(&self, words: &str) -> Option<Vec<i64>> {
        locked(&self.preferences).get(words.trim()).cloned()
    }

    /// Returns whether any order is known.
    pub(crate) fn has_preferences(&self) -> bool {
        !locked(&self.preferences).is_empty()
    }
}
