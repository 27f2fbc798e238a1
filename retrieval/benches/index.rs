//! Measures the code database on a real tree: building it, opening it warm,
//! taking in one changed file, and asking it.
//!
//! `cargo bench -p patchwright-retrieval --bench index -- TREE...`, or
//! `make bench`, which fetches the trees (`scripts/bench-trees.sh`). Before
//! the trees may stand the parts to measure, all of them by default:
//! `--cold`, `--warm`, `--ask`, `--contexts`, `--peers`.
//!
//! Each tree is copied first, because one of its files is changed. The time of
//! `ctags -R` on the same copy is printed beside, when there is a `ctags`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise and prints what it measured"
)]

#[path = "index/contexts.rs"]
mod contexts;
#[path = "index/peers.rs"]
mod peers;

use patchwright_retrieval::{FILE_SIZE_LIMIT, Index};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The allocator of the program, so that its figures are those of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Limit on how often opening and changing are repeated; the median counts.
const ROUNDS: usize = 5;

fn main() {
    // Cargo adds a `--bench` of its own.
    let (parts, trees): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .partition(|argument| argument.starts_with("--"));
    if trees.is_empty() {
        println!("name the trees to measure");
    }
    for tree in trees {
        measure(Path::new(&tree), &parts);
    }
}

fn measure(original: &Path, parts: &[String]) {
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|named| named == part);
    let scratch = tempfile::tempdir().unwrap();
    let tree = scratch.path().join("tree");
    let copied = Command::new("cp")
        .arg("-r")
        .arg(original)
        .arg(&tree)
        .status();
    assert!(copied.unwrap().success());
    println!("{}", original.display());
    if wanted("--cold") {
        cold(&tree, scratch.path());
    }
    let cache = scratch.path().join("kept");
    Index::open(&tree, &cache, FILE_SIZE_LIMIT).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    Index::open(&tree, &cache, FILE_SIZE_LIMIT).unwrap();
    if wanted("--warm") {
        warm(&tree, &cache);
    }
    if wanted("--ask") {
        ask(&tree, &cache);
    }
    if wanted("--contexts") {
        contexts::measure(&tree, &cache);
    }
    if wanted("--peers") {
        peers::measure(&tree, &cache, &original.parent().unwrap().join("tools"));
    }
    println!("  memory {} MB at most", peak_memory() / 1000);
}

/// Builds the index of the tree several times, beside `ctags`.
fn cold(tree: &Path, scratch: &Path) {
    for round in 0..ROUNDS {
        let cache = scratch.join(format!("cold-{round}"));
        let before = cpu_seconds();
        let index = Index::open(tree, &cache, FILE_SIZE_LIMIT).unwrap();
        let cpu = cpu_seconds().0 - before.0;
        let report = index.report();
        println!(
            "  cold   {:7.3} s (processor {cpu:.2} s)  {} files, {} lines, {} symbols, {} broken, {} skipped; {:.0} lines/s; {} MB",
            report.seconds,
            report.indexed,
            report.lines,
            report.symbols,
            report.broken,
            report.skipped.len(),
            report.lines as f64 / report.seconds,
            folder_size(&cache) / 1_000_000,
        );
        let before = cpu_seconds();
        if let Some(seconds) = ctags(tree, &scratch.join("tags")) {
            let cpu = cpu_seconds().1 - before.1;
            println!("  ctags  {seconds:7.3} s (processor {cpu:.2} s)");
        }
    }
}

/// Opens the index again, with nothing changed and with one file changed.
fn warm(tree: &Path, cache: &Path) {
    for (what, prepare) in [("warm", keep as fn(_, _, _)), ("change", change)] {
        let (mut clock, mut processor) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            prepare(tree, cache, round);
            let before = cpu_seconds().0;
            let index = Index::open(tree, cache, FILE_SIZE_LIMIT).unwrap();
            clock.push(index.report().seconds * 1000.0);
            processor.push((cpu_seconds().0 - before) * 1000.0);
        }
        println!(
            "  {what:6} {:7.1} ms (processor {:.0} ms)",
            median(clock),
            median(processor)
        );
    }
}

