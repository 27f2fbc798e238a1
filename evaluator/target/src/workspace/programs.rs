//! Programs of a build: files of the executable format that may be run or loaded.

use super::{OUT, TREE};
use patchwright_sandbox::contained_path::{ContainedFolder, Entry};
use std::ffi::OsStr;
use std::path::Path;

/// Entries of folders that are looked at.
const MOST_ENTRIES: usize = 200_000;
/// First bytes of the executable format.
const ELF: &[u8] = b"\x7fELF";

/// A program or a shared library of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Program {
    /// The part of the workspace that it lies in.
    pub(crate) part: &'static str,
    /// Its path from there.
    pub(crate) path: String,
    /// True when it may be run.
    pub(crate) runs: bool,
}

impl Program {
    /// Tells whether a person would run it: it is neither a library nor an object nor
    /// a test of a configure script, and its path is a plain word for a shell.
    pub(crate) fn is_for_people(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        let plain = |c: char| c.is_ascii_alphanumeric() || "._+-/".contains(c);
        let ends_as_code = name.rsplit_once('.').is_some_and(|(_, end)| end == "o");
        self.runs
            && !is_library(name)
            && !ends_as_code
            && !self.path.split('/').any(|part| part == "CMakeFiles")
            && self.path.chars().all(plain)
    }
}

/// Lists the programs and shared libraries of a workspace, those of the output first.
pub(crate) fn programs(workspace: &Path) -> Vec<Program> {
    let parts = [OUT, TREE].into_iter();
    parts.flat_map(|part| below(workspace, part)).collect()
}

fn below(workspace: &Path, part: &'static str) -> Vec<Program> {
    let Ok(root) = ContainedFolder::open(&workspace.join(part)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut left = MOST_ENTRIES;
    let folders = root.folders(|path| path.file_name() != Some(OsStr::new(".git")));
    for visited in folders.flatten() {
        left = left.saturating_sub(visited.entries.len());
        if left == 0 {
            break;
        }
        for entry in visited.entries.iter().filter(|entry| entry.is_file()) {
            if let Some(path) = visited.path_of(entry).to_str()
                && let Some(runs) = may_run(entry)
                && visited.folder.starts_with(&*entry.name, ELF)
            {
                let path = path.to_owned();
                found.push(Program { part, path, runs });
            }
        }
    }
    found.sort();
    found
}

/// Tells whether a file may be run; none where it may not even be loaded.
fn may_run(entry: &Entry) -> Option<bool> {
    let runs = entry.facts.st_mode & 0o111 != 0;
    (runs || is_library(&entry.name.to_string_lossy())).then_some(runs)
}

fn is_library(name: &str) -> bool {
    // A version may follow: `libz.so.1`.
    name.split('.').skip(1).any(|part| part == "so")
}

#[cfg(test)]
mod tests {
    use super::{OUT, Program, TREE, programs};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn programs_are_told_from_other_files() {
        let root = tempfile::tempdir().unwrap();
        let elf = b"\x7fELF code";
        for (path, content, mode) in [
            ("out/prog", &elf[..], 0o755),
            ("out/script", b"#!/bin/sh\n", 0o755),
            ("out/data", elf, 0o644),
            ("tree/lib/libz.so.1", elf, 0o644),
            ("tree/.git/hook", elf, 0o755),
            ("tree/CMakeFiles/a.out", elf, 0o755),
            ("tree/a.o", elf, 0o755),
            ("tree/odd;name", elf, 0o755),
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        symlink("/bin/true", root.path().join("out/link")).unwrap();
        let program = |part, path: &str, runs| Program {
            part,
            path: path.to_owned(),
            runs,
        };
        let found = programs(root.path());
        let expected = [
            program(OUT, "prog", true),
            program(TREE, "CMakeFiles/a.out", true),
            program(TREE, "a.o", true),
            program(TREE, "lib/libz.so.1", false),
            program(TREE, "odd;name", true),
        ];
        assert_eq!(found, expected);
        let for_people: Vec<&str> = found
            .iter()
            .filter(|program| program.is_for_people())
            .map(|program| program.path.as_str())
            .collect();
        assert_eq!(for_people, ["prog"]);
    }
}
