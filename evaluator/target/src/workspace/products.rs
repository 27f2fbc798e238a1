//! Products of a build: what was made of the sources, compared between two builds.
//!
//! Everything in the build's output counts, and of the tree what a compiler or a
//! linker writes. Logs, time stamps (also those in an archive of classes) and what
//! tests leave behind do not: they differ between any two builds.

use super::{OUT, TREE, copy::opened, delta::same_content};
use patchwright_sandbox::contained_path::ContainedFolder;
use std::ffi::OsStr;
use std::io::{self, Read, Seek};
use std::path::Path;
use zip::ZipArchive;

/// First bytes of what compilers, linkers and archivers write: ELF, `ar`, Java classes.
const MACHINE_CODE: [&[u8]; 3] = [b"\x7fELF", b"!<arch>\n", b"\xca\xfe\xba\xbe"];

/// First bytes of a zip archive, such as a jar.
const ARCHIVE: &[u8] = b"PK\x03\x04";

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
    let files = || Some((one.file(name).ok()?, other.file(name).ok()?));
    let (first, second) = files()?;
    let same = same_content(first, second).ok()?;
    if same || !other.starts_with(name, ARCHIVE) {
        return Some(same);
    }
    let (first, second) = files()?;
    same_archive(first, second).ok()
}

/// Tells whether two archives hold the same entries, in the same order and with the same contents.
fn same_archive<F: Read + Seek>(one: F, other: F) -> zip::result::ZipResult<bool> {
    let (mut one, mut other) = (ZipArchive::new(one)?, ZipArchive::new(other)?);
    for at in 0..one.len().max(other.len()) {
        let (first, second) = (one.by_index_raw(at)?, other.by_index_raw(at)?);
        if first.name_raw() != second.name_raw() || !same_content(first, second)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::holds_all;
    use std::fs;
    use std::io::Write;
    use zip::write::{SimpleFileOptions, ZipWriter};

    #[test]
    fn archives_differ_by_their_entries_and_not_by_their_times() {
        let root = tempfile::tempdir().unwrap();
        let folders = ["one", "clean"].map(|name| root.path().join(name));
        let archive = |at: usize, year: u16, code: &[u8]| {
            fs::create_dir_all(folders[at].join("tree")).unwrap();
            fs::create_dir_all(folders[at].join("out")).unwrap();
            let file = fs::File::create(folders[at].join("out/a.jar")).unwrap();
            let (mut zip, time) = (ZipWriter::new(file), zip::DateTime::from_date_and_time);
            let time = time(year, 1, 1, 0, 0, 0).unwrap();
            let options = SimpleFileOptions::default().last_modified_time(time);
            zip.start_file("A.class", options).unwrap();
            zip.write_all(code).unwrap();
            zip.finish().unwrap();
        };
        archive(0, 2020, b"code");
        for (year, code, expected) in [
            (2020, b"code", true),
            (2021, b"code", true),
            (2020, b"cold", false),
        ] {
            archive(1, year, code);
            let same = holds_all(&folders[0], &folders[1]).unwrap();
            assert_eq!(same, expected, "{year} {code:?}");
        }
    }

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
