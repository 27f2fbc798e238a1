//! Names in a request: symbols, misspelt symbols, places in files.

use crate::context::picks::Picks;
use crate::engine::Engine;
use crate::error::Result;
use crate::query::Query;
use crate::rank::{is_aside, is_vendored};
use crate::symbol::{Symbol, SymbolKind};
use crate::words::identifiers;

/// Limit on how many near names are taken for one that was not found, and definitions of one name.
const FEW: usize = 2;

pub(super) fn add(engine: &Engine, text: &str, picks: &mut Picks) -> Result<()> {
    add_places(engine, text, picks)?;
    for name in identifiers(text) {
        let found = definitions(engine, &name)?;
        if found.is_empty() {
            add_near(engine, &name, picks)?;
        }
        let share = 1.0 / (found.len().max(1) as f64).sqrt();
        for symbol in found.iter().take(FEW) {
            picks.add(symbol, share, &[], "named by the request");
        }
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
    found.sort_by(Symbol::by_place);
    Ok(found)
}

fn add_near(engine: &Engine, name: &str, picks: &mut Picks) -> Result<()> {
    let lower = name.to_lowercase();
    for near in engine.index.nearest(name, FEW)? {
        let likeness = strsim::normalized_levenshtein(&lower, &near.name.to_lowercase());
        if likeness < engine.ranking.request.alike {
            continue;
        }
        for symbol in definitions(engine, &near.name)?.iter().take(FEW) {
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
