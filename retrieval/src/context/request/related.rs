//! What belongs to what a request is about: what that calls, what this calls
//! in turn, and what is like it. Of the same file only: beyond that the model
//! asks when it needs more.

use super::Picks;
use crate::context::Wanted;
use crate::engine::Engine;
use crate::engine::lookup::or_nothing;
use crate::snippet::line;
use crate::symbol::Symbol;
use crate::words::{Beginnings, shortened, split_words, stem};
use std::collections::BTreeSet;

/// How much one call away counts, and two.
const CALLED: f64 = 0.22;
const CALLED_BY_CALLED: f64 = 0.14;
/// How much counts what the others of the first call, where its name says what
/// is asked about: `super_len` below what computes a length.
const CALLED_BY_OTHERS: f64 = 0.3;
/// How much a function counts that is like it, at most.
const ALIKE: f64 = 0.2;
/// Below this they have no more in common than others.
const LIKENESS: f64 = 0.45;
/// How many of each are taken.
const FEW: usize = 2;
/// A longer name than this has many words that happen to be said.
const LONGEST_NAME: usize = 3;
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

/// The functions of the same file that a function calls: those that speak of
/// the request first, then the least called, since what everybody calls says
/// little.
fn called_from(engine: &Engine, symbol: &Symbol, stems: &[String]) -> Vec<Symbol> {
    let mut found: Vec<(usize, usize, Symbol)> = Vec::new();
    for (name, _) in engine.calls_from(symbol).into_iter().take(40) {
        let Some(callee) = engine.meant(&name, &symbol.path) else {
            continue;
        };
        let near = callee.path == symbol.path;
        if near && callee.id != symbol.id && callee.kind.is_callable() {
            let silent = stems.len() - spoken_of(engine, &callee, stems);
            found.push((silent, engine.caller_files(&name, 40).len(), callee));
        }
    }
    found.sort_by_key(|one| (one.0, one.1, one.2.start_line));
    found.truncate(FEW);
    found.into_iter().map(|(_, _, callee)| callee).collect()
}

/// Whether a name says what the request is about, in whole or shortened.
fn is_spoken(name: &str, stems: &[String]) -> bool {
    let words: Vec<String> = split_words(name).iter().map(|word| stem(word)).collect();
    let said = |asked: &String| {
        words.contains(asked)
            || shortened(asked).any(|short| words.iter().any(|word| word == short))
    };
    words.len() <= LONGEST_NAME && stems.iter().any(said)
}

/// How many of the stems the head and the first lines of a function say.
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
            said.extend(split_words(&code).iter().map(|word| stem(word)));
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
