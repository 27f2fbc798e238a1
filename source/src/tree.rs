//! A folder of source code, and the only way to read files in it.

use crate::kind::HIDDEN_FOLDERS;
use crate::{SourceError, Text, TreePath};
use rayon::prelude::*;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The largest file that [`Tree::read`] takes into memory, in bytes.
pub const DEFAULT_READ_LIMIT: u64 = 64 * 1024 * 1024;

/// A regular file of a tree, and what the file system knows about its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub path: TreePath,
    /// Its size in bytes.
    pub size: u64,
    /// When its content changed, in nanoseconds since 1970.
    pub modified: i64,
    /// When it changed in any way, in nanoseconds since 1970.
    pub changed: i64,
    /// Its number in the file system.
    pub inode: u64,
}

impl Entry {
    fn new(path: TreePath, metadata: &std::fs::Metadata) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000) + rest;
        Self {
            path,
            size: metadata.size(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }
}

/// A source tree on disk.
///
/// # Example
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # std::fs::write(folder.path().join("a.c"), "int x;\n").unwrap();
/// let tree = patchwright_source::Tree::open(folder.path()).unwrap();
/// let path = tree.rebase("/src/project/a.c").unwrap();
/// assert_eq!(tree.read(&path).unwrap().line(1).unwrap(), "int x;");
/// ```
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    handle: OwnedFd,
}

impl Tree {
    /// Opens a folder.
    pub fn open(root: &Path) -> Result<Self, SourceError> {
        let fail = |path: &Path, source| SourceError::Root {
            path: path.to_path_buf(),
            source,
        };
        let root = root.canonicalize().map_err(|error| fail(root, error))?;
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(&root, flags, Mode::empty());
        let handle = handle.map_err(|errno| fail(&root, errno.into()))?;
        Ok(Self { root, handle })
    }

    /// The folder, absolute and free of links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a path lies on disk, for programs that are given a name.
    pub fn absolute(&self, path: &TreePath) -> PathBuf {
        self.root.join(path.as_str())
    }

    /// Returns whether a regular file of this name is in the tree.
    pub fn has_file(&self, path: &TreePath) -> bool {
        self.open_file(path).is_ok()
    }

    /// Reads a file up to [`DEFAULT_READ_LIMIT`].
    pub fn read(&self, path: &TreePath) -> Result<Text, SourceError> {
        self.read_up_to(path, DEFAULT_READ_LIMIT)
    }

    /// Reads a file of at most `limit` bytes.
    pub fn read_up_to(&self, path: &TreePath, limit: u64) -> Result<Text, SourceError> {
        self.bytes_up_to(path, limit).map(Text::new)
    }

