//! Cache: entries on disk that outlive a run.
//!
//! An entry is a folder named by the digest of everything that it depends on. It is moved
//! into place as a whole, never written again, and used in place by any number of
//! processes; a lock on a file in it keeps it from being pruned. The meaning of an entry is
//! not known here.

use patchwright_sandbox::contained_path::{ContainedFolder, Visited, remove_folder};
use patchwright_sandbox::process::size_below;
use rustix::fs::{FileType, Mode};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The file that is locked while an entry is used; its time is that of the last use.
const HELD: &str = "held";
/// The record of an entry.
const RECORD: &str = "record.json";
/// Nobody but us: what is in here tells of bugs that nobody has mended yet.
const PRIVATE: u32 = 0o700;
/// The set-user, set-group and sticky bits.
const LENDING: u32 = 0o7000;
/// The attribute that holds the capabilities of a program.
const CAPABILITIES: &str = "security.capability";
/// The size of an entry in bytes.
const SIZE: &str = "size";

/// The entries of one folder.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// An entry that cannot be pruned while this is held.
#[derive(Debug)]
pub struct Entry {
    path: PathBuf,
    held: File,
}

impl Drop for Entry {
    /// Gives the lock up for good: a process that is being started has a copy of the open file
    /// until it runs its own program, and closing ours alone would leave the lock with that copy.
    fn drop(&mut self) {
        let _ = self.held.unlock();
    }
}

impl Cache {
    /// Opens the entries of a folder, which together take at most `limit` bytes.
    pub fn new(folder: PathBuf, limit: u64) -> Self {
        Self { folder, limit }
    }

    /// Returns its folder, which is made where it is missing.
    pub(crate) fn folder(&self) -> io::Result<&Path> {
        DirBuilder::new()
            .recursive(true)
            .mode(PRIVATE)
            .create(&self.folder)?;
        // One of an earlier version was open to all.
        fs::set_permissions(&self.folder, Permissions::from_mode(PRIVATE))?;
        Ok(&self.folder)
    }

    /// Returns the entry of this name with its record. One without a readable record is
    /// damaged and removed, so that a new one can replace it.
    pub fn read<T: DeserializeOwned>(&self, key: &str) -> Option<(Entry, T)> {
        let entry = self.take(key)?;
        if let Some(record) = entry.record() {
            return Some((entry, record));
        }
        entry.discard();
        None
    }

    /// Returns the entry of this name, where there is one.
    fn take(&self, key: &str) -> Option<Entry> {
        let path = self.folder.join(key);
        let held = OpenOptions::new().write(true).open(path.join(HELD)).ok()?;
        held.lock_shared().ok()?;
        // It may have been pruned, and even made again, before the lock was taken.
        let (locked, there) = (held.metadata().ok()?, fs::metadata(path.join(HELD)).ok()?);
        if (locked.dev(), locked.ino()) != (there.dev(), there.ino()) {
            return None;
        }
        let _ = held.set_modified(SystemTime::now());
        Some(Entry { path, held })
    }

    /// Moves a folder into the cache; none where it is too large, or where another process
    /// was first, and then the folder stays in place.
    pub fn put(
        &self,
        key: &str,
        from: &Path,
        record: &impl Serialize,
    ) -> io::Result<Option<Entry>> {
        self.folder()?;
        fs::write(from.join(RECORD), serde_json::to_vec(record)?)?;
        take_rights(from)?;
        let size = size_below(from);
        if size > self.limit {
            return Ok(None);
        }
        fs::write(from.join(SIZE), size.to_string())?;
        let held = File::create(from.join(HELD))?;
        held.lock_shared()?;
        let path = self.folder.join(key);
        if fs::rename(from, &path).is_err() {
            return Ok(None);
        }
        self.prune();
        Ok(Some(Entry { path, held }))
    }

    /// Removes the least recently used entries until the rest fits.
    fn prune(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut known: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter_map(|entry| {
                let path = entry.path();
                let used = fs::metadata(path.join(HELD)).ok()?.modified().ok()?;
                let size = fs::read_to_string(path.join(SIZE)).ok()?.parse().ok()?;
                Some((used, size, path))
            })
            .collect();
        known.sort();
        let mut total: u64 = known.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in known {
            if total <= self.limit {
                return;
            }
            if remove_unused(&path) {
                total -= size;
            }
        }
    }
}

impl Entry {
    /// Returns its folder, which must not be written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes a damaged entry, unless others hold it.
    pub fn discard(self) {
        tracing::warn!(path = %self.path.display(), "an entry of the cache was damaged");
        let path = self.path.clone();
        drop(self);
        remove_unused(&path);
    }

    fn record<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&fs::read(self.path.join(RECORD)).ok()?).ok()
    }
}

