//! Runs a command in a container of Podman: the host's programs on an empty root.
//!
//! No image is fetched or trusted. The root is a folder that holds nothing but
//! the points where the same things are mounted that bubblewrap shows. Docker is
//! not used: its daemon starts a command where no supervisor of ours could end
//! it, and whoever may talk to the daemon is root.

use super::enter::Doors;
use super::seccomp::Surroundings;
use super::supervisor::Supervised;
use super::{Command, Host, IN_MEMORY, INNER_HELPER, Place, SHELL, Words, entered};
use crate::TargetError;
use crate::identity;
use crate::process::{self, Ending, Execution, Launch, Limits};
use rustix::process::{Resource, getrlimit};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const ENGINE: &str = "podman";
/// Marks what we started, for [`forget_old`].
const LABEL: &str = "patchwright=command";
/// How old a container that does not run must be to be taken for left behind:
/// a younger one may be about to start.
const LEFT_BEHIND: &str = "until=10m";
/// What `podman run` leaves with when it failed itself, says its manual.
const ENGINE_FAILED: i32 = 125;
/// Room for `/tmp`, and as much for `/dev/shm`; they live in memory.
const SCRATCH: &str = "512m";
/// Files that a process may hold open, and processes of the user, at the most.
const MOST_FILES: u64 = 4096;
const MOST_PROCESSES: u64 = 4096;
/// The first process of a container ignores most signals, so a command is its
/// child, and how it ended is told the way a shell tells it.
const FIRST_PROCESS: &str = r#""$@"; exit $?"#;
/// How long Podman may take to forget a container.
const FORGETTING: Duration = Duration::from_secs(20);

/// The user inside: root of the user who runs us, who is nobody outside, or
/// the one that root's commands run as.
pub(super) fn user() -> u32 {
    identity::of_commands().map_or(0, |ids| ids.user)
}

/// Runs a command line to its end.
pub(super) async fn run(
    host: &Host,
    command: &Command<'_>,
    around: Surroundings,
) -> Result<Execution, TargetError> {
    let root = TempDir::with_prefix("patchwright-root-")
        .map_err(|e| TargetError::io("no root for a container", "temporary folder", e))?;
    points(host, command, root.path())
        .map_err(|e| TargetError::io("no root for a container", root.path(), e))?;
    let name = name();
    let words = words(host, command, (root.path(), &name), around)?;
    let writable = command.places.iter().filter(|place| place.writable);
    let launch = Launch {
        streams_apart: command.streams_apart,
        writes: writable.map(|place| place.host.clone()).collect(),
        in_memory: IN_MEMORY,
        ..engine(host, words)
    };
    let execution = process::run(launch, command.limits).await?;
    if matches!(execution.ending, Ending::Limit(_)) {
        forget(host, &["rm", "--force", "--ignore", "--time", "0", &name]).await;
    }
    if execution.ending == Ending::Exited(ENGINE_FAILED) {
        let text = execution.text();
        let last = text.lines().next_back().unwrap_or_default();
        return Err(TargetError::machinery(
            format!("podman failed: {last}"),
            "container",
        ));
    }
    Ok(execution)
}

/// Has Podman forget the containers of processes that were killed.
pub(super) async fn forget_old(host: &Host) {
    let label = format!("label={LABEL}");
    let words = ["container", "prune", "--force", "--filter", &label];
    forget(host, &[&words[..], &["--filter", LEFT_BEHIND]].concat()).await;
}

async fn forget(host: &Host, words: &[&str]) {
    let limits = Limits {
        wall: FORGETTING,
        idle: None,
        memory: 1 << 30,
        processes: 256,
        output: 4096,
        disk: u64::MAX,
    };
    let launch = engine(host, words.iter().map(OsString::from).collect());
    let said = match process::run(launch, limits).await {
        Ok(execution) if execution.ending.success() => return,
        Ok(execution) => execution.text(),
        Err(error) => error.to_string(),
    };
    tracing::debug!(said, "podman did not forget a container");
}

/// A call of Podman, which finds its own state by the user's variables.
fn engine(host: &Host, words: Vec<OsString>) -> Launch {
    let mut environment = host.environment(false);
    for (name, value) in &host.engine_variables {
        environment.insert(name.clone(), value.into());
    }
    let supervised = Supervised {
        program: OsStr::new(ENGINE),
        arguments: words,
        divided: false,
        filter: None,
    };
    Launch {
        program: host.helper.clone(),
        arguments: supervised.words(),
        environment,
        streams_apart: false,
        writes: Vec::new(),
        in_memory: &[],
        namespace: None,
    }
}

