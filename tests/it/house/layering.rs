//! Import rules between the crates, by their manifests; and the words that some
//! modules must do without. The modules of one crate are the business of
//! `modules`.

use super::{Source, expect_none, root, rust};
use std::process::Command;

/// Each package of the workspace, and which packages of it it may depend on.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("patchwright-source", &[]),
    ("patchwright-record", &["patchwright-source"]),
    ("patchwright-retrieval", &["patchwright-source"]),
    ("patchwright-patcher", &["patchwright-source"]),
    (
        "patchwright-crash",
        &["patchwright-record", "patchwright-source"],
    ),
    ("patchwright-sandbox", &[]),
    (
        "patchwright-target",
        &[
            "patchwright-crash",
            "patchwright-record",
            "patchwright-sandbox",
            "patchwright-source",
        ],
    ),
    (
        "patchwright-verdict",
        &[
            "patchwright-crash",
            "patchwright-record",
            "patchwright-sandbox",
            "patchwright-source",
            "patchwright-target",
        ],
    ),
    ("patchwright-config", &[]),
    ("patchwright-model", &["patchwright-config"]),
    (
        "patchwright-agent",
        &[
            "patchwright-config",
            "patchwright-crash",
            "patchwright-model",
            "patchwright-patcher",
            "patchwright-record",
            "patchwright-retrieval",
            "patchwright-sandbox",
            "patchwright-source",
            "patchwright-target",
            "patchwright-verdict",
        ],
    ),
    (
        "patchwright-store",
        &["patchwright-agent", "patchwright-config"],
    ),
    (
        "patchwright-page",
        &[
            "patchwright-agent",
            "patchwright-source",
            "patchwright-store",
        ],
    ),
    (
        "patchwright-run",
        &[
            "patchwright-agent",
            "patchwright-config",
            "patchwright-crash",
            "patchwright-model",
            "patchwright-patcher",
            "patchwright-retrieval",
            "patchwright-sandbox",
            "patchwright-source",
            "patchwright-store",
            "patchwright-target",
            "patchwright-verdict",
        ],
    ),
    (
        "patchwright-daemon",
        &[
            "patchwright-agent",
            "patchwright-config",
            "patchwright-crash",
            "patchwright-model",
            "patchwright-page",
            "patchwright-patcher",
            "patchwright-retrieval",
            "patchwright-run",
            "patchwright-sandbox",
            "patchwright-source",
            "patchwright-store",
            "patchwright-target",
            "patchwright-verdict",
        ],
    ),
    (
        "patchwright",
        &[
            "patchwright-agent",
            "patchwright-config",
            "patchwright-crash",
            "patchwright-daemon",
            "patchwright-model",
            "patchwright-patcher",
            "patchwright-retrieval",
            "patchwright-run",
            "patchwright-sandbox",
            "patchwright-source",
            "patchwright-store",
            "patchwright-target",
            "patchwright-verdict",
        ],
    ),
    (
        "patchwright-tests",
        &[
            "patchwright",
            "patchwright-agent",
            "patchwright-config",
            "patchwright-crash",
            "patchwright-daemon",
            "patchwright-model",
            "patchwright-patcher",
            "patchwright-retrieval",
            "patchwright-run",
            "patchwright-sandbox",
            "patchwright-source",
            "patchwright-store",
            "patchwright-target",
            "patchwright-verdict",
        ],
    ),
];

/// Packages from outside that a crate must do without: the libraries have no
/// model, no network, no asynchronous run time, no subprocess; the loop has no
/// database and no interface of its own.
const MUST_NOT_IMPORT: &[(&str, &[&str])] = &[
    (
        "patchwright-source",
        &["tokio", "reqwest", "sqlx", "process-wrap"],
    ),
    (
        "patchwright-record",
        &["tokio", "reqwest", "sqlx", "process-wrap"],
    ),
    (
        "patchwright-retrieval",
        &["tokio", "reqwest", "sqlx", "process-wrap"],
    ),
    (
        "patchwright-patcher",
        &["tokio", "reqwest", "sqlx", "process-wrap"],
    ),
    ("patchwright-crash", &["tokio", "reqwest", "sqlx", "rustix"]),
    ("patchwright-sandbox", &["reqwest", "sqlx", "minijinja"]),
    ("patchwright-target", &["reqwest", "sqlx", "minijinja"]),
    (
        "patchwright-verdict",
        &["reqwest", "sqlx", "minijinja", "rustix"],
    ),
    ("patchwright-config", &["tokio", "sqlx", "axum"]),
    ("patchwright-model", &["sqlx", "axum", "rmcp", "minijinja"]),
    ("patchwright-store", &["axum", "rmcp"]),
    (
        "patchwright-run",
        &["axum", "rmcp", "opentelemetry", "sqlx"],
    ),
    (
        "patchwright-page",
        &["axum", "hyper", "tokio", "sqlx", "reqwest"],
    ),
];

/// Packages that a change in the loop must not compile, in its whole tree of
/// dependencies, those of its tests included.
const NOT_BELOW_THE_AGENT: &[&str] = &["axum", "sqlx", "rmcp", "opentelemetry"];

