//! What a request may mean without naming it: definitions that speak of the
//! same words, weighed by several signals.

use super::{Picks, asked_for};
use crate::engine::Engine;
use crate::engine::lookup::or_nothing;
use crate::intent::Intent;
use crate::rank::is_aside;
use crate::search::Scored;
use crate::snippet::line;
use crate::symbol::{Symbol, SymbolKind};
use crate::words::{Beginnings, meaningful, split_words, stem};
use patchwright_source::TreePath;
use std::collections::{BTreeMap, BTreeSet};

/// How many candidates are weighed.
const CANDIDATES: usize = 60;
/// Candidates below this share of the best are left.
const CLOSE_TO_BEST: f64 = 0.5;
/// Below this share only heads are shown, and only of files that are shown
/// anyway: the file is mostly right before the function is.
const WORTH_READING: f64 = 0.6;
/// From this share on a candidate may bring a file of its own.
const WITH_ITS_FILE: f64 = 0.73;
/// How many files candidates may bring.
const FILES: usize = 3;
/// Lines that are shown of the candidates in their order: what is likeliest is
/// worth reading, of the others the beginning and what made them candidates.
const LINES: [usize; 6] = [45, 24, 12, 10, 10, 6];
/// Lines of one that is less likely.
const HEAD: usize = 3;
/// How many definitions that say some of the words are looked through for
/// further ones of the files that are shown.
const SEARCHED: usize = 2_000;
/// How many further functions of these files are named by one line each: the
/// file is mostly right before the function is.
const HEADS: usize = 32;
/// How many definitions of one name are taken: overloads, variants.
const SAME_NAME: usize = 2;
/// How much the next candidate counts against the one before.
const PER_RANK: f64 = 0.06;
/// How many candidates are shown beside what was named.
const BESIDE: usize = 14;
/// Lines that are shown of a candidate beside what was named.
const BESIDE_LINES: usize = 12;
/// How much a candidate counts beside what was named.
const BESIDE_NAMED: f64 = 0.3;
/// How much better a definition in a file that the request names is.
const IN_NAMED_FILE: f64 = 1.5;
/// How many of the best candidates make likelier what they call, and by how
/// much of their own score.
const CALLERS: usize = 3;
const CALLED_BY_LIKELY: f64 = 0.1;
/// How much the words of names count against what the settings give them.
const NAMES: f64 = 2.0;
/// How much better a definition of a page is than one of a line: what is asked
/// about is where something is done.
const DOES_MORE: f64 = 0.1;
/// The logarithm of the lines of a long definition.
const LONG: f64 = 5.0;
/// How much it counts that other candidates are in the same file.
const SAME_FILE: f64 = 0.1;
/// How much types count: what is asked about is mostly what they do, and their
/// members are candidates themselves.
const TYPES: f64 = 0.75;
/// How much tests count when none are asked for.
const ASIDE: f64 = 0.55;
/// A type of fewer lines is shown with what is in it.
const SHOWN_WHOLE: u32 = 8;
/// Lines of a body in which those are looked for that say most of a request.
const LOOKED_AT: u32 = 200;
/// How many such lines are taken.
const HITS: usize = 3;

/// Adds what is likely meant; gives the further functions of the files that
/// this brings.
pub(super) fn add(engine: &Engine, text: &str, intent: Intent, picks: &mut Picks) -> Vec<Symbol> {
    let stems = asked_for(text, intent);
    let scored = engine.search_words(&stems, SEARCHED);
    let first = scored.get(..CANDIDATES).unwrap_or(&scored);
    let ranked = ranked(engine, text, (&stems, intent), first);
    let candidates = engine.with_signals(text, ranked);
    let files = choose(engine, (&candidates, &stems), picks);
    further(engine, (&candidates, &scored), &files)
}

