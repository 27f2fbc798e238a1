//! The house rules that neither the compiler nor clippy checks: who may import
//! whom, how long a file may be, what each module and template says of itself,
//! and which words have no place in the repository.
//!
//! It reads the sources as text. What clippy can check is not repeated here.

mod behaviour;
mod by_path;
mod imports;
mod layering;
mod length;
mod manifests;
mod modules;
mod prompts;
mod size;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the workspace.
fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .expect("tests/ lies in the workspace")
        .to_path_buf()
}

/// A file of the repository: its path from the root, with `/`, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The code without comments and blank lines, each with its line number.
    ///
    /// Every comment line of this repository starts with `//`: block comments
    /// are not used, and one in a string is still code.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate();
        lines.filter_map(|(index, line)| {
            let line = line.trim();
            let counts = !line.is_empty() && !line.starts_with("//");
            counts.then_some((index + 1, line))
        })
    }
}

/// All files below the root that are ours and text, in order of path.
/// Files that are built, fetched, hidden or fixtures are left out.
fn files(wanted: impl Fn(&str) -> bool) -> Vec<Source> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository") {
            let entry = entry.expect("an entry");
            let kind = entry.file_type().expect("a file type");
            let path = entry.path();
            let relative = path.strip_prefix(&root).expect("below the root");
            let name = relative.to_str().expect("a UTF-8 path").replace('\\', "/");
            if is_foreign(&name) {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && wanted(&name)
                && let Ok(text) = fs::read_to_string(&path)
            {
                found.push(Source { path: name, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Tells whether a path is Git's own, ignored, or a fixture.
fn is_foreign(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(path, "target" | "tests/fixtures") || name == ".git"
}

/// The Rust sources of the workspace.
fn rust() -> Vec<Source> {
    let found = files(|path| Path::new(path).extension().is_some_and(|e| e == "rs"));
    assert!(
        !found.is_empty(),
        "no Rust source below {}",
        root().display()
    );
    found
}

/// Fails with all that was found at once.
fn expect_none(problems: &[String], rule: &str) {
    assert!(problems.is_empty(), "{rule}:\n  {}", problems.join("\n  "));
}
