//! How good the context of crash reports is: recall, fix lines, wrong files,
//! efficiency and time over a folder of cases.
//!
//! `cargo bench -p patchwright-retrieval --bench context -- CASES TREES FIXED [SHOW]`
//! where `CASES/<group>/<id>/` holds `crash.log` and `case.toml` with its
//! `[truth]`, `TREES/<id>` the vulnerable tree and `FIXED/<id>` the repaired
//! one. With SHOW, the rendered context of that case is printed.

#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a program for a person at a terminal; a broken case shall stop it"
)]

#[path = "context/frames.rs"]
mod frames;
#[path = "context/requests.rs"]
mod requests;

use patchwright_retrieval::{Context, Engine, Request, Settings};
use patchwright_source::TreePath;
use std::path::{Path, PathBuf};

struct Case {
    id: String,
    folder: PathBuf,
    source: String,
    files: Vec<String>,
    functions: Vec<String>,
}

#[derive(Default)]
struct Score {
    recall: f64,
    fix_lines: f64,
    wrong_files: f64,
    efficiency: f64,
    tokens: usize,
    milliseconds: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let [cases, trees, fixed, show @ ..] = arguments.as_slice() else {
        println!("usage: context CASES TREES FIXED [SHOW]");
        return;
    };
    println!("case                  recall  fix  wrong   eff  tokens     ms  missing");
    let mut scores = Vec::new();
    for case in read_cases(Path::new(cases)) {
        let tree = Path::new(trees).join(&case.id);
        if !tree.is_dir() {
            continue;
        }
        let repaired = Path::new(fixed).join(&case.id);
        scores.push(run(&case, &tree, &repaired, show.contains(&case.id)));
    }
    summarize(&scores);
    let requests = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/context/requests.toml");
    summarize(&requests::run(&requests, Path::new(trees)));
}

fn summarize(scores: &[Score]) {
    let count = scores.len().max(1) as f64;
    let mean = |of: fn(&Score) -> f64| scores.iter().map(of).sum::<f64>() / count;
    let fixes: Vec<f64> = scores
        .iter()
        .map(|score| score.fix_lines)
        .filter(|one| !one.is_nan())
        .collect();
    let mean_fix = fixes.iter().sum::<f64>() / fixes.len().max(1) as f64;
    println!(
        "mean of {:<13} {:>5.1}% {:>4.0}% {:>5.1}% {:>5.2} {:>7.0} {:>6.1}",
        scores.len(),
        100.0 * mean(|score| score.recall),
        100.0 * mean_fix,
        100.0 * mean(|score| score.wrong_files),
        mean(|score| score.efficiency),
        mean(|score| score.tokens as f64),
        mean(|score| score.milliseconds),
    );
}

fn read_cases(root: &Path) -> Vec<Case> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("the folder of cases")
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            let inner = std::fs::read_dir(&path).into_iter().flatten();
            let mut all: Vec<PathBuf> = inner.map(|entry| entry.unwrap().path()).collect();
            all.push(path);
            all
        })
        .filter(|path| path.join("case.toml").is_file() && path.join("crash.log").is_file())
        .collect();
    folders.sort();
    folders
        .into_iter()
        .map(|folder| read_case(&folder))
        .collect()
}

fn read_case(folder: &Path) -> Case {
    let text = std::fs::read_to_string(folder.join("case.toml")).unwrap();
    let case: toml::Table = text.parse().unwrap();
    let truth = case["truth"].as_table().unwrap();
    let list = |key: &str| -> Vec<String> {
        let values = truth[key].as_array().unwrap().iter();
        values
            .map(|value| value.as_str().unwrap().to_owned())
            .collect()
    };
    Case {
        id: case["id"].as_str().unwrap().to_owned(),
        folder: folder.to_path_buf(),
        source: case["source"].as_str().unwrap_or_default().to_owned(),
        files: list("files"),
        functions: list("functions"),
    }
}

