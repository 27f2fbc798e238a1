//! Control groups (version 2), where they can be had: in the group that was
//! delegated to us, or, as root, in one beside it.
//!
//! The kernel then counts all memory of a command, also what no process maps,
//! and ends the command when it is too much. Where there is none, the command
//! is watched, and refused what could not be counted.

use super::Limits;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The controllers that are needed.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// Group that the groups of commands lie in, and our own process where it was alone
/// in its group: one that has groups below it may hold no process.
const COMMANDS: &str = "patchwright";
const OWN: &str = "patchwright-itself";
/// Tasks (processes and their threads) for each process that a command may
/// start. The limit of processes is watched; this one only holds a fork bomb
/// until it is seen.
const TASKS_EACH: u64 = 4;
/// Attempts to remove a group, and the pause between them.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// Where groups are made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// The group of our own process.
    own: PathBuf,
    /// The group that has those of commands below it.
    commands: PathBuf,
}

/// The group of one command; it ends with this.
#[derive(Debug)]
pub(crate) struct Group {
    path: PathBuf,
    own: PathBuf,
}

impl Group {
    /// A group with these limits; nothing where none can be had.
    pub(crate) fn make(limits: &Limits) -> Option<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let place = place()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let group = Self {
            path: place.commands.join(name),
            own: place.own.clone(),
        };
        fs::create_dir(&group.path).ok()?;
        // Dropped where the limits cannot be set.
        group.limit(limits).ok().map(|()| group)
    }

    fn limit(&self, limits: &Limits) -> io::Result<()> {
        let set = |file: &str, value: &str| fs::write(self.path.join(file), value);
        set("memory.max", &limits.memory.to_string())?;
        set("memory.oom.group", "1")?;
        if self.path.join("memory.swap.max").exists() {
            set("memory.swap.max", "0")?;
        }
        let tasks = limits.processes.saturating_mul(TASKS_EACH);
        set("pids.max", &tasks.to_string())
    }

    /// Where a process is put in, and where it was before.
    pub(crate) fn paths(&self) -> [OsString; 2] {
        [&self.path, &self.own].map(OsString::from)
    }

    /// Tells whether the kernel ended the command for lack of memory.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.path.join("memory.events")).unwrap_or_default();
        events.lines().any(|line| {
            let (name, count) = line.split_once(' ').unwrap_or((line, "0"));
            name == "oom_kill" && count != "0"
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::write(self.path.join("cgroup.kill"), "1");
        for _ in 0..ATTEMPTS {
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
                _ => return,
            }
            // What was killed is still going.
            std::thread::sleep(PAUSE);
        }
        tracing::debug!(path = %self.path.display(), "a control group could not be removed");
    }
}

/// Puts this process into a group.
pub(crate) fn join(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}

/// Where groups can be made, found out once: what is set up stays.
fn place() -> Option<&'static Place> {
    static PLACE: OnceLock<Option<Place>> = OnceLock::new();
    let place = PLACE.get_or_init(|| {
        let root = mounted_at(&fs::read_to_string("/proc/self/mountinfo").ok()?)?;
        let own = own_group(&root, &fs::read_to_string("/proc/self/cgroup").ok()?)?;
        let found = delegated(&own).or_else(|| as_root(&root, &own))?;
        remove_abandoned(&found.commands);
        Some(found)
    });
    place.as_ref()
}

/// Where the groups of version 2 are mounted.
fn mounted_at(mounts: &str) -> Option<PathBuf> {
    let line = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    line.split(' ').nth(4).map(PathBuf::from)
}

fn own_group(root: &Path, groups: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let path = Path::new(path);
    let below = path
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    below.then(|| root.join(path))
}

/// Uses the group that we are in, if it is ours alone.
fn delegated(own: &Path) -> Option<Place> {
    let commands = own.join(COMMANDS);
    if own.ends_with(OWN) {
        // A process that was started by another of ours.
        return beside(own.parent()?, own);
    }
    if is_enabled(own) {
        return beside(own, own);
    }
    let processes = fs::read_to_string(own.join("cgroup.procs")).ok()?;
    let id = std::process::id().to_string();
    if !lists(&own.join("cgroup.controllers")) || processes.lines().any(|process| process != id) {
        return None;
    }
    let moved = own.join(OWN);
    make(&moved).ok()?;
    join(&moved).ok()?;
    if enable(own).and_then(|()| make(&commands)).is_err() {
        let _ = join(own);
        let _ = fs::remove_dir(&moved);
        return None;
    }
    beside(own, &moved)
}

/// Makes a group at the root of all, which only root may.
fn as_root(root: &Path, own: &Path) -> Option<Place> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    if !is_enabled(root) {
        enable(root).ok()?;
    }
    beside(root, own)
}

