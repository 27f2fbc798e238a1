//! Contained paths: everything of ours that goes below a folder which a command wrote.
//!
//! A command can plant links, pipes and folders without end, and exchange them while they are
//! looked at. So a folder is held by a handle, the kernel resolves every path from there with
//! `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS`, and nothing but regular files is read.

mod copy;
mod removal;

use crate::identity;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, mkdirat, openat, openat2,
    readlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

pub use removal::remove_folder;

/// A handle that lists and leads on, and reads nothing.
const FOLDER: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW);

/// A folder; nothing outside of it is read or written, and no link is followed.
#[derive(Debug)]
pub struct ContainedFolder(OwnedFd);

/// An entry of a folder; a link stands for itself.
#[derive(Debug)]
pub struct Entry {
    pub name: OsString,
    pub facts: Stat,
}

impl Entry {
    pub fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.facts.st_mode)
    }

    pub fn is_folder(&self) -> bool {
        self.kind() == FileType::Directory
    }

    pub fn is_file(&self) -> bool {
        self.kind() == FileType::RegularFile
    }
}

/// A folder on a walk, with its path from where the walk began.
#[derive(Debug)]
pub struct Visited {
    pub path: PathBuf,
    pub folder: ContainedFolder,
    pub entries: Vec<Entry>,
}

impl Visited {
    /// Returns the path of an entry from where the walk began.
    pub fn path_of(&self, entry: &Entry) -> PathBuf {
        self.path.join(&entry.name)
    }
}

impl AsFd for ContainedFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl ContainedFolder {
    pub fn open(folder: &Path) -> io::Result<Self> {
        let flags = FOLDER | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(folder, flags, Mode::empty())?))
    }

    fn at(&self, path: impl Arg, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let flags = flags | OFlags::CLOEXEC;
        Ok(openat2(&self.0, path, flags, mode, resolve)?)
    }

    /// Opens a folder below it; the empty path is the folder itself.
    pub fn below(&self, path: &Path) -> io::Result<Self> {
        Ok(Self(self.at(named(path), FOLDER, Mode::empty())?))
    }

    /// Returns the facts of what is at a path; a link is not followed.
    pub fn facts(&self, path: &Path) -> io::Result<Stat> {
        let itself = OFlags::PATH | OFlags::NOFOLLOW;
        Ok(fstat(self.at(named(path), itself, Mode::empty())?)?)
    }

    /// Lists the folder in the order of the names, without what is gone again.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for name in self.names()? {
            match rustix::fs::statat(&self.0, &*name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(facts) => entries.push(Entry { name, facts }),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(entries)
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut names = Vec::new();
        for entry in Dir::new(openat(&self.0, ".", flags, Mode::empty())?)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if ![&b"."[..], b".."].contains(&&*name) {
                names.push(OsString::from_vec(name));
            }
        }
        names.sort();
        Ok(names)
    }

    /// Visits the folder and each one below it that `enters` does not leave out, a folder before
    /// those in it. One whose path is too long for any program is an error, and so is one that
    /// cannot be opened; the walk goes on after it.
    pub fn folders<'a>(
        &'a self,
        enters: impl Fn(&Path) -> bool + 'a,
    ) -> impl Iterator<Item = io::Result<Visited>> + 'a {
        let mut open = vec![PathBuf::new()];
        std::iter::from_fn(move || {
            let path = open.pop()?;
            let folder = self.below(&path);
            Some(folder.and_then(|folder| {
                let entries = folder.entries()?;
                let below = entries.iter().filter(|entry| entry.is_folder());
                let below = below.map(|entry| path.join(&entry.name));
                open.extend(below.filter(|path| enters(path)));
                Ok(Visited {
                    path,
                    folder,
                    entries,
                })
            }))
        })
    }

    /// Opens a regular file to be read.
    pub fn file(&self, path: impl Arg) -> io::Result<File> {
        // Without NONBLOCK a planted pipe would block for ever.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(self.at(path, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        Ok(file)
    }

    /// Reads a regular file; an error where it is longer than `limit`.
    pub fn read(&self, path: impl Arg, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file(path)?.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::Error::other(format!("longer than {limit} bytes")));
        }
        Ok(bytes)
    }

    /// Returns the text of a link.
    pub fn link(&self, name: &OsStr) -> io::Result<OsString> {
        let text = readlinkat(&self.0, name, Vec::new())?;
        Ok(OsString::from_vec(text.into_bytes()))
    }

    /// Does something with the path of a handle of an entry, which is no link.
    pub fn by_handle<T>(
        &self,
        name: &OsStr,
        act: impl FnOnce(&Path) -> rustix::io::Result<T>,
    ) -> io::Result<T> {
        let held = self.at(name, OFlags::PATH, Mode::empty())?;
        Ok(act(&path_of(&held))?)
    }

    /// Tells whether a regular file begins with these bytes.
    pub fn starts_with(&self, path: impl Arg, bytes: &[u8]) -> bool {
        let mut head = Vec::new();
        let file = self.file(path).map(|file| file.take(bytes.len() as u64));
        file.and_then(|mut file| file.read_to_end(&mut head))
            .is_ok()
            && head == bytes
    }

    /// Replaces a file, and creates the folders above it. An executable stays one.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = self.made(path.parent().unwrap_or(path))?;
        let name = path.file_name().unwrap_or_default();
        let mode = folder.facts(Path::new(name));
        let mode = mode.map_or(0o644, |facts| facts.st_mode & 0o777);
        // The old file is replaced, so that nothing is written through links and pipes.
        match unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
        let mut file = folder.create(name, Mode::from_raw_mode(mode | 0o200))?;
        identity::give_open(&file)?;
        file.write_all(bytes)
    }

    fn create(&self, name: &OsStr, mode: Mode) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        Ok(File::from(self.at(name, flags, mode)?))
    }

    /// Opens a folder below it, and makes what is missing.
    fn made(&self, path: &Path) -> io::Result<Self> {
        let mut reached = self.below(Path::new(""))?;
        for part in path {
            match mkdirat(&reached, part, Mode::from_raw_mode(0o755)) {
                Ok(()) => {
                    reached = reached.below(Path::new(part))?;
                    identity::give_open(&reached)?;
                }
                Err(Errno::EXIST) => reached = reached.below(Path::new(part))?,
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(reached)
    }
}

/// The kernel knows no empty path.
fn named(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        return Path::new(".");
    }
    path
}

