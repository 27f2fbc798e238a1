//! Compares the definitions of the index with those of `ctags`, tree by tree.
//!
//! `cargo bench -p patchwright-retrieval --bench definitions -- [--list FILE | --calls N] TREE...`;
//! `scripts/bench-trees.sh DEST definitions` fetches trees. Per tree and sort of
//! definition it prints how many `ctags` finds, how many of these are missing
//! here, how many are found here alone, and how many start or end elsewhere.
//! `--list` writes each difference into a file; `--calls N` prints N calls of each
//! tree, spread evenly, with the definition that the index states as a fact. Neither side is right by itself:
//! the lists are for reading.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise and prints what it measured"
)]

use patchwright_retrieval::{FILE_SIZE_LIMIT, Index, SymbolKind};
use patchwright_source::Language;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Words that no definition of C, C++ or Java can have as its name.
const KEYWORDS: [&str; 23] = [
    "if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto", "break",
    "continue", "enum", "const", "static", "void", "int", "char", "long", "short", "float",
    "double", "volatile",
];
/// More of C and C++.
const C_KEYWORDS: [&str; 10] = [
    "sizeof", "struct", "union", "extern", "unsigned", "signed", "inline", "typedef", "register",
    "auto",
];
/// More of C++ and Java.
const CLASS_KEYWORDS: [&str; 6] = ["class", "public", "private", "protected", "throw", "new"];

/// Describes what is compared with what: the same thing may be a struct here and a typedef
/// there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Function,
    Type,
    Macro,
    Enumerator,
    Data,
}

/// Where one definition starts (the line of its name) and, where known, ends.
type Lines = (u32, Option<u32>);

/// Definitions by path, sort and name.
type Definitions = BTreeMap<(String, Sort, String), Vec<Lines>>;

#[derive(Debug, Default)]
struct Tally {
    theirs: usize,
    missing: usize,
    /// Found by both over the same lines under different names.
    renamed: usize,
    extra: usize,
    start: usize,
    end: usize,
    compared: usize,
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|one| one != "--bench");
    let mut trees = Vec::new();
    let mut list = None;
    let mut calls = None;
    while let Some(argument) = arguments.next() {
        if argument == "--list" {
            list = arguments.next();
        } else if argument == "--calls" {
            calls = arguments
                .next()
                .map(|count| count.parse::<usize>().unwrap());
        } else {
            trees.push(argument);
        }
    }
    if let Some(count) = calls {
        for tree in &trees {
            draw_calls(Path::new(tree), count);
        }
        return;
    }
    let mut differences = String::new();
    println!(
        "{:<12} {:<10} {:>7} {:>16} {:>7} {:>7} {:>7} {:>7} {:>9}",
        "tree", "sort", "ctags", "missing", "renamed", "extra", "start", "end", "agree"
    );
    for tree in &trees {
        measure(Path::new(tree), &mut differences);
    }
    if let Some(list) = list {
        std::fs::write(list, differences).unwrap();
    }
}

/// Prints calls with what the index says they mean.
fn draw_calls(tree: &Path, count: usize) {
    let cache = tempfile::tempdir().unwrap();
    let index = Index::open(tree, cache.path(), FILE_SIZE_LIMIT).unwrap();
    let mut facts = Vec::new();
    let (mut by_name, mut outside) = (0, 0);
    let callables = [
        SymbolKind::Function,
        SymbolKind::Method,
        SymbolKind::Constructor,
    ];
    for file in index.files() {
        let symbols = index.outline(&file.path).unwrap();
        for symbol in symbols.iter().filter(|one| callables.contains(&one.kind)) {
            for call in index.calls_in(symbol).unwrap() {
                match &call.target {
                    Some(_) if call.by_name => by_name += 1,
                    Some(_) => facts.push(call),
                    None => outside += 1,
                }
            }
        }
    }
    println!(
        "{}: {} calls stated as facts, {by_name} by name, {outside} to what the tree does not define",
        tree.display(),
        facts.len(),
    );
    let step = (facts.len() / count.max(1)).max(1);
    for call in facts.iter().skip(step / 2).step_by(step).take(count) {
        let (Some(target), Some(line)) = (&call.target, call.lines.first()) else {
            continue;
        };
        let text = std::fs::read_to_string(tree.join(call.path.as_str())).unwrap_or_default();
        let code = text
            .lines()
            .nth(*line as usize - 1)
            .unwrap_or_default()
            .trim();
        println!(
            "{}:{line}: {code}\n    -> {} {}:{}",
            call.path,
            target.qualified(),
            target.path,
            target.start_line
        );
    }
}

