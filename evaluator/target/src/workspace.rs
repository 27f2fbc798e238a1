//! Workspace: the folders of a command, with the tree, the build's output and a home.
//!
//! Each attempt has a copy of a built workspace and writes only changed files into it, with
//! new times, so that make, CMake and Maven rebuild only what depends on them. A workspace
//! is removed when it is dropped. Its content was written by foreign commands and is not
//! trusted.

mod copy;
pub(crate) mod delta;
pub(crate) mod products;
pub(crate) mod programs;

pub(crate) use copy::copy_tree;

use crate::cache::{Cache, Entry};
use crate::{Result, TargetError};
use delta::Moment;
use patchwright_sandbox::contained_path::{ContainedFolder, remove_folder};
use patchwright_sandbox::identity;
use patchwright_source::{Changes, TreePath};
use serde::Serialize;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The working copy of the tree.
pub(crate) const TREE: &str = "tree";
/// The output of the build.
pub(crate) const OUT: &str = "out";
/// The temporary home.
pub(crate) const HOME: &str = "home";
const PARTS: [&str; 3] = [TREE, OUT, HOME];

/// A folder with a tree, an out folder and a home, removed when dropped.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    /// Its cache entry: then it is only read, and not removed.
    kept: Option<Entry>,
    /// The moment at which it was complete as a copy of another one.
    copied: Option<Moment>,
}

impl Workspace {
    /// Creates an empty one. The folder must not exist yet.
    pub(crate) fn create(root: PathBuf) -> Result<Self> {
        let workspace = Self {
            root,
            kept: None,
            copied: None,
        };
        let parts = PARTS.map(|part| workspace.root.join(part));
        let root = std::iter::once(&workspace.root);
        for path in root.chain(&parts) {
            lent_folder(path)
                .map_err(|e| TargetError::io("a workspace could not be made", path, e))?;
        }
        Ok(workspace)
    }

    /// Opens one in the cache; the entry itself where it is no workspace.
    pub(crate) fn kept(entry: Entry) -> Result<Self, Entry> {
        let root = entry.path().to_path_buf();
        if !PARTS.iter().all(|part| root.join(part).is_dir()) {
            return Err(entry);
        }
        Ok(Self {
            root,
            kept: Some(entry),
            copied: None,
        })
    }

    /// Moves it into the cache, where it is only read from now on.
    pub(crate) fn into_cache(mut self, cache: &Cache, key: &str, record: &impl Serialize) -> Self {
        match cache.put(key, &self.root, record) {
            Ok(Some(entry)) => {
                self.root = entry.path().to_path_buf();
                self.kept = Some(entry);
            }
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "a workspace could not be kept"),
        }
        self
    }

    /// Copies another one, with all its times.
    pub(crate) fn copy_of(other: &Self, root: PathBuf) -> Result<Self> {
        let mut workspace = Self::create(root)?;
        for part in PARTS {
            copy_tree(&other.root.join(part), &workspace.part(part), None)?;
        }
        workspace.copied = Moment::now(&workspace.root).ok();
        Ok(workspace)
    }

    /// Returns the moment at which it was complete as a copy; none where it is no copy.
    pub(crate) fn copied(&self) -> Option<Moment> {
        self.copied
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn part(&self, part: &str) -> PathBuf {
        self.root.join(part)
    }

    /// Opens the tree so that no path leads out of it.
    pub(crate) fn tree(&self) -> Result<ContainedFolder> {
        let path = self.part(TREE);
        ContainedFolder::open(&path)
            .map_err(|e| TargetError::io("a workspace cannot be opened", path, e))
    }

    /// Writes files of the tree anew as they are, so that they count as changed.
    pub(crate) fn touch<'a>(&self, paths: impl Iterator<Item = &'a TreePath>) -> Result<()> {
        let tree = self.tree()?;
        for path in paths {
            let path = path.as_str();
            let again = tree.read(path, u64::MAX - 1);
            again
                .and_then(|bytes| tree.write(Path::new(path), &bytes))
                .map_err(|e| TargetError::io("a file could not be touched", path, e))?;
        }
        Ok(())
    }

    /// Writes an attempt's changes into the tree. Files with equal content keep their time.
    pub(crate) fn apply(&self, changes: &Changes) -> Result<()> {
        let tree = self.tree()?;
        let fail = |path: &str, e| TargetError::io("a changed file could not be written", path, e);
        for (from, to) in &changes.renamed {
            if !changes.files.contains_key(to) {
                let bytes = tree
                    .read(from.as_str(), u64::MAX - 1)
                    .map_err(|e| fail(from.as_str(), e))?;
                tree.write(Path::new(to.as_str()), &bytes)
                    .map_err(|e| fail(to.as_str(), e))?;
            }
        }
        for path in changes.renamed.keys().chain(&changes.deleted) {
            if !changes.files.contains_key(path) {
                tree.remove(Path::new(path.as_str()))
                    .map_err(|e| fail(path.as_str(), e))?;
            }
        }
        for (path, bytes) in &changes.files {
            let there = tree.read(path.as_str(), bytes.len() as u64);
            if there.is_ok_and(|there| there == *bytes) {
                continue;
            }
            tree.write(Path::new(path.as_str()), bytes)
                .map_err(|e| fail(path.as_str(), e))?;
        }
        Ok(())
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if self.kept.is_none() {
            remove_folder(&self.root);
        }
    }
}

