//! Writers of the values that the crashing line reads: of a field, a global or
//! an entry of a table that another function sets, grows or fills.
//!
//! Only names that functions share are followed; what is local is followed to
//! the shared names it was made of, within the function. This reads lines, not
//! syntax: it has to be quick, and the same for all languages.

use crate::engine::Engine;
use crate::error::or_nothing;
use crate::snippet::line;
use crate::symbol::{Symbol, UseKind};
use patchwright_source::Text;
use std::collections::{BTreeMap, BTreeSet};

/// Lines that a statement may go on.
pub(super) const STATEMENT: u32 = 4;
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
    for (name, is_key) in read_by(text, reader, at) {
        let written = if is_key {
            keyed_lines(text, &name)
        } else {
            written_lines(engine, reader, &name)
        };
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
                name: name.clone(),
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

/// The names whose values a line depends on, itself or through locals.
pub(super) fn read_names(text: &Text, reader: &Symbol, at: u32) -> Vec<String> {
    let names = read_by(text, reader, at).into_iter();
    names.map(|(name, _)| name).collect()
}

/// The names whose values a line depends on, those on it first, and whether
/// each is the key of a table.
fn read_by(text: &Text, reader: &Symbol, at: u32) -> Vec<(String, bool)> {
    let mut traced: BTreeSet<String> = BTreeSet::new();
    let mut shared: Vec<(String, bool)> = Vec::new();
    let first = reader.start_line;
    let end = statement_end(text, reader, at);
    for number in (first..=end).rev() {
        let code = line(text, number);
        let reads = if number >= at {
            Some(code.as_str())
        } else {
            assigned(&code).and_then(|(target, value)| {
                let mut targets = words(target);
                targets
                    .any(|(word, _)| traced.contains(word))
                    .then_some(value)
            })
        };
        let Some(reads) = reads else { continue };
        for (word, place) in words(reads) {
            let after = reads.get(place + word.len()..).unwrap_or_default();
            if after.trim_start().starts_with('(') {
                continue;
            }
            traced.insert(word.to_owned());
            let before = reads.get(..place).unwrap_or_default();
            let is_key = before.ends_with(['"', '\'']) && after.starts_with(['"', '\'']);
            if !shared
                .iter()
                .any(|known| known.0 == word && known.1 == is_key)
            {
                shared.push((word.to_owned(), is_key));
            }
        }
    }
    shared
}

/// The last line of the statement that a line begins: where its brackets are
/// closed again, or the loop stands that it is the body of in one expression.
fn statement_end(text: &Text, reader: &Symbol, at: u32) -> u32 {
    let mut open = 0_usize;
    for number in at..reader.end_line.min(at + STATEMENT) {
        let code = line(text, number);
        open += code.matches(['(', '[']).count();
        open = open.saturating_sub(code.matches([')', ']']).count());
        if open == 0 && !code.ends_with([',', '(', '+', '?', '=']) {
            let next = line(text, number + 1);
            let is_looped = next.trim_start().starts_with("for ") && !next.ends_with([':', '{']);
            return number + u32::from(is_looped);
        }
    }
    at
}

/// The two sides of an assignment, or of a loop over a value.
fn assigned(code: &str) -> Option<(&str, &str)> {
    let head = code.trim_start();
    if let Some(rest) = head.strip_prefix("for ").or(head.strip_prefix("for(")) {
        let parts = rest.split_once(" in ").or_else(|| rest.split_once(" : "));
        if parts.is_some() {
            return parts;
        }
    }
    let at = code.find('=')?;
    let (before, after) = code.split_at(at);
    let after = after.get(1..)?;
    let compares = after.starts_with('=') || before.ends_with(['!', '<', '>', '=']);
    (!compares).then_some((
        before.trim_end_matches([':', '+', '-', '*', '/', '|', '&']),
        after,
    ))
}

/// The names on a line with their places.
pub(super) fn words(code: &str) -> impl Iterator<Item = (&str, usize)> {
    let start = code.as_ptr() as usize;
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()))
        .map(move |word| (word, word.as_ptr() as usize - start))
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