/// Takes from everything in a folder the rights of its owner that a program of
/// it would lend to whoever calls it, and closes the folder to others.
fn take_rights(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(PRIVATE))?;
    for visited in ContainedFolder::open(folder)?.folders(|_| true) {
        let Visited {
            folder, entries, ..
        } = visited?;
        for entry in entries {
            let mode = entry.facts.st_mode;
            if mode & LENDING != 0 && entry.kind() != FileType::Symlink {
                let plain = Mode::from_raw_mode(mode & 0o777);
                folder.by_handle(&entry.name, |path| rustix::fs::chmod(path, plain))?;
            }
            if entry.is_file() {
                folder.by_handle(&entry.name, |path| {
                    match rustix::fs::removexattr(path, CAPABILITIES) {
                        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(()),
                        removed => removed,
                    }
                })?;
            }
        }
    }
    Ok(())
}

/// Removes an entry that nobody holds.
fn remove_unused(path: &Path) -> bool {
    File::open(path.join(HELD)).is_ok_and(|held| {
        // Renamed first, so that nobody takes an incomplete entry.
        let dead = path.with_extension("removed");
        held.try_lock().is_ok()
            && fs::rename(path, &dead).is_ok_and(|()| {
                remove_folder(&dead);
                true
            })
    })
}

#[cfg(test)]
mod tests {
    use super::Cache;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::{Path, PathBuf};

    fn made(root: &Path, name: &str, bytes: usize) -> PathBuf {
        let folder = root.join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("content"), vec![7; bytes]).unwrap();
        folder
    }

    #[test]
    fn what_is_held_stays_and_what_was_not_used_for_longest_goes() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path().join("cache"), 70_000);
        assert!(cache.take("a").is_none());
        let held = cache
            .put("a", &made(root.path(), "1", 20_000), &1)
            .unwrap()
            .unwrap();
        drop(
            cache
                .put("b", &made(root.path(), "2", 20_000), &2)
                .unwrap()
                .unwrap(),
        );
        // Who comes second keeps what he made.
        let second = made(root.path(), "3", 10);
        assert!(cache.put("b", &second, &3).unwrap().is_none());
        assert!(second.is_dir());
        assert_eq!(cache.take("b").unwrap().record::<i32>(), Some(2));
        drop(
            cache
                .put("c", &made(root.path(), "4", 20_000), &4)
                .unwrap()
                .unwrap(),
        );
        assert!(cache.take("a").is_some() && cache.take("c").is_some());
        assert!(cache.take("b").is_none(), "pruned");
        assert!(held.path().join("content").is_file());
        // What would never fit is not taken in.
        let large = made(root.path(), "5", 80_000);
        assert!(cache.put("d", &large, &5).unwrap().is_none());
        assert!(large.is_dir() && cache.take("a").is_some());
        let left = fs::read_dir(root.path().join("cache")).unwrap().count();
        assert_eq!(left, 2, "nothing half removed");
    }

    #[test]
    fn a_damaged_entry_makes_room_for_another() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path().join("cache"), 1 << 20);
        for (number, damage) in ["", "{", "\"x\""].into_iter().enumerate() {
            let made = made(root.path(), &number.to_string(), 10);
            drop(cache.put("a", &made, &7).unwrap().unwrap());
            assert_eq!(cache.read::<i32>("a").unwrap().1, 7);
            fs::write(root.path().join("cache/a/record.json"), damage).unwrap();
            assert!(cache.read::<i32>("a").is_none(), "{damage}");
            assert!(cache.take("a").is_none(), "{damage}");
        }
    }

    /// As a process does that is started meanwhile, until it runs its own program.
    #[test]
    fn a_copy_of_an_open_entry_keeps_no_lock() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path().join("cache"), 1 << 20);
        let made = made(root.path(), "1", 10);
        let entry = cache.put("a", &made, &7).unwrap().unwrap();
        let _copy = entry.held.try_clone().unwrap();
        entry.discard();
        assert!(cache.take("a").is_none());
    }

    #[test]
    fn what_is_kept_lends_no_rights_and_is_closed_to_others() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("cache");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let cache = Cache::new(folder.clone(), 1 << 20);
        let made = made(root.path(), "1", 10);
        fs::create_dir(made.join("below")).unwrap();
        for (name, mode) in [("below/user", 0o4755), ("group", 0o2711), ("plain", 0o644)] {
            fs::write(made.join(name), name).unwrap();
            fs::set_permissions(made.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", made.join("link")).unwrap();
        // Version 2, effective, `CAP_SETUID`; only root can set it.
        let mut capability = [0_u8; 20];
        capability[..8].copy_from_slice(&[1, 0, 0, 2, 0x80, 0, 0, 0]);
        let flags = rustix::fs::XattrFlags::empty();
        let name = super::CAPABILITIES;
        let set = rustix::fs::setxattr(made.join("plain"), name, &capability, flags);
        drop(cache.put("a", &made, &1).unwrap().unwrap());
        let mode = |name: &str| fs::symlink_metadata(folder.join(name)).unwrap().mode() & 0o7777;
        assert_eq!((mode(""), mode("a")), (0o700, 0o700));
        assert_eq!((mode("a/below/user"), mode("a/group")), (0o755, 0o711));
        assert_eq!(mode("a/plain"), 0o644);
        if set.is_ok() {
            let left = rustix::fs::getxattr(folder.join("a/plain"), name, &mut [0_u8; 64]);
            assert_eq!(left, Err(super::Errno::NODATA));
        }
    }
}
