//! The examples in the repository: each is a valid task, does not give its fix
//! away, and has scripts that can run. `make examples` and `make demo` run them,
//! because that needs the network.

use patchwright_agent::task;
use patchwright_source::Language;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The largest file of an example. Source is fetched, never kept here.
const FILE_LIMIT: u64 = 1024 * 1024;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let entries = fs::read_dir(folder).expect("examples/");
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of an example") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_example_is_a_valid_task() {
    let mut languages = Vec::new();
    for folder in examples() {
        let task = task::read(&folder).unwrap_or_else(|problem| panic!("{problem}"));
        let name = folder
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        assert_eq!(task.id, name, "an example is called as its folder");
        assert!(task.title.is_some(), "{name} has no title");
        assert!(!task.povs.is_empty(), "{name} has no PoV");
        assert!(
            task.povs.iter().all(|pov| pov.ran.is_some()),
            "{name}: a PoV may not have run"
        );
        assert!(task.commands.test.is_some(), "{name} has no tests");
        assert!(!task.harmless.is_empty(), "{name} has no harmless inputs");
        assert!(task.crash.is_some(), "{name} has no crash report");
        languages.push(task.language);
    }
    languages.sort();
    languages.dedup();
    assert_eq!(languages, [Language::C, Language::Cpp, Language::Java]);
}

#[test]
fn no_example_tells_its_answer() {
    for path in examples().iter().flat_map(|folder| files(folder)) {
        let name = path.to_string_lossy().into_owned();
        let extension = path.extension().unwrap_or_default();
        assert!(
            extension != "patch" && extension != "diff",
            "{name} looks like a fix"
        );
        if let Ok(text) = fs::read_to_string(&path) {
            assert!(!text.contains("[truth]"), "{name} tells the answer");
        }
    }
}

#[test]
fn examples_are_small_and_their_scripts_run() {
    for path in examples().iter().flat_map(|folder| files(folder)) {
        let name = path.to_string_lossy().into_owned();
        let data = path.metadata().expect("metadata");
        assert!(data.len() <= FILE_LIMIT, "{name} has {} bytes", data.len());
        if path.extension().is_some_and(|extension| extension == "sh") {
            assert!(
                data.permissions().mode() & 0o111 != 0,
                "{name} is not executable"
            );
            let text = fs::read_to_string(&path).expect("a script is text");
            assert!(
                text.starts_with("#!/bin/sh\n"),
                "{name} is not for a POSIX shell"
            );
        }
    }
}
