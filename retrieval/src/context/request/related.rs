//! Relatives of the definitions of a request: what that calls, what this calls
//! in turn, and what is like it. Of the same file as code; of other files, up to
//! two calls away, as a few cards: a file is opened for what is asked about,
//! and beyond that the model asks when it needs more.

use crate::context::picks::Picks;
use crate::context::{Form, Mention, Part, Wanted};
use crate::engine::Engine;
use crate::error::or_nothing;
use crate::rank::is_aside;
use crate::snippet::line;
use crate::symbol::Symbol;
use crate::words::{Beginnings, shortened, stems_of};
use std::collections::BTreeSet;

/// Weight that says how much one call away counts, and two.
const CALLED: f64 = 0.22;
const CALLED_BY_CALLED: f64 = 0.14;
/// Weight that says how much counts what the others of the first call, where its name says what
/// is asked about: `super_len` below what computes a length.
const CALLED_BY_OTHERS: f64 = 0.3;
/// Weight that says how much a function counts that is like it, at most.
const ALIKE: f64 = 0.2;
/// Below this they have no more in common than others.
const LIKENESS: f64 = 0.45;
/// Limit on how many of each are taken.
const FEW: usize = 2;
/// A longer name than this has many words that happen to be said.
const LONGEST_NAME: usize = 3;
/// Limit on how many functions of other files are mentioned: called at once, by each of
/// those that are, and by them in all.
const ELSEWHERE: usize = 2;
const BY_EACH: usize = 1;
const BY_THOSE: usize = 2;
/// A function with more callers than this is a common one.
const EVERYBODYS: usize = 24;
/// Limit on how many functions may have a name that is to mean one in another file.
const FEW_NAMESAKES: usize = 3;
/// Limit on how many calls of a function are looked up.
const CALLS: usize = 40;
/// Lines of each that are read.
const LOOKED_AT: u32 = 40;
/// Lines of each that are shown.
const LINES: usize = 8;

/// Adds what belongs to the first of what was chosen.
pub(super) fn add(engine: &Engine, primary: &[Wanted], stems: &[String], picks: &mut Picks) {
    let Some(first) = primary.first().filter(|one| one.symbol.kind.is_callable()) else {
        return;
    };
    for other in primary.iter().skip(1) {
        add_spoken(engine, &other.symbol, stems, picks);
    }
    let why = format!("called by {}", first.symbol.name);
    let called = called_from(engine, &first.symbol, stems);
    for callee in &called {
        picks.add_brief(callee, (CALLED, LINES), &[], &why);
    }
    for callee in &called {
        let why = format!("called by {}", callee.name);
        for next in called_from(engine, callee, stems).iter().take(1) {
            picks.add_brief(next, (CALLED_BY_CALLED, LINES), &[], &why);
        }
    }
    let why = format!("like {}", first.symbol.name);
    for similar in or_nothing(engine.index.similar(&first.symbol, FEW)) {
        if similar.likeness >= LIKENESS && similar.symbol.path == first.symbol.path {
            picks.add_brief(
                &similar.symbol,
                (ALIKE * similar.likeness, LINES),
                &[],
                &why,
            );
        }
    }
}

/// Adds what a function calls first of all when its name is spoken of.
fn add_spoken(engine: &Engine, caller: &Symbol, stems: &[String], picks: &mut Picks) {
    let called = called_from(engine, caller, stems);
    if let Some(callee) = called.iter().find(|one| is_spoken(&one.name, stems)) {
        let why = format!("called by {}", caller.name);
        picks.add_brief(callee, (CALLED_BY_OTHERS, LINES), &[], &why);
    }
}