/// Makes a folder that commands may write and other users cannot look into,
/// with what is missing above it.
pub(crate) fn lent_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    identity::give(path)
}

#[cfg(test)]
mod tests {
    use super::{HOME, OUT, TREE, Workspace};
    use patchwright_source::Changes;
    use patchwright_source::TreePath;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    #[test]
    fn an_attempt_changes_what_it_says_and_keeps_all_other_times() {
        let scratch = tempfile::tempdir().unwrap();
        let first = Workspace::create(scratch.path().join("first")).unwrap();
        let tree = first.part(TREE);
        fs::create_dir(tree.join("src")).unwrap();
        for name in ["src/a.c", "src/b.c", "src/c.c", "src/run"] {
            fs::write(tree.join(name), name).unwrap();
        }
        fs::set_permissions(tree.join("src/run"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("b.c", tree.join("src/link")).unwrap();
        fs::write(first.part(OUT).join("a.o"), "object").unwrap();
        fs::write(first.part(HOME).join(".rc"), "home").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));

        let second = Workspace::copy_of(&first, scratch.path().join("second")).unwrap();
        let changes = Changes {
            files: [
                (path("src/a.c"), b"new".to_vec()),
                (path("src/b.c"), b"src/b.c".to_vec()),
            ]
            .into(),
            deleted: [path("src/run")].into(),
            renamed: [(path("src/c.c"), path("lib/d.c"))].into(),
        };
        second.apply(&changes).unwrap();
        let time = |workspace: &Workspace, name: &str| {
            fs::symlink_metadata(workspace.part(TREE).join(name))
                .unwrap()
                .modified()
                .unwrap()
        };
        assert!(time(&second, "src/a.c") > time(&first, "src/a.c"));
        assert_eq!(time(&second, "src/b.c"), time(&first, "src/b.c"));
        assert_eq!(time(&second, "src/link"), time(&first, "src/link"));
        let new = second.part(TREE);
        assert_eq!(fs::read(new.join("lib/d.c")).unwrap(), b"src/c.c");
        assert!(!new.join("src/c.c").exists() && !new.join("src/run").exists());
        assert_eq!(
            fs::read_link(new.join("src/link")).unwrap().to_str(),
            Some("b.c")
        );
        assert_eq!(fs::read(second.part(HOME).join(".rc")).unwrap(), b"home");
        let root = second.root().to_path_buf();
        drop(second);
        assert!(!root.exists());
        let mode = fs::metadata(tree.join("src/run"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o755);
    }
}
