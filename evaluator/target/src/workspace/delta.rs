//! Delta: the files that a build changed in a copy of another workspace.
//!
//! A build may set the time of a file that it has written, and give it the
//! length that it had. The time of the last *change* (`ctime`) can be set by
//! nobody: a file that was not changed since the copy was made is the original,
//! and any other is written down.

use super::copy::{Copier, finish};
use super::{HOME, OUT, TREE};
use crate::TargetError;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes that are compared at once.
const CHUNK: usize = 64 << 10;

/// A moment on the clock of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(i64, i64);

impl Moment {
    /// The present, as the file system below a folder sees it.
    pub(crate) fn now(folder: &Path) -> io::Result<Self> {
        let mark = tempfile::Builder::new().tempfile_in(folder)?;
        Ok(Self::of_change(&mark.as_file().metadata()?))
    }

    fn of_change(file: &Metadata) -> Self {
        Self(file.ctime(), file.ctime_nsec())
    }
}

/// Writes what differs into the folder `into`; the paths that are gone. `now`
/// became a copy of the base at the moment `copied`; where nobody knows when,
/// contents are compared.
pub(crate) fn write(
    base: &Path,
    (now, copied): (&Path, Option<Moment>),
    into: &Path,
) -> Result<Vec<PathBuf>, TargetError> {
    let fail = |e| TargetError::io("a build could not be kept", now, e);
    let (mut gone, mut folders) = (Vec::new(), Vec::new());
    let mut copier = Copier::unhindered();
    let mut open: Vec<PathBuf> = [TREE, OUT, HOME].iter().map(PathBuf::from).collect();
    for part in &open {
        fs::create_dir_all(into.join(part)).map_err(fail)?;
    }
    while let Some(folder) = open.pop() {
        for entry in names(&now.join(&folder)).map_err(fail)? {
            let path = folder.join(entry);
            let new = fs::symlink_metadata(now.join(&path)).map_err(fail)?;
            let old = fs::symlink_metadata(base.join(&path)).ok();
            if new.is_dir() {
                fs::create_dir(into.join(&path)).map_err(fail)?;
                folders.push((into.join(&path), new));
                open.push(path);
            } else if !old.is_some_and(|old| same_facts(&old, &new))
                || !is_untouched(&new, (&base.join(&path), &now.join(&path)), copied)
                    .map_err(fail)?
            {
                copier
                    .entry(&now.join(&path), &into.join(&path), &new)
                    .map_err(fail)?;
            }
        }
        for entry in names(&base.join(&folder)).unwrap_or_default() {
            let path = folder.join(entry);
            if fs::symlink_metadata(now.join(&path)).is_err() {
                gone.push(path);
            }
        }
    }
    finish(folders)?;
    Ok(gone)
}

/// Applies a delta to a fresh copy of the base.
pub(crate) fn apply(delta: &Path, gone: &[PathBuf], to: &Path) -> Result<(), TargetError> {
    let fail = |e| TargetError::io("a kept build could not be used", delta, e);
    for path in gone {
        clear(&to.join(path)).map_err(fail)?;
    }
    let mut copier = Copier::unhindered();
    let mut folders = Vec::new();
    let mut open: Vec<PathBuf> = [TREE, OUT, HOME].iter().map(PathBuf::from).collect();
    while let Some(folder) = open.pop() {
        for entry in names(&delta.join(&folder)).map_err(fail)? {
            let path = folder.join(entry);
            let (from, target) = (delta.join(&path), to.join(&path));
            let new = fs::symlink_metadata(&from).map_err(fail)?;
            if new.is_dir() {
                if !fs::symlink_metadata(&target).is_ok_and(|there| there.is_dir()) {
                    clear(&target).map_err(fail)?;
                    fs::create_dir(&target).map_err(fail)?;
                    folders.push((target, new));
                }
                open.push(path);
            } else {
                clear(&target).map_err(fail)?;
                copier.entry(&from, &target, &new).map_err(fail)?;
            }
        }
    }
    finish(folders)
}

/// Tells whether a file is as it was copied. The clock of a file system is coarse: a file
/// that changed in the same step as the copy may have changed after it, so its content is
/// compared.
fn is_untouched(
    new: &Metadata,
    (old_path, new_path): (&Path, &Path),
    copied: Option<Moment>,
) -> io::Result<bool> {
    if copied.is_some_and(|copied| Moment::of_change(new) < copied) {
        return Ok(true);
    }
    if new.is_symlink() {
        return Ok(fs::read_link(old_path)? == fs::read_link(new_path)?);
    }
    same_content(File::open(old_path)?, File::open(new_path)?)
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

fn same_facts(old: &Metadata, new: &Metadata) -> bool {
    let facts = |of: &Metadata| (of.mode(), of.len(), of.mtime(), of.mtime_nsec());
    facts(old) == facts(new)
}

fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name());
    }
    names.sort();
    Ok(names)
}

fn clear(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
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
