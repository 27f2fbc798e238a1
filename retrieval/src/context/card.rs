//! Cards: the types, macros and variables that the shown code names, in as
//! few lines as tell what they are.

use super::crash::identifiers_at;
use super::{Card, Wanted, tokens_of};
use crate::engine::Engine;
use crate::engine::lookup::or_nothing;
use crate::snippet::{Snippet, line, place};
use crate::symbol::{Symbol, SymbolKind};
use patchwright_source::Text;
use std::collections::{BTreeMap, BTreeSet};

/// A definition of at most this many lines is shown whole.
const WHOLE: u32 = 14;
/// How many lines of a longer one are shown.
const LINES: usize = 14;
/// The most cards: beyond them the model asks for what it misses.
const MOST: usize = 12;
/// How many different names are looked up.
const NAMES: usize = 150;
/// A field's name defined more often than this names no type for certain.
const FEW_FIELDS: usize = 3;

/// The cards for what the snippets name, the nearest to the crash first.
pub(super) fn cards(
    engine: &Engine,
    snippets: &[Snippet],
    wanted: &[Wanted],
    budget: usize,
) -> Vec<Card> {
    let names = names_in(engine, snippets, wanted);
    let mut found: BTreeMap<i64, (f64, Symbol)> = BTreeMap::new();
    for (name, named) in ranked(&names) {
        let Some(snippet) = snippets.get(named.snippet) else {
            continue;
        };
        for symbol in definitions_of(engine, name, named, snippet) {
            if snippets.iter().any(|shown| shows(shown, &symbol)) {
                continue;
            }
            let weight = named.weight * kind_weight(&symbol);
            let entry = found.entry(symbol.id).or_insert((0.0, symbol));
            entry.0 = entry.0.max(weight);
        }
    }
    let mut found: Vec<(f64, Symbol)> = found.into_values().collect();
    found.sort_by(|a, b| {
        b.0.total_cmp(&a.0)
            .then_with(|| (&a.1.path, a.1.start_line).cmp(&(&b.1.path, b.1.start_line)))
    });
    let mentioned: BTreeSet<&str> = names.keys().map(String::as_str).collect();
    let mut cards = Vec::new();
    let mut used = 0;
    for (_, symbol) in found {
        let Some(card) = card(engine, &symbol, &mentioned) else {
            continue;
        };
        let size = size_of(&card);
        if used + size <= budget && cards.len() < MOST {
            used += size;
            cards.push(card);
        }
    }
    cards
}

/// What a card takes of the budget, in tokens.
pub(super) fn size_of(card: &Card) -> usize {
    tokens_of(&card.text) + tokens_of(&card.name) + tokens_of(&card.place) + 4
}

/// How a name occurs in the snippets.
#[derive(Debug, Clone, Copy)]
struct Named {
    weight: f64,
    /// The snippet that names it first.
    snippet: usize,
    /// Whether it stands behind `.` or `->`.
    member: bool,
}

fn is_member(code: &str, name: &str) -> bool {
    code.contains(&format!("->{name}")) || code.contains(&format!(".{name}"))
}

/// Names by weight: those on the crashing lines count most, then those of the
/// first snippets.
fn names_in(engine: &Engine, snippets: &[Snippet], wanted: &[Wanted]) -> BTreeMap<String, Named> {
    let mut names: BTreeMap<String, Named> = BTreeMap::new();
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
                        snippet: index,
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

fn ranked(names: &BTreeMap<String, Named>) -> Vec<(&str, Named)> {
    let mut ranked: Vec<(&str, Named)> = names
        .iter()
        .map(|(name, weight)| (name.as_str(), *weight))
        .collect();
    ranked.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight).then(a.0.cmp(b.0)));
    ranked.truncate(NAMES);
    ranked
}

/// What a name defines besides functions; for a field the type that has it.
fn definitions_of(engine: &Engine, name: &str, named: Named, snippet: &Snippet) -> Vec<Symbol> {
    let Some(symbol) = engine.meant(name, &snippet.path) else {
        return Vec::new();
    };
    match symbol.kind {
        SymbolKind::Field if !named.member => Vec::new(),
        // A function's own variable may have the name of another file's.
        SymbolKind::Variable if symbol.path != snippet.path => Vec::new(),
        SymbolKind::Field => {
            let same = engine.named(name);
            if same.len() > FEW_FIELDS {
                return Vec::new();
            }
            symbol
                .parent
                .and_then(|id| or_nothing(engine.index.symbol(id)))
                .into_iter()
                .collect()
        }
        SymbolKind::Typedef => {
            let mut both = or_nothing(engine.index.type_pair(&symbol));
            both.retain(|other| other.path != symbol.path || !other.holds(symbol.name_line));
            both.truncate(1);
            both.push(symbol);
            both
        }
        kind if kind.is_callable() => Vec::new(),
        SymbolKind::Prototype | SymbolKind::Namespace => Vec::new(),
        _ => vec![symbol],
    }
}

fn kind_weight(symbol: &Symbol) -> f64 {
    match symbol.kind {
        SymbolKind::Macro | SymbolKind::Struct | SymbolKind::Union => 1.0,
        kind if kind.is_type() => 0.8,
        SymbolKind::Variable => 0.7,
        _ => 0.5,
    }
}

/// Whether a snippet shows the line of a definition that names it.
pub(super) fn shows(snippet: &Snippet, symbol: &Symbol) -> bool {
    snippet.path == symbol.path
        && snippet
            .ranges()
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&symbol.name_line))
}

/// The shortest form of a definition that still tells what it is.
pub(super) fn card(engine: &Engine, symbol: &Symbol, mentioned: &BTreeSet<&str>) -> Option<Card> {
    let text = engine.text(&symbol.path).ok()?;
    Some(Card {
        kind: symbol.kind.to_string(),
        name: symbol.qualified(),
        place: place(&symbol.path, symbol.start_line, symbol.end_line),
        text: brief(&text, symbol, mentioned),
    })
}

fn brief(text: &Text, symbol: &Symbol, mentioned: &BTreeSet<&str>) -> String {
    let whole = symbol.end_line - symbol.start_line < WHOLE;
    let mut lines: Vec<String> = Vec::new();
    let mut gap = false;
    for number in symbol.start_line..=symbol.end_line {
        let code = line(text, number);
        let ends = number <= symbol.name_line || number == symbol.end_line;
        let matters = || {
            identifiers_at(text, &[number])
                .iter()
                .any(|name| mentioned.contains(name.as_str()) && *name != symbol.name)
        };
        if code.trim().is_empty() {
            continue;
        }
        if whole || ends || (lines.len() < LINES && matters()) {
            lines.push(code);
            gap = false;
        } else if !gap {
            lines.push("  ...".to_owned());
            gap = true;
        }
        if number - symbol.start_line > 2_000 {
            break;
        }
    }
    lines.join("\n") + "\n"
}
