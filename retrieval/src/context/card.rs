//! Cards: the types, macros and variables that the shown code names. What a card says stands in
//! `form`.

use crate::context::crash::identifiers_at;
use crate::context::form::{fitting, size_of};
use crate::context::{Card, Form, Heads, Wanted};
use crate::engine::Engine;
use crate::error::Result;
use crate::snippet::{Lines, Snippet, line};
use crate::symbol::{Symbol, SymbolKind, Weighed, sort_scored};
use itertools::Itertools;
use patchwright_source::TreePath;
use std::collections::{BTreeMap, BTreeSet};

/// The most cards: beyond them the model asks for what it misses.
const MOST: usize = 8;
/// Limit on how many different names are looked up.
const NAMES: usize = 150;
/// Weight of what a macro's value names, beside the macro's.
const NESTED: f64 = 0.9;
/// Limit on how many of them are looked up.
const VALUES: usize = 4;
/// A field's name defined more often than this names no type for certain.
const FEW_FIELDS: usize = 3;

/// A definition with its card.
pub(super) type Carded = (Symbol, Card);

/// The cards for what the snippets name, the nearest to the crash first.
pub(super) fn named(
    engine: &Engine,
    snippets: &[Snippet],
    wanted: &[Wanted],
    budget: usize,
) -> Result<Vec<Carded>> {
    let names = names_in(engine, snippets, wanted);
    let mut found: BTreeMap<i64, Weighed> = BTreeMap::new();
    for (name, named) in ranked(&names) {
        for symbol in definitions_of(engine, name, named)? {
            // The first name is the weightiest.
            if !is_shown(snippets, &symbol) {
                let entry = found.entry(symbol.id);
                entry.or_insert((named.weight, symbol));
            }
        }
    }
    let mut found: Vec<Weighed> = found.into_values().collect();
    sort_scored(&mut found);
    let first = found.iter().take(MOST);
    let values: Vec<Vec<Weighed>> = first
        .map(|(weight, symbol)| values_of(engine, symbol, *weight))
        .collect::<Result<_>>()?;
    let values = values.into_iter().flatten();
    found.extend(values.filter(|(_, symbol)| !is_shown(snippets, symbol)));
    sort_scored(&mut found);
    let names: BTreeSet<&str> = names.keys().map(String::as_str).collect();
    let mut cards = Vec::new();
    let mut used = 0;
    for (weight, symbol) in found {
        if cards.len() >= MOST {
            break;
        }
        if cards.iter().any(|(other, _)| says_the_same(other, &symbol)) {
            continue;
        }
        let form = (fullest(engine, weight), budget - used);
        if let Some(card) = fitting(engine, &symbol, &names, form)? {
            used += size_of(&card);
            cards.push((symbol, card));
        }
    }
    Ok(cards)
}

/// Returns the macros of one line that the value of such a macro names: without them it says no
/// number.
fn values_of(engine: &Engine, symbol: &Symbol, weight: f64) -> Result<Vec<Weighed>> {
    let is_value = |one: &Symbol| one.kind == SymbolKind::Macro && one.start_line == one.end_line;
    let text = engine.text(&symbol.path).ok().filter(|_| is_value(symbol));
    let Some(text) = text else {
        return Ok(Vec::new());
    };
    let names = identifiers_at(&text, &[symbol.start_line]).into_iter();
    let mut values = Vec::new();
    for name in names.filter(|name| *name != symbol.name).take(VALUES) {
        let value = engine.meant(&name, &symbol.path)?;
        values.extend(value.filter(is_value).map(|one| (weight * NESTED, one)));
    }
    Ok(values)
}

/// Returns whether one definition is the other said again: a struct and the typedef
/// around it, a declaration repeated in another header.
fn says_the_same(one: &Symbol, other: &Symbol) -> bool {
    let same_lines = one.encloses(other) || other.encloses(one);
    let same_name = one.kind == other.kind && one.qualified() == other.qualified();
    same_lines && one.kind.is_type() && other.kind.is_type() && one.name == other.name || same_name
}

/// The fullest form that a definition is worth.
fn fullest(engine: &Engine, weight: f64) -> Form {
    let packing = engine.ranking.packing;
    match weight {
        weight if weight >= packing.matters => Form::Full,
        weight if weight >= packing.likely => Form::Standard,
        _ => Form::Compact,
    }
}

/// The cards of what no snippet shows.
pub(super) fn unshown(cards: Vec<Carded>, snippets: &[Snippet]) -> Vec<Card> {
    let cards = cards.into_iter();
    cards
        .filter(|(symbol, _)| !is_shown(snippets, symbol))
        .map(|(_, card)| card)
        .collect()
}

/// Describes how a name occurs in the snippets.
#[derive(Debug, Clone, Copy)]
struct Named<'s> {
    weight: f64,
    /// The file that names it first.
    path: &'s TreePath,
    /// True when it stands behind `.` or `->`.
    member: bool,
}

