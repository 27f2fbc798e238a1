//! Writers of the values that the crashing line reads: of a field, a global or
//! an entry of a table that another function sets, grows or fills.
//!
//! Only names that functions share are followed; what is local is followed to
//! the shared names it was made of, within the function (`slice`).

use crate::engine::Engine;
use crate::error::or_nothing;
use crate::slice::{names_read, statements};
use crate::snippet::line;
use crate::symbol::{Symbol, UseKind};
use patchwright_source::Text;
use std::collections::{BTreeMap, BTreeSet};

/// A function that writes what a line reads.
pub(super) struct Writer {
    pub(super) symbol: Symbol,
    /// Where it writes.
    pub(super) lines: Vec<u32>,
    /// Number of functions of the file that write the same.
    pub(super) among: usize,
    /// The name that it writes.
    pub(super) name: String,
}

/// The functions of the same file that write what a line of a function reads.
pub(super) fn writers(engine: &Engine, text: &Text, reader: &Symbol, at: u32) -> Vec<Writer> {
    let mut found: BTreeMap<i64, Writer> = BTreeMap::new();
    for name in names_read(&statements(engine, reader), at) {
        let key = name.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
        let written = match key {
            Some(key) => keyed_lines(text, key),
            None => written_lines(engine, reader, &name),
        };
        let name = key.unwrap_or(&name);
        let mut by_function: BTreeMap<i64, (Symbol, Vec<u32>)> = BTreeMap::new();
        for number in written {
            let around = or_nothing(engine.index.enclosing_function(&reader.path, number));
            let Some(function) = around.filter(|one| one.id != reader.id) else {
                continue;
            };
            let known = by_function.entry(function.id);
            known.or_insert((function, Vec::new())).1.push(number);
        }
        let among = by_function.len();
        for (id, (symbol, lines)) in by_function {
            let one = Writer {
                symbol,
                lines,
                among,
                name: name.to_owned(),
            };
            match found.get_mut(&id) {
                Some(known) if known.among <= one.among => known.lines.extend(one.lines),
                _ => {
                    found.insert(id, one);
                }
            }
        }
    }
    found.into_values().collect()
}

/// The lines of the reader's file that write a name which functions share.
fn written_lines(engine: &Engine, reader: &Symbol, name: &str) -> BTreeSet<u32> {
    or_nothing(engine.index.uses_in(&reader.path, name))
        .into_iter()
        .filter(|(_, kind)| *kind == UseKind::Write)
        .map(|(number, _)| number)
        .collect()
}

/// The lines that name the entry of a table with a key.
fn keyed_lines(text: &Text, key: &str) -> BTreeSet<u32> {
    let quoted = ['"', '\''].map(|quote| format!("[{quote}{key}{quote}]"));
    (1..=text.line_count() as u32)
        .filter(|number| {
            let code = line(text, *number);
            quoted.iter().any(|entry| code.contains(entry))
        })
        .collect()
}
