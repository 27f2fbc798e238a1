//! Copies of folders with times, permissions and links.

use crate::{Result, TargetError};
use patchwright_sandbox::contained_path::ContainedFolder;
use rustix::fs::Stat;
use std::path::{Path, PathBuf};

/// Copies the content of `from` into the existing folder `to`, but for the folder `except` in it.
pub(crate) fn copy_tree(from: &Path, to: &Path, except: Option<&Path>) -> Result<()> {
    let except = except.and_then(|except| except.strip_prefix(from).ok());
    let fail = |e| TargetError::io("a folder could not be copied", from, e);
    let (source, target) = opened(from, to).map_err(fail)?;
    let mut folders = Vec::new();
    for visited in source.folders(|path| Some(path) != except) {
        let visited = visited.map_err(fail)?;
        let into = target.below(&visited.path).map_err(fail)?;
        for entry in &visited.entries {
            let path = visited.path_of(entry);
            let copied = if !entry.is_folder() {
                into.copy(&visited.folder, entry)
            } else if Some(&*path) != except {
                into.make_folder(&entry.name)
            } else {
                Ok(())
            };
            copied
                .map_err(|e| TargetError::io("a file could not be copied", from.join(path), e))?;
        }
        let facts = visited.folder.facts(Path::new("")).map_err(fail)?;
        folders.push((visited.path, facts));
    }
    settle(&target, folders).map_err(fail)
}

pub(super) fn opened(
    one: &Path,
    other: &Path,
) -> std::io::Result<(ContainedFolder, ContainedFolder)> {
    Ok((ContainedFolder::open(one)?, ContainedFolder::open(other)?))
}

/// Makes new folders like those that they stand for, those in them before them.
pub(super) fn settle(
    target: &ContainedFolder,
    folders: Vec<(PathBuf, Stat)>,
) -> std::io::Result<()> {
    let mut folders = folders.into_iter().rev();
    folders.try_for_each(|(path, facts)| target.settle(&path, &facts))
}

#[cfg(test)]
mod tests {
    use super::copy_tree;
    use patchwright_sandbox::contained_path::remove_folder;
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::fs::{self, File};
    use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn holes_stay_holes() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        let file = File::create(from.join("sparse")).unwrap();
        file.set_len(4 << 30).unwrap();
        file.write_all_at(b"one", 1 << 30).unwrap();
        file.write_all_at(b"two", 3 << 30).unwrap();
        fs::write(from.join("plain"), "plain").unwrap();
        copy_tree(&from, &to, None).unwrap();
        let facts = fs::metadata(to.join("sparse")).unwrap();
        assert_eq!(facts.len(), 4 << 30);
        assert!(facts.blocks() * 512 < 1 << 20, "{}", facts.blocks());
        let copy = File::open(to.join("sparse")).unwrap();
        let mut bytes = [0; 3];
        for (at, text) in [(1 << 30, b"one"), (3 << 30, b"two"), (2 << 30, &[0; 3])] {
            copy.read_exact_at(&mut bytes, at).unwrap();
            assert_eq!(&bytes, text);
        }
        assert_eq!(fs::read(to.join("plain")).unwrap(), b"plain");
    }

    #[test]
    fn the_copy_of_a_tree_that_may_only_be_read_is_open_to_its_owner() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        fs::create_dir_all(from.join("src")).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("src/a.c"), "int a;").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        for name in ["src/a.c", "src", ""] {
            let closed = fs::Permissions::from_mode(0o555);
            fs::set_permissions(from.join(name), closed).unwrap();
        }
        copy_tree(&from, &to, None).unwrap();
        let modes = ["src/a.c", "src", ""].map(|name| mode(&to.join(name)));
        assert_eq!(modes, [0o555, 0o755, 0o755]);
        remove_folder(&from);
    }

    /// As a process does that outlived its build.
    #[test]
    fn a_folder_that_turns_into_a_link_while_it_is_copied_leads_nowhere() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["from", "from/a", "outside", "outside/below"] {
            fs::create_dir(at(folder)).unwrap();
        }
        fs::write(at("from/a/own"), "own").unwrap();
        fs::write(at("outside/secret"), "secret").unwrap();
        symlink(at("outside"), at("link")).unwrap();
        let (one, other) = (at("from/a"), at("link"));
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let _ = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
                }
            });
            for number in 0..400 {
                let to = at(&number.to_string());
                fs::create_dir(&to).unwrap();
                let copied = copy_tree(&at("from"), &to, None);
                let copy = fs::symlink_metadata(to.join("a"));
                let followed = copy.is_ok_and(|copy| copy.is_dir()) && to.join("a/secret").exists();
                over.store(followed, Ordering::Relaxed);
                assert!(!followed, "{number}: {copied:?}");
            }
            // Nor when it is removed.
            remove_folder(&at("from"));
            over.store(true, Ordering::Relaxed);
        });
        assert!(at("outside/secret").exists() && at("outside/below").exists());
    }
}
