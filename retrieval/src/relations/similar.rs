//! Functions that do alike: that call the same things, are called by the same
//! functions, and have words of their names in common.

use crate::error::Result;
use crate::index::{Index, Reader};
use crate::relations::nearest::words;
use crate::relations::{symbol_by_id, symbols};
use crate::symbol::Symbol;
use std::collections::{BTreeMap, BTreeSet};

/// A name that more functions than this call says little about any of them.
const COMMON: usize = 300;

/// Weight that says how much the words of the names count against the calls.
const WORDS_WEIGHT: f64 = 0.3;

/// A function like another.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    pub symbol: Symbol,
    /// From 0 to 1.
    pub likeness: f64,
    /// Functions that both call, sorted.
    pub shared: Vec<String>,
}

impl Index {
    /// The functions most like one, the likest first.
    pub fn similar(&self, symbol: &Symbol, limit: usize) -> Result<Vec<Similar>> {
        self.read(|reader| similar(reader, symbol, limit))
    }
}

fn similar(reader: &Reader<'_>, symbol: &Symbol, limit: usize) -> Result<Vec<Similar>> {
    let own = called_by(reader, symbol.id)?;
    // The names that both call, and their weight.
    let mut candidates: BTreeMap<i64, (Vec<String>, f64)> = BTreeMap::new();
    let mut own_weight = 0.0;
    for (id, name) in &own {
        let callers = callers(reader, *id)?;
        let weight = 1.0 / (1.0 + callers.len() as f64).ln().max(0.5);
        own_weight += weight;
        if callers.len() > COMMON {
            continue;
        }
        for caller in callers.into_iter().filter(|id| *id != symbol.id) {
            let (shared, shared_weight) = candidates.entry(caller).or_default();
            shared.push(name.clone());
            *shared_weight += weight;
        }
    }
    for namesake in namesakes(reader, symbol)? {
        candidates.entry(namesake).or_default();
    }
    let own_words = words(&symbol.name);
    let mut found = Vec::new();
    for (id, (mut shared, shared_weight)) in candidates {
        let Some(other) = symbol_by_id(reader, id)?.filter(|other| other.kind.is_callable()) else {
            continue;
        };
        let theirs = called_by(reader, id)?.len();
        let calls = if own.is_empty() {
            0.0
        } else {
            let balance = own.len().min(theirs) as f64 / own.len().max(theirs).max(1) as f64;
            shared_weight / own_weight * (0.5 + 0.5 * balance)
        };
        shared.sort();
        found.push(Similar {
            likeness: (1.0 - WORDS_WEIGHT) * calls
                + WORDS_WEIGHT * overlap(&own_words, &words(&other.name)),
            symbol: other,
            shared,
        });
    }
    found.sort_by(|a, b| {
        let likest = b.likeness.total_cmp(&a.likeness);
        likest.then_with(|| a.symbol.by_place(&b.symbol))
    });
    found.truncate(limit);
    Ok(found)
}

/// Functions of the same file that are candidates by their names alone.
fn namesakes(reader: &Reader<'_>, symbol: &Symbol) -> Result<Vec<i64>> {
    let Some(file) = reader.files.by_path(&symbol.path) else {
        return Ok(Vec::new());
    };
    let own = words(&symbol.name);
    let condition = "s.id BETWEEN ?1 AND ?2 AND s.body_line > 0 AND s.id <> ?3";
    let params = [file.first_symbol, file.last_symbol, symbol.id];
    let mut found = symbols(reader, condition, params)?;
    found.retain(|other| other.kind.is_callable() && overlap(&own, &words(&other.name)) > 0.3);
    Ok(found.into_iter().map(|other| other.id).collect())
}

fn overlap(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let all = a.union(b).count();
    if all == 0 {
        return 0.0;
    }
    a.intersection(b).count() as f64 / all as f64
}

fn called_by(reader: &Reader<'_>, caller: i64) -> Result<Vec<(i64, String)>> {
    let sql = "SELECT DISTINCT n.id, n.name FROM call c JOIN name n ON n.id = c.name_id
         WHERE c.caller_id = ?1";
    reader.rows(sql, [caller])
}

fn callers(reader: &Reader<'_>, name: i64) -> Result<Vec<i64>> {
    let sql = "SELECT DISTINCT caller_id FROM call WHERE name_id = ?1 ORDER BY caller_id";
    reader.values(sql, [name])
}
