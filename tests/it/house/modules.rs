//! Import rules inside a crate: each crate has a declared order of its
//! modules, and no two modules below the same parent import each other, not
//! even by way of others.
//!
//! The imports themselves are read in `imports`.

use super::imports::{Crate, Import, Path};
use super::{Source, expect_none, rust};
use std::collections::{BTreeMap, BTreeSet};

/// The modules of each crate, lowest first: one imports only those before it.
const ORDER: &[(&str, &str)] = &[
    (
        "source",
        "words error frame pattern text visible diff path digest changes difference kind language comment tree parse",
    ),
    (
        "record",
        "blob crash doubt rung agreement ending history regression result smallest seconds optional_seconds task",
    ),
    (
        "retrieval",
        "error intent query settings snippet symbol words language pattern rank ranking text answer \
         index rule relations search flow sql engine siblings slice context memory signals",
    ),
    (
        "patcher",
        "changes numbers refusal script splice unescape tokens edit diff pristine \
         background names syntax guard indent locate reply merge normal paths plan prepare",
    ),
    (
        "evaluator/crash",
        "crash signature test_report feedback kept",
    ),
    (
        "evaluator/sandbox",
        "error identity contained_path process isolation attack",
    ),
    (
        "evaluator/target",
        "error work_time cache probe workspace sanitizer_hooks runner advice inspect local test_support",
    ),
    (
        "evaluator/verdict",
        "mutation evidence attempt given_inputs review verdict_cache rung minimize regression memcheck witness robust \
         same_elsewhere agreement comparison ladder",
    ),
    (
        "config",
        "private environment error value crs daemon layer entry section endpoint check schema load",
    ),
    (
        "model",
        "model http tokens price openai retry fallback recorded journaled connect account",
    ),
    (
        "agent",
        "record probability hints journal telemetry task plan prompt repair progress \
         signals anchors report template report_text drive",
    ),
    (
        "store",
        "store runs connect backup blobs quota files submissions crs journal reviews spending prune \
         tokens",
    ),
    (
        "run",
        "error intake admission files known commands answers checkout plan prepare oss_fuzz session",
    ),
    (
        "page",
        "text view template code plots list message hunks run candidate",
    ),
    (
        "daemon",
        "machine telemetry login task_watcher service \
         follow_up worker api review crs",
    ),
    (
        "cli",
        "common display crash_text git export issue init output revisions upstream story reviewed mcp verb",
    ),
];

/// Cycles that still exist: modules of one parent that import each other. To be
/// emptied; one that is mended has to leave the list.
const KNOWN_CYCLES: &[(&str, &str)] = &[];

/// Returns true when all of these modules are in one known cycle.
fn is_known(name: &str, modules: &[String]) -> bool {
    KNOWN_CYCLES.iter().any(|(of, cycle)| {
        *of == name
            && modules
                .iter()
                .all(|module| words(cycle).any(|known| known == module))
    })
}

fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_whitespace()
}

fn crates() -> Vec<Crate> {
    let files = rust();
    let read = |(name, _): &(&str, &str)| Crate::read(name, &files);
    ORDER.iter().map(read).collect()
}

#[test]
fn modules_import_only_those_before_them() {
    let mut problems = Vec::new();
    for (read, (name, order)) in crates().iter().zip(ORDER) {
        let there: BTreeSet<&str> = read
            .modules
            .keys()
            .filter_map(|path| Some(path.first()?.as_str()))
            .collect();
        let listed: BTreeSet<&str> = words(order).collect();
        for missing in there.symmetric_difference(&listed) {
            problems.push(format!(
                "{name}: {missing} is either not there or not in the order"
            ));
        }
        let rank = |path: &Path| match path.first() {
            Some(top) => words(order).position(|one| one == top).unwrap_or_default(),
            // What the root defines itself lies above all modules.
            None => words(order).count(),
        };
        for import in read.imports() {
            let top = |path: &Path| path.first().cloned().unwrap_or_default();
            let both = [top(&import.from), top(&import.to)];
            if rank(&import.to) > rank(&import.from) && !is_known(name, &both) {
                problems.push(format!("{}: imports {}", import.file, import.to.join("::")));
            }
        }
    }
    problems.sort();
    problems.dedup();
    expect_none(
        &problems,
        "an import that runs upwards in the order of its crate",
    );
}

