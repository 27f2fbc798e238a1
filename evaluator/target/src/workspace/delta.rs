//! Delta: the files that a build changed in a copy of another workspace.
//!
//! A build may set the time of a file that it has written, and give it the
//! length that it had. The time of the last *change* (`ctime`) can be set by
//! nobody: a file that was not changed since the copy was made is the original,
//! and any other is written down.

use super::copy::{opened, settle};
use super::{PARTS, lent_folder};
use crate::{Result, TargetError};
use patchwright_sandbox::contained_path::{ContainedFolder, Entry};
use rustix::fs::{FileType, Stat, fstat};
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes that are compared at once.
const CHUNK: usize = 64 << 10;

/// A moment on the clock of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(i64, u64);

impl Moment {
    /// The present, as the file system below a folder sees it.
    pub(crate) fn now(folder: &Path) -> io::Result<Self> {
        let mark = tempfile::Builder::new().tempfile_in(folder)?;
        Ok(Self::of_change(&fstat(mark.as_file())?))
    }

    fn of_change(file: &Stat) -> Self {
        Self(file.st_ctime, file.st_ctime_nsec)
    }
}

/// Writes what differs into the folder `into`; the paths that are gone. `now`
/// became a copy of the base at the moment `copied`; where nobody knows when,
/// contents are compared.
pub(crate) fn write(
    base: &Path,
    (now, copied): (&Path, Option<Moment>),
    into: &Path,
) -> Result<Vec<PathBuf>> {
    let mut gone = Vec::new();
    let mut parts = PARTS.iter();
    let written = parts.try_for_each(|part| {
        lent_folder(&into.join(part))?;
        let base = ContainedFolder::open(&base.join(part))?;
        let (now, into) = opened(&now.join(part), &into.join(part))?;
        let missing = write_part(&base, (&now, copied), &into)?;
        gone.extend(missing.iter().map(|path| Path::new(part).join(path)));
        Ok(())
    });
    written.map_err(|e| TargetError::io("a build could not be kept", now, e))?;
    Ok(gone)
}

fn write_part(
    base: &ContainedFolder,
    (now, copied): (&ContainedFolder, Option<Moment>),
    into: &ContainedFolder,
) -> io::Result<Vec<PathBuf>> {
    let (mut gone, mut folders) = (Vec::new(), Vec::new());
    for visited in now.folders(|_| true) {
        let visited = visited?;
        let old = base.below(&visited.path).ok();
        let new = into.below(&visited.path)?;
        for entry in &visited.entries {
            if entry.is_folder() {
                new.make_folder(&entry.name)?;
                folders.push((visited.path_of(entry), entry.facts));
            } else if match &old {
                Some(old) => differs(old, (&visited.folder, entry), copied)?,
                None => true,
            } {
                new.copy(&visited.folder, entry)?;
            }
        }
        let there: BTreeSet<_> = visited.entries.iter().map(|entry| &entry.name).collect();
        let before = old.map_or(Ok(Vec::new()), |old| old.entries())?.into_iter();
        let missing = before.filter(|entry| !there.contains(&entry.name));
        gone.extend(missing.map(|entry| visited.path_of(&entry)));
    }
    settle(into, folders)?;
    Ok(gone)
}

/// Applies a delta to a fresh copy of the base.
pub(crate) fn apply(delta: &Path, gone: &[PathBuf], to: &Path) -> Result<()> {
    let applied = || {
        let root = ContainedFolder::open(to)?;
        gone.iter().try_for_each(|path| root.remove(path))?;
        PARTS.iter().try_for_each(|part| {
            let (delta, to) = opened(&delta.join(part), &to.join(part))?;
            apply_part(&delta, &to)
        })
    };
    applied().map_err(|e| TargetError::io("a kept build could not be used", delta, e))
}

