//! The pipeline of four stages that was published for a bot, rebuilt from its
//! description: intent by patterns, symbols exactly and then fuzzily with
//! their neighbours, cards and snippets packed to 8,000 tokens. It knows only
//! requests in words; a crash report is one to it.

use super::baseline::candidates;
use super::cases::Case;
use super::score::Outcome;
use super::world::World;
use patchwright_retrieval::Symbol;
use patchwright_source::TreePath;
use regex::Regex;
use std::collections::BTreeMap;
use std::time::Instant;

/// The figures of its description.
const BUDGET: usize = 8_000;
const FUZZY: f64 = 0.78;
const FUZZY_MATCHES: usize = 3;
const CARDS: usize = 20;
const NET_FILES: usize = 3;
const NET_CARDS: usize = 5;

/// Intents with what triggers them, and the shares of definitions, snippets,
/// imports, tests and callers.
const INTENTS: [(&str, &str, [usize; 5]); 6] = [
    (
        "BUG_FIX",
        r"(?i)\b(fix|bug|error|crash|fail\w*|broken|wrong|incorrect\w*|exception|traceback|typeerror|overflow)\b|Sanitizer|\n\s+at ",
        [30, 25, 10, 20, 15],
    ),
    (
        "TEST_WRITING",
        r"(?i)\b(write|add|unit) (unit )?tests?\b|\btests?\b|\bspec\b",
        [40, 15, 5, 40, 0],
    ),
    (
        "REFACTOR",
        r"(?i)\b(refactor|rename|move|restructure|clean up|simplify)\b",
        [25, 20, 10, 15, 30],
    ),
    (
        "USAGE_EXPLORATION",
        r"(?i)\b(who calls|callers?|usages?|where is \w+ used|how is \w+ used|references to)\b",
        [20, 10, 5, 0, 65],
    ),
    (
        "DEFINITION_LOOKUP",
        r"(?i)\b(where is|what is|what does|defined?|definition|show me)\b",
        [50, 30, 10, 10, 0],
    ),
    (
        "IMPLEMENTATION",
        r"(?i)\b(add|implement|create|support|make|build)\b",
        [40, 35, 15, 10, 0],
    ),
];

const STOP_WORDS: &str = "the a an and or for with that this from are was not when where what which who how does into has have can should \
    would must only all any file files code function class method handle get set make add fix use using like than them they it its is to of in on by be";

pub(super) fn run(world: &World, case: &Case) -> Outcome {
    world.names();
    world.best_files("warm", 1);
    let started = Instant::now();
    let query = &case.request.text;
    let (intent, shares) = INTENTS
        .iter()
        .find(|(_, pattern, _)| Regex::new(pattern).unwrap().is_match(query))
        .map_or(
            ("IMPLEMENTATION", [40, 35, 15, 10, 0]),
            |(name, _, shares)| (*name, *shares),
        );
    let files = candidates(world, case);
    let mut cards: BTreeMap<i64, (f64, Symbol)> = BTreeMap::new();
    let mut add = |symbol: &Symbol, relevance: f64| {
        let card = cards.entry(symbol.id).or_insert((0.0, symbol.clone()));
        card.0 = card.0.max(relevance);
    };
    let mut primary: Vec<(Symbol, f64)> = Vec::new();
    for name in exact(query) {
        for symbol in world.names().get(&name).into_iter().flatten() {
            add(symbol, 1.0);
            primary.push((symbol.clone(), 0.35));
        }
    }
    for (name, likeness) in fuzzy(world, query) {
        for symbol in world.names().get(&name).into_iter().flatten().take(2) {
            add(symbol, 0.7 * likeness);
            primary.push((symbol.clone(), 0.20));
        }
    }
    primary.truncate(6);
    for (symbol, relevance) in &primary {
        for neighbour in top_level(world, &symbol.path) {
            add(&neighbour, *relevance);
        }
    }
    if cards.is_empty() {
        let net = files
            .iter()
            .take(NET_FILES)
            .flat_map(|path| top_level(world, path));
        for symbol in net.take(NET_CARDS) {
            cards.insert(symbol.id, (0.30, symbol));
        }
    }
    let mut cards: Vec<(f64, Symbol)> = cards.into_values().collect();
    cards.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
    cards.truncate(CARDS);
    let mut outcome = assemble(world, (&cards, &files), shares);
    outcome.intent = Some(intent.to_owned());
    outcome.milliseconds = started.elapsed().as_secs_f64() * 1000.0;
    outcome
}

