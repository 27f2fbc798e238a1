//! The user that commands run as.
//!
//! An ordinary user's commands run as that user. Root's must not: what is owned
//! by the kernel's user 0 (`/proc/sys`, for one) obeys it without any
//! capability. They run as a user that owns nothing but what we give it.

use rustix::fs::{AtFlags, Gid, Uid, chownat};
use rustix::thread::{CapabilitySet, capabilities};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::Path;
use std::sync::OnceLock;

/// The user and group for commands of root, where they exist: above all ranges
/// that distributions, systemd and container engines hand out.
const PREFERRED: u32 = 1_900_000_000;
/// User id that file systems show for owners they cannot map; it may own such files.
const NOBODY: u32 = 65534;

/// Capabilities that root needs to give folders away, to become another user and to end
/// what that user runs.
const NEEDED: &[(CapabilitySet, &str)] = &[
    (CapabilitySet::CHOWN, "CAP_CHOWN"),
    (CapabilitySet::DAC_OVERRIDE, "CAP_DAC_OVERRIDE"),
    (CapabilitySet::FOWNER, "CAP_FOWNER"),
    (CapabilitySet::KILL, "CAP_KILL"),
    (CapabilitySet::SETGID, "CAP_SETGID"),
    (CapabilitySet::SETUID, "CAP_SETUID"),
];

/// A user and a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ids {
    pub user: u32,
    pub group: u32,
}

impl Ids {
    /// Returns the user and the group that run us.
    pub(crate) fn of_caller() -> Self {
        Self {
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
        }
    }
}

/// The user that runs us, as far as it matters for commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// Commands run as the same user.
    Ordinary,
    /// Commands run as this other user.
    Root(Ids),
    /// Commands would run as root, for this reason.
    Stuck(String),
}

/// The caller of this process; it never changes.
pub fn caller() -> &'static Caller {
    static CALLER: OnceLock<Caller> = OnceLock::new();
    CALLER.get_or_init(|| {
        let maps = ["uid_map", "gid_map"].map(|map| read_map(&format!("/proc/self/{map}")));
        let held = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
        decide(rustix::process::geteuid().is_root(), &maps, held)
    })
}

/// The user that root's commands run as; nothing when we are not root.
pub fn of_commands() -> Option<Ids> {
    match caller() {
        Caller::Root(ids) => Some(*ids),
        Caller::Ordinary | Caller::Stuck(_) => None,
    }
}

/// Gives a file, a folder or a link itself to the user that commands run as.
pub fn give(path: &Path) -> io::Result<()> {
    match of_commands() {
        Some(ids) => lchown(path, Some(ids.user), Some(ids.group)),
        None => Ok(()),
    }
}

/// Gives an open file or folder to the user that commands run as; a handle is enough.
pub fn give_open(file: impl AsFd) -> io::Result<()> {
    give_in(file, OsStr::new(""), AtFlags::EMPTY_PATH)
}

