//! Copies of what a command left, with owner, permissions and times, sharing blocks where the
//! file system can.
//!
//! A copy belongs to the user that commands run as. Set-user and set-group bits are not copied:
//! nothing that a build made may lend its owner's rights.

use super::{ContainedFolder, Entry};
use crate::identity;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, SeekFrom, Stat, Timespec, Timestamps, fchmod, fstat,
    ftruncate, futimens, ioctl_ficlone, mkdirat, openat, seek, symlinkat, utimensat,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

impl ContainedFolder {
    /// Makes a folder in it, which is like no other before [`Self::settle`].
    pub fn make_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(mkdirat(self, name, Mode::RWXU)?)
    }

    /// Copies a file or a link of another folder; pipes, sockets and devices are left out.
    pub fn copy(&self, from: &Self, entry: &Entry) -> io::Result<()> {
        let name = &*entry.name;
        match entry.kind() {
            FileType::Symlink => {
                symlinkat(&*from.link(name)?, self, name)?;
                identity::give_at(self, name)?;
                let itself = AtFlags::SYMLINK_NOFOLLOW;
                Ok(utimensat(self, name, &times(&entry.facts), itself)?)
            }
            FileType::RegularFile => {
                let (source, target) = (from.file(name)?, self.create(name, Mode::RWXU)?);
                if ioctl_ficlone(&target, &source).is_err() {
                    copy_data(&source, &target)?;
                }
                like(&target, Mode::empty(), &entry.facts)
            }
            _ => Ok(()),
        }
    }

    /// Makes a new folder like the one that it stands for, but open to its owner: a tree that may
    /// only be read is built in its copy. Each file in it changes its time, so what is in it comes
    /// first.
    pub fn settle(&self, path: &Path, facts: &Stat) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(self.below(path)?, ".", flags, Mode::empty())?;
        like(&folder.into(), Mode::RWXU, facts)
    }
}

/// Gives an open copy the owner, the permissions and the time that it is to have, and its owner
/// these permissions besides.
fn like(copy: &File, own: Mode, facts: &Stat) -> io::Result<()> {
    identity::give_open(copy)?;
    fchmod(copy, Mode::from_raw_mode(facts.st_mode & 0o777) | own)?;
    Ok(futimens(copy, &times(facts))?)
}

fn times(facts: &Stat) -> Timestamps {
    Timestamps {
        last_access: Timespec {
            tv_sec: facts.st_atime,
            tv_nsec: facts.st_atime_nsec.cast_signed(),
        },
        last_modification: Timespec {
            tv_sec: facts.st_mtime,
            tv_nsec: facts.st_mtime_nsec.cast_signed(),
        },
    }
}

/// Copies the data of a file. Its holes stay holes: a build could else fill the disk with files
/// of gigabytes that take no room where they are.
fn copy_data(source: &File, mut target: &File) -> io::Result<()> {
    ftruncate(target, fstat(source)?.st_size as u64)?;
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
