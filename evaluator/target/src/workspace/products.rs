//! Products of a build: what was made of the sources, compared between two builds.
//!
//! Everything in the build's output counts, and of the tree what a compiler or a
//! linker writes. Logs, time stamps and what tests leave behind do not: they differ
//! between any two builds.

use super::{OUT, TREE, copy::opened, delta::same_content};
use patchwright_sandbox::contained_path::ContainedFolder;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// First bytes of what compilers, linkers and archivers write: ELF, `ar`, Java classes.
const MACHINE_CODE: [&[u8]; 3] = [b"\x7fELF", b"!<arch>\n", b"\xca\xfe\xba\xbe"];

/// Tells whether a build has all products of a clean build of the same sources,
/// byte by byte.
pub(crate) fn holds_all(build: &Path, clean: &Path) -> io::Result<bool> {
    for part in [OUT, TREE] {
        let (build, clean) = opened(&build.join(part), &clean.join(part))?;
        for visited in clean.folders(|_| true) {
            let visited = visited?;
            let built = build.below(&visited.path);
            let files = visited.entries.iter().filter(|entry| entry.is_file());
            for name in files.map(|entry| &*entry.name) {
                let counts = part == OUT || is_machine_code(&visited.folder, name);
                let same = || is_same(built.as_ref().ok()?, &visited.folder, name);
                if counts && same() != Some(true) {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

fn is_machine_code(folder: &ContainedFolder, name: &OsStr) -> bool {
    { MACHINE_CODE.iter() }.any(|magic| folder.starts_with(name, magic))
}

/// Compares two files; none where one of them is no file.
fn is_same(one: &ContainedFolder, other: &ContainedFolder, name: &OsStr) -> Option<bool> {
    same_content(one.file(name).ok()?, other.file(name).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::holds_all;
    use std::fs;

    #[test]
    fn logs_may_differ_and_machine_code_may_not() {
        let root = tempfile::tempdir().unwrap();
        let (one, clean) = (root.path().join("one"), root.path().join("clean"));
        for folder in [&one, &clean] {
            for part in ["tree/src", "out"] {
                fs::create_dir_all(folder.join(part)).unwrap();
            }
            fs::write(folder.join("tree/src/a.o"), b"\x7fELF code").unwrap();
            fs::write(folder.join("out/prog"), "program").unwrap();
        }
        fs::write(one.join("tree/config.log"), "at noon").unwrap();
        fs::write(clean.join("tree/config.log"), "at night").unwrap();
        fs::write(one.join("tree/left-by-a-test"), b"\x7fELF").unwrap();
        assert!(holds_all(&one, &clean).unwrap());
        for path in ["tree/src/a.o", "out/prog"] {
            let kept = fs::read(one.join(path)).unwrap();
            fs::write(one.join(path), b"\x7fELF stale").unwrap();
            assert!(!holds_all(&one, &clean).unwrap(), "{path}");
            fs::remove_file(one.join(path)).unwrap();
            assert!(!holds_all(&one, &clean).unwrap(), "{path}");
            std::os::unix::fs::symlink(clean.join(path), one.join(path)).unwrap();
            assert!(!holds_all(&one, &clean).unwrap(), "{path}");
            fs::remove_file(one.join(path)).unwrap();
            fs::write(one.join(path), kept).unwrap();
        }
        assert!(holds_all(&one, &clean).unwrap());
        // Nor does a folder of it lead to the other build.
        fs::remove_dir_all(one.join("tree/src")).unwrap();
        std::os::unix::fs::symlink(clean.join("tree/src"), one.join("tree/src")).unwrap();
        assert!(!holds_all(&one, &clean).unwrap());
    }
}