fn name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("patchwright-{}-{number}", std::process::id())
}

fn words(
    host: &Host,
    command: &Command<'_>,
    (root, name): (&Path, &str),
    around: Surroundings,
) -> Result<Vec<OsString>, TargetError> {
    let mut words = Words::default();
    words.add(["run", "--rm", "--name", name, "--label", LABEL]);
    words.add(["--log-driver", "none", "--hostname", "sandbox"]);
    words.add(["--network", if command.network { "host" } else { "none" }]);
    let user = user();
    words.add(["--cap-drop", "all", "--user", &format!("{user}:{user}")]);
    words.add(["--security-opt", "no-new-privileges"]);
    words.add(["--security-opt", "label=disable"]);
    words.add(["--read-only", "--read-only-tmpfs=false"]);
    words.add(["--tmpfs", &format!("/tmp:rw,exec,mode=1777,size={SCRATCH}")]);
    words.add(["--shm-size", SCRATCH]);
    words.0.extend(limits());
    for path in host.shown(command.network) {
        words.mount(&Place {
            host: path.clone(),
            inside: path,
            writable: false,
        })?;
    }
    for place in command.places {
        words.mount(place)?;
    }
    words.mount(&Place {
        host: host.helper.clone(),
        inside: INNER_HELPER.into(),
        writable: false,
    })?;
    words.0.extend(["--rootfs".into(), root.into()]);
    let doors = Doors {
        filter: Some(around),
        ..Doors::default()
    };
    words.add([SHELL, "-c", FIRST_PROCESS, "sh"]);
    words.0.push(INNER_HELPER.into());
    words.0.extend(entered(host, command, &doors));
    Ok(words.0)
}

/// Podman's own defaults may be more than its caller may have, and then nothing
/// starts. How many processes a command may start is watched from outside.
fn limits() -> Vec<OsString> {
    let may = |resource, most: u64| {
        let most = getrlimit(resource).maximum.unwrap_or(most).min(most);
        format!("{most}:{most}")
    };
    let files = format!("nofile={}", may(Resource::Nofile, MOST_FILES));
    let processes = format!("nproc={}", may(Resource::Nproc, MOST_PROCESSES));
    [
        "--ulimit".into(),
        files.into(),
        "--ulimit".into(),
        processes.into(),
    ]
    .into()
}

/// Makes the points of all mounts: what is mounted on must be there.
fn points(host: &Host, command: &Command<'_>, root: &Path) -> std::io::Result<()> {
    for folder in ["proc", "sys", "dev", "tmp", "run", "var"] {
        fs::create_dir(root.join(folder))?;
    }
    symlink("/tmp", root.join("var/tmp"))?;
    for (to, name) in Host::links() {
        symlink(to, beneath(root, name))?;
    }
    for path in host.shown(command.network) {
        point(&path, &beneath(root, &path))?;
    }
    for place in command.places {
        point(&place.host, &beneath(root, &place.inside))?;
    }
    point(&host.helper, &beneath(root, Path::new(INNER_HELPER)))?;
    Ok(())
}

fn point(host: &Path, at: &Path) -> std::io::Result<()> {
    if host.is_dir() {
        return fs::create_dir_all(at);
    }
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::create(at).map(|_| ())
}

fn beneath(root: &Path, path: &Path) -> std::path::PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

impl Words {
    /// Podman reads a mount as a row of comma-separated values.
    fn mount(&mut self, place: &Place) -> Result<(), TargetError> {
        for path in [&place.host, &place.inside] {
            let text = path.to_string_lossy();
            if text.contains([',', '"', '\n', '\r']) {
                let what = "a container cannot show a path with a comma, a quote or a line break";
                return Err(TargetError::machinery(what, &*text));
            }
        }
        let mut word = OsString::from("type=bind,source=");
        word.push(&place.host);
        word.push(",destination=");
        word.push(&place.inside);
        if !place.writable {
            word.push(",ro=true");
        }
        self.0.extend(["--mount".into(), word]);
        Ok(())
    }
}
