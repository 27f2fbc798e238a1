//! Candidates that a request does not name: definitions that speak of the
//! same words, weighed by several signals.

use crate::context::Picks;
use crate::context::request::scoring;
use crate::engine::Engine;
use crate::error::Result;
use crate::intent::Intent;
use crate::ranking::RequestWeights;
use crate::search::{Scored, those_in};
use crate::snippet::line;
use crate::symbol::{Symbol, Weighed};
use crate::words::{may_say, meaningful, stems_of};
use itertools::Itertools;
use patchwright_source::TreePath;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Limit on how many candidates are weighed.
const CANDIDATES: usize = 60;
/// Limit on how many files candidates may bring.
const FILES: usize = 3;
/// Limit on how many candidates are shown.
const CHOSEN: usize = 6;
/// Limit on how many definitions that say some of the words are looked through for
/// further ones of the files that are shown.
const SEARCHED: usize = 2_000;
/// Limit on how many further functions of these files are named by one line each: the
/// file is mostly right before the function is.
const HEADS: usize = 28;
/// A type of fewer lines is shown with what is in it.
const SHOWN_WHOLE: u32 = 8;
/// Limit on how many lines are taken that say most of a request.
const HITS: usize = 3;

/// Adds what is likely meant; gives the further functions of the files that
/// this brings.
pub(super) fn add(
    engine: &Engine,
    text: &str,
    (intent, budget): (Intent, f64),
    picks: &mut Picks,
) -> Result<Vec<Symbol>> {
    let stems = meaningful(text);
    let scored = engine.ranked(text, SEARCHED)?;
    let first = scored.get(..CANDIDATES).unwrap_or(&scored);
    let likely = scoring::shares(engine, text, (&stems, intent), first)?;
    let candidates = engine.with_signals(text, likely)?;
    let files = choose(engine, (&candidates, &stems), budget, picks);
    further(engine, (&candidates, &scored), &files)
}

/// Takes the best candidates, beside what the request names those of the same files; gives the
/// files that they brought. Who asks for so many times the usual budget is given so much more.
fn choose(
    engine: &Engine,
    (candidates, stems): (&[Weighed], &[String]),
    budget: f64,
    picks: &mut Picks,
) -> Vec<TreePath> {
    let weights = &engine.ranking.request;
    let named = picks.heaviest(8);
    let Some(best) = candidates.first().map(|(share, _)| *share) else {
        return Vec::new();
    };
    let (files, counts) = if named.iter().any(|one| one.weight >= 0.5) {
        let paths = named.into_iter().map(|one| one.symbol.path);
        (paths.collect(), weights.beside_named)
    } else {
        (likely_files(weights, candidates), 1.0)
    };
    let mut chosen: Vec<&Symbol> = Vec::new();
    for (share, symbol) in candidates {
        let share = share / best;
        if chosen.len() >= (CHOSEN as f64 * budget) as usize || share < weights.near_best / budget {
            break;
        }
        let is_shown = chosen.iter().any(|other| overlap(other, symbol));
        if is_shown || !files.contains(&symbol.path) {
            continue;
        }
        chosen.push(symbol);
        let lines = ((weights.lines * counts * share * budget) as usize).max(1);
        let hits = telling_lines(engine, symbol, stems, lines);
        let weight = (counts * share).max(weights.least);
        picks.add_brief(symbol, (weight, lines), &hits, "speaks of the same words");
    }
    files
}

/// The files that most likely hold what is meant: the first, and those nearly as likely.
fn likely_files(weights: &RequestWeights, candidates: &[Weighed]) -> Vec<TreePath> {
    let files = scoring::of_files(candidates);
    let first = files.first().map_or(0.0, |(share, _)| *share);
    let near = |(share, _): &(f64, TreePath)| *share >= weights.near_first_file * first;
    let files = files.into_iter().take(FILES).take_while(near);
    files.map(|(_, path)| path).collect()
}

/// The functions of some files that say some of the words, the likest first, each name once.
fn further(
    engine: &Engine,
    (candidates, scored): (&[Weighed], &[Scored]),
    files: &[TreePath],
) -> Result<Vec<Symbol>> {
    let known: Vec<i64> = candidates.iter().map(|(_, symbol)| symbol.id).collect();
    let mut others = those_in(&engine.index, scored, files)?;
    others.retain(|id| !known.contains(id));
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut found = Vec::new();
    for id in known.into_iter().chain(others) {
        if found.len() >= HEADS {
            break;
        }
        let symbol = engine.index.symbol(id)?;
        found.extend(symbol.filter(|symbol| {
            let may_be_named = symbol.kind.is_callable() && files.contains(&symbol.path);
            may_be_named && names.insert(symbol.qualified())
        }));
    }
    Ok(found)
}

/// Returns whether one is a part of the other: it is shown once.
fn overlap(one: &Symbol, other: &Symbol) -> bool {
    let small = |symbol: &Symbol| symbol.end_line - symbol.start_line < SHOWN_WHOLE;
    one.encloses(other) && small(one) || other.encloses(one) && !small(other)
}

/// The lines of a definition that say most of the request, when it is too long
/// to be shown whole.
fn telling_lines(engine: &Engine, symbol: &Symbol, stems: &[String], room: usize) -> Vec<u32> {
    if (symbol.end_line - symbol.start_line) as usize <= room {
        return Vec::new();
    }
    let Ok(text) = engine.text(&symbol.path) else {
        return Vec::new();
    };
    let said = |number: u32| {
        let code = line(&text, number);
        if !may_say(&code, stems) {
            return 0;
        }
        let words = stems_of(&code).into_iter().unique();
        words.filter(|word| stems.contains(word)).count()
    };
    let lines = (symbol.name_line + 1..=symbol.end_line).map(|number| (said(number), number));
    let telling = lines.filter(|(said, _)| *said > 0);
    let telling = telling.sorted_by_key(|(said, number)| (Reverse(*said), *number));
    telling.take(HITS).map(|(_, number)| number).collect()
}