fn beside(parent: &Path, own: &Path) -> Option<Place> {
    let commands = parent.join(COMMANDS);
    make(&commands).ok()?;
    if !is_enabled(&commands) {
        enable(&commands).ok()?;
    }
    Some(Place {
        own: own.to_path_buf(),
        commands,
    })
}

fn make(group: &Path) -> io::Result<()> {
    match fs::create_dir(group) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn enable(group: &Path) -> io::Result<()> {
    let words = CONTROLLERS.map(|name| format!("+{name}")).join(" ");
    fs::write(group.join("cgroup.subtree_control"), words)
}

fn is_enabled(group: &Path) -> bool {
    lists(&group.join("cgroup.subtree_control"))
}

fn lists(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    CONTROLLERS
        .iter()
        .all(|name| text.split_whitespace().any(|word| word == *name))
}

/// Removes the groups of processes of ours that are gone.
fn remove_abandoned(commands: &Path) {
    for entry in fs::read_dir(commands).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.split_once('-').map(|(process, _)| process);
        if process.is_some_and(|id| !Path::new("/proc").join(id).exists()) {
            let _ = fs::write(entry.path().join("cgroup.kill"), "1");
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Group, delegated, mounted_at, own_group};
    use crate::process::Limits;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    /// A folder that looks like a group with these controllers and processes.
    fn group(folder: &Path, controllers: &str, processes: &str) -> PathBuf {
        let own = folder.join("own");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("cgroup.controllers"), controllers).unwrap();
        fs::write(own.join("cgroup.procs"), processes).unwrap();
        own
    }

    #[test]
    fn a_group_of_our_own_is_divided_for_us_and_for_commands() {
        let folder = tempfile::tempdir().unwrap();
        let own = group(
            folder.path(),
            "cpu memory pids\n",
            &format!("{}\n", std::process::id()),
        );
        let place = delegated(&own).unwrap();
        assert_eq!(place.own, own.join("patchwright-itself"));
        assert_eq!(place.commands, own.join("patchwright"));
        let read = |path: &str| fs::read_to_string(own.join(path)).unwrap();
        // A group with others below it may hold no process itself.
        assert_eq!(read("patchwright-itself/cgroup.procs"), "0");
        assert_eq!(read("cgroup.subtree_control"), "+memory +pids");
        assert_eq!(read("patchwright/cgroup.subtree_control"), "+memory +pids");
    }

    #[test]
    fn a_group_that_others_use_or_that_counts_nothing_is_left_alone() {
        let own_id = std::process::id();
        for (controllers, processes) in [
            ("cpu memory pids\n", format!("1\n{own_id}\n")),
            ("cpu pids\n", format!("{own_id}\n")),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let own = group(folder.path(), controllers, &processes);
            assert_eq!(delegated(&own), None, "{controllers} {processes}");
            let entries = fs::read_dir(&own).unwrap().count();
            assert_eq!(entries, 2, "{controllers} {processes}");
        }
    }

    #[test]
    fn a_group_has_the_limits_of_its_command() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("memory.swap.max"), "max").unwrap();
        let group = Group {
            path: folder.path().to_path_buf(),
            own: folder.path().to_path_buf(),
        };
        let limits = Limits {
            wall: Duration::from_secs(1),
            idle: None,
            memory: 1 << 30,
            processes: 100,
            output: 1,
            disk: 1,
        };
        group.limit(&limits).unwrap();
        for (file, value) in [
            ("memory.max", "1073741824"),
            ("memory.swap.max", "0"),
            ("memory.oom.group", "1"),
            ("pids.max", "400"),
        ] {
            assert_eq!(fs::read_to_string(folder.path().join(file)).unwrap(), value);
        }
        for (events, expected) in [
            ("low 0\noom 1\noom_kill 2\n", true),
            ("oom_kill 0\n", false),
            ("oom_kill_disabled 1\n", false),
        ] {
            fs::write(folder.path().join("memory.events"), events).unwrap();
            assert_eq!(group.ran_out_of_memory(), expected, "{events}");
        }
        drop(group);
        let killed = fs::read_to_string(folder.path().join("cgroup.kill"));
        assert_eq!(killed.unwrap(), "1");
    }

    #[test]
    fn finds_its_own_group() {
        let mounts = "25 30 0:23 / /sys rw - sysfs sysfs rw\n30 25 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
        assert_eq!(mounted_at(mounts), Some(PathBuf::from("/sys/fs/cgroup")));
        assert_eq!(mounted_at("25 30 0:23 / /sys rw - sysfs sysfs rw\n"), None);
        let root = Path::new("/g");
        let own = |text| own_group(root, text);
        assert_eq!(own("1:cpu:/x\n0::/a/b\n"), Some(PathBuf::from("/g/a/b")));
        assert_eq!(own("0::/\n"), Some(PathBuf::from("/g")));
        // Outside of what is mounted here.
        assert_eq!(own("0::/../c\n"), None);
        assert_eq!(own("1:cpu:/x\n"), None);
    }
}
