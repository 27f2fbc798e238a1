//! A view of the file system in which everything is read-only but the command's
//! own folders, for isolations that cannot give it a root of its own: Landlock
//! says nothing of modes, owners, times and attributes of files.

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount_bind_recursive, mount_change, mount_remount,
};
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Lists of keys, which are the user's.
pub(super) const KEYS: &[&str] = &["/proc/keys", "/proc/key-users"];

/// Makes it, for this process and what it starts. Needs a user namespace of its own.
pub(super) fn make_read_only(except: &[OsString]) -> Result<(), Box<dyn Error>> {
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS)?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private)?;
    for list in KEYS.iter().filter(|list| Path::new(list).exists()) {
        mount_bind_recursive("/dev/null", *list)?;
    }
    for folder in except {
        mount_bind_recursive(&**folder, &**folder)?;
    }
    let mounts = fs::read("/proc/self/mountinfo")?;
    for line in mounts.split(|byte| *byte == b'\n') {
        let Some((place, flags)) = parse(line) else {
            continue;
        };
        if except.iter().any(|folder| place.starts_with(folder)) {
            continue;
        }
        let tried = mount_remount(&place, MountFlags::BIND | MountFlags::RDONLY | flags, c"");
        // What cannot be reached here, or lies under another mount, the command
        // cannot reach either.
        let reached = statvfs(&place);
        if reached.is_ok_and(|now| !now.f_flag.contains(StatVfsMountFlags::RDONLY)) {
            let why = tried.map_or_else(|errno| errno.to_string(), |()| "no reason".to_owned());
            return Err(format!("{} stays writable: {why}", place.display()).into());
        }
    }
    Ok(())
}

/// Where a line of `mountinfo` says that something is mounted, and those of its
/// flags that a namespace may not take off.
fn parse(line: &[u8]) -> Option<(PathBuf, MountFlags)> {
    let mut fields = line.split(|byte| *byte == b' ').skip(4);
    let place = OsString::from_vec(unescape(fields.next()?));
    let options = std::str::from_utf8(fields.next()?).ok()?;
    let mut flags = MountFlags::empty();
    for option in options.split(',') {
        flags |= match option {
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            "nosymfollow" => MountFlags::NOSYMFOLLOW,
            _ => MountFlags::empty(),
        };
    }
    if !flags.intersects(MountFlags::NOATIME | MountFlags::RELATIME) {
        flags |= MountFlags::STRICTATIME;
    }
    Some((place.into(), flags))
}

/// Undoes the octal numbers that stand for blanks and the like.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let number = (*first == b'\\').then(|| after.get(..3)).flatten();
        let number = number.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = number.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = match byte {
            Some(_) => after.get(3..).unwrap_or_default(),
            None => after,
        };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::parse;
    use rustix::mount::MountFlags;
    use std::path::Path;

    #[test]
    fn reads_where_something_is_mounted_and_how() {
        let line = br"36 35 98:0 /mnt1 /mnt\040two rw,nosuid,noatime master:1 - ext3 /dev/root rw";
        let (place, flags) = parse(line).unwrap();
        assert_eq!(place, Path::new("/mnt two"));
        assert_eq!(flags, MountFlags::NOSUID | MountFlags::NOATIME);
        let strict = parse(b"1 2 3:4 / / rw - tmpfs none rw").unwrap().1;
        assert_eq!(strict, MountFlags::STRICTATIME);
        assert!(parse(b"").is_none());
    }
}
