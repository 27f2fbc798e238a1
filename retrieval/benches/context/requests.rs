//! Requests in words: the same figures as for crash reports, and the intent.

use super::{Case, Score, distinct, names};
use patchwright_retrieval::{Engine, Request, Settings};
use patchwright_source::TreePath;
use std::path::Path;

/// Runs every request of a file over the trees beside each other.
pub(super) fn run(file: &Path, trees: &Path) -> Vec<Score> {
    let text = std::fs::read_to_string(file).expect("the requests");
    let table: toml::Table = text.parse().expect("TOML");
    let requests = table["request"].as_array().expect("requests");
    let mut right = 0;
    let mut scores = Vec::new();
    for request in requests {
        let list = |key: &str| -> Vec<String> {
            let values = request[key].as_array().expect("a list").iter();
            values
                .map(|value| value.as_str().expect("text").to_owned())
                .collect()
        };
        let text = |key: &str| request[key].as_str().expect("text").to_owned();
        let case = Case {
            id: text("tree"),
            folder: trees.to_path_buf(),
            source: String::new(),
            files: list("files"),
            functions: list("functions"),
        };
        let (score, intent) = ask(&case, &text("text"), trees);
        right += usize::from(intent == text("intent"));
        scores.push(score);
    }
    println!("intent right in {right} of {}", scores.len());
    scores
}

fn ask(case: &Case, text: &str, trees: &Path) -> (Score, String) {
    let cache = tempfile::tempdir().unwrap();
    let tree = trees.join(&case.id);
    let engine = Engine::open(&tree, cache.path(), Settings::default()).expect("a tree");
    let request = Request {
        text: text.to_owned(),
        budget: 8_000,
        ..Request::default()
    };
    engine.context(&request);
    let context = engine.context(&request);
    let missing: Vec<&String> = case
        .functions
        .iter()
        .filter(|function| !names(&context, function))
        .collect();
    let files: Vec<TreePath> = case
        .files
        .iter()
        .map(|path| TreePath::new(path).unwrap())
        .collect();
    let found = distinct(&context);
    let wrong = found.iter().filter(|path| !files.contains(path)).count();
    let recall = 1.0 - missing.len() as f64 / case.functions.len() as f64;
    let head: String = text.chars().take(40).collect();
    println!(
        "{head:<40} {:>4.0}% {:>4}/{:<2} {:>6} {:>6.1} {:<18} {missing:?}",
        100.0 * recall,
        wrong,
        found.len(),
        context.tokens,
        context.elapsed_ms,
        context.intent
    );
    let score = Score {
        recall,
        fix_lines: f64::NAN,
        wrong_files: wrong as f64 / found.len().max(1) as f64,
        efficiency: recall / (context.tokens.max(1) as f64 / 1000.0),
        tokens: context.tokens,
        milliseconds: context.elapsed_ms,
    };
    (score, context.intent)
}