fn run(case: &Case, tree: &Path, repaired: &Path, show: bool) -> Score {
    let cache = tempfile::tempdir().unwrap();
    let engine = Engine::open(tree, cache.path(), Settings::default()).expect("a tree");
    let log = std::fs::read_to_string(case.folder.join("crash.log")).unwrap();
    let request = Request {
        frames: frames::read(&log),
        text: frames::first_run(&log),
        budget: 8_000,
    };
    engine.context(&request);
    let context = engine.context(&request);
    if show {
        println!("{}", context.render());
    }
    let missing: Vec<&String> = case
        .functions
        .iter()
        .filter(|function| !names(&context, function))
        .collect();
    let files = truth_files(case, tree);
    let found: Vec<&TreePath> = distinct(&context);
    let wrong = found.iter().filter(|path| !files.contains(path)).count();
    let recall = 1.0 - missing.len() as f64 / case.functions.len() as f64;
    let score = Score {
        recall,
        fix_lines: fix_lines(case, &engine, &files, (tree, repaired), &context),
        wrong_files: wrong as f64 / found.len().max(1) as f64,
        efficiency: recall / (context.tokens.max(1) as f64 / 1000.0),
        tokens: context.tokens,
        milliseconds: context.elapsed_ms,
    };
    println!(
        "{:<21} {:>5.0}% {:>4.0}% {:>5.0}% {:>5.2} {:>7} {:>6.1}  {missing:?}",
        case.id,
        100.0 * score.recall,
        100.0 * score.fix_lines,
        100.0 * score.wrong_files,
        score.efficiency,
        score.tokens,
        score.milliseconds,
    );
    score
}

fn distinct(context: &Context) -> Vec<&TreePath> {
    let mut files: Vec<&TreePath> = context.snippets.iter().map(|one| &one.path).collect();
    files.sort();
    files.dedup();
    files
}

fn names(context: &Context, function: &str) -> bool {
    let parts = |name: &str| -> Vec<String> {
        name.split(['.', ':'])
            .filter(|part| !part.is_empty())
            .map(|part| part.trim_end_matches("()").to_owned())
            .collect()
    };
    let wanted = parts(function);
    context
        .snippets
        .iter()
        .flat_map(|one| &one.symbols)
        .any(|symbol| {
            let have = parts(symbol);
            have.len() >= wanted.len() && have[have.len() - wanted.len()..] == wanted[..]
        })
}

fn truth_files(case: &Case, tree: &Path) -> Vec<TreePath> {
    let under = |file: &String| {
        [format!("{}/{file}", case.source), file.clone()]
            .iter()
            .filter_map(|path| TreePath::new(path).ok())
            .find(|path| tree.join(path.as_str()).is_file())
    };
    case.files.iter().filter_map(under).collect()
}

/// The share of the real fix's hunks, inside the functions that it changes,
/// whose lines are in the returned text.
fn fix_lines(
    case: &Case,
    engine: &Engine,
    files: &[TreePath],
    (tree, repaired): (&Path, &Path),
    context: &Context,
) -> f64 {
    let (mut all, mut shown) = (0, 0);
    for path in files {
        let old = std::fs::read(tree.join(path.as_str())).unwrap();
        let tail = path
            .as_str()
            .strip_prefix(&case.source)
            .unwrap_or(path.as_str());
        let Some(new) = find_repaired(repaired, path.as_str(), tail.trim_start_matches('/')) else {
            continue;
        };
        let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
        let diff = similar::TextDiff::from_lines(old.as_ref(), new.as_ref());
        for operation in diff.ops() {
            if operation.tag() == similar::DiffTag::Equal {
                continue;
            }
            let range = operation.old_range();
            let first = range.start as u32 + u32::from(!range.is_empty());
            let last = (range.end as u32).max(first);
            let inside = engine.function_at(path, first.max(1));
            let counts = inside.is_some_and(|name| {
                case.functions
                    .iter()
                    .any(|one| one.ends_with(&name) || name.ends_with("operator()"))
            });
            if !counts {
                continue;
            }
            all += 1;
            let held = context.snippets.iter().any(|one| {
                one.path == *path
                    && one
                        .ranges()
                        .iter()
                        .any(|(a, b)| *a <= first.max(1) && last <= *b)
            });
            shown += usize::from(held);
        }
    }
    if all == 0 {
        f64::NAN
    } else {
        f64::from(shown as u32) / f64::from(all)
    }
}

/// The same file in the repaired tree, whose folder may carry another version.
fn find_repaired(root: &Path, path: &str, tail: &str) -> Option<Vec<u8>> {
    if let Ok(bytes) = std::fs::read(root.join(path)) {
        return Some(bytes);
    }
    let folders = std::fs::read_dir(root).ok()?;
    let mut found: Vec<PathBuf> = folders
        .flatten()
        .map(|entry| entry.path().join(tail))
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    std::fs::read(found.last()?).ok()
}