fn apply_part(delta: &ContainedFolder, to: &ContainedFolder) -> io::Result<()> {
    let mut folders = Vec::new();
    for visited in delta.folders(|_| true) {
        let visited = visited?;
        let target = to.below(&visited.path)?;
        for entry in &visited.entries {
            let name = Path::new(&entry.name);
            if !entry.is_folder() {
                target.remove(name)?;
                target.copy(&visited.folder, entry)?;
            } else if target.below(name).is_err() {
                target.remove(name)?;
                target.make_folder(&entry.name)?;
                folders.push((visited.path_of(entry), entry.facts));
            }
        }
    }
    settle(to, folders)
}

/// Tells whether a file is not as it was copied. The clock of a file system is coarse: a file
/// that changed in the same step as the copy may have changed after it, so its content is
/// compared.
fn differs(
    old: &ContainedFolder,
    (new, entry): (&ContainedFolder, &Entry),
    copied: Option<Moment>,
) -> io::Result<bool> {
    let name = &entry.name;
    let before = old.facts(Path::new(name));
    if !before.is_ok_and(|before| same_facts(&before, &entry.facts)) {
        return Ok(true);
    }
    if copied.is_some_and(|copied| Moment::of_change(&entry.facts) < copied) {
        return Ok(false);
    }
    Ok(match entry.kind() {
        FileType::Symlink => old.link(name)? != new.link(name)?,
        FileType::RegularFile => !same_content(old.file(name)?, new.file(name)?)?,
        _ => false,
    })
}

pub(super) fn same_content(mut old: impl Read, mut new: impl Read) -> io::Result<bool> {
    let (mut first, mut second) = (vec![0; CHUNK], vec![0; CHUNK]);
    loop {
        let count = old.read(&mut first)?;
        let other = second.get_mut(..count).unwrap_or_default();
        if count == 0 {
            return Ok(new.read(&mut second)? == 0);
        }
        match new.read_exact(other) {
            Ok(()) if first.get(..count) == Some(&*other) => {}
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
            _ => return Ok(false),
        }
    }
}

fn same_facts(old: &Stat, new: &Stat) -> bool {
    let facts = |of: &Stat| (of.st_mode, of.st_size, of.st_mtime, of.st_mtime_nsec);
    facts(old) == facts(new)
}

#[cfg(test)]
mod tests {
    use super::super::{OUT, TREE, Workspace};
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_build_comes_back_as_it_was() {
        let root = tempfile::tempdir().unwrap();
        let base = Workspace::create(root.path().join("base")).unwrap();
        let at = |workspace: &Workspace, name: &str| workspace.part(TREE).join(name);
        fs::create_dir(at(&base, "src")).unwrap();
        for name in ["a.c", "b.c", "gone.c", "src/kept.c", "turns"] {
            fs::write(at(&base, name), name).unwrap();
        }
        let now = Workspace::copy_of(&base, root.path().join("now")).unwrap();
        fs::write(at(&now, "a.c"), "patched").unwrap();
        let later = SystemTime::now() + Duration::from_secs(5);
        fs::File::open(at(&now, "b.c"))
            .unwrap()
            .set_modified(later)
            .unwrap();
        fs::remove_file(at(&now, "gone.c")).unwrap();
        fs::remove_file(at(&now, "turns")).unwrap();
        fs::create_dir(at(&now, "turns")).unwrap();
        fs::write(at(&now, "turns/new.c"), "new").unwrap();
        let mode = fs::Permissions::from_mode(0o775);
        fs::set_permissions(at(&now, "turns"), mode).unwrap();
        fs::write(now.part(OUT).join("prog"), "binary").unwrap();
        symlink("prog", now.part(OUT).join("link")).unwrap();

        let delta = root.path().join("delta");
        let gone = super::write(base.root(), (now.root(), now.copied()), &delta).unwrap();
        assert!(!delta.join("tree/src/kept.c").exists(), "only what changed");
        let again = Workspace::copy_of(&base, root.path().join("again")).unwrap();
        super::apply(&delta, &gone, again.root()).unwrap();
        for name in ["a.c", "src/kept.c", "turns/new.c"] {
            assert_eq!(
                fs::read(at(&again, name)).unwrap(),
                fs::read(at(&now, name)).unwrap()
            );
        }
        let time = |workspace: &Workspace| {
            fs::metadata(at(workspace, "b.c"))
                .unwrap()
                .modified()
                .unwrap()
        };
        assert_eq!(time(&again), time(&now));
        // A folder that the build made is its user's, who may write there.
        let facts = |workspace: &Workspace| {
            let folder = fs::metadata(at(workspace, "turns")).unwrap();
            (folder.mode(), folder.mtime())
        };
        assert_eq!(facts(&again), facts(&now));
        let owner = |name: &str| fs::metadata(at(&again, name)).unwrap().uid();
        assert_eq!(owner("turns"), owner("turns/new.c"));
        assert!(!at(&again, "gone.c").exists());
        assert_eq!(fs::read(again.part(OUT).join("link")).unwrap(), b"binary");
    }