fn measure(tree: &Path, differences: &mut String) {
    let cache = tempfile::tempdir().unwrap();
    let index = Index::open(tree, cache.path(), FILE_SIZE_LIMIT).unwrap();
    let (mut ours, keywords) = ours(&index);
    let mut theirs = theirs(tree, &index);
    let renamed = take_renamed(&mut theirs, &mut ours, differences);
    let name = tree.file_name().unwrap().to_string_lossy().into_owned();
    let mut tallies: BTreeMap<Sort, Tally> = BTreeMap::new();
    for key in theirs
        .keys()
        .chain(ours.keys().filter(|key| !theirs.contains_key(*key)))
    {
        let none = Vec::new();
        let (left, right) = (
            theirs.get(key).unwrap_or(&none),
            ours.get(key).unwrap_or(&none),
        );
        let tally = tallies.entry(key.1).or_default();
        compare(&name, key, (left, right), tally, differences);
    }
    for (sort, count) in renamed {
        let tally = tallies.entry(sort).or_default();
        tally.renamed = count;
        tally.theirs += count;
    }
    for (sort, tally) in &tallies {
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        println!(
            "{name:<12} {:<10} {:>7} {:>7} ({:>5.2}%) {:>7} {:>7} {:>7} {:>7} {:>8.2}%",
            format!("{sort:?}").to_lowercase(),
            tally.theirs,
            tally.missing,
            share(tally.missing, tally.theirs),
            tally.renamed,
            tally.extra,
            tally.start,
            tally.end,
            100.0 - share(tally.start + tally.end, tally.compared),
        );
    }
    let files = index.report();
    println!(
        "{name:<12} {} files, {} not understood in full, {} skipped, {} definitions named by a keyword: {}",
        files.indexed,
        files.broken,
        files.skipped.len(),
        keywords.len(),
        keywords.join(" "),
    );
}

/// Takes out the functions that end on the same line of a file under different
/// names, and counts them: of `PREFIX(f)(int a) {` one side names `PREFIX`, the
/// other `f`.
fn take_renamed(
    theirs: &mut Definitions,
    ours: &mut Definitions,
    differences: &mut String,
) -> BTreeMap<Sort, usize> {
    let alone = |these: &Definitions, those: &Definitions| {
        let mut found = BTreeMap::new();
        for (key, lines) in these.iter().filter(|(key, _)| key.1 == Sort::Function) {
            let others = those.get(key);
            for (_, end) in lines {
                let known = |others: &Vec<Lines>| others.iter().any(|other| other.1 == *end);
                if !others.is_some_and(known) {
                    found.insert((key.0.clone(), *end), key.clone());
                }
            }
        }
        found
    };
    let (left, right) = (alone(theirs, ours), alone(ours, theirs));
    let mut count = 0;
    for (place, key) in &left {
        let Some(other) = right.get(place) else {
            continue;
        };
        writeln!(
            differences,
            "renamed {} {} {} {:?}",
            key.2, other.2, key.0, place.1
        )
        .unwrap();
        for (side, key) in [(&mut *theirs, key), (&mut *ours, other)] {
            if let Some(lines) = side.get_mut(key) {
                lines.retain(|one| one.1 != place.1);
            }
        }
        count += 1;
    }
    BTreeMap::from([(Sort::Function, count)])
}