/// Takes the best candidates; gives the files that they brought.
fn choose(
    engine: &Engine,
    (candidates, stems): (&[(f64, Symbol)], &[String]),
    picks: &mut Picks,
) -> Vec<TreePath> {
    let named = picks.heaviest(8);
    let has_names = named.iter().any(|one| one.weight >= 0.5);
    let most = if has_names { BESIDE } else { LINES.len() };
    let mut files: Vec<TreePath> = Vec::new();
    let Some(best) = candidates.first().map(|(score, _)| *score) else {
        return files;
    };
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut chosen: Vec<&Symbol> = Vec::new();
    let mut taken = 0;
    for (score, symbol) in candidates {
        let share = score / best;
        if taken >= most || share < CLOSE_TO_BEST {
            break;
        }
        if share < WORTH_READING && !files.contains(&symbol.path) {
            continue;
        }
        if chosen.iter().any(|other| overlap(other, symbol)) {
            continue;
        }
        let same = names.entry(symbol.qualified()).or_default();
        if *same >= SAME_NAME {
            continue;
        }
        let weight = if has_names {
            if !named.iter().any(|one| one.symbol.path == symbol.path) {
                continue;
            }
            BESIDE_NAMED * share
        } else {
            let brings = files.is_empty() || share >= WITH_ITS_FILE && files.len() < FILES;
            if !files.contains(&symbol.path) {
                if !brings {
                    continue;
                }
                files.push(symbol.path.clone());
            }
            0.95 * share * (1.0 - PER_RANK * taken as f64)
        };
        let lines = match LINES.get(taken) {
            _ if has_names => BESIDE_LINES,
            Some(lines) if share >= WORTH_READING => *lines,
            _ => HEAD,
        };
        taken += 1;
        *same += 1;
        chosen.push(symbol);
        let hits = telling_lines(engine, symbol, stems, lines);
        picks.add_brief(symbol, (weight, lines), &hits, "speaks of the same words");
    }
    files
}

/// The functions of some files that say some of the words, the likest first.
fn further(
    engine: &Engine,
    (candidates, scored): (&[(f64, Symbol)], &[Scored]),
    files: &[TreePath],
) -> Vec<Symbol> {
    let is_head = |symbol: &Symbol| symbol.kind.is_callable() && files.contains(&symbol.path);
    let mut heads: Vec<Symbol> = candidates
        .iter()
        .map(|(_, symbol)| symbol)
        .filter(|symbol| is_head(symbol))
        .take(HEADS)
        .cloned()
        .collect();
    for id in engine.those_in(scored, files) {
        if heads.len() >= HEADS {
            break;
        }
        if heads.iter().any(|symbol| symbol.id == id) {
            continue;
        }
        let symbol = or_nothing(engine.index.symbol(id));
        heads.extend(symbol.filter(|symbol| is_head(symbol)));
    }
    heads
}

/// Whether one is a part of the other: it is shown once.
fn overlap(one: &Symbol, other: &Symbol) -> bool {
    let holds = |outer: &Symbol, inner: &Symbol| {
        outer.holds(inner.start_line) && outer.holds(inner.end_line)
    };
    let small = |symbol: &Symbol| symbol.end_line - symbol.start_line < SHOWN_WHOLE;
    one.path == other.path
        && (holds(one, other) && small(one) || holds(other, one) && !small(other))
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
    let last = symbol.end_line.min(symbol.start_line + LOOKED_AT);
    let beginnings = Beginnings::of(stems);
    let mut found: Vec<(usize, u32)> = (symbol.name_line + 1..=last)
        .map(|number| (number, line(&text, number)))
        .filter(|(_, code)| beginnings.may_be_in(code))
        .map(|(number, code)| {
            let mut words: Vec<String> = split_words(&code);
            for word in &mut words {
                *word = stem(word);
            }
            words.sort();
            words.dedup();
            let said = words.iter().filter(|word| stems.contains(word)).count();
            (said, number)
        })
        .filter(|(said, _)| *said > 0)
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    found.truncate(if room <= BESIDE_LINES { 1 } else { HITS });
    found.into_iter().map(|(_, number)| number).collect()
}

/// Candidates by the weighted sum of the signals, best first.
fn ranked(
    engine: &Engine,
    text: &str,
    (stems, intent): (&[String], Intent),
    scored: &[Scored],
) -> Vec<(f64, Symbol)> {
    let Some(top) = scored.first().map(|one| one.score) else {
        return Vec::new();
    };
    let found: Vec<(f64, Symbol)> = scored
        .iter()
        .filter_map(|one| Some((one.score / top, or_nothing(engine.index.symbol(one.id))?)))
        .collect();
    let crowds = crowds(&found);
    let rare = engine.rarities(stems);
    let files = named_files(engine, text);
    let mut ranked: Vec<(f64, Symbol)> = found
        .into_iter()
        .map(|(share, symbol)| {
            let mut score = signals(engine, share, &symbol, (stems, &rare));
            score += SAME_FILE * crowds.get(&symbol.path).copied().unwrap_or_default();
            let lines = f64::from(symbol.end_line - symbol.start_line + 1);
            score *= 1.0 + DOES_MORE * (lines.ln_1p() / LONG).min(1.0);
            if files.contains(&symbol.path) {
                score *= IN_NAMED_FILE;
            }
            if is_aside(&symbol.path) && intent != Intent::TestWriting {
                score *= ASIDE;
            }
            if matches!(symbol.kind, SymbolKind::Variable | SymbolKind::Macro) {
                score *= 0.8;
            }
            if symbol.kind.is_type() {
                score *= TYPES;
            }
            (score, symbol)
        })
        .collect();
    sort(&mut ranked);
    promote_called(engine, &mut ranked);
    ranked
}

