//! Line budgets of the packages: a feature is paid for by what it makes needless.
//!
//! A line counts when it is neither blank, nor a comment, nor part of a test or a benchmark.

use super::{Source, expect_none, rust};
use std::collections::{BTreeMap, BTreeSet};

/// Lines of all packages together that the design allows.
const GOAL: usize = 70_000;

/// The folder of each package, the lines that it may have, and the feature for which its budget
/// was raised; empty where it never was.
const BUDGETS: &[(&str, usize, &str)] = &[
    (
        "agent",
        8_013,
        "decisions that are kept, patches that are withdrawn, an order of attempts by doubts and P(right), \
         words of a reporter beside a log, files that a command names, crashes that are known, definitions of what a patch calls, tests shown by the lines that say most, code that a prompt shows once",
    ),
    (
        "cli",
        10_925,
        "one command from a crash or an issue of a forge to a mail that is written as its project writes; \
         a patch that the tree has already is told as that; a fix carried to other branches, by a model where git cannot, and an old one audited, and its like looked for; \
         a review as the issue of the next attempt, each of its points answered; a patch that is sent, with what it changes of an interface; \
         many commands tried on one build, programs built without those that cannot be, harnesses that get our driver, libraries of Java that \
         are called as a trace tells, test scripts of a project, fuzzers of a project by Clang, projects of Maven that are older than its tools, \
         one module of several, tests that cannot be built, that leak or that an option asks for, callers of a trace that Java cut, \
         projects in a folder of their repository, tests that the PoV's own crash ends, Maven's goals without its phases, \
         tools that are missing, programs of Java without a trace, a search that is stopped, build files in deeper folders, \
         programs without symbols and such that never end, inputs without an ending, a carried fix beside the original, conflicts that only touch, an old fix by the input that came with it, \
         a branch by its own programs",
    ),
    (
        "config",
        1_153,
        "variables of programs that act for a person, the webhook of a forge",
    ),
    (
        "daemon",
        6_482,
        "decisions by reviews and comments of a forge",
    ),
    (
        "evaluator/crash",
        6_118,
        "forms of reports that people paste, of Windows, kernels and Android too, behind any prefix and cut anywhere, \
         their own words and the commands that they ran; what is kept of a report moved here; results of Meson; \
         what CTest and Meson show of a failing test, versions and commands as people write them, where a chain of exceptions began, forms of a hundred more public reports, files that are written or harmless",
    ),
    (
        "evaluator/sandbox",
        3_976,
        "processes that end as one domain, programs kept from what is noted of them, many inputs \
         started by one process; copying and removing by handles, and the record of an isolation moved here",
    ),
    (
        "evaluator/target",
        5_349,
        "read-only stages, names that nobody can foretell, Java exceptions seen from outside, and those that a library declares, \
         builds that no sanitizer reached, budgets in work time, \
         a tree prepared once for all that is tried on it, results that lie beside the task, tests that would ask Valgrind",
    ),
    (
        "evaluator/verdict",
        8_185,
        "second witnesses beside the sanitizer of the build, challenges run like each PoV, mutants \
         that follow while they bring new answers, conditions that are turned round, tests of the crash that fail still, \
         programs that show nothing, sizes that are least ones or grow by a literal, bounds of a recursion, \
         crashes that are not named, tests that cannot fail, programs that leak or print times, regression tests beside others that fail now and then, challenges of the PoV's kind that a patch mends, times of few values, commands that hang on any input, programs of two trees compared",
    ),
    ("model", 1_968, "events read without a crate for them"),
    ("page", 700, ""),
    ("patcher", 6_493, ""),
    (
        "record",
        570,
        "answers that are decided, and conditions that are open; the PoVs, commands and times of a task moved here, \
         and the names of what a run leaves on disk",
    ),
    (
        "retrieval",
        14_405,
        "functions beside a stack that are named, places that are like what a fix repairs, where a cut function ends",
    ),
    (
        "run",
        1_928,
        "a replay that asks only those whom the transcript asked, crashes that are known",
    ),
    (
        "source",
        1_218,
        "what reads diffs and knows kinds of files moved here",
    ),
    ("store", 2_064, ""),
];

/// Lines that a package may fall below its budget before the budget has to follow.
const SLACK: usize = 400;

