//! The end of a collection: sorted, grouped, in the form that is stored.

use super::collector::{Collector, Site};
use super::{CallFact, Facts, SymbolFact, encode_site};
use crate::symbol::UseKind;
use std::fmt::Write as _;
use std::ops::Range;

impl Collector<'_> {
    /// Sorts, groups and writes everything in the form in which it is stored.
    pub(crate) fn finish(mut self) -> Facts {
        self.close_all();
        self.order_symbols();
        let mut facts = Facts {
            symbols: std::mem::take(&mut self.symbols),
            inherits: std::mem::take(&mut self.inherits),
            imports: std::mem::take(&mut self.imports),
            ..Facts::default()
        };
        let (mut calls, mut others): (Vec<Site>, Vec<Site>) = self
            .sites
            .iter()
            .partition(|site| site.kind == UseKind::Call);
        let order = |site: &Site| {
            (
                site.owner,
                site.name,
                site.receiver,
                site.arguments,
                site.line,
            )
        };
        calls.sort_unstable_by_key(order);
        calls.dedup_by_key(|site| order(site));
        others.sort_unstable_by_key(|site| (site.name, site.line, site.kind));
        others.dedup_by_key(|site| (site.name, site.line, site.kind));
        group_calls(&calls, &mut facts);
        group_postings(&others, &mut facts);
        for name in &self.names {
            match std::str::from_utf8(name) {
                Ok(name) => facts.names.push_str(name),
                Err(_) => facts
                    .names
                    .extend(name.iter().map(|byte| char::from(*byte))),
            }
            facts.name_ends.push(facts.names.len());
        }
        facts
    }

    /// Puts symbols in the order of their lines, which walks over sound files
    /// do by themselves.
    fn order_symbols(&mut self) {
        if self.symbols.is_sorted_by_key(|symbol| symbol.line) {
            return;
        }
        let mut order: Vec<usize> = (0..self.symbols.len()).collect();
        order.sort_by_key(|index| self.symbols.get(*index).map(|symbol| symbol.line));
        let mut new_place = vec![0_u32; order.len() + 1];
        for (new, old) in order.iter().enumerate() {
            if let Some(slot) = new_place.get_mut(old + 1) {
                *slot = u32::try_from(new + 1).unwrap_or_default();
            }
        }
        let moved = |old: u32| new_place.get(old as usize).copied().unwrap_or_default();
        self.symbols = order
            .iter()
            .filter_map(|index| self.symbols.get(*index).copied())
            .map(|symbol| SymbolFact {
                parent: moved(symbol.parent),
                ..symbol
            })
            .collect();
        for site in &mut self.sites {
            site.owner = moved(site.owner);
        }
        for inherit in &mut self.inherits {
            inherit.symbol = moved(inherit.symbol + 1).saturating_sub(1);
        }
    }
}

fn group_calls(calls: &[Site], facts: &mut Facts) {
    let written = |site: &Site| (site.owner, site.name, site.receiver, site.arguments);
    for group in calls.chunk_by(|a, b| written(a) == written(b)) {
        let lines = write_numbers(facts, group.iter().map(|site| u64::from(site.line)));
        if let Some(first) = group.first() {
            facts.calls.push(CallFact {
                owner: first.owner,
                name: first.name,
                receiver: first.receiver,
                arguments: first.arguments,
                lines,
            });
        }
    }
}

fn group_postings(others: &[Site], facts: &mut Facts) {
    for group in others.chunk_by(|a, b| a.name == b.name) {
        let sites = group.iter().map(|site| encode_site(site.line, site.kind));
        let sites = write_numbers(facts, sites);
        if let Some(first) = group.first() {
            facts.postings.push((first.name, sites));
        }
    }
}

/// Adds numbers to the text of the facts, as in `12,15,19`; gives where they stand.
fn write_numbers(facts: &mut Facts, numbers: impl Iterator<Item = u64>) -> Range<usize> {
    let start = facts.text.len();
    for (at, number) in numbers.enumerate() {
        let comma = if at == 0 { "" } else { "," };
        // Writing to a string cannot go wrong.
        let _ = write!(facts.text, "{comma}{number}");
    }
    start..facts.text.len()
}