fn sort(ranked: &mut [(f64, Symbol)]) {
    ranked.sort_by(|a, b| {
        b.0.total_cmp(&a.0)
            .then_with(|| (&a.1.path, a.1.start_line).cmp(&(&b.1.path, b.1.start_line)))
    });
}

/// A candidate that the best ones call does a part of what they do.
fn promote_called(engine: &Engine, ranked: &mut [(f64, Symbol)]) {
    let likely = ranked.iter().filter(|(_, one)| one.kind.is_callable());
    let callers: Vec<(f64, Symbol)> = likely.take(CALLERS).cloned().collect();
    let mut gained: BTreeMap<i64, f64> = BTreeMap::new();
    for (score, caller) in &callers {
        let calls = engine.calls_from(caller);
        let called: BTreeSet<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
        for (_, callee) in ranked.iter() {
            if callee.id != caller.id && called.contains(callee.name.as_str()) {
                let gain = gained.entry(callee.id).or_default();
                *gain = gain.max(CALLED_BY_LIKELY * score);
            }
        }
    }
    for (score, symbol) in ranked.iter_mut() {
        *score += gained.get(&symbol.id).copied().unwrap_or_default();
    }
    sort(ranked);
}

/// The signals by their weights. How central and how recent a definition is
/// decides between those that speak of the request alike, not against them.
fn signals(
    engine: &Engine,
    share: f64,
    symbol: &Symbol,
    (stems, rare): (&[String], &[f64]),
) -> f64 {
    let weights = engine.settings.weights;
    let calls = engine.caller_files(&symbol.name, 40);
    let logarithm = |count: usize| (count as f64).ln_1p() / 40_f64.ln_1p();
    let from: BTreeSet<&TreePath> = calls.iter().collect();
    let standing = weights.in_degree * logarithm(from.len())
        + weights.popularity * logarithm(calls.len())
        + weights.recency * engine.recency(&symbol.path);
    let names = NAMES * covered(symbol, stems, rare);
    weights.semantic * share + weights.keyword * names + share * standing
}

/// How many of the candidates each file holds, the best counting most, against
/// the file with most.
fn crowds(found: &[(f64, Symbol)]) -> BTreeMap<TreePath, f64> {
    let mut crowds: BTreeMap<TreePath, f64> = BTreeMap::new();
    for (share, symbol) in found {
        *crowds.entry(symbol.path.clone()).or_default() += share * share;
    }
    let most = crowds.values().copied().fold(f64::MIN_POSITIVE, f64::max);
    for sum in crowds.values_mut() {
        *sum /= most;
    }
    crowds
}

/// How much of a name and of its scope the request's words cover, in whatever
/// order and casing; rare words count most.
fn covered(symbol: &Symbol, stems: &[String], rare: &[f64]) -> f64 {
    let said_in = |text: &str| {
        let words: Vec<String> = split_words(text).iter().map(|word| stem(word)).collect();
        let hits = stems
            .iter()
            .zip(rare)
            .filter(|(asked, _)| words.contains(asked));
        let (count, weight) = hits.fold((0.0, 0.0), |sum, (_, rare)| (sum.0 + 1.0, sum.1 + rare));
        (count, weight, words.len() as f64)
    };
    let (hits, weight, words) = said_in(&symbol.name);
    let scope = symbol.scope.rsplit(['.', ':']).next().unwrap_or_default();
    let (beside, around, _) = [scope, symbol.path.file_name()]
        .into_iter()
        .map(said_in)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or_default();
    let mut most: Vec<f64> = rare.to_vec();
    most.sort_by(|a, b| b.total_cmp(a));
    let asked: f64 = most.iter().take(4).sum();
    let of_name = hits / words.max(1.0);
    let of_request = (weight + 0.7 * around) / asked.max(f64::MIN_POSITIVE);
    // One word that happens to be a whole name says little.
    let whole = if hits + beside > 1.0 {
        of_name
    } else {
        0.6 * of_name
    };
    (0.5 * whole + 0.5 * of_request).min(1.0)
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