    #[test]
    fn a_file_of_the_same_length_and_time_is_seen_to_have_changed() {
        let root = tempfile::tempdir().unwrap();
        let base = Workspace::create(root.path().join("base")).unwrap();
        for name in ["set", "link-to", "kept"] {
            fs::write(base.part(OUT).join(name), "unpatched").unwrap();
        }
        symlink("kept", base.part(OUT).join("link")).unwrap();
        let now = Workspace::copy_of(&base, root.path().join("now")).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let path = now.part(OUT).join("set");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "corrected").unwrap();
        fs::File::open(&path).unwrap().set_modified(time).unwrap();
        for (number, copied) in [now.copied(), None].into_iter().enumerate() {
            let delta = root.path().join(format!("delta-{number}"));
            super::write(base.root(), (now.root(), copied), &delta).unwrap();
            assert_eq!(fs::read(delta.join("out/set")).unwrap(), b"corrected");
            assert!(!delta.join("out/kept").exists() && !delta.join("out/link").exists());
        }
    }

    /// Pipes of the same time, and links where the base has folders.
    #[test]
    fn a_build_cannot_lead_us_elsewhere() {
        let root = tempfile::tempdir().unwrap();
        let outside = root.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "outside").unwrap();
        let base = Workspace::create(root.path().join("base")).unwrap();
        let now = Workspace::create(root.path().join("now")).unwrap();
        for workspace in [&base, &now] {
            let tree = workspace.part(TREE);
            let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
            rustix::fs::mknodat(rustix::fs::CWD, tree.join("pipe"), kind, mode, 0).unwrap();
            let mut both = fs::File::options();
            let pipe = both.read(true).write(true).open(tree.join("pipe"));
            pipe.unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }
        fs::create_dir(base.part(TREE).join("src")).unwrap();
        fs::write(base.part(TREE).join("src/kept"), "inside").unwrap();
        symlink(&outside, now.part(TREE).join("src")).unwrap();
        symlink("/etc", now.part(OUT).join("etc")).unwrap();
        let delta = root.path().join("delta");
        let gone = super::write(base.root(), (now.root(), None), &delta).unwrap();
        assert_eq!(gone, Vec::<std::path::PathBuf>::new());
        // A base that has links where the delta has folders.
        super::apply(&delta, &["tree/src/kept".into()], base.root()).unwrap();
        assert!(base.part(TREE).join("src").is_symlink());
        assert!(super::apply(&delta, &["tree/src/kept".into()], now.root()).is_err());
        assert_eq!(fs::read(outside.join("kept")).unwrap(), b"outside");
    }

    #[test]
    fn contents_are_compared_to_their_ends() {
        let check = |old: &str, new: &str| super::same_content(old.as_bytes(), new.as_bytes());
        assert!(check("", "").unwrap() && check("ab", "ab").unwrap());
        for (old, new) in [("ab", "ac"), ("ab", "a"), ("a", "ab"), ("", "a"), ("a", "")] {
            assert!(!check(old, new).unwrap(), "{old} {new}");
        }
        let long = "x".repeat(super::CHUNK + 1);
        assert!(check(&long, &long).unwrap() && !check(&long, &long[1..]).unwrap());
    }
}
