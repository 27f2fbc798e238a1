//! Scratch folder of a target. A folder belongs to the process that holds its lock; those
//! of killed processes are removed.

use crate::workspace::lent_folder;
use crate::{Result, TargetError};
use patchwright_sandbox::contained_path::{ContainedFolder, remove_folder};
use patchwright_sandbox::{Sandbox, identity};
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Prefix of the names of scratch folders.
const PREFIX: &str = "target-";
/// The folder for scratch folders in a temporary folder of the system's.
const SHARED: &str = "patchwright-scratch";
/// Mode of a folder that is closed to other users.
const PRIVATE: u32 = 0o700;
/// Mode of a folder that others may pass through and not list.
const PASSABLE: u32 = 0o711;
/// Time for the commands of a killed process to die: longer than their supervisor needs.
const DYING: Duration = Duration::from_secs(5);

/// A scratch folder, removed with everything in it when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    next_number: AtomicU64,
    /// Unlocked by the system when the process dies.
    _held: File,
}

impl Scratch {
    /// Creates a folder in `root`, where commands get to it.
    pub(super) fn open(root: &Path, sandbox: &Sandbox) -> Result<Self> {
        let made = if sandbox.maps_paths() {
            Self::new(root)
        } else {
            Self::in_reach(root)
        };
        made.map_err(|e| TargetError::io("no scratch folder could be made", root, e))
    }

    /// Creates a folder in `root`, and removes the unlocked ones there.
    fn new(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        remove_abandoned(root);
        loop {
            let folder = tempfile::Builder::new()
                .prefix(PREFIX)
                .permissions(Permissions::from_mode(PRIVATE))
                .tempdir_in(root)?
                .keep();
            if let Some(held) = hold(&folder)? {
                return Ok(Self {
                    folder,
                    next_number: AtomicU64::new(0),
                    _held: held,
                });
            }
        }
    }

    /// Makes a folder that the user commands run as gets to: in `root`, or where
    /// that is closed to it, as the home of root is, below a temporary folder of
    /// the system's.
    fn in_reach(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        let reached = |folder: &Path| identity::can_reach(&folder.join(PREFIX));
        let scratch = if reached(root) {
            Self::new(root)?
        } else {
            let folders = [std::env::temp_dir(), "/var/tmp".into(), "/tmp".into()];
            let folder = folders.into_iter().find(|folder| reached(folder));
            let shared = folder
                .ok_or_else(|| io::Error::other("commands of root reach no temporary folder"))?
                .join(SHARED);
            own_folder(&shared)?;
            Self::new(&shared)?
        };
        if identity::of_commands().is_some() {
            fs::set_permissions(&scratch.folder, Permissions::from_mode(PASSABLE))?;
        }
        Ok(scratch)
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Returns a path in the folder that is not in use.
    pub fn fresh(&self, what: &str) -> PathBuf {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!("{what}-{number}"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove_folder(&self.folder);
    }
}

/// A folder that one command may write to: files are put there before it starts, what it left is
/// read by handles, and all of it is removed when this is dropped.
#[derive(Debug)]
pub(super) struct CommandFolder(PathBuf);

impl CommandFolder {
    pub(super) fn create(path: PathBuf) -> Result<Self> {
        let made = lent_folder(&path);
        made.map_err(|e| TargetError::io("no folder for a command could be made", &path, e))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes a folder in it.
    pub(super) fn make(&self, part: &str) -> Result<()> {
        let path = self.0.join(part);
        let made = fs::create_dir(&path);
        made.map_err(|e| TargetError::io("no folder for a command could be made", path, e))
    }

    /// Writes a file for the command.
    pub(super) fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.0.join(name);
        let put = fs::write(&path, bytes);
        put.map_err(|e| TargetError::io("a file for a command could not be written", path, e))
    }

    /// Opens what the command left.
    pub(super) fn left(&self) -> Result<ContainedFolder> {
        ContainedFolder::open(&self.0)
            .map_err(|e| TargetError::io("what a command left cannot be read", &self.0, e))
    }
}

impl Drop for CommandFolder {
    fn drop(&mut self) {
        remove_folder(&self.0);
    }
}

/// Creates a folder in a place that is open to everybody, and refuses one of another user.
fn own_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(PASSABLE).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let there = fs::symlink_metadata(folder)?;
    if !there.is_dir() || there.uid() != rustix::process::geteuid().as_raw() {
        let what = format!("{} belongs to somebody else", folder.display());
        return Err(io::Error::other(what));
    }
    fs::set_permissions(folder, Permissions::from_mode(PASSABLE))
}

/// Locks a folder; none where another process has the lock or has removed the folder.
fn hold(folder: &Path) -> io::Result<Option<File>> {
    let open = match File::open(folder) {
        Ok(open) => open,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if open.try_lock().is_err() {
        return Ok(None);
    }
    let there = fs::symlink_metadata(folder).is_ok_and(|at| {
        open.metadata()
            .is_ok_and(|held| (held.dev(), held.ino()) == (at.dev(), at.ino()))
    });
    Ok(there.then_some(open))
}

/// Removes the scratch folders whose lock is free. A command that still runs in one is
/// about to die, and may add a file to a folder that was just emptied.
fn remove_abandoned(root: &Path) {
    let until = Instant::now() + DYING;
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let scratch = entries.filter(|entry| {
        let named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        named && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    for folder in scratch.map(|entry| entry.path()) {
        let Ok(Some(_held)) = hold(&folder) else {
            continue;
        };
        remove_folder(&folder);
        while folder.exists() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
            remove_folder(&folder);
        }
    }
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
            std::fs::write(folder.join("file"), "").unwrap();
        }
        let mine = Scratch::new(root.path()).unwrap();
        assert!(held.path().is_dir() && mine.path().is_dir() && other.is_dir());
        assert!(!dead.exists());
        let gone = mine.path().to_path_buf();
        drop(mine);
        assert!(!gone.exists());
    }
}