    /// The bytes of a file, if there are no more than `limit`: for who looks
    /// through many files and wants the lines of few.
    pub fn bytes_up_to(&self, path: &TreePath, limit: u64) -> Result<Vec<u8>, SourceError> {
        let file = self.open_file(path)?;
        let fail = |source| SourceError::Read {
            path: path.to_string(),
            source,
        };
        let size = file.metadata().map_err(fail)?.len();
        if size > limit {
            return Err(SourceError::TooLarge {
                path: path.to_string(),
                size,
                limit,
            });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        file.take(limit).read_to_end(&mut bytes).map_err(fail)?;
        Ok(bytes)
    }

    /// Finds the file that a path from another machine means: the path itself,
    /// or what remains of it after leading components were dropped.
    ///
    /// The longest remainder that names a file wins. Components that climb are
    /// resolved before, so `/build/../src/a.c` means `src/a.c`.
    pub fn rebase(&self, foreign: &str) -> Option<TreePath> {
        let mut parts: Vec<&str> = Vec::new();
        for part in foreign.split(['/', '\\']) {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        (0..parts.len()).find_map(|dropped| {
            let path = TreePath::new(&parts.get(dropped..)?.join("/")).ok()?;
            self.has_file(&path).then_some(path)
        })
    }

    /// Every regular file, sorted by path. Links are left out (their targets
    /// are listed under their own names), ignore files are not obeyed, and
    /// version control is passed over.
    pub fn files(&self) -> Vec<TreePath> {
        self.entries().into_iter().map(|entry| entry.path).collect()
    }

    /// The files of [`Tree::files`] with what tells whether one has changed.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut level = vec![(self.root.clone(), String::new())];
        // Level by level: all folders of one depth are listed side by side.
        while !level.is_empty() {
            let listed: Vec<_> = level.par_iter().map(list).collect();
            level.clear();
            for (files, folders) in listed {
                entries.extend(files);
                level.extend(folders);
            }
        }
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        entries
    }

    fn open_file(&self, path: &TreePath) -> Result<File, SourceError> {
        let mut parts = path.as_str().split('/');
        if parts.any(|part| HIDDEN_FOLDERS.contains(&part)) {
            return Err(SourceError::Outside {
                path: path.to_string(),
                reason: "version control is no part of the tree",
            });
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let opened =
            match rustix::fs::openat2(&self.handle, path.as_str(), flags, Mode::empty(), resolve) {
                Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
                    self.open_checked(path, flags)?
                }
                other => other.map_err(|errno| explain(path, errno))?,
            };
        let stat = rustix::fs::fstat(&opened).map_err(|errno| explain(path, errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(File::from(opened)),
            FileType::Directory => Err(not_a_file(path, "it is a folder")),
            _ => Err(not_a_file(path, "it is a device, a pipe or a socket")),
        }
    }

    /// The way for kernels and containers without `openat2`.
    fn open_checked(&self, path: &TreePath, flags: OFlags) -> Result<OwnedFd, SourceError> {
        let real = self.absolute(path).canonicalize().map_err(|error| {
            let errno = rustix::io::Errno::from_io_error(&error);
            explain(path, errno.unwrap_or(rustix::io::Errno::IO))
        })?;
        if !real.starts_with(&self.root) {
            return Err(not_a_file(path, "it is a link that leaves the tree"));
        }
        rustix::fs::open(&real, flags | OFlags::NOFOLLOW, Mode::empty())
            .map_err(|errno| explain(path, errno))
    }
}

/// The files of one folder, and its folders with the paths of what is in them.
/// Links are not followed.
fn list((folder, prefix): &(PathBuf, String)) -> (Vec<Entry>, Vec<(PathBuf, String)>) {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    let listed = std::fs::read_dir(folder).into_iter().flatten();
    for entry in listed.filter_map(Result::ok) {
        let name = entry.file_name();
        let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else {
            continue;
        };
        if HIDDEN_FOLDERS.contains(&name) {
            continue;
        }
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            folders.push((entry.path(), path + "/"));
        } else if kind.is_file()
            && let (Ok(path), Ok(data)) = (TreePath::new(&path), entry.metadata())
        {
            files.push(Entry::new(path, &data));
        }
    }
    (files, folders)
}

fn not_a_file(path: &TreePath, reason: &'static str) -> SourceError {
    SourceError::NotAFile {
        path: path.to_string(),
        reason,
    }
}

fn explain(path: &TreePath, errno: rustix::io::Errno) -> SourceError {
    use rustix::io::Errno;
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => SourceError::NotFound {
            path: path.to_string(),
        },
        Errno::XDEV => not_a_file(path, "it is a link that leaves the tree"),
        Errno::LOOP => not_a_file(path, "it is a link that leads in a circle"),
        Errno::NXIO => not_a_file(path, "it is a device, a pipe or a socket"),
        other => SourceError::Read {
            path: path.to_string(),
            source: other.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;
    use crate::{SourceError, TreePath};
    use std::os::unix::fs::symlink;

    fn fixture() -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("src/.git")).unwrap();
        std::fs::write(folder.path().join("src/a.c"), "int a;\n").unwrap();
        std::fs::write(folder.path().join("src/.git/config"), "secret").unwrap();
        std::fs::write(folder.path().join(".gitignore"), "src/\n").unwrap();
        symlink("/etc/passwd", folder.path().join("out")).unwrap();
        symlink("../../etc/passwd", folder.path().join("src/climb")).unwrap();
        symlink("src/a.c", folder.path().join("inside")).unwrap();
        symlink("loop", folder.path().join("loop")).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        (folder, tree)
    }

    fn path(text: &str) -> TreePath {
        TreePath::new(text).unwrap()
    }

    #[test]
    fn reads_only_inside() {
        let (_folder, tree) = fixture();
        assert_eq!(tree.read(&path("src/a.c")).unwrap().bytes(), b"int a;\n");
        assert_eq!(tree.read(&path("inside")).unwrap().bytes(), b"int a;\n");
        assert!(matches!(
            tree.read(&path("src/.git/config")),
            Err(SourceError::Outside { .. })
        ));
        for refused in ["out", "src/climb", "loop", "src"] {
            assert!(
                matches!(tree.read(&path(refused)), Err(SourceError::NotAFile { .. })),
                "{refused}"
            );
        }
        assert!(matches!(
            tree.read(&path("none.c")),
            Err(SourceError::NotFound { .. })
        ));
        assert!(matches!(
            tree.read_up_to(&path("src/a.c"), 3),
            Err(SourceError::TooLarge { .. })
        ));
    }

    #[test]
    fn a_pipe_neither_opens_nor_blocks() {
        let (folder, tree) = fixture();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            folder.path().join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        assert!(matches!(
            tree.read(&path("pipe")),
            Err(SourceError::NotAFile { .. })
        ));
        assert!(!tree.files().contains(&path("pipe")));
    }

    #[test]
    fn rebases_foreign_paths() {
        let (_folder, tree) = fixture();
        for foreign in [
            "src/a.c",
            "/src/src/a.c",
            "/build/x/../src/a.c",
            "./src/a.c",
            "C:\\work\\src\\a.c",
        ] {
            assert_eq!(tree.rebase(foreign), Some(path("src/a.c")), "{foreign}");
        }
        for foreign in ["/etc/passwd", "", "../../etc/passwd", "/", "src", "out"] {
            assert_eq!(tree.rebase(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn lists_what_a_build_needs() {
        let (_folder, tree) = fixture();
        let files: Vec<String> = tree.files().iter().map(ToString::to_string).collect();
        assert_eq!(files, [".gitignore", "src/a.c"]);
    }
}
