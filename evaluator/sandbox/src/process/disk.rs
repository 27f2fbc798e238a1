//! Disk space that a command takes where its folders lie, files without a
//! name and files without content included.
//!
//! How much is free is cheap to ask for but shared with others: only when it
//! shrank by the command's limit are its folders and open files measured. What
//! can be found in neither (a file that is on its way through a socket, say)
//! ends the command only when the disk is about to be full; that is then no
//! fault of anybody's that could be told.

use super::watch::{self, BLOCK, size_below};
use super::{Limit, Overrun};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Said when a command ended only because the disk is full, whoever noticed first.
pub const FULL: &str =
    "a command failed, and the disk is full: make room, or set cache.folder to a larger disk";

/// Bytes and files that are left to others, unless there were few to begin with.
const RESERVE: Room = Room {
    bytes: 256 << 20,
    files: 10_000,
};
/// Ratio of the time between two measurements to that of one.
const PATIENCE: u32 = 10;

/// Free space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Room {
    bytes: u64,
    files: u64,
}

impl Room {
    fn most(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.max(other.bytes),
            files: self.files.max(other.files),
        }
    }

    fn of(folder: &Path) -> Option<Self> {
        let room = rustix::fs::statvfs(folder).ok()?;
        // A filesystem that does not count its files says 0 of both.
        let counts = room.f_files > 0;
        Some(Self {
            bytes: room.f_bavail.saturating_mul(room.f_frsize),
            files: if counts { room.f_favail } else { u64::MAX },
        })
    }
}

/// Watches what one command takes.
#[derive(Debug)]
pub(super) struct Disk {
    folders: Vec<PathBuf>,
    limit: u64,
    /// The most that was free since the start.
    most_free: Option<Room>,
    next: Instant,
}

impl Disk {
    pub(super) fn new(folders: &[PathBuf], limit: u64) -> Self {
        Self {
            folders: folders.to_vec(),
            limit,
            most_free: folders.first().and_then(|folder| Room::of(folder)),
            next: Instant::now(),
        }
    }

    /// Looks again; the processes below `root` are the command's.
    pub(super) fn look(&mut self, root: u32) -> Option<Overrun> {
        let now = self.folders.first().and_then(|folder| Room::of(folder));
        let (Some(before), Some(now)) = (self.most_free, now) else {
            return None;
        };
        // What others give back meanwhile must not hide what the command takes.
        self.most_free = Some(before.most(now));
        let started = Instant::now();
        let full = is_full(before, now);
        if !full && (!has_shrunk(before, now, self.limit) || started < self.next) {
            return None;
        }
        let named: u64 = self.folders.iter().map(|folder| size_below(folder)).sum();
        let taken = named + nameless(&self.folders, root);
        self.next = Instant::now() + started.elapsed() * PATIENCE;
        // Next to nothing is left, and the command did not take it as far as can be seen.
        let shortage = (taken <= self.limit).then_some(FULL);
        let limit = Limit::Disk;
        (full || shortage.is_none()).then_some(Overrun { limit, shortage })
    }
}

fn has_shrunk(before: Room, now: Room, limit: u64) -> bool {
    let files = before.files.saturating_sub(now.files);
    before.bytes.saturating_sub(now.bytes) > limit || files.saturating_mul(BLOCK) > limit
}

fn is_full(before: Room, now: Room) -> bool {
    now.bytes < RESERVE.bytes.min(before.bytes / 8)
        || now.files < RESERVE.files.min(before.files / 8)
}