fn is_member(code: &str, name: &str) -> bool {
    code.contains(&format!("->{name}")) || code.contains(&format!(".{name}"))
}

/// Names by weight: those on the crashing lines count most, then those of the
/// first snippets.
fn names_in<'s>(
    engine: &Engine,
    snippets: &'s [Snippet],
    wanted: &[Wanted],
) -> BTreeMap<String, Named<'s>> {
    let mut names: BTreeMap<String, Named<'s>> = BTreeMap::new();
    for (index, snippet) in snippets.iter().enumerate() {
        let Ok(text) = engine.text(&snippet.path) else {
            continue;
        };
        let hot: Vec<u32> = wanted
            .iter()
            .filter(|one| one.symbol.path == snippet.path)
            .flat_map(|one| one.lines.iter().copied())
            .collect();
        let base = 1.0 / (1.0 + index as f64);
        for (first, last) in snippet.ranges() {
            for number in first..=last {
                let distance = hot.iter().map(|hot| hot.abs_diff(number)).min();
                let near = match distance {
                    Some(0) => 4.0,
                    Some(1..=6) => 2.0,
                    _ => 1.0,
                };
                let code = line(&text, number);
                for name in identifiers_at(&text, &[number]) {
                    let member = is_member(&code, &name);
                    let entry = names.entry(name).or_insert(Named {
                        weight: 0.0,
                        path: &snippet.path,
                        member,
                    });
                    entry.weight = entry.weight.max(base * near);
                    entry.member |= member;
                }
            }
        }
    }
    names
}

fn ranked<'s>(names: &'s BTreeMap<String, Named<'s>>) -> Vec<(&'s str, Named<'s>)> {
    let ranked = names.iter().map(|(name, named)| (name.as_str(), *named));
    let ranked = ranked.sorted_by(|a, b| b.1.weight.total_cmp(&a.1.weight).then(a.0.cmp(b.0)));
    ranked.take(NAMES).collect()
}

/// Returns what a name defines besides functions; for a field the type that has it.
fn definitions_of(engine: &Engine, name: &str, named: Named<'_>) -> Result<Vec<Symbol>> {
    let Some(symbol) = engine.meant(name, named.path)? else {
        return Ok(Vec::new());
    };
    Ok(match symbol.kind {
        SymbolKind::Field if !named.member => Vec::new(),
        // A function's own variable may have the name of another file's.
        SymbolKind::Variable if symbol.path != *named.path => Vec::new(),
        SymbolKind::Field if engine.named(name)?.len() > FEW_FIELDS => Vec::new(),
        SymbolKind::Field => engine.parent_of(&symbol)?.into_iter().collect(),
        SymbolKind::Typedef => {
            let mut both = engine.index.type_pair(&symbol)?;
            both.retain(|other| other.path != symbol.path || !other.holds(symbol.name_line));
            both.truncate(1);
            both.push(symbol);
            both
        }
        kind if kind.is_callable() => Vec::new(),
        SymbolKind::Prototype | SymbolKind::Namespace => Vec::new(),
        _ => vec![symbol],
    })
}

/// Returns whether the name of a definition is on a line that is shown.
fn is_shown(snippets: &[Snippet], symbol: &Symbol) -> bool {
    let mut of_file = snippets.iter().filter(|one| one.path == symbol.path);
    of_file.any(|one| one.has_line(symbol.name_line))
}

/// Why they are shown, for the reader.
const WHY: &str = "further functions, by their first lines";

/// One snippet for each file that has further functions.
pub(super) fn further_heads(engine: &Engine, heads: &Heads, shown: &[Snippet]) -> Vec<Snippet> {
    let is_beside = |one: &&Symbol| shown.iter().any(|snippet| snippet.path == one.path);
    let beside = heads.functions.iter().filter(is_beside);
    let named = heads.anywhere.iter().chain(beside);
    let named = named.unique_by(|symbol| symbol.id);
    let named = named.filter(|symbol| !is_shown(shown, symbol));
    let named: Vec<&Symbol> = named.take(heads.most).collect();
    let of_file = |path: &TreePath| {
        let new = || named.iter().filter(|symbol| symbol.path == *path);
        let text = engine.text(path).ok()?;
        let lines = new().map(|symbol| (symbol.name_line, symbol.name_line));
        let lines: Vec<Lines> = lines.collect();
        let snippet = Snippet::cut(path, &text, &lines, true)?;
        let names = new().map(|symbol| symbol.qualified());
        Some(snippet.with_symbols(names).with_note(WHY))
    };
    let files = shown.iter().map(|snippet| &snippet.path);
    let files = files.chain(named.iter().map(|symbol| &symbol.path));
    files.unique().filter_map(of_file).collect()
}
