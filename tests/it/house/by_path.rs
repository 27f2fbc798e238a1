//! Files are opened by their path only where no command can have written on the way.
//!
//! The sandbox's `contained_path` copies, hashes, removes and reads what a command wrote; it goes by
//! handles and follows no link.

use super::imports::without_tests;
use super::layering::said;
use super::size::{is_test, test_modules};
use super::{Source, expect_none, rust};
use std::collections::BTreeSet;

/// The crates that start commands or see what they left.
const CRATES: [&str; 4] = [
    "evaluator/crash/src/",
    "evaluator/sandbox/src/",
    "evaluator/target/src/",
    "evaluator/verdict/src/",
];

/// Words for files that are opened, looked at or listed by their path.
const WORDS: [&str; 10] = [
    "std::fs",
    "std::{",
    "tokio::fs",
    "fs_err",
    "walkdir",
    "File::open",
    "OpenOptions",
    "canonicalize",
    "read_dir",
    "symlink_metadata",
];

/// The files that may, below the crates' folders, each with the reason.
const MAY: &[(&str, &[&str])] = &[
    (
        "it is the module that goes by handles",
        &["contained_path", "contained_path/copy"],
    ),
    (
        "it reads what the kernel tells, and the system's own folders",
        &[
            "identity",
            "isolation/configuration",
            "isolation/container",
            "isolation/engine",
            "isolation/host",
            "isolation/mounts",
            "isolation/supervisor",
            "process/cgroup",
            "process/disk",
            "process/supervise",
            "process/watch",
            "work_time",
        ],
    ),
    ("it copies our own program", &["isolation"]),
    (
        "it runs inside the sandbox, in a folder that the program does not reach",
        &["isolation/each"],
    ),
    (
        "it sets traps of its own for `check --attack`",
        &["attack", "attack/outside"],
    ),
    (
        "it reads files of the user, which no command may write",
        &[
            "given_inputs",
            "local/shown",
            "local/task_check",
            "local/task_digest",
            "runner/input_file",
        ],
    ),
    (
        "it makes folders before a command gets them, and what lies beside them",
        &[
            "cache",
            "local/build_cache",
            "local/command",
            "local/disguise",
            "local/fetch",
            "local/scratch",
            "workspace",
        ],
    ),
];

#[test]
fn what_a_command_wrote_is_reached_by_handles() {
    let files = rust();
    let tests: BTreeSet<String> = files.iter().flat_map(test_modules).collect();
    let own = files.iter().filter(|file| !is_test(&file.path, &tests));
    let mut left: BTreeSet<&str> = MAY.iter().flat_map(|(_, files)| *files).copied().collect();
    let mut problems = Vec::new();
    for file in own {
        let below = CRATES
            .iter()
            .find_map(|folder| file.path.strip_prefix(folder));
        let Some(name) = below.and_then(|path| path.strip_suffix(".rs")) else {
            continue;
        };
        let code = Source {
            path: file.path.clone(),
            text: without_tests(file),
        };
        let found: Vec<String> = WORDS.iter().flat_map(|word| said(&code, word)).collect();
        if found.is_empty() || !left.remove(name) {
            problems.extend(found);
        }
    }
    expect_none(
        &problems,
        "`contained_path` opens what a command may have written",
    );
    let left: Vec<String> = left.iter().map(|name| (*name).to_owned()).collect();
    expect_none(&left, "a file that opens nothing by its path any more");
}