/// Bytes of files on the folders' disk that are open or mapped below `root`
/// and have no name any more.
fn nameless(folders: &[PathBuf], root: u32) -> u64 {
    let disk = |folder: &PathBuf| Some(fs::metadata(folder).ok()?.dev());
    let disks: Vec<u64> = folders.iter().filter_map(disk).collect();
    let mut found: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for pid in watch::below(root) {
        let open = fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten();
        for file in open.flatten() {
            // The link is followed to the file itself, name or none.
            let Ok(file) = fs::metadata(file.path()) else {
                continue;
            };
            if file.nlink() == 0 && file.is_file() && disks.contains(&file.dev()) {
                found.insert((file.dev(), file.ino()), file.blocks() * 512);
            }
        }
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        for (disk, inode, end) in maps.lines().filter_map(deleted) {
            if disks.contains(&disk) {
                let known = found.entry((disk, inode)).or_default();
                *known = (*known).max(end);
            }
        }
    }
    found.values().sum()
}

/// The disk and number of a mapped file that has no name any more, and where
/// in it the mapping ends.
fn deleted(line: &str) -> Option<(u64, u64, u64)> {
    let mut fields = line.strip_suffix(" (deleted)")?.split_whitespace();
    let (from, to) = fields.next()?.split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = hex(fields.nth(1)?)?;
    let (major, minor) = fields.next()?.split_once(':')?;
    let number = |text: &str| u32::from_str_radix(text, 16).ok();
    let disk = rustix::fs::makedev(number(major)?, number(minor)?);
    let inode = fields.next()?.parse().ok()?;
    Some((disk, inode, offset + hex(to)?.checked_sub(hex(from)?)?))
}

#[cfg(test)]
mod tests {
    use super::{Disk, Limit, Overrun, Room, deleted, has_shrunk, is_full};
    use std::fs;
    use std::io::Write;

    #[test]
    fn files_count_as_well_as_bytes() {
        let room = |bytes, files| Room { bytes, files };
        let (before, limit) = (room(100 << 30, 1_000_000), 1 << 20);
        assert!(!has_shrunk(before, before, limit));
        assert!(has_shrunk(before, room(99 << 30, 1_000_000), limit));
        assert!(has_shrunk(before, room(100 << 30, 999_000), limit));
        assert!(!is_full(before, room(1 << 30, 20_000)));
        assert!(is_full(before, room(1 << 20, 20_000)));
        assert!(is_full(before, room(1 << 30, 20)));
        // A small disk is not full because it is small.
        assert!(!is_full(room(64 << 20, 500), room(32 << 20, 400)));
        assert!(!is_full(room(0, u64::MAX), room(0, u64::MAX)));
        // Others made room, and the command took it.
        let after = before.most(room(90 << 30, 1_500_000));
        assert_eq!(after, room(100 << 30, 1_500_000));
        assert!(has_shrunk(after, before, limit));
    }

    #[test]
    fn a_mapped_file_without_a_name_is_seen() {
        let line = "7f0000000000-7f0000002000 rw-s 00001000 fe:01 42   /tree/a b (deleted)";
        let (_, inode, end) = deleted(line).unwrap();
        assert_eq!((inode, end), (42, 0x3000));
        assert!(deleted("7f0000000000-7f0000002000 r--p 00000000 fe:01 42 /lib/x").is_none());
    }

    #[test]
    fn an_open_file_without_a_name_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut disk = Disk::new(&[folder.path().to_path_buf()], 1 << 20);
        // The watched processes are those below this one.
        let mut child = std::process::Command::new("sh")
            .args([
                "-c",
                "exec 9>\"$1\"; rm \"$1\"; head -c 4000000 /dev/zero >&9; echo; read x",
                "sh",
            ])
            .arg(&path)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
        fs::File::open(folder.path()).unwrap().sync_all().unwrap();
        rustix::fs::sync();
        // As if the disk had been emptier: others write to it meanwhile.
        disk.most_free = Some(Room {
            bytes: u64::MAX,
            files: u64::MAX,
        });
        let too_much = Overrun::of_command(Limit::Disk);
        assert_eq!(disk.look(std::process::id()), Some(too_much));
        child.stdin.take().unwrap().write_all(b"\n").unwrap();
        child.wait().unwrap();
        disk.next = std::time::Instant::now();
        assert_eq!(disk.look(std::process::id()), None);
    }
}
