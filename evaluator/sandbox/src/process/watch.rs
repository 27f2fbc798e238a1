//! Resources that a command and everything below it uses, read from `/proc`.
//!
//! Sanitized programs reserve terabytes of address space, so only what is
//! resident counts. No control group is needed, which is what makes this work
//! for any user; the price is that a limit is noticed a moment late.

use crate::contained_path::ContainedFolder;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Memory below which the machine itself is in danger, and commands are ended: 256 MiB.
const MACHINE_RESERVE: u64 = 256 << 20;

/// Bytes that the smallest file takes on a disk, as file systems are usually made.
pub(super) const BLOCK: u64 = 4096;

/// Bytes that stand for what cannot be counted: more than any limit.
const TOO_MUCH: u64 = 1 << 50;

/// Bytes that a file costs in memory besides its content.
const FILE_IN_MEMORY: u64 = 1024;

/// Resources that a process tree uses at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) processes: u64,
    pub(crate) resident: u64,
}

/// Every process below `root`, without `root` itself.
pub(crate) fn descendants(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (pid, parent) in processes() {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            found.push(child);
            open.push(child);
        }
    }
    found
}

/// Every process below `root` as the kernel lists the children of each. One
/// that is born or dies meanwhile may be missing, which is good enough to see
/// how much is used; nothing where the kernel keeps no such lists.
fn listed(root: u32) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        let threads = match fs::read_dir(format!("/proc/{parent}/task")) {
            Ok(threads) => threads,
            Err(_) if parent != root => continue,
            Err(_) => return None,
        };
        for thread in threads.flatten() {
            let children = match fs::read_to_string(thread.path().join("children")) {
                Ok(children) => children,
                Err(_) if parent != root => continue,
                Err(_) => return None,
            };
            let children = children
                .split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok());
            let before = found.len();
            found.extend(children);
            open.extend(found.iter().skip(before));
        }
    }
    Some(found)
}

/// Every process below `root`. To go through all processes of a busy machine
/// takes milliseconds, and this is asked many times a second.
pub(super) fn below(root: u32) -> Vec<u32> {
    listed(root).unwrap_or_else(|| descendants(root))
}

/// Measures what the processes below `root` use together, and what they keep in the
/// file systems in memory that are mounted for them alone, at `in_memory`.
pub(crate) fn usage(root: u32, memory_limit: u64, in_memory: &[&str]) -> Usage {
    let below = below(root);
    let resident: u64 = below.iter().map(|pid| resident(*pid)).sum();
    // Pages that forked processes share are counted once for each; only near
    // the limit is the exact (and slower) count worth its time.
    let resident = if resident > memory_limit {
        below.iter().map(|pid| proportional(*pid)).sum()
    } else {
        resident
    };
    Usage {
        processes: below.len() as u64,
        resident: resident + kept_in_memory(&below, in_memory) + open_in_memory(&below),
    }
}

/// Bytes of the files without a name (memfd) that the processes hold open. What
/// they map of these counts twice, as it is resident too.
fn open_in_memory(below: &[u32]) -> u64 {
    let mut found = BTreeMap::new();
    for pid in below {
        let open = fs::read_dir(format!("/proc/{pid}/fd"));
        for file in open.into_iter().flatten().flatten() {
            let link = fs::read_link(file.path()).unwrap_or_default();
            if link.as_os_str().as_encoded_bytes().starts_with(b"/memfd:")
                && let Ok(file) = fs::metadata(file.path())
            {
                found.insert(file.ino(), file.blocks() * 512);
            }
        }
    }
    found.values().sum()
}

/// Bytes that files take in memory, as the youngest process sees them that can
/// be asked: the oldest still see the host.
fn kept_in_memory(below: &[u32], folders: &[&str]) -> u64 {
    let seen = |pid: &u32| {
        let of = |folder: &&str| {
            let at = format!("/proc/{pid}/root{folder}");
            let (inside, host) = (fs::metadata(&at).ok()?, fs::metadata(folder).ok());
            let own = host.is_none_or(|host| host.dev() != inside.dev());
            let stat = rustix::fs::statvfs(&at).ok().filter(|_| own)?;
            let bytes = stat.f_blocks.saturating_sub(stat.f_bfree) * stat.f_frsize;
            let files = stat.f_files.saturating_sub(stat.f_ffree) * FILE_IN_MEMORY;
            Some(bytes + files)
        };
        folders.iter().map(of).sum::<Option<u64>>()
    };
    below.iter().rev().find_map(seen).unwrap_or(0)
}

/// Tells whether the whole machine is about to run out of memory.
pub(crate) fn machine_is_full() -> bool {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    field(&text, "MemAvailable:").is_some_and(|bytes| bytes < MACHINE_RESERVE)
}

/// Bytes of all files below `folder`, a block for each file and folder at least. A folder whose
/// path no program could name counts as more than any limit.
pub fn size_below(folder: &Path) -> u64 {
    let Ok(top) = ContainedFolder::open(folder) else {
        return 0;
    };
    let sizes = top.folders(|_| true).map(|visited| match visited {
        Ok(visited) => {
            let entries = visited.entries.iter();
            let sizes = entries.map(|entry| (entry.facts.st_size as u64).max(BLOCK));
            sizes.sum()
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => TOO_MUCH,
        Err(_) => 0,
    });
    sizes.fold(0, u64::saturating_add)
}

/// All processes that can be seen, with their parents.
fn processes() -> Vec<(u32, u32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((pid, parent(pid)?))
    });
    processes.collect()
}

fn parent(pid: u32) -> Option<u32> {
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // The name of the program stands in brackets and may itself hold any character.
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn resident(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    field(&text, "VmRSS:").unwrap_or(0)
}

fn proportional(pid: u32) -> u64 {
    fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))
        .ok()
        .and_then(|text| field(&text, "Pss:"))
        .unwrap_or_else(|| resident(pid))
}

/// A line like `VmRSS:   1234 kB`, in bytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::{descendants, field, listed, usage};

    #[test]
    fn reads_a_field() {
        assert_eq!(
            field("A: 1 kB\nVmRSS:\t   12 kB\n", "VmRSS:"),
            Some(12 * 1024)
        );
        assert_eq!(field("VmRSS: x kB", "VmRSS:"), None);
    }

    #[test]
    fn sees_a_child() {
        let mut child = std::process::Command::new("sleep")
            .arg("30")
            .spawn()
            .unwrap();
        assert!(descendants(std::process::id()).contains(&child.id()));
        assert!(listed(std::process::id()).is_none_or(|below| below.contains(&child.id())));
        assert!(usage(std::process::id(), u64::MAX, &[]).resident > 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
