//! Names in a request: symbols, misspelt symbols, places in files.

use crate::context::Picks;
use crate::engine::Engine;
use crate::error::Result;
use crate::query::Query;
use crate::rank::{is_aside, is_vendored};
use crate::relations::QualifiedName;
use crate::symbol::{Symbol, SymbolKind, UseKind};
use crate::words::identifiers;

/// Limit on how many near names are taken for one that was not found, and definitions of one name.
const FEW: usize = 2;
/// Limit on how many users of a constant are taken, and what the only one weighs.
const READERS: usize = 4;
/// A constant that more files use says nothing about any of them.
const FILES: u32 = 40;
const READER: f64 = 0.9;

pub(super) fn add(engine: &Engine, text: &str, picks: &mut Picks) -> Result<()> {
    add_places(engine, text, picks)?;
    for name in identifiers(text) {
        let found = definitions(engine, &name)?;
        let Some(first) = found.first() else {
            add_near(engine, &name, picks)?;
            continue;
        };
        let is_overload = |one: &Symbol| {
            one.kind.is_callable() && one.path == first.path && one.scope == first.scope
        };
        let others = found.iter().filter(|one| !is_overload(one)).count();
        let share = 1.0 / ((others + 1) as f64).sqrt();
        for (at, symbol) in found.iter().enumerate() {
            if at < FEW || is_overload(symbol) {
                let weight = share * 0.99_f64.powf(at as f64);
                picks.add(symbol, weight, &[], "named by the request");
            }
            add_readers(engine, (symbol, share), picks)?;
        }
    }
    Ok(())
}

/// Adds the functions that use a constant: it is right or wrong where it is used. Of several each less.
fn add_readers(
    engine: &Engine,
    (constant, share): (&Symbol, f64),
    picks: &mut Picks,
) -> Result<()> {
    let is_constant = matches!(constant.kind, SymbolKind::Macro | SymbolKind::Enumerator);
    if !is_constant || engine.index.using_files(&constant.name)? > FILES {
        return Ok(());
    }
    let uses = engine.index.references(&constant.name)?.into_iter();
    let reads = uses
        .filter(|one| matches!(one.kind, UseKind::Read | UseKind::Call) && !is_aside(&one.path));
    let mut readers = engine.functions_at(reads.map(|one| (one.path, one.line)))?;
    readers.retain(|(reader, _)| reader.id != constant.id);
    let weight = READER * share / (readers.len() as f64).sqrt();
    let why = format!("uses {}", constant.name);
    for (function, lines) in readers.into_iter().take(READERS) {
        picks.add(&function, weight, &lines, &why);
    }
    Ok(())
}

/// The definitions of a name, product code first, members after what they are
/// members of.
fn definitions(engine: &Engine, name: &str) -> Result<Vec<Symbol>> {
    let mut found = engine.named(name)?;
    found.retain(|symbol| !matches!(symbol.kind, SymbolKind::Namespace | SymbolKind::Field));
    let is_product = |symbol: &Symbol| !is_aside(&symbol.path) && !is_vendored(&symbol.path);
    if found.iter().any(is_product) {
        found.retain(is_product);
    }
    let length = |symbol: &Symbol| symbol.end_line - symbol.start_line;
    // Of overloads the longest does the work, the others hand on to it.
    found.sort_by(|a, b| {
        let by_length = length(b).cmp(&length(a));
        let by_scope = (&a.path, &a.scope).cmp(&(&b.path, &b.scope));
        by_scope.then(by_length).then_with(|| a.by_place(b))
    });
    Ok(found)
}

fn add_near(engine: &Engine, name: &str, picks: &mut Picks) -> Result<()> {
    if QualifiedName::read(name).is_some_and(|name| name.is_foreign()) {
        return Ok(());
    }
    let lower = name.to_lowercase();
    for near in engine.index.nearest(name, FEW)? {
        let likeness = strsim::normalized_levenshtein(&lower, &near.to_lowercase());
        if likeness < engine.ranking.request.alike {
            continue;
        }
        for symbol in definitions(engine, &near)?.iter().take(FEW) {
            let why = format!("named like {name}");
            picks.add(symbol, 0.7 * likeness, &[], &why);
        }
    }
    Ok(())
}

/// `src/a.c:12` and Python's `File "a.py", line 12` mean the function there.
fn add_places(engine: &Engine, text: &str, picks: &mut Picks) -> Result<()> {
    let python = text.replace("\", line ", ":").replace("File \"", " ");
    for token in python.split(|c: char| c.is_whitespace() || "\"'`(),;".contains(c)) {
        if let Ok(Query::File { path, lines }) = Query::read("file", token, &[])
            && let Some(line) = lines.first().map(|range| range.first)
            && let Ok((path, _)) = engine.resolve(&path)
            && let Some(symbol) = engine.index.enclosing_function(&path, line)?
        {
            picks.add(&symbol, 1.0, &[line], "at a place that the request names");
        }
    }
    Ok(())
}
