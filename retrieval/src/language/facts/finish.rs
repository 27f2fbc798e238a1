//! The end of a collection: sorted, grouped, in the form that is stored.

use super::collector::{Collector, Site, WrittenCall};
use super::{CallFact, Facts, NameId, encode_site};
use crate::symbol::UseKind;

impl Collector<'_> {
    /// Sorts, groups and writes everything in the form in which it is stored.
    pub(crate) fn finish(mut self) -> Facts {
        self.close(0);
        self.order_symbols();
        let sites = self.sites.iter();
        let (mut calls, mut others): (Vec<Site>, Vec<Site>) =
            sites.partition(|site| site.kind == UseKind::Call);
        let order = |site: &Site| (written(site), site.line);
        calls.sort_unstable_by_key(order);
        calls.dedup_by_key(|site| order(site));
        others.sort_unstable_by_key(|site| (site.name, site.line, site.kind));
        others.dedup_by_key(|site| (site.name, site.line, site.kind));
        Facts {
            names: self.names.iter().map(|name| text_of(name)).collect(),
            symbols: self.symbols,
            calls: group_calls(&calls),
            postings: group_postings(&others),
            inherits: self.inherits,
            imports: self.imports,
            broken: self.broken,
        }
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
        let ordered = order.iter().filter_map(|index| self.symbols.get(*index));
        self.symbols = ordered.copied().collect();
        for symbol in &mut self.symbols {
            symbol.parent = moved(symbol.parent);
        }
        for site in &mut self.sites {
            site.owner = moved(site.owner);
        }
        for inherit in &mut self.inherits {
            inherit.symbol = moved(inherit.symbol + 1).saturating_sub(1);
        }
    }
}

/// The text of a name; a byte that is no UTF-8 is a character of Latin-1.
fn text_of(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(name) => name.to_owned(),
        Err(_) => name.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// All that calls written alike have in common.
fn written(site: &Site) -> (u32, NameId, WrittenCall) {
    (site.owner, site.name, site.call)
}

fn group_calls(calls: &[Site]) -> Vec<CallFact> {
    let groups = calls.chunk_by(|a, b| written(a) == written(b));
    let facts = groups.filter_map(|group| {
        let first = group.first()?;
        Some(CallFact {
            owner: first.owner,
            name: first.name,
            receiver: first.call.0,
            arguments: first.call.1,
            lines: write_numbers(group.iter().map(|site| site.line)),
        })
    });
    facts.collect()
}

fn group_postings(others: &[Site]) -> Vec<(NameId, String)> {
    let groups = others.chunk_by(|a, b| a.name == b.name);
    let postings = groups.filter_map(|group| {
        let sites = group.iter().map(|site| encode_site(site.line, site.kind));
        Some((group.first()?.name, write_numbers(sites)))
    });
    postings.collect()
}

/// Writes numbers as in `12,15,19`.
fn write_numbers(numbers: impl Iterator<Item = u32>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    numbers.join(",")
}