/// Gives an entry of a folder to the user that commands run as; a link stands for itself.
pub(crate) fn give_at(folder: impl AsFd, name: &OsStr) -> io::Result<()> {
    give_in(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

fn give_in(folder: impl AsFd, name: &OsStr, how: AtFlags) -> io::Result<()> {
    let Some(ids) = of_commands() else {
        return Ok(());
    };
    let (user, group) = (Uid::from_raw(ids.user), Gid::from_raw(ids.group));
    Ok(chownat(folder, name, Some(user), Some(group), how)?)
}

/// Tells whether commands can read a file, or everything in a folder, once they are
/// shown it; what lies below `except` does not matter, and what Git keeps for itself.
pub fn can_read(path: &Path, except: &Path) -> io::Result<bool> {
    if of_commands().is_none() {
        return Ok(true);
    }
    let mut open = vec![path.to_path_buf()];
    while let Some(path) = open.pop() {
        if path == except || path.ends_with(".git") {
            continue;
        }
        let metadata = fs::symlink_metadata(&path)?;
        let (needed, folder) = match metadata.file_type() {
            kind if kind.is_dir() => (0o5, true),
            kind if kind.is_file() => (0o4, false),
            _ => continue,
        };
        if metadata.mode() & needed != needed {
            return Ok(false);
        }
        if folder {
            let entries = fs::read_dir(&path)?.map(|entry| Ok(entry?.path()));
            open.extend(entries.collect::<io::Result<Vec<_>>>()?);
        }
    }
    Ok(true)
}

/// Tells whether commands get as far as this path where paths are not mapped.
pub fn can_reach(path: &Path) -> bool {
    let passable = |folder: &Path| fs::metadata(folder).is_ok_and(|at| at.mode() & 0o1 != 0);
    of_commands().is_none() || path.ancestors().skip(1).all(passable)
}

/// One range of a namespace's users: the first inside, the first outside, how many.
type Range = (u32, u32, u32);

fn read_map(path: &str) -> Vec<Range> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(parse_range).collect()
}

fn parse_range(line: &str) -> Option<Range> {
    let mut numbers = line.split_whitespace().map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

fn decide(root: bool, maps: &[Vec<Range>; 2], held: CapabilitySet) -> Caller {
    if !root {
        return Caller::Ordinary;
    }
    let [users, groups] = maps;
    if let [(0, outside, 1)] = users.as_slice() {
        // The root of a namespace that an ordinary user made is that user.
        return if *outside == 0 {
            Caller::Stuck("root can become no other user in this user namespace".to_owned())
        } else {
            Caller::Ordinary
        };
    }
    if let Some((_, name)) = NEEDED.iter().find(|(one, _)| !held.contains(*one)) {
        return Caller::Stuck(format!("root lacks {name}, so commands would run as root"));
    }
    match (unused(users), unused(groups)) {
        (Some(user), Some(group)) => Caller::Root(Ids { user, group }),
        _ => Caller::Stuck("no unused user can be found in /proc/self/uid_map".to_owned()),
    }
}

/// A number that is mapped here and that nobody uses.
fn unused(map: &[Range]) -> Option<u32> {
    let mapped = |number: u32| {
        map.iter()
            .any(|(first, _, count)| number >= *first && number - *first < *count)
    };
    if mapped(PREFERRED) {
        return Some(PREFERRED);
    }
    let last = map
        .iter()
        .map(|(first, _, count)| first.saturating_add(count.saturating_sub(1)))
        .max()?;
    let found = if last == NOBODY { last - 1 } else { last };
    (found != 0 && mapped(found)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::{Caller, Ids, PREFERRED, decide, parse_range};
    use rustix::thread::CapabilitySet;

    fn check(root: bool, map: &str, held: CapabilitySet) -> Caller {
        let map: Vec<_> = map.split(',').filter_map(parse_range).collect();
        decide(root, &[map.clone(), map], held)
    }

    #[test]
    fn root_becomes_a_user_that_is_mapped_and_owns_nothing() {
        let all = CapabilitySet::all();
        let whole = "0 0 4294967295";
        let as_user = |number| {
            Caller::Root(Ids {
                user: number,
                group: number,
            })
        };
        assert_eq!(check(false, whole, all), Caller::Ordinary);
        assert_eq!(check(true, whole, all), as_user(PREFERRED));
        assert_eq!(check(true, "0 1000 1,1 100000 65536", all), as_user(65536));
        assert_eq!(check(true, "0 100000 65535", all), as_user(65533));
        assert_eq!(check(true, "0 1000 1", all), Caller::Ordinary);
        for (map, held) in [
            ("0 0 1", all),
            (whole, all.difference(CapabilitySet::SETUID)),
            (whole, CapabilitySet::empty()),
            ("", all),
        ] {
            assert!(matches!(check(true, map, held), Caller::Stuck(_)), "{map}");
        }
    }
}
