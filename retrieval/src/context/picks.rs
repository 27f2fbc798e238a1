//! Choices for a context: each definition once, at its highest weight. The reasons
//! for weights stand elsewhere.

use super::Wanted;
use crate::symbol::Symbol;
use std::collections::BTreeMap;

/// The chosen definitions, by symbol number.
#[derive(Debug, Default)]
pub(super) struct Picks(BTreeMap<i64, Wanted>);

impl Picks {
    /// Returns whether a function of this name with its code is among them.
    pub(super) fn has_body_of(&self, name: &str) -> bool {
        let mut all = self.0.values().map(|one| &one.symbol);
        all.any(|symbol| symbol.name == name && symbol.body_line.is_some())
    }

    /// Returns the weight of a definition, 0 where it was not chosen.
    pub(super) fn weight_of(&self, id: i64) -> f64 {
        self.0.get(&id).map_or(0.0, |one| one.weight)
    }

    /// Has a chosen definition shown whatever else there is.
    pub(super) fn keep(&mut self, id: i64) {
        if let Some(one) = self.0.get_mut(&id) {
            one.kept = true;
        }
    }

    pub(super) fn add(&mut self, symbol: &Symbol, weight: f64, lines: &[u32], why: &str) {
        self.add_brief(symbol, (weight, 0), lines, why);
    }

    /// Adds a definition of which at most so many lines shall be shown.
    pub(super) fn add_brief(
        &mut self,
        symbol: &Symbol,
        (weight, body): (f64, usize),
        lines: &[u32],
        why: &str,
    ) {
        let fresh = || Wanted::new(symbol.clone(), 0.0, why);
        let wanted = self.0.entry(symbol.id).or_insert_with(fresh);
        if weight > wanted.weight {
            wanted.weight = weight;
            wanted.body = body;
            why.clone_into(&mut wanted.why);
        }
        for line in lines {
            if !wanted.lines.contains(line) {
                wanted.lines.push(*line);
            }
        }
    }

    /// So many of them, the heaviest first; of equals in the order of their places.
    pub(super) fn heaviest(&self, count: usize) -> Vec<Wanted> {
        let mut all: Vec<Wanted> = self.0.values().cloned().collect();
        all.sort_by(|a, b| {
            let by_weight = b.weight.total_cmp(&a.weight);
            by_weight.then_with(|| a.symbol.by_place(&b.symbol))
        });
        all.truncate(count);
        all
    }
}