/// Returns what the first of what was chosen needs of other files: what it calls there,
/// and what this calls in turn, wherever that is.
pub(super) fn elsewhere(engine: &Engine, primary: &[Wanted], stems: &[String]) -> Vec<Mention> {
    let Some(first) = primary.first().filter(|one| one.symbol.kind.is_callable()) else {
        return Vec::new();
    };
    let own = &first.symbol;
    let mut mentions: Vec<Mention> = Vec::new();
    let called = called_elsewhere(engine, own, stems, ELSEWHERE);
    for callee in called_from(engine, own, stems).iter().chain(&called) {
        for next in called_elsewhere(engine, callee, stems, BY_EACH) {
            if next.id != own.id {
                mentions.push(mention(next, &callee.name));
            }
        }
    }
    mentions.truncate(BY_THOSE);
    let called = called.into_iter().map(|callee| mention(callee, &own.name));
    called.chain(mentions).collect()
}

fn mention(symbol: Symbol, caller: &str) -> Mention {
    Mention {
        symbol,
        part: Part::Imports,
        fullest: Form::Compact,
        why: format!("called by {caller}"),
    }
}

/// The functions of the same file that a function calls: those that speak of
/// the request first, then the least called, since what everybody calls says
/// little.
fn called_from(engine: &Engine, symbol: &Symbol, stems: &[String]) -> Vec<Symbol> {
    let near = callees(engine, symbol).into_iter();
    let near = near.filter(|callee| callee.path == symbol.path);
    best(engine, near.collect(), stems, FEW)
}

/// The same for functions of other files that are meant for certain.
fn called_elsewhere(
    engine: &Engine,
    symbol: &Symbol,
    stems: &[String],
    most: usize,
) -> Vec<Symbol> {
    let is_certain = |callee: &Symbol| {
        engine.has_few_namesakes(&callee.name, FEW_NAMESAKES)
            && engine.caller_files(&callee.name, EVERYBODYS).len() < EVERYBODYS
    };
    let far = callees(engine, symbol).into_iter();
    let far = far
        .filter(|callee| callee.path != symbol.path && !is_aside(&callee.path))
        .filter(is_certain);
    best(engine, far.collect(), stems, most)
}

/// The functions that a function calls.
fn callees(engine: &Engine, symbol: &Symbol) -> Vec<Symbol> {
    let calls = engine.calls_from(symbol).into_iter().take(CALLS);
    calls
        .filter_map(|(name, _)| engine.meant(&name, &symbol.path))
        .filter(|callee| callee.id != symbol.id && callee.kind.is_callable())
        .collect()
}

fn best(engine: &Engine, found: Vec<Symbol>, stems: &[String], most: usize) -> Vec<Symbol> {
    let mut ranked: Vec<(usize, usize, Symbol)> = found
        .into_iter()
        .map(|callee| {
            let silent = stems.len() - spoken_of(engine, &callee, stems);
            let callers = engine.caller_files(&callee.name, CALLS).len();
            (silent, callers, callee)
        })
        .collect();
    ranked.sort_by_key(|one| (one.0, one.1, one.2.start_line));
    ranked.truncate(most);
    ranked.into_iter().map(|(_, _, callee)| callee).collect()
}

/// Returns whether a name says what the request is about, in whole or shortened.
fn is_spoken(name: &str, stems: &[String]) -> bool {
    let words = stems_of(name);
    let said = |asked: &String| {
        words.contains(asked)
            || shortened(asked).any(|short| words.iter().any(|word| word == short))
    };
    words.len() <= LONGEST_NAME && stems.iter().any(said)
}

/// Returns how many of the stems the head and the first lines of a function say.
fn spoken_of(engine: &Engine, symbol: &Symbol, stems: &[String]) -> usize {
    let Ok(text) = engine.text(&symbol.path) else {
        return 0;
    };
    let last = symbol.end_line.min(symbol.start_line + LOOKED_AT);
    let mut said: BTreeSet<String> = BTreeSet::new();
    let beginnings = Beginnings::of(stems);
    for number in symbol.start_line..=last {
        let code = line(&text, number);
        if beginnings.may_be_in(&code) {
            said.extend(stems_of(&code));
        }
    }
    let begins = |stem: &String| {
        said.iter()
            .any(|word| word.len() > 2 && word.starts_with(stem.as_str()))
    };
    stems
        .iter()
        .filter(|stem| said.contains(*stem) || begins(stem))
        .count()
}
