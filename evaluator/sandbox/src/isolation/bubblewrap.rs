//! The words of a `bwrap` call.
//!
//! Everything is unshared; the host's programs are shown read-only, and of its
//! files nothing else. The root of what the command sees is read-only too, so
//! that it can fill nothing but its own folders and a `/tmp` of limited size.

use super::enter::Doors;
use super::host::{ETC, LINKS};
use super::mounts::KEYS;
use super::{Command, Host, IN_MEMORY, Words, inner_helper};
use crate::identity::Ids;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The number of the command's user and group inside. It is not root, because
/// root's `tar` and `cp` try to give files to users that do not exist in here.
pub(super) const USER: u32 = 1000;
/// Room for `/tmp` and `/dev/shm` together; they live in memory.
const SCRATCH: u64 = 1 << 30;

/// Parts of the system that a command in a root of its own has for itself, as far as they are
/// not given everywhere: a container may refuse them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// `/proc` and the machine's name.
    ProcAndName,
    Proc,
    /// None of them.
    Nothing,
}

impl Own {
    /// Gaps, for people to read.
    pub(super) fn leaves_open(self) -> Vec<String> {
        let gaps: &[&str] = match self {
            Self::ProcAndName => &[],
            Self::Proc => &["the machine's name is seen"],
            Self::Nothing => &[
                "the host's /proc is seen: names and arguments of other processes",
                "leak checks and debuggers find no process of their own there and fail",
            ],
        };
        gaps.iter().map(|gap| (*gap).to_owned()).collect()
    }
}

/// The doors that are still to be closed inside. Root's command has become
/// another user by then; an ordinary user's has been renumbered by `bwrap`.
pub(super) fn doors(divided: bool) -> Doors {
    Doors {
        ids: divided.then_some(Ids {
            user: USER,
            group: USER,
        }),
        ..Doors::default()
    }
}

/// The words, up to what is run. `divided` says that a user namespace is there already.
pub(super) fn arguments(
    host: &Host,
    command: &Command<'_>,
    (own, divided): (Own, bool),
) -> Vec<OsString> {
    let mut words = Words::default();
    words.unshare(command, (own, divided));
    let mut shown = host.shown(command.network);
    // The configuration may come as one folder.
    let copied = { command.places.iter() }.find(|place| place.inside == Path::new(ETC));
    if copied.is_some() {
        shown.retain(|path| !path.starts_with(ETC));
    }
    let inside = command.places.iter().map(|place| place.inside.as_path());
    let inside = inside.chain(shown.iter().map(PathBuf::as_path));
    // Folders that `bwrap` makes on its own way are closed to the command's user.
    for folder in above(inside.chain([inner_helper()])) {
        words.add(["--dir"]);
        words.0.push(folder.into());
    }
    for path in &shown {
        words.bind("--ro-bind", path, path);
    }
    for (link, name) in Host::links() {
        words.bind("--symlink", &link, name);
    }
    words.own_file_systems(own);
    words.bind("--ro-bind", &host.helper, inner_helper());
    for place in command.places {
        let kind = if place.writable {
            "--bind"
        } else {
            "--ro-bind"
        };
        words.bind(kind, &place.host, &place.inside);
    }
    if copied.is_some_and(|copy| copy.host.join("alternatives").is_dir()) {
        words.bind("--ro-bind", Path::new(LINKS), Path::new(LINKS));
    }
    if copied.is_some() && command.network {
        for path in Host::network_configuration() {
            words.bind("--ro-bind", &path, &path);
        }
    }
    words.add(["--remount-ro", "/", "--chdir", "/", "--"]);
    words.0
}

/// The folders above some paths, the outer ones first, without the root.
fn above<'a>(paths: impl Iterator<Item = &'a Path>) -> BTreeSet<&'a Path> {
    let folders = paths.flat_map(|path| path.ancestors().skip(1));
    folders.filter(|folder| folder.parent().is_some()).collect()
}

impl Words {
    /// Adds the namespaces of the command, and the user that it is in them.
    fn unshare(&mut self, command: &Command<'_>, (own, divided): (Own, bool)) {
        self.add(["--die-with-parent", "--new-session"]);
        self.add(["--unshare-ipc", "--unshare-pid", "--unshare-uts"]);
        self.add(["--unshare-cgroup-try", "--cap-drop", "ALL"]);
        if own == Own::ProcAndName {
            // Containers refuse to set it; the name is the container's there.
            self.add(["--hostname", "sandbox"]);
        }
        if divided {
            // What is needed to become the command's user, and is given up with it.
            for capability in ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"] {
                self.add(["--cap-add", capability]);
            }
        } else {
            let user = USER.to_string();
            self.add(["--unshare-user", "--uid", &user, "--gid", &user]);
        }
        if !command.network {
            self.add(["--unshare-net"]);
        }
    }

    /// Adds `/proc`, `/dev` and the folders in memory.
    fn own_file_systems(&mut self, own: Own) {
        if own == Own::Nothing {
            self.add(["--ro-bind", "/proc", "/proc"]);
        } else {
            self.add(["--proc", "/proc"]);
            for path in KEYS.iter().map(Path::new).filter(|p| p.exists()) {
                self.bind("--ro-bind", Path::new("/dev/null"), path);
            }
            // Parts of it are the whole system's, and a process could else write to its own
            // memory past its sanitizer.
            self.add(["--remount-ro", "/proc"]);
        }
        let half = (SCRATCH / 2).to_string();
        self.add(["--dev", "/dev"]);
        for folder in IN_MEMORY {
            self.add(["--perms", "1777", "--size", &half, "--tmpfs", folder]);
        }
        self.add(["--remount-ro", "/dev", "--symlink", "/tmp", "/var/tmp"]);
    }

    fn bind(&mut self, kind: &str, from: &Path, to: &Path) {
        self.0.push(kind.into());
        self.0.push(from.into());
        self.0.push(to.into());
    }
}
