//! Scoring of the candidates of a request: the odds of a few
//! signals, made shares of one. So much is certain when the first file holds
//! most of it, and so little when twenty hold a twentieth each.
//!
//! The weights were fitted to descriptions of repairs and to the functions that
//! these changed (`ranking.json`).

use crate::engine::Engine;
use crate::error::Result;
use crate::intent::Intent;
use crate::rank::is_aside;
use crate::search::Scored;
use crate::symbol::{Symbol, Weighed, sort_scored};
use crate::words::stems_of;
use itertools::Itertools;
use patchwright_source::TreePath;
use std::collections::{BTreeMap, BTreeSet};

/// Log-odds of one point of the weighed signals.
const POINT: f64 = 10.0;
/// Limit on how many callers are counted.
const CALLERS: usize = 40;

/// The request, cut into the parts that are compared.
struct Asked<'t> {
    stems: &'t [String],
    intent: Intent,
    /// Files that it names.
    files: Vec<TreePath>,
}

/// Candidates with the share that each has, the likeliest first.
pub(super) fn shares(
    engine: &Engine,
    text: &str,
    (stems, intent): (&[String], Intent),
    scored: &[Scored],
) -> Result<Vec<Weighed>> {
    let Some(top) = scored.first().map(|one| one.score) else {
        return Ok(Vec::new());
    };
    let mut found = engine.scored_symbols(scored)?;
    // How much is in each file of what fits, the best counting most.
    let mut crowds: BTreeMap<TreePath, f64> = BTreeMap::new();
    for (fit, symbol) in &mut found {
        *fit /= top;
        *crowds.entry(symbol.path.clone()).or_default() += *fit * *fit;
    }
    let asked = Asked {
        stems,
        intent,
        files: named_files(engine, text),
    };
    for (fit, symbol) in &mut found {
        let crowd = crowds.get(&symbol.path).copied().unwrap_or_default();
        *fit = odds(engine, &asked, (*fit, crowd), symbol)?.exp();
    }
    let sum: f64 = found.iter().map(|(odds, _)| odds).sum();
    for (odds, _) in &mut found {
        *odds /= sum;
    }
    sort_scored(&mut found);
    Ok(found)
}

/// The files that hold candidates, with the share of each, the likeliest first.
pub(super) fn of_files(candidates: &[Weighed]) -> Vec<(f64, TreePath)> {
    let mut shares: BTreeMap<&TreePath, f64> = BTreeMap::new();
    for (share, symbol) in candidates {
        *shares.entry(&symbol.path).or_default() += share;
    }
    let files = shares
        .into_iter()
        .map(|(path, share)| (share, path.clone()));
    let files = files.sorted_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    files.collect()
}

/// The logarithm of the odds of one candidate, which says so much of the
/// request as its text fits.
fn odds(
    engine: &Engine,
    asked: &Asked<'_>,
    (fit, crowd): (f64, f64),
    symbol: &Symbol,
) -> Result<f64> {
    let weights = &engine.ranking.request;
    let signals =
        weights.semantic * fit + weights.keyword * named(symbol, asked) + standing(engine, symbol)?;
    let lines = symbol.end_line - symbol.start_line;
    let mut odds = POINT * signals
        + weights.length * f64::from(lines + 1).log2()
        + weights.crowd * crowd.ln_1p();
    if asked.files.contains(&symbol.path) {
        odds += weights.in_named_file;
    }
    if is_aside(&symbol.path) && asked.intent != Intent::TestWriting {
        odds -= weights.aside;
    }
    if symbol.kind.is_type() {
        odds -= weights.types;
    }
    Ok(odds)
}

/// Returns how central and how recent a definition is, by the weights.
fn standing(engine: &Engine, symbol: &Symbol) -> Result<f64> {
    let weights = &engine.ranking.request;
    let calls = engine.caller_files(&symbol.name, CALLERS)?;
    let logarithm = |count: usize| (count as f64).ln_1p() / (CALLERS as f64).ln_1p();
    let from: BTreeSet<&TreePath> = calls.iter().collect();
    Ok(weights.in_degree * logarithm(from.len())
        + weights.popularity * logarithm(calls.len())
        + weights.recency * engine.recency(&symbol.path))
}

