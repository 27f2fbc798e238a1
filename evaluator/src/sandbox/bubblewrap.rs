//! The words of a `bwrap` call.
//!
//! Everything is unshared; the host's programs are shown read-only, and of its
//! files nothing else. The root of what the command sees is read-only too, so
//! that it can fill nothing but its own folders and a `/tmp` of limited size.

use super::{Command, Host, SHELL, Words, shell_words};
use std::ffi::OsString;
use std::path::Path;

/// The number of the one user and group inside.
pub(super) const USER: &str = "1000";
/// Room for `/tmp` and `/dev/shm` together; they live in memory.
const SCRATCH: u64 = 1 << 30;

pub(super) fn arguments(host: &Host, command: &Command<'_>, own_proc: bool) -> Vec<OsString> {
    let mut words = Words::default();
    words.add(["--unshare-all", "--die-with-parent", "--new-session"]);
    // One user, whoever runs us. It is not root, because root's `tar` and `cp`
    // try to give files to users that do not exist in here.
    words.add(["--unshare-user", "--uid", USER, "--gid", USER]);
    words.add(["--cap-drop", "ALL", "--hostname", "sandbox"]);
    if command.network {
        words.add(["--share-net"]);
    }
    for path in host.shown(command.network) {
        words.bind("--ro-bind", &path, &path);
    }
    for (link, name) in Host::links() {
        words.bind("--symlink", &link, name);
    }
    if own_proc {
        words.add(["--proc", "/proc"]);
    } else {
        words.add(["--ro-bind", "/proc", "/proc"]);
    }
    let half = (SCRATCH / 2).to_string();
    words.add(["--dev", "/dev"]);
    words.add([
        "--size",
        &half,
        "--tmpfs",
        "/dev/shm",
        "--remount-ro",
        "/dev",
    ]);
    words.add([
        "--size",
        &half,
        "--tmpfs",
        "/tmp",
        "--symlink",
        "/tmp",
        "/var/tmp",
    ]);
    for place in command.places {
        let kind = if place.writable {
            "--bind"
        } else {
            "--ro-bind"
        };
        words.bind(kind, &place.host, &place.inside);
    }
    words.add(["--remount-ro", "/", "--chdir"]);
    words.0.push(command.folder.into());
    words.add(["--", SHELL]);
    words.0.extend(shell_words(command));
    words.0
}

impl Words {
    fn bind(&mut self, kind: &str, from: &Path, to: &Path) {
        self.0.push(kind.into());
        self.0.push(from.into());
        self.0.push(to.into());
    }
}