#[test]
fn packages_keep_to_their_line_budgets() {
    let lines = product_lines(&rust());
    let mut problems = Vec::new();
    for (folder, budget, _) in BUDGETS {
        let counted = lines.get(*folder).copied().unwrap_or_default();
        if counted > *budget {
            problems.push(format!("{folder}: {counted} lines, its budget is {budget}"));
        } else if counted + SLACK < *budget {
            problems.push(format!(
                "{folder}: {counted} lines; lower its budget of {budget}"
            ));
        }
    }
    for folder in lines.keys() {
        if !BUDGETS.iter().any(|(known, _, _)| known == folder) {
            problems.push(format!("{folder}: it has no line budget"));
        }
    }
    let all: usize = lines.values().sum();
    eprintln!("{all} product lines of {GOAL} that the design allows: {lines:?}");
    expect_none(&problems, "a package keeps to its line budget");
}

/// Counts the product lines of each package.
fn product_lines(files: &[Source]) -> BTreeMap<String, usize> {
    let tests: BTreeSet<String> = files.iter().flat_map(test_modules).collect();
    let mut lines = BTreeMap::new();
    for file in files {
        let Some(folder) = package(&file.path) else {
            continue;
        };
        if !is_test(&file.path, &tests) {
            *lines.entry(folder.to_owned()).or_default() += code_outside_tests(&file.text);
        }
    }
    lines
}

/// Returns the folder of the package that a product source belongs to.
fn package(path: &str) -> Option<&str> {
    let (folder, _) = path.split_once("/src/")?;
    (folder != "tests").then_some(folder)
}

pub(super) fn is_test(path: &str, modules: &BTreeSet<String>) -> bool {
    let stem = path.trim_end_matches(".rs");
    let below = |module: &String| stem == module || stem.starts_with(&format!("{module}/"));
    modules.iter().any(below)
}

/// Returns the paths, without `.rs`, of the modules that a file declares for tests only.
pub(super) fn test_modules(file: &Source) -> Vec<String> {
    let stem = file.path.trim_end_matches(".rs");
    let folder = match stem.rsplit_once('/') {
        Some((folder, "lib" | "main")) => folder,
        _ => stem,
    };
    let mut marked = false;
    let mut found = Vec::new();
    for line in file.text.lines().map(str::trim) {
        if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(any(test,") {
            marked = true;
        } else if !line.starts_with("#[") {
            let module = line
                .strip_suffix(';')
                .and_then(|line| line.rsplit_once("mod "));
            if let Some((_, name)) = module.filter(|_| marked) {
                found.push(format!("{folder}/{name}"));
            }
            marked = false;
        }
    }
    found
}

/// Counts the lines of code of a formatted file without the items that only tests have: such an
/// item ends with a brace that is indented like its first line.
fn code_outside_tests(text: &str) -> usize {
    let mut count = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim();
        if code.starts_with("#[cfg(test)]") {
            let indent = line.len() - line.trim_start().len();
            let end = format!("{}}}", " ".repeat(indent));
            let mut item = lines
                .by_ref()
                .skip_while(|line| line.trim().starts_with("#["));
            let head = item.next().unwrap_or_default();
            if !head.trim_end().ends_with([';', '}']) {
                item.find(|line| *line == end);
            }
        } else if !code.is_empty() && !code.starts_with("//") {
            count += 1;
        }
    }
    count
}

#[test]
fn counts_neither_comments_nor_tests() {
    let text = "//! Module.\nuse a::b;\n\n#[cfg(test)]\nmod tests {\n    fn a() {\n    }\n}\n\nfn b() {}\n";
    assert_eq!(code_outside_tests(text), 2);
    let declared = "#[cfg(test)]\nmod tests;\nmod other;\nfn a() {\n    // why\n}\n";
    assert_eq!(code_outside_tests(declared), 3);
    let file = |path: &str, text: &str| Source {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let files = [
        file("agent/src/lib.rs", declared),
        file("agent/src/tests.rs", "fn t() {}\n"),
        file("agent/src/tests/one.rs", "fn t() {}\n"),
        file("agent/src/other.rs", "fn b() {}\n"),
        file("tests/src/lib.rs", "fn c() {}\n"),
        file("evaluator/crash/src/lib.rs", "fn d() {}\n"),
    ];
    let expected = BTreeMap::from([("agent".to_owned(), 4), ("evaluator/crash".to_owned(), 1)]);
    assert_eq!(product_lines(&files), expected);
}