/// Returns how much of a name the request says, in whatever order and casing.
fn named(symbol: &Symbol, asked: &Asked<'_>) -> f64 {
    let words = stems_of(&symbol.name);
    let said = asked.stems.iter().filter(|stem| words.contains(*stem));
    (said.count() as f64 / words.len().max(1) as f64).min(1.0)
}

fn named_files(engine: &Engine, text: &str) -> Vec<TreePath> {
    text.split(|c: char| c.is_whitespace() || "\"'`(),;:".contains(c))
        .filter(|token| token.contains('.') && token.len() > 3)
        .filter_map(|token| engine.resolve(token.trim_end_matches('.')).ok())
        .map(|(path, _)| path)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{of_files, shares};
    use crate::context::tests::tree_of;
    use crate::engine::Engine;
    use crate::intent::Intent;
    use crate::symbol::Symbol;
    use crate::words::meaningful;
    use patchwright_source::TreePath;

    fn ranked(engine: &Engine, text: &str, intent: Intent) -> Vec<(f64, Symbol)> {
        let stems = meaningful(text);
        let scored = engine.words.search(&engine.index, &stems, 60).unwrap();
        shares(engine, text, (&stems, intent), &scored).unwrap()
    }

    fn likeliest(engine: &Engine, text: &str) -> String {
        let ranked = ranked(engine, text, Intent::BugFix);
        let first = ranked.first().map(|(_, symbol)| symbol);
        first.map_or(String::new(), |symbol| {
            format!("{} {}", symbol.path, symbol.name)
        })
    }

    const SUM: &str = "int total(int n)\n{\n    /* the sum of a list */\n    return n;\n}\n";

    /// Two files that differ in one thing, and a request that tells them apart.
    #[test]
    fn each_signal_decides_between_what_is_alike() {
        let long = SUM.replace("return n;", &("n += 1;\n    ".repeat(40) + "return n;"));
        let type_of = "struct sum_list {\n    int sum;\n    int list;\n};\n";
        for (signal, files, text, expected) in [
            (
                "a file that is named",
                [("src/a.c", SUM), ("src/q-1.c", SUM)],
                "in q-1.c, the sum of a list is wrong",
                "src/q-1.c total",
            ),
            (
                "tests come after the product",
                [("test/a.c", SUM), ("zlib/a.c", SUM)],
                "the sum of a list is wrong",
                "zlib/a.c total",
            ),
            (
                "what is long comes first",
                [("src/a.c", SUM), ("src/z.c", &long)],
                "n of a list is wrong",
                "src/z.c total",
            ),
            (
                "a function before a type",
                [
                    ("src/a.c", type_of),
                    ("src/z.c", "int sum(int list)\n{\n    return list;\n}\n"),
                ],
                "the sum of a list is wrong",
                "src/z.c sum",
            ),
        ] {
            let (_folder, engine) = tree_of(&files);
            assert_eq!(likeliest(&engine, text), expected, "{signal}");
        }
    }

    #[test]
    fn shares_are_parts_of_one_and_files_gather_them() {
        let (_folder, engine) = tree_of(&[("src/a.c", SUM), ("test/b.c", SUM)]);
        let text = "the sum of a list";
        let ranked = ranked(&engine, text, Intent::BugFix);
        let sum: f64 = ranked.iter().map(|(share, _)| share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{ranked:?}");
        let files = of_files(&ranked);
        assert_eq!(files.len(), 2);
        assert!(files[0].0 > 0.8 && files[0].1 == TreePath::new("src/a.c").unwrap());
        // Who wants tests is shown what is there.
        let tests = super::tests::ranked(&engine, text, Intent::TestWriting);
        assert!(tests[1].0 > ranked[1].0);
    }
}