/// The path of what a handle stands for.
fn path_of(handle: &impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd()))
}

/// Gives a folder and everything in it to the user that commands run as.
pub fn give_all(folder: &Path) -> io::Result<()> {
    if identity::of_commands().is_none() {
        return Ok(());
    }
    for visited in ContainedFolder::open(folder)?.folders(|_| true) {
        let visited = visited?;
        identity::give_open(&visited.folder)?;
        for entry in visited.entries.iter().filter(|entry| !entry.is_folder()) {
            identity::give_at(&visited.folder, &entry.name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::ContainedFolder;
    use rustix::fs::{FileType, Mode};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    #[test]
    fn writes_and_reads_inside_and_follows_no_link() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| root.path().join(name);
        fs::write(outside.path().join("victim"), "old").unwrap();
        symlink(outside.path(), at("way-out")).unwrap();
        symlink(outside.path().join("victim"), at("link")).unwrap();
        fs::create_dir(at("src")).unwrap();
        symlink("src", at("alias")).unwrap();
        let beneath = ContainedFolder::open(root.path()).unwrap();
        let write = |path: &str, text: &str| beneath.write(Path::new(path), text.as_bytes());
        let remove = |path: &str| beneath.remove(Path::new(path));
        write("src/deep/er/a.c", "new").unwrap();
        assert_eq!(beneath.read("src/deep/er/a.c", 10).unwrap(), b"new");
        assert!(beneath.read("src/deep/er/a.c", 2).is_err());
        for (path, below) in [("way-out", "victim"), ("..", "victim"), ("alias", "a.c")] {
            let through = format!("{path}/{below}");
            assert!(write(&through, "x").is_err(), "{through}");
            assert!(remove(&through).is_err(), "{through}");
            assert!(beneath.below(Path::new(path)).is_err(), "{path}");
            assert!(beneath.read(&*through, 10).is_err(), "{through}");
        }
        assert!(beneath.read("link", 10).is_err());
        write("link", "replaced").unwrap();
        let victim = || fs::read(outside.path().join("victim")).unwrap();
        assert_eq!(victim(), b"old");
        for path in ["link", "not/there", "alias", "way-out", "src"] {
            remove(path).unwrap();
        }
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
        assert_eq!(victim(), b"old");
        assert!(ContainedFolder::open(&at("link")).is_err());
    }

    #[test]
    fn what_is_no_file_is_neither_read_nor_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let folder = ContainedFolder::open(root.path()).unwrap();
        let pipe = FileType::Fifo;
        rustix::fs::mknodat(&folder, "pipe", pipe, Mode::RWXU, 0).unwrap();
        let _socket = UnixListener::bind(root.path().join("socket")).unwrap();
        symlink("/dev/zero", root.path().join("device")).unwrap();
        symlink("/etc/passwd", root.path().join("link")).unwrap();
        for name in ["pipe", "socket", "device", "link", "."] {
            assert!(folder.read(name, 1 << 20).is_err(), "{name}");
            assert!(!folder.starts_with(name, b""), "{name}");
        }
    }

    #[test]
    fn links_are_listed_and_never_entered() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::create_dir_all(root.path().join("left/out")).unwrap();
        fs::create_dir(outside.path().join("below")).unwrap();
        symlink(outside.path(), root.path().join("a/link")).unwrap();
        let top = ContainedFolder::open(root.path()).unwrap();
        let folders = top.folders(|path| path != Path::new("left"));
        let mut listed = Vec::new();
        for visited in folders.map(Result::unwrap) {
            let entries = visited.entries.iter();
            listed.extend(entries.map(|entry| (visited.path_of(entry), entry.kind())));
        }
        let folder = FileType::Directory;
        let expected = [
            ("a", folder),
            ("left", folder),
            ("a/b", folder),
            ("a/link", FileType::Symlink),
        ];
        assert_eq!(listed, expected.map(|(path, kind)| (path.into(), kind)));
    }

    /// A folder that was seen and is a link when its turn comes.
    #[test]
    fn a_folder_that_is_exchanged_on_the_walk_is_not_entered() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(outside.path().join("secret")).unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        let top = ContainedFolder::open(root.path()).unwrap();
        let mut folders = top.folders(|_| true);
        assert_eq!(folders.next().unwrap().unwrap().entries.len(), 1);
        fs::remove_dir(root.path().join("a")).unwrap();
        symlink(outside.path(), root.path().join("a")).unwrap();
        assert!(folders.next().unwrap().is_err());
        assert!(folders.next().is_none());
    }

    #[test]
    fn an_executable_stays_one() {
        let root = tempfile::tempdir().unwrap();
        let script = root.path().join("configure");
        fs::write(&script, "old").unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let folder = ContainedFolder::open(root.path()).unwrap();
        folder.write(Path::new("configure"), b"new").unwrap();
        let mode = fs::metadata(&script).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }
}