/// Names in backticks, in CamelCase and in snake_case.
fn exact(query: &str) -> Vec<String> {
    let pattern =
        Regex::new(r"`([^`\s]+)`|\b([A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+)\b|\b([a-zA-Z]\w*_\w+)\b")
            .unwrap();
    let mut names: Vec<String> = pattern
        .captures_iter(query)
        .map(|found| {
            found
                .iter()
                .skip(1)
                .flatten()
                .next()
                .unwrap()
                .as_str()
                .to_owned()
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Words longer than three letters without the endings of verbs and plurals.
fn words(query: &str) -> Vec<String> {
    let mut words: Vec<String> = query
        .split(|c: char| !c.is_alphabetic())
        .map(str::to_lowercase)
        .filter(|word| word.len() > 3 && !STOP_WORDS.split_whitespace().any(|stop| stop == word))
        .map(|word| {
            let root = word
                .strip_suffix("ing")
                .filter(|root| root.len() > 3)
                .unwrap_or(&word);
            let root = root
                .strip_suffix('s')
                .filter(|root| root.len() > 3 && !root.ends_with('s'))
                .unwrap_or(root);
            root.to_owned()
        })
        .collect();
    words.dedup();
    words.truncate(8);
    words
}

fn fuzzy(world: &World, query: &str) -> Vec<(String, f64)> {
    let words = words(query);
    let capital = |word: &str| {
        let (head, tail) = word.split_at(1);
        head.to_uppercase() + tail
    };
    let mut wanted: Vec<String> = words.clone();
    for a in &words {
        for b in words.iter().filter(|b| *b != a) {
            wanted.extend([
                format!("{a}_{b}"),
                format!("{a}{}", capital(b)),
                format!("{}{}", capital(a), capital(b)),
            ]);
        }
    }
    let mut found: Vec<(String, f64)> = world
        .names()
        .keys()
        .filter_map(|name| {
            let best = wanted
                .iter()
                .filter(|one| one.len().abs_diff(name.len()) <= name.len() / 3 + 1)
                .map(|one| ratio(one, name))
                .fold(0.0, f64::max);
            (best >= FUZZY).then(|| (name.clone(), best))
        })
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(FUZZY_MATCHES);
    found
}

/// Twice the longest common subsequence against both lengths.
fn ratio(a: &str, b: &str) -> f64 {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut row = vec![0_usize; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (at, y) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if x == y {
                diagonal + 1
            } else {
                above.max(row[at])
            };
            diagonal = above;
        }
    }
    2.0 * row[b.len()] as f64 / (a.len() + b.len()).max(1) as f64
}

fn top_level(world: &World, path: &TreePath) -> Vec<Symbol> {
    let mut symbols = world.outline(path);
    symbols.retain(|symbol| {
        symbol.parent.is_none() && (symbol.kind.is_callable() || symbol.kind.is_type())
    });
    symbols
}

/// Cards into the share of definitions; the other shares go to the code around
/// the definitions, then to the heads of the best files.
fn assemble(
    world: &World,
    (cards, files): (&[(f64, Symbol)], &[TreePath]),
    shares: [usize; 5],
) -> Outcome {
    let mut outcome = Outcome {
        symbols: Vec::new(),
        shown: Vec::new(),
        tokens: 0,
        milliseconds: 0.0,
        intent: None,
    };
    let for_cards = BUDGET * shares[0] / 100;
    for (relevance, symbol) in cards {
        let head = symbol
            .name_line
            .max(symbol.start_line)
            .min(symbol.start_line + 3);
        let full = *relevance >= 1.0 && symbol.end_line - symbol.start_line < 60;
        let last = if full { symbol.end_line } else { head };
        let size = 12 + (last + 1 - symbol.start_line) as usize * 9;
        if outcome.tokens + size > for_cards {
            break;
        }
        outcome.tokens += size;
        outcome.symbols.push(symbol.qualified());
        outcome
            .shown
            .push((symbol.path.clone(), vec![(symbol.start_line, last)]));
    }
    let mut room = BUDGET * shares[1] / 100;
    let found: Vec<TreePath> = outcome.shown.iter().map(|(path, _)| path.clone()).collect();
    for path in files.iter().filter(|path| found.contains(path)).take(2) {
        let text = world.text(path);
        let lines = text.lines().take(120).count() as u32;
        let size = text.lines().take(120).map(str::len).sum::<usize>() / 4;
        if size < room {
            room -= size;
            outcome.tokens += size;
            outcome.shown.push((path.clone(), vec![(1, lines.max(1))]));
        }
    }
    outcome
}