/// The imports between modules of one parent, by parent: who imports whom.
type Arrows = BTreeMap<Path, BTreeMap<String, BTreeMap<String, String>>>;

fn arrows(read: &Crate) -> Arrows {
    let mut arrows = Arrows::new();
    for Import { from, to, file } in read.imports() {
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) else {
            continue;
        };
        let siblings = arrows.entry(from[..shared].to_vec()).or_default();
        let targets = siblings.entry(one.clone()).or_default();
        targets.entry(other.clone()).or_insert(file);
    }
    arrows
}

/// Returns the modules that can be reached from one; itself only over others.
fn reached(from: &str, arrows: &BTreeMap<String, BTreeMap<String, String>>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(next) = open.pop() {
        for target in arrows.get(&next).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(target.clone()) {
                open.push(target.clone());
            }
        }
    }
    found
}

/// The cycles between modules of one parent, each with its arrows.
fn cycles(read: &Crate) -> BTreeMap<Vec<String>, Vec<String>> {
    let mut cycles = BTreeMap::new();
    for (parent, arrows) in arrows(read) {
        let full = |name: &String| {
            let path: Path = parent.iter().cloned().chain([name.clone()]).collect();
            path.join("::")
        };
        for one in arrows.keys() {
            let there = reached(one, &arrows);
            if !there.contains(one) {
                continue;
            }
            let back = |other: &&String| reached(other, &arrows).contains(one);
            let members: BTreeSet<String> = there.iter().filter(back).cloned().collect();
            let inside = members.iter().flat_map(|from| {
                let targets = arrows.get(from).into_iter().flatten();
                let targets = targets.filter(|(to, _)| members.contains(*to));
                targets.map(move |(to, file)| format!("{from} -> {to} in {file}"))
            });
            let inside = inside.collect();
            cycles.insert(members.iter().map(full).collect(), inside);
        }
    }
    cycles
}

#[test]
fn no_modules_import_each_other() {
    let mut problems = Vec::new();
    for read in crates() {
        for (members, arrows) in cycles(&read) {
            if !is_known(&read.name, &members) {
                problems.push(format!("{}: {}", read.name, members.join(", ")));
                problems.extend(arrows.iter().map(|arrow| format!("    {arrow}")));
            }
        }
    }
    expect_none(&problems, "modules of one parent that import each other");
}

#[test]
fn a_cycle_that_is_mended_is_not_known_any_more() {
    let crates = crates();
    let mut problems = Vec::new();
    for (name, cycle) in KNOWN_CYCLES {
        let read = crates.iter().find(|read| read.name == *name);
        let cycles = read.map(cycles).unwrap_or_default();
        let there = |members: &Vec<String>| {
            words(cycle).all(|known| members.iter().any(|one| one == known))
        };
        if !cycles.keys().any(there) {
            problems.push(format!(
                "{name}: {}",
                words(cycle).collect::<Vec<_>>().join(", ")
            ));
        }
    }
    expect_none(
        &problems,
        "not a cycle any more: take it off KNOWN_CYCLES, or what was mended of it",
    );
}

#[test]
fn a_cycle_over_others_is_found() {
    let file = |path: &str, text: &str| Source {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let files = [
        file("x/src/a.rs", "use crate::b::B;\n"),
        file("x/src/b.rs", "mod c;\nmod d;\nuse crate::e::E;\n"),
        file("x/src/b/c.rs", "use super::d::D;\n"),
        file("x/src/b/d.rs", "fn f(_: super::c::C) {}\n"),
        file("x/src/e.rs", "use crate::a::A;\n"),
        file("x/src/f.rs", "use crate::a::A;\n"),
    ];
    let cycles: Vec<String> = cycles(&Crate::read("x", &files))
        .keys()
        .map(|members| members.join(" "))
        .collect();
    assert_eq!(cycles, ["a b e", "b::c b::d"]);
}
