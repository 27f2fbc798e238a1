//! Folder walk: visits the folders that a command wrote, by handles.
//!
//! No link is followed, and what is put in the place of a folder meanwhile is not entered: a
//! path that was looked at may lead elsewhere when it is used.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, openat, openat2, statat};
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Calls `visit` with a handle of a folder, before it is listed, and of each one below it.
pub(crate) fn each_folder(
    root: &Path,
    mut visit: impl FnMut(&OwnedFd) -> io::Result<()>,
) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let top = rustix::fs::open(root, flags, Mode::empty())?;
    let mut open = vec![PathBuf::from(".")];
    while let Some(path) = open.pop() {
        let folder = openat2(&top, &path, flags, Mode::empty(), resolve)?;
        visit(&folder)?;
        let folders = entries(&folder)?.into_iter();
        let folders = folders.filter(|(_, kind)| *kind == FileType::Directory);
        open.extend(folders.map(|(name, _)| path.join(OsStr::from_bytes(name.as_bytes()))));
    }
    Ok(())
}

/// Lists a folder: the names, each with what it stands for.
pub(crate) fn entries(folder: &OwnedFd) -> io::Result<Vec<(CString, FileType)>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut found = Vec::new();
    for entry in Dir::new(openat(folder, ".", flags, Mode::empty())?)? {
        let entry = entry?;
        let name = entry.file_name().to_owned();
        if [&b"."[..], b".."].contains(&name.as_bytes()) {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let facts = statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(facts.st_mode)
            }
            known => known,
        };
        found.push((name, kind));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{each_folder, entries};
    use rustix::fs::FileType;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_listed_and_never_entered() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::create_dir(outside.path().join("below")).unwrap();
        symlink(outside.path(), root.path().join("a/link")).unwrap();
        let mut listed = Vec::new();
        each_folder(root.path(), |folder| {
            listed.extend(entries(folder)?);
            Ok(())
        })
        .unwrap();
        let mut listed: Vec<_> = { listed.iter() }
            .map(|(name, kind)| (name.to_str().unwrap(), *kind))
            .collect();
        listed.sort_by_key(|(name, _)| *name);
        let folder = FileType::Directory;
        let expected = [("a", folder), ("b", folder), ("link", FileType::Symlink)];
        assert_eq!(listed, expected);
        assert!(each_folder(&root.path().join("a/link"), |_| Ok(())).is_err());
    }
}
