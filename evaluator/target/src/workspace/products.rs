//! Products of a build: what was made of the sources, compared between two builds.
//!
//! Everything in the build's output counts, and of the tree what a compiler or a
//! linker writes. Logs, time stamps and what tests leave behind do not: they differ
//! between any two builds.

use super::{OUT, TREE, delta::same_content};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// First bytes of what compilers, linkers and archivers write: ELF, `ar`, Java classes.
const MACHINE_CODE: [&[u8]; 3] = [b"\x7fELF", b"!<arch>\n", b"\xca\xfe\xba\xbe"];
/// The longest of them.
const MAGIC: usize = 8;

/// Tells whether a build has all products of a clean build of the same sources,
/// byte by byte.
pub(crate) fn holds_all(build: &Path, clean: &Path) -> io::Result<bool> {
    let mut open: Vec<PathBuf> = [TREE, OUT].iter().map(PathBuf::from).collect();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(clean.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file()
                && (path.starts_with(OUT) || is_machine_code(&entry.path())?)
                && !is_same(&build.join(&path), &entry.path())?
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn is_machine_code(path: &Path) -> io::Result<bool> {
    let mut head = Vec::with_capacity(MAGIC);
    File::open(path)?
        .take(MAGIC as u64)
        .read_to_end(&mut head)?;
    Ok(MACHINE_CODE.iter().any(|magic| head.starts_with(magic)))
}

fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    // A link in place of a file would lead out of the workspace.
    if !fs::symlink_metadata(one).is_ok_and(|facts| facts.is_file()) {
        return Ok(false);
    }
    same_content(File::open(one)?, File::open(other)?)
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
    }
}
