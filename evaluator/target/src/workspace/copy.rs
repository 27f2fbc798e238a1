//! Copies of folders with times, permissions and links, sharing blocks where the file system
//! can.
//!
//! A copy belongs to the user that commands run as. Set-user and set-group bits
//! are not copied: nothing that a build made may lend its owner's rights.

use crate::TargetError;
use patchwright_sandbox::identity;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, SeekFrom, Timespec, Timestamps, ioctl_ficlone, seek, utimensat,
};
use rustix::io::Errno;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Copies the content of `from` into the existing folder `to`. Links are
/// copied as links; pipes, sockets and devices are left out.
pub(crate) fn copy_tree(from: &Path, to: &Path, stop: &AtomicBool) -> Result<(), TargetError> {
    Copier {
        stop,
        ..Copier::unhindered()
    }
    .tree(from, to)
}

/// Copies the content of `from` into the existing folder `to`, but for the
/// folder `except` in it.
pub(crate) fn copy_tree_except(from: &Path, to: &Path, except: &Path) -> Result<(), TargetError> {
    Copier {
        except: Some(except),
        ..Copier::unhindered()
    }
    .tree(from, to)
}

/// Copies entries one after the other.
pub(super) struct Copier<'a> {
    stop: &'a AtomicBool,
    shares_blocks: bool,
    except: Option<&'a Path>,
    folders: Vec<(PathBuf, Metadata)>,
}

/// For copies that are never stopped.
static GO_ON: AtomicBool = AtomicBool::new(false);

impl Copier<'_> {
    /// Creates a copier that is never stopped.
    pub(super) fn unhindered() -> Self {
        Self {
            stop: &GO_ON,
            shares_blocks: true,
            except: None,
            folders: Vec::new(),
        }
    }

    fn tree(mut self, from: &Path, to: &Path) -> Result<(), TargetError> {
        self.folder(from, to)?;
        finish(self.folders)
    }

    fn folder(&mut self, from: &Path, to: &Path) -> Result<(), TargetError> {
        let mut open = vec![(from.to_path_buf(), to.to_path_buf())];
        while let Some((from, to)) = open.pop() {
            let fail = |e| TargetError::io("a folder could not be copied", &from, e);
            self.folders
                .push((to.clone(), fs::symlink_metadata(&from).map_err(fail)?));
            for entry in fs::read_dir(&from).map_err(fail)? {
                let entry = entry.map_err(fail)?;
                if self.stop.load(Ordering::Relaxed) {
                    return Err(TargetError::Canceled);
                }
                let (source, target) = (entry.path(), to.join(entry.file_name()));
                if self.except == Some(&source) {
                    continue;
                }
                let metadata = entry.metadata().map_err(fail)?;
                if metadata.is_dir() {
                    fs::create_dir(&target).map_err(fail)?;
                    open.push((source, target));
                } else {
                    self.entry(&source, &target, &metadata)
                        .map_err(|e| TargetError::io("a file could not be copied", &source, e))?;
                }
            }
        }
        Ok(())
    }

    /// Copies one file or link with its time.
    pub(super) fn entry(&mut self, from: &Path, to: &Path, metadata: &Metadata) -> io::Result<()> {
        if metadata.is_symlink() {
            symlink(fs::read_link(from)?, to)?;
            identity::give(to)?;
        } else if metadata.is_file() {
            let (source, target) = (open_file(from)?, File::create(to)?);
            if !self.share(&source, &target) {
                copy_data(&source, &target)?;
            }
            identity::give(to)?;
            fs::set_permissions(to, plain(metadata))?;
        } else {
            return Ok(());
        }
        keep_time(to, metadata)
    }

    /// Makes the copy share the blocks of the original; returns false where it cannot.
    fn share(&mut self, source: &File, target: &File) -> bool {
        self.shares_blocks = self.shares_blocks && ioctl_ficlone(target, source).is_ok();
        self.shares_blocks
    }
}

/// Opens a file that a command left; no link in its place is followed, and no pipe waited for.
fn open_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Copies the data of a file. Its holes stay holes: a build could else fill the disk with files
/// of gigabytes that take no room where they are.
fn copy_data(source: &File, mut target: &File) -> io::Result<()> {
    target.set_len(source.metadata()?.len())?;
    let mut at = 0;
    loop {
        let data = match seek(source, SeekFrom::Data(at)) {
            Err(Errno::NXIO) => return Ok(()),
            found => found?,
        };
        at = seek(source, SeekFrom::Hole(data))?;
        seek(source, SeekFrom::Start(data))?;
        seek(target, SeekFrom::Start(data))?;
        io::copy(&mut source.take(at - data), &mut target)?;
    }
}

/// Makes new folders like those that they stand for. Each new file changes the time of its
/// folder, so folders come last, the deepest before others.
pub(super) fn finish(folders: Vec<(PathBuf, Metadata)>) -> Result<(), TargetError> {
    for (path, metadata) in folders.into_iter().rev() {
        let fail = |e| TargetError::io("a folder could not be copied", &path, e);
        identity::give(&path).map_err(fail)?;
        fs::set_permissions(&path, plain(&metadata)).map_err(fail)?;
        keep_time(&path, &metadata).map_err(fail)?;
    }
    Ok(())
}

/// The permissions to read, write and execute, without those to act as the owner.
fn plain(metadata: &Metadata) -> Permissions {
    Permissions::from_mode(metadata.mode() & 0o777)
}

fn keep_time(path: &Path, metadata: &Metadata) -> io::Result<()> {
    let times = Timestamps {
        last_access: Timespec {
            tv_sec: metadata.atime(),
            tv_nsec: metadata.atime_nsec(),
        },
        last_modification: Timespec {
            tv_sec: metadata.mtime(),
            tv_nsec: metadata.mtime_nsec(),
        },
    };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(test)]
mod tests {
    use super::copy_tree;
    use std::fs::{self, File};
    use std::os::unix::fs::{FileExt, MetadataExt};
    use std::sync::atomic::AtomicBool;

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
        copy_tree(&from, &to, &AtomicBool::new(false)).unwrap();
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
}
