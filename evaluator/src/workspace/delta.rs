//! What a build changed in a workspace that began as a copy of another one.
//!
//! A copy keeps all times, so a file whose time, length and permissions are
//! those of the original is the original. Only the rest is written down.

use super::copy::Copier;
use super::{HOME, OUT, TREE};
use crate::TargetError;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Writes what differs into the folder `into`; the paths that are gone.
pub(crate) fn write(base: &Path, now: &Path, into: &Path) -> Result<Vec<PathBuf>, TargetError> {
    let fail = |e| TargetError::io("a build could not be kept", now, e);
    let mut gone = Vec::new();
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
                open.push(path);
            } else if !old.is_some_and(|old| same(&old, &new)) {
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
    Ok(gone)
}

/// Makes a fresh copy of the base what the build had made of it.
pub(crate) fn apply(delta: &Path, gone: &[PathBuf], to: &Path) -> Result<(), TargetError> {
    let fail = |e| TargetError::io("a kept build could not be used", delta, e);
    for path in gone {
        clear(&to.join(path)).map_err(fail)?;
    }
    let mut copier = Copier::unhindered();
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
                }
                open.push(path);
            } else {
                clear(&target).map_err(fail)?;
                copier.entry(&from, &target, &new).map_err(fail)?;
            }
        }
    }
    Ok(())
}

fn same(old: &Metadata, new: &Metadata) -> bool {
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
    use std::os::unix::fs::symlink;
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
        fs::write(now.part(OUT).join("prog"), "binary").unwrap();
        symlink("prog", now.part(OUT).join("link")).unwrap();

        let delta = root.path().join("delta");
        let gone = super::write(base.root(), now.root(), &delta).unwrap();
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
        assert!(!at(&again, "gone.c").exists());
        assert_eq!(fs::read(again.part(OUT).join("link")).unwrap(), b"binary");
    }
}