/// Folders and files whose code must not hold a word, and why.
const MUST_NOT_SAY: &[(&[&str], &[&str], &str)] = &[
    (
        &[
            "record/src",
            "agent/src/record",
            "agent/src/plan",
            "agent/src/repair",
            "agent/src/task",
        ],
        &["tokio", "sqlx", "reqwest", "axum"],
        "decisions and tasks are plain: no run time, no store, no network",
    ),
    (
        &[
            "record/src",
            "agent/src/record",
            "agent/src/plan",
            "agent/src/repair",
        ],
        &[
            "std::fs",
            "std::net",
            "std::process",
            "SystemTime",
            "Instant",
            "async fn",
        ],
        "decisions are pure: no clock, no IO, nothing asynchronous",
    ),
    (
        &["retrieval/src", "patcher/src", "source/src"],
        &["tokio", "std::net", "process::Command"],
        "a library that reads code starts no program and opens no connection",
    ),
];

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

/// The name of each package with the names of its dependencies, without those of its tests.
fn dependencies() -> Vec<(String, Vec<String>)> {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let name = |value: &serde_json::Value| value["name"].as_str().expect("a name").to_owned();
    packages
        .iter()
        .map(|package| {
            let all = package["dependencies"].as_array().expect("dependencies");
            let used = all.iter().filter(|dependency| dependency["kind"].is_null());
            (name(package), used.map(name).collect())
        })
        .collect()
}

#[test]
fn crates_import_only_what_lies_below_them() {
    let mut problems = Vec::new();
    for (package, used) in dependencies() {
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(name, _)| *name == package) else {
            problems.push(format!("{package} is not in the table of this test"));
            continue;
        };
        let ours = used.iter().filter(|name| name.starts_with("patchwright"));
        for name in ours.filter(|name| !allowed.contains(&name.as_str())) {
            problems.push(format!("{package} imports {name}"));
        }
    }
    expect_none(
        &problems,
        "cli -> daemon -> run -> store -> agent -> model -> config; agent -> retrieval, patcher, verdict -> target -> sandbox, crash -> source; tests -> all",
    );
}

#[test]
fn libraries_do_without_network_and_run_time() {
    let all = dependencies();
    let mut problems = Vec::new();
    for (package, forbidden) in MUST_NOT_IMPORT {
        let found = all.iter().find(|(name, _)| name == package);
        let (_, used) = found.expect("every package of the table exists");
        for name in used
            .iter()
            .filter(|name| forbidden.contains(&name.as_str()))
        {
            problems.push(format!("{package} imports {name}"));
        }
    }
    expect_none(&problems, "a dependency that its crate must do without");
}

#[test]
fn a_change_in_the_loop_compiles_no_database_and_no_server() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", "patchwright-agent"])
        .args(["--edges", "normal,build,dev", "--prefix", "none"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let tree = String::from_utf8_lossy(&output.stdout);
    let names: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(names.contains(&"patchwright-verdict"), "{tree}");
    let problems: Vec<String> = NOT_BELOW_THE_AGENT
        .iter()
        .filter(|name| names.contains(*name))
        .map(|name| format!("patchwright-agent needs {name}"))
        .collect();
    expect_none(
        &problems,
        "see `cargo tree --package patchwright-agent --invert NAME`",
    );
}

#[test]
fn only_one_module_speaks_to_models() {
    let outside = |file: &&Source| {
        let ours = file.path.starts_with("model/src/openai");
        !ours && !file.path.starts_with("tests/")
    };
    let files = rust();
    let problems: Vec<String> = files
        .iter()
        .filter(outside)
        .flat_map(|file| said(file, "chat/completions"))
        .collect();
    expect_none(&problems, "only model/src/openai calls a model's endpoint");
}

#[test]
fn modules_import_only_what_lies_below_them() {
    let files = rust();
    let mut problems = Vec::new();
    for (places, words, reason) in MUST_NOT_SAY {
        for file in files.iter().filter(|file| lies_in(&file.path, places)) {
            for place in words.iter().flat_map(|word| said(file, word)) {
                problems.push(format!("{place}: {reason}"));
            }
        }
    }
    expect_none(&problems, "a word that its module must do without");
}

/// Returns true when a path is one of the modules: `foo.rs`, or below `foo/`.
fn lies_in(path: &str, modules: &[&str]) -> bool {
    modules.iter().any(|module| {
        let rest = path.strip_prefix(module);
        rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    })
}

/// Where the code of a file holds a word, as a word.
pub(super) fn said(file: &Source, word: &str) -> Vec<String> {
    let hit = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + word.len()..].chars().next();
            let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !part(before) && !part(after)
        })
    };
    let lines = file.code().filter(|(_, line)| hit(line));
    lines
        .map(|(number, line)| format!("{}:{number}: {line}", file.path))
        .collect()
}

#[test]
fn finds_words_and_modules() {
    let file = Source {
        path: "a/b.rs".into(),
        text: "// tokio in a comment\nuse tokio::fs;\nlet tokio_like = 1;\n".into(),
    };
    assert_eq!(said(&file, "tokio"), ["a/b.rs:2: use tokio::fs;"]);
    assert!(lies_in("agent/src/task.rs", &["agent/src/task"]));
    assert!(lies_in("agent/src/task/read.rs", &["agent/src/task"]));
    assert!(!lies_in("agent/src/tasks.rs", &["agent/src/task"]));
}
