//! The scratch folder of a target, and the end of those whose process was
//! killed: a folder belongs to whoever holds the lock on a file in it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What the names of scratch folders begin with.
const PREFIX: &str = "target-";
/// The file that is locked as long as its folder is used.
const HELD: &str = "held";

/// A scratch folder, removed with everything in it when this is dropped.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: TempDir,
    /// Unlocked by the system when the process dies.
    _held: File,
}

impl Scratch {
    /// Makes a folder in `root`, and removes those there that nobody holds.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        for folder in abandoned(root) {
            // Another process may be removing it as well.
            let _ = fs::remove_dir_all(folder);
        }
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
        // Locked before it bears its name, so that it is never seen unlocked.
        let unnamed = folder.path().join("unnamed");
        let held = File::create(&unnamed)?;
        held.try_lock()?;
        fs::rename(&unnamed, folder.path().join(HELD))?;
        Ok(Self {
            folder,
            _held: held,
        })
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Scratch folders whose lock can be had.
fn abandoned(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let scratch = entries.filter(|entry| {
        let named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        named && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    scratch
        .map(|entry| entry.path())
        .filter(|path| File::open(path.join(HELD)).is_ok_and(|file| file.try_lock().is_ok()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Scratch;

    #[test]
    fn only_what_nobody_holds_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let held = Scratch::new(root.path()).unwrap();
        let dead = root.path().join("target-dead");
        let other = root.path().join("notes");
        for folder in [&dead, &other] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("held"), "").unwrap();
        }
        let mine = Scratch::new(root.path()).unwrap();
        assert!(held.path().is_dir() && mine.path().is_dir() && other.is_dir());
        assert!(!dead.exists());
        let gone = mine.path().to_path_buf();
        drop(mine);
        assert!(!gone.exists());
    }
}
