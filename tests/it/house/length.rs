//! Files stay short, and say what they are for.

use super::{expect_none, rust};

/// Lines of code from which a file wants splitting.
const WARN: usize = 300;
/// Lines of code that no file passes.
const FAIL: usize = 500;

#[test]
fn no_file_is_too_long() {
    let mut problems = Vec::new();
    for file in rust() {
        let lines = file.code().count();
        if lines > FAIL {
            problems.push(format!("{}: {lines} lines of code", file.path));
        } else if lines > WARN {
            eprintln!(
                "warning: {} has {lines} lines of code and wants splitting",
                file.path
            );
        }
    }
    expect_none(
        &problems,
        &format!("a file has at most {FAIL} lines of code"),
    );
}

#[test]
fn every_module_says_what_it_is_for() {
    let silent: Vec<String> = rust()
        .into_iter()
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| file.path)
        .collect();
    expect_none(
        &silent,
        "a module starts with a `//!` line that says what it is for",
    );
}

#[test]
fn modules_are_laid_out_without_mod_rs() {
    let found: Vec<String> = rust()
        .into_iter()
        .map(|file| file.path)
        .filter(|path| path.ends_with("/mod.rs"))
        .collect();
    expect_none(
        &found,
        "module `foo` lies in foo.rs and foo/, not in foo/mod.rs",
    );
}