/// Pairs the definitions of one name in one file: those of equal lines first,
/// the rest in order.
fn compare(
    tree: &str,
    (path, sort, name): &(String, Sort, String),
    (theirs, ours): (&[Lines], &[Lines]),
    tally: &mut Tally,
    differences: &mut String,
) {
    let mut told = |what: &str, theirs: Option<Lines>, ours: Option<Lines>| {
        let text = |lines: Option<Lines>| match lines {
            Some((start, end)) => format!("{start}-{}", end.unwrap_or_default()),
            None => "-".to_owned(),
        };
        let (theirs, ours) = (text(theirs), text(ours));
        writeln!(
            differences,
            "{what} {tree} {sort:?} {name} {path} {theirs} {ours}"
        )
        .unwrap();
    };
    tally.theirs += theirs.len();
    let mut left: Vec<Lines> = theirs.to_vec();
    let mut pairs = Vec::new();
    let mut rest = Vec::new();
    for one in ours {
        match left.iter().position(|other| other.0 == one.0) {
            Some(at) => pairs.push((left.remove(at), *one)),
            None => rest.push(*one),
        }
    }
    let several = left.len().min(rest.len());
    for (other, one) in left.iter().zip(&rest) {
        tally.start += 1;
        told("start", Some(*other), Some(*one));
    }
    for other in left.iter().skip(several) {
        tally.missing += 1;
        told("missing", Some(*other), None);
    }
    for one in rest.iter().skip(several) {
        tally.extra += 1;
        told("extra", None, Some(*one));
    }
    tally.compared += pairs.len() + several;
    for (other, one) in pairs {
        if other.1.is_some_and(|end| Some(end) != one.1) {
            tally.end += 1;
            told("end", Some(other), Some(one));
        }
    }
}

/// Returns what the index has, and the definitions in it whose name is a keyword.
fn ours(index: &Index) -> (Definitions, Vec<String>) {
    let mut found = Definitions::new();
    let mut keywords = Vec::new();
    for file in index.files() {
        if !is_compared(file.language) {
            continue;
        }
        for symbol in index.outline(&file.path).unwrap() {
            let name = symbol.name.as_str();
            let is_java = file.language == Some(Language::Java);
            let is_c = file.language == Some(Language::C);
            if KEYWORDS.contains(&name)
                || !is_java && C_KEYWORDS.contains(&name)
                || !is_c && CLASS_KEYWORDS.contains(&name)
            {
                keywords.push(format!(
                    "{} {}:{}",
                    symbol.name, file.path, symbol.name_line
                ));
            }
            let sort = match symbol.kind {
                SymbolKind::Function | SymbolKind::Method | SymbolKind::Constructor => {
                    Sort::Function
                }
                SymbolKind::Macro => Sort::Macro,
                SymbolKind::Enumerator => Sort::Enumerator,
                SymbolKind::Field | SymbolKind::Variable => Sort::Data,
                kind if kind.is_type() => Sort::Type,
                _ => continue,
            };
            let name = symbol.name.split_whitespace().collect();
            let key = (file.path.to_string(), sort, name);
            let lines = (symbol.name_line, Some(symbol.end_line));
            found.entry(key).or_default().push(lines);
        }
    }
    (found, keywords)
}

fn is_compared(language: Option<Language>) -> bool {
    matches!(language, Some(Language::C | Language::Cpp | Language::Java))
}

/// Returns what `ctags` finds in the files that the index has read.
fn theirs(tree: &Path, index: &Index) -> Definitions {
    let read: std::collections::BTreeSet<String> = index
        .files()
        .into_iter()
        .filter(|file| is_compared(file.language))
        .map(|file| file.path.to_string())
        .collect();
    let output = Command::new("ctags")
        .current_dir(tree)
        .args(["-R", "--links=no", "--output-format=json", "--fields=+neK"])
        .args(["--languages=C,C++,Java", "-f", "-", "."])
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let mut found = Definitions::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(tag) = serde_json::from_str::<serde_json::Value>(line) else {
            continue;
        };
        let text = |key: &str| {
            tag.get(key)
                .and_then(|value| value.as_str())
                .unwrap_or_default()
        };
        let number = |key: &str| tag.get(key).and_then(serde_json::Value::as_u64);
        let sort = match text("kind") {
            "function" | "method" => Sort::Function,
            "struct" | "union" | "enum" | "typedef" | "class" | "interface" | "annotation" => {
                Sort::Type
            }
            "macro" => Sort::Macro,
            "enumerator" | "enumConstant" => Sort::Enumerator,
            "member" | "variable" | "field" => Sort::Data,
            _ => continue,
        };
        let path = text("path").trim_start_matches("./").to_owned();
        let name: String = text("name").split_whitespace().collect();
        if name.starts_with("__anon") || !read.contains(&path) {
            continue;
        }
        let line = |key: &str| number(key).and_then(|line| u32::try_from(line).ok());
        let lines = (line("line").unwrap_or_default(), line("end"));
        found.entry((path, sort, name)).or_default().push(lines);
    }
    found
}
