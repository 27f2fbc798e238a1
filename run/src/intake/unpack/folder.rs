//! Writes entries into a folder, each to its own place; links come last. That an
//! entry may be there was checked before.

use super::entry::{Entry, Kind};
use super::{UnpackError, refused};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A folder that was empty.
pub(super) struct Folder {
    root: PathBuf,
    links: Vec<(PathBuf, PathBuf)>,
}

impl Folder {
    pub(super) fn new(root: PathBuf) -> Self {
        Self {
            root,
            links: Vec::new(),
        }
    }

    fn parent(&self, path: &Path) -> Result<(), UnpackError> {
        if let Some(parent) = self.root.join(path).parent() {
            fs::create_dir_all(parent).map_err(|error| clash(path, error))?;
        }
        Ok(())
    }

    /// Makes the links, when all files lie there.
    pub(super) fn make_links(&self) -> Result<(), UnpackError> {
        let mut made: BTreeSet<&Path> = BTreeSet::new();
        for (path, target) in &self.links {
            // A folder above it that is a link by now would lead elsewhere.
            if path.ancestors().skip(1).any(|above| made.contains(above)) {
                return Err(refused(path, "below a link"));
            }
            self.parent(path)?;
            let place = self.root.join(path);
            // An archive may hold a link twice; the last one counts.
            if made.contains(path.as_path()) {
                fs::remove_file(&place)?;
            }
            std::os::unix::fs::symlink(target, &place).map_err(|error| clash(path, error))?;
            made.insert(path);
        }
        Ok(())
    }

    /// Writes an entry; a link waits for the others.
    pub(super) fn take(&mut self, entry: &Entry, bytes: &mut dyn Read) -> Result<(), UnpackError> {
        let path = &entry.path;
        match &entry.kind {
            Kind::Root => {}
            Kind::Folder => {
                fs::create_dir_all(self.root.join(path)).map_err(|error| clash(path, error))?;
            }
            Kind::File => self.file(entry, bytes)?,
            Kind::Link(target) => self.links.push((path.clone(), target.clone())),
            Kind::Copy(of) => self.copy(path, of)?,
        }
        Ok(())
    }

    fn file(&self, entry: &Entry, bytes: &mut dyn Read) -> Result<(), UnpackError> {
        self.parent(&entry.path)?;
        let place = self.root.join(&entry.path);
        // A second file of a name replaces the first, also a hard link to another.
        match fs::remove_file(&place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(clash(&entry.path, error));
            }
            _ => {}
        }
        let mut file = File::create_new(&place).map_err(|error| clash(&entry.path, error))?;
        io::copy(bytes, &mut file)?;
        file.flush()?;
        if entry.executable {
            use std::os::unix::fs::PermissionsExt;
            file.set_permissions(fs::Permissions::from_mode(0o755))?;
        }
        if let Some(time) = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(entry.time)) {
            // Times that the file system does not have are no reason to refuse.
            let _ = file.set_modified(time);
        }
        Ok(())
    }

    fn copy(&self, path: &Path, of: &Path) -> Result<(), UnpackError> {
        self.parent(path)?;
        let (place, of) = (self.root.join(path), self.root.join(of));
        fs::hard_link(of, place)
            .map_err(|_| refused(path, "a hard link to a file that does not come before it"))
    }
}

/// A failure to write that the archive itself brought about, or one of the disk.
fn clash(path: &Path, error: io::Error) -> UnpackError {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, IsADirectory, NotADirectory};
    match error.kind() {
        AlreadyExists | IsADirectory | NotADirectory | DirectoryNotEmpty => {
            refused(path, "both as a file and as a folder or link")
        }
        io::ErrorKind::InvalidFilename => refused(path, "a name too long for this file system"),
        _ => UnpackError::Io(error),
    }
}
