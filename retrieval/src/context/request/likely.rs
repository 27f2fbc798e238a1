//! What a request may mean without naming it: definitions that speak of the
//! same words, weighed by several signals.

use super::Picks;
use crate::engine::Engine;
use crate::engine::lookup::or_nothing;
use crate::intent::Intent;
use crate::rank::is_aside;
use crate::symbol::{Symbol, SymbolKind};
use crate::words::{meaningful, split_words, stem};
use patchwright_source::TreePath;
use std::collections::BTreeSet;

/// How many candidates are weighed.
const CANDIDATES: usize = 40;
/// Candidates below this share of the best are left.
const CLOSE_TO_BEST: f64 = 0.72;
/// How many are taken when nothing was named.
const TAKEN: usize = 5;
/// How much a candidate counts beside what was named.
const BESIDE_NAMED: f64 = 0.3;
/// How much better a definition in a file that the request names is.
const IN_NAMED_FILE: f64 = 1.5;
/// How much tests count when none are asked for.
const ASIDE: f64 = 0.55;

pub(super) fn add(engine: &Engine, text: &str, intent: Intent, picks: &mut Picks) {
    let stems = meaningful(text);
    let candidates = engine.with_signals(text, ranked(engine, text, &stems, intent));
    let named = picks.heaviest(8);
    let has_names = named.iter().any(|one| one.weight >= 0.5);
    let Some(best) = candidates.first().map(|(score, _)| *score) else {
        return;
    };
    let mut taken = 0;
    for (score, symbol) in &candidates {
        let share = score / best;
        if share < CLOSE_TO_BEST || taken >= TAKEN {
            break;
        }
        let beside = named.iter().any(|one| one.symbol.path == symbol.path);
        let weight = match (has_names, beside) {
            (true, true) => BESIDE_NAMED * share,
            (true, false) => continue,
            (false, _) => 0.95 * share - 0.06 * f64::from(taken as u32),
        };
        taken += 1;
        picks.add(symbol, weight, &[], "speaks of the same words");
    }
}

/// Candidates by the weighted sum of the signals, best first.
fn ranked(engine: &Engine, text: &str, stems: &[String], intent: Intent) -> Vec<(f64, Symbol)> {
    let scored = engine.words().search(stems, CANDIDATES);
    let Some(top) = scored.first().map(|one| one.score) else {
        return Vec::new();
    };
    let files = named_files(engine, text);
    let weights = engine.settings.weights;
    let mut ranked: Vec<(f64, Symbol)> = scored
        .into_iter()
        .filter_map(|one| {
            let symbol = or_nothing(engine.index.symbol(one.id))?;
            let calls = engine.caller_files(&symbol.name, 40);
            let callers = (calls.len() as f64).ln_1p() / 40_f64.ln_1p();
            let from: BTreeSet<&TreePath> = calls.iter().collect();
            let dependents = (from.len() as f64).ln_1p() / 40_f64.ln_1p();
            let mut score = weights.semantic * one.score / top
                + weights.keyword * covered(&symbol.name, stems)
                + weights.in_degree * dependents
                + weights.popularity * callers;
            if files.contains(&symbol.path) {
                score *= IN_NAMED_FILE;
            }
            if is_aside(&symbol.path) && intent != Intent::TestWriting {
                score *= ASIDE;
            }
            if symbol.kind == SymbolKind::Variable {
                score *= 0.8;
            }
            Some((score, symbol))
        })
        .collect();
    ranked.sort_by(|a, b| {
        b.0.total_cmp(&a.0)
            .then_with(|| (&a.1.path, a.1.start_line).cmp(&(&b.1.path, b.1.start_line)))
    });
    ranked
}

/// How much of a name the request's words cover, in whatever order and casing.
fn covered(name: &str, stems: &[String]) -> f64 {
    let words: Vec<String> = split_words(name).iter().map(|word| stem(word)).collect();
    let hits = words.iter().filter(|word| stems.contains(word)).count() as f64;
    let of_name = hits / words.len().max(1) as f64;
    let of_request = hits / stems.len().clamp(1, 4) as f64;
    // One word that happens to be a whole name says little.
    let whole = if hits > 1.0 { of_name } else { 0.6 * of_name };
    (0.6 * whole + 0.4 * of_request).min(1.0)
}

fn named_files(engine: &Engine, text: &str) -> Vec<TreePath> {
    text.split(|c: char| c.is_whitespace() || "\"'`(),;:".contains(c))
        .filter(|token| token.contains('.') && token.len() > 3)
        .filter_map(|token| engine.resolve(token.trim_end_matches('.')).ok())
        .map(|(path, _)| path)
        .collect()
}

/// Nothing was found: the first definitions of the files whose paths say most
/// of the request's words, so that there is at least a place to start from.
pub(super) fn safety_net(engine: &Engine, text: &str, picks: &mut Picks) {
    let stems = meaningful(text);
    let mut files: Vec<(usize, bool, &TreePath)> = engine
        .files()
        .iter()
        .filter(|path| patchwright_source::Language::of_path(path).is_some())
        .map(|path| {
            let words = split_words(path.as_str());
            let hits = words.iter().filter(|word| stems.contains(&stem(word)));
            (hits.count(), is_aside(path), path)
        })
        .collect();
    files.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(b.2)));
    let mut taken = 0;
    for (_, _, path) in files.into_iter().take(3) {
        for symbol in engine.symbols_in(path) {
            let top_level = symbol.parent.is_none();
            if top_level && taken < 5 && (symbol.kind.is_callable() || symbol.kind.is_type()) {
                taken += 1;
                picks.add(&symbol, 0.3, &[], "a place to start from");
            }
        }
    }
}