/// Leaves the tree as it is.
fn keep(_tree: &Path, _cache: &Path, _round: usize) {}

/// Appends a line to a file that is longer than nine tenths of the others.
fn change(tree: &Path, cache: &Path, round: usize) {
    let index = Index::open(tree, cache, FILE_SIZE_LIMIT).unwrap();
    let mut files = index.files();
    files.retain(|file| file.language.is_some());
    files.sort_by_key(|file| file.lines);
    let file = &files[files.len() * 9 / 10];
    let path = index.tree().absolute(&file.path);
    let mut text = std::fs::read(&path).unwrap();
    text.extend_from_slice(format!("\nint patchwright_added_{round};\n").as_bytes());
    std::fs::write(&path, text).unwrap();
}

/// A kind of question and how many answers it has for a name.
type Question<'q> = (&'q str, Box<dyn Fn(&str) -> usize + 'q>);

/// Times lookups of two hundred names, spread over all functions.
fn ask(tree: &Path, cache: &Path) {
    let index = Index::open(tree, cache, FILE_SIZE_LIMIT).unwrap();
    let mut names = Vec::new();
    for file in index.files() {
        for symbol in index.outline(&file.path).unwrap() {
            if symbol.kind.is_callable() {
                names.push(symbol.name);
            }
        }
    }
    names.sort();
    names.dedup();
    let step = (names.len() / 200).max(1);
    let names: Vec<&String> = names.iter().step_by(step).collect();
    let questions: [Question<'_>; 5] = [
        (
            "symbol",
            Box::new(|name| index.definitions(name).unwrap().symbols.len()),
        ),
        (
            "callers",
            Box::new(|name| index.callers(name, 1, 1000).unwrap().len()),
        ),
        (
            "callees",
            Box::new(|name| index.callees(name, 1, 1000).unwrap().len()),
        ),
        (
            "references",
            Box::new(|name| index.references(name).unwrap().len()),
        ),
        (
            "nearest",
            Box::new(|name| index.nearest(&format!("{name}x"), 5).unwrap().len()),
        ),
    ];
    for (kind, question) in questions {
        let mut times: Vec<f64> = Vec::new();
        let mut found = 0;
        for name in &names {
            let started = Instant::now();
            found += question(name);
            times.push(started.elapsed().as_secs_f64() * 1000.0);
        }
        times.sort_by(f64::total_cmp);
        println!(
            "  {kind:10} p50 {:.3} ms, p95 {:.3} ms ({} names, {found} answers)",
            times[times.len() / 2],
            times[times.len() * 95 / 100],
            names.len()
        );
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn ctags(tree: &Path, tags: &Path) -> Option<f64> {
    let started = Instant::now();
    let status = Command::new("ctags")
        .args(["-R", "-f"])
        .arg(tags)
        .arg(tree)
        .stderr(Stdio::null())
        .status();
    status
        .is_ok_and(|status| status.success())
        .then(|| started.elapsed().as_secs_f64())
}

fn folder_size(folder: &Path) -> u64 {
    let mut size = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let data = entry.metadata().unwrap();
        size += if data.is_dir() {
            folder_size(&entry.path())
        } else {
            data.len()
        };
    }
    size
}

/// The processor seconds of this process and of its children so far: on a busy
/// machine they say more than the clock.
fn cpu_seconds() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .map(|field| field.parse().unwrap_or_default())
        .collect();
    // Counted from the field after the name: utime, stime, cutime, cstime, in
    // ticks of a hundredth of a second.
    (
        (fields[11] + fields[12]) / 100.0,
        (fields[13] + fields[14]) / 100.0,
    )
}

/// The largest resident size of this process, in kB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let digits = line.map(|line| {
        line.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    });
    digits
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_default()
}
