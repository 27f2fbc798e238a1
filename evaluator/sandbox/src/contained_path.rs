//! Contained paths: reads and writes below a folder whose content is not trusted.
//!
//! A build can plant links in its workspace. The kernel resolves every path here with
//! `RESOLVE_BENEATH`, so that none leads out of the folder, even when something changes at
//! the same time.

use crate::folder_walk::each_folder;
use crate::identity;
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, mkdirat, openat2, unlinkat};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// A folder; nothing outside of it is read or written.
#[derive(Debug)]
pub struct ContainedFolder(OwnedFd);

impl ContainedFolder {
    pub fn open(folder: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(folder, flags, Mode::empty())?))
    }

    fn at(&self, path: &str, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        Ok(openat2(
            &self.0,
            path,
            flags | OFlags::CLOEXEC,
            mode,
            resolve,
        )?)
    }

    /// Reads a regular file; an error where it is longer than `limit`.
    pub fn read(&self, path: &str, limit: u64) -> io::Result<Vec<u8>> {
        // Without NONBLOCK a planted pipe would block for ever.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = File::from(self.at(path, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::Error::other(format!("longer than {limit} bytes")));
        }
        Ok(bytes)
    }

    /// Tells whether a regular file begins with these bytes.
    pub fn starts_with(&self, path: &str, bytes: &[u8]) -> bool {
        let head = || -> io::Result<Vec<u8>> {
            let flags = OFlags::RDONLY | OFlags::NONBLOCK;
            let file = File::from(self.at(path, flags, Mode::empty())?);
            let mut head = Vec::new();
            file.take(bytes.len() as u64).read_to_end(&mut head)?;
            Ok(head)
        };
        head().is_ok_and(|head| head == bytes)
    }

    /// Replaces a file, and creates the folders above it. An executable stays one.
    pub fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        let folder = self.folder(folder)?;
        let old = openat2(
            &folder,
            name,
            OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
            ResolveFlags::BENEATH,
        );
        let mode = old
            .and_then(|old| rustix::fs::fstat(&old))
            .map_or(0o644, |stat| stat.st_mode & 0o777);
        // The old file is replaced, so that nothing is written through links and pipes.
        match unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode | 0o200);
        let file = openat2(&folder, name, flags, mode, ResolveFlags::BENEATH)?;
        identity::give_open(&file)?;
        File::from(file).write_all(bytes)
    }

    /// Removes a file, if it exists.
    pub fn remove(&self, path: &str) -> io::Result<()> {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        let removed = self
            .at(folder, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())
            .and_then(|folder| Ok(unlinkat(&folder, name, AtFlags::empty())?));
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn folder(&self, path: &str) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let mut reached = String::new();
        let mut current = self.at(".", flags, Mode::empty())?;
        for part in path.split('/').filter(|part| *part != ".") {
            reached.push_str(part);
            match mkdirat(&current, part, Mode::from_raw_mode(0o755)) {
                Ok(()) => {
                    let made = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
                    identity::give_open(&self.at(&reached, made, Mode::empty())?)?;
                }
                Err(rustix::io::Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            current = self.at(&reached, flags, Mode::empty())?;
            reached.push('/');
        }
        Ok(current)
    }
}

/// Removes a folder, also where a build removed its permissions.
pub fn remove_folder(root: &Path) {
    if fs::remove_dir_all(root).is_ok() || !root.exists() {
        return;
    }
    // What cannot be opened is told below.
    let _ = each_folder(root, |folder| {
        let handle = format!("/proc/self/fd/{}", folder.as_raw_fd());
        Ok(rustix::fs::chmod(handle, Mode::RWXU)?)
    });
    if let Err(error) = fs::remove_dir_all(root) {
        tracing::warn!(path = %root.display(), %error, "a workspace could not be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::ContainedFolder;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn writes_and_reads_inside_and_never_outside() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("victim"), "old").unwrap();
        symlink(outside.path(), root.path().join("way-out")).unwrap();
        symlink(outside.path().join("victim"), root.path().join("link")).unwrap();
        std::fs::create_dir(root.path().join("src")).unwrap();
        symlink("src", root.path().join("alias")).unwrap();
        let beneath = ContainedFolder::open(root.path()).unwrap();
        beneath.write("src/deep/er/a.c", b"new").unwrap();
        assert_eq!(beneath.read("alias/deep/er/a.c", 10).unwrap(), b"new");
        assert!(beneath.read("src/deep/er/a.c", 2).is_err());
        assert!(beneath.read("link", 10).is_err());
        assert!(beneath.write("way-out/victim", b"x").is_err());
        assert!(beneath.write("../victim", b"x").is_err());
        assert!(beneath.remove("way-out/victim").is_err());
        beneath.write("link", b"replaced").unwrap();
        let victim = std::fs::read(outside.path().join("victim")).unwrap();
        assert_eq!(victim, b"old");
        beneath.remove("link").unwrap();
        beneath.remove("not/there").unwrap();
        assert!(!root.path().join("link").exists());
    }

    #[test]
    fn an_executable_stays_one() {
        let root = tempfile::tempdir().unwrap();
        let script = root.path().join("configure");
        std::fs::write(&script, "old").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        ContainedFolder::open(root.path())
            .unwrap()
            .write("configure", b"new")
            .unwrap();
        assert_eq!(
            std::fs::metadata(&script).unwrap().permissions().mode() & 0o777,
            0o755
        );
    }
}
