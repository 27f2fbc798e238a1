//! Removal of what a command left: also of folders that are closed, or deeper than any path.

use super::{ContainedFolder, named, path_of};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, fstat, renameat_with, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of a path below which nothing is left where it is to be removed.
const DEEP: usize = 1024;

impl ContainedFolder {
    /// Removes what is at a path, with everything in it, if there is something.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let (above, name) = (path.parent().unwrap_or(path), path.file_name());
        let above = match self.below(above) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            above => above?,
        };
        let name = name.unwrap_or_default();
        match unlinkat(&above, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(Errno::ISDIR) => above.remove_folder(name),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Removes a folder of its own, also where its permissions are gone. What lies deep is moved
    /// up: neither the length of a path nor the number of handles ends this.
    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        let top = self.opened(Path::new(name))?;
        let mut open = vec![PathBuf::new()];
        while let Some(path) = open.pop() {
            let folder = top.opened(&path)?;
            let mut names = folder.names()?;
            names.retain(|name| unlinkat(&folder, &**name, AtFlags::empty()).is_err());
            if !names.is_empty() {
                // It is looked at again when these are gone.
                open.push(path.clone());
            } else if let (Some(above), Some(name)) = (path.parent(), path.file_name()) {
                unlinkat(top.below(above)?, name, AtFlags::REMOVEDIR)?;
            }
            for name in names {
                let below = path.join(&name);
                if below.as_os_str().len() > DEEP {
                    folder.opened(Path::new(&name))?;
                    top.take_up(&folder, &name)?;
                } else {
                    open.push(below);
                }
            }
        }
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Opens a folder of its own after giving its permissions back.
    fn opened(&self, path: &Path) -> io::Result<Self> {
        let folder = self.below(path)?;
        if !Mode::from_raw_mode(fstat(&folder)?.st_mode).contains(Mode::RWXU) {
            rustix::fs::chmod(path_of(&folder), Mode::RWXU)?;
        }
        Ok(folder)
    }

    /// Moves a folder in here under a name that is free.
    fn take_up(&self, from: &Self, name: &OsStr) -> io::Result<()> {
        let mut names = (0_u64..).map(|number| format!("{number}"));
        let moved = names.find_map(|free| {
            match renameat_with(from, name, self, &*free, RenameFlags::NOREPLACE) {
                Err(Errno::EXIST) => None,
                moved => Some(moved),
            }
        });
        moved.unwrap_or(Err(Errno::EXIST)).map_err(io::Error::from)
    }
}

/// Removes a folder with everything in it.
pub fn remove_folder(root: &Path) {
    let (above, name) = (root.parent().unwrap_or(root), root.file_name());
    let name = Path::new(name.unwrap_or_default());
    // The way to the folder is ours.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let removed = match rustix::fs::open(named(above), flags, Mode::empty()) {
        Err(Errno::NOENT) => Ok(()),
        above => above
            .map_err(io::Error::from)
            .and_then(|above| ContainedFolder(above).remove(name)),
    };
    if let Err(error) = removed {
        tracing::warn!(path = %root.display(), %error, "a workspace could not be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::{ContainedFolder, remove_folder};
    use rustix::fs::Mode;
    use std::fs;
    use std::path::Path;

    /// Longer than any path, and more folders than handles or a small stack could hold.
    #[test]
    fn folders_without_end_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let made = root.path().join("made");
        fs::create_dir(&made).unwrap();
        let mut at = ContainedFolder::open(&made).unwrap();
        for depth in 0..3_000 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            if depth % 1_000 == 0 {
                at.write(Path::new("1"), b"x").unwrap();
                rustix::fs::mkdirat(&at, "closed", Mode::empty()).unwrap();
            }
            at = at.below(Path::new("d")).unwrap();
        }
        let top = ContainedFolder::open(&made).unwrap();
        assert!(top.folders(|_| true).any(|visited| visited.is_err()));
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let removed = made.clone();
        let thread = small.spawn(move || remove_folder(&removed)).unwrap();
        thread.join().unwrap();
        assert!(!made.exists());
    }
}
