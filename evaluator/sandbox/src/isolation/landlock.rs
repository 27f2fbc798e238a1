//! Landlock with a seccomp filter: files and network kept away without any namespace.
//!
//! Landlock alone stops TCP only, and no connection to a socket that has a
//! path; the filter leaves no socket at all but pairs. Paths cannot be mapped
//! here: a command sees its folders where they really are.

use super::host::{MERGED, SYSTEM};
use super::{Command, Host};
use crate::identity;
use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::ffi::OsString;

/// Devices that programs take for granted, and that hold no state.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];
/// Readable files of the running system: the user's name, maps of the own process,
/// processors, randomness.
const READ_ONLY: &[&str] = &[
    "/etc/passwd",
    "/proc",
    "/dev/urandom",
    "/dev/random",
    "/sys/devices/system/cpu",
];
/// The version of Landlock whose restrictions are asked for: the first that
/// also fences off signals and abstract sockets.
const WANTED: ABI = ABI::V6;

/// Paths that a command may touch, as they are told to the helper.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fence {
    pub(super) read: Vec<OsString>,
    pub(super) write: Vec<OsString>,
    pub(super) network: bool,
}

/// Returns the paths that a command may touch: the system's programs and its own places.
pub(super) fn fence(host: &Host, command: &Command<'_>) -> Fence {
    let system = SYSTEM.iter().chain(MERGED).chain(READ_ONLY);
    let system = system.map(OsString::from);
    let own = Host::configuration(command.network)
        .into_iter()
        .chain(host.toolchains().cloned())
        .chain([host.helper.clone()]);
    let mut fence = Fence {
        read: system.chain(own.map(OsString::from)).collect(),
        write: Vec::new(),
        network: command.network,
    };
    for place in command.places {
        let paths = if place.writable {
            &mut fence.write
        } else {
            &mut fence.read
        };
        paths.push(place.host.clone().into());
    }
    fence
}

/// Returns the gaps that remain under Landlock, in words for people.
pub(super) fn leaves_open(own_mounts: bool) -> Vec<String> {
    let mut open = vec![
        "names and arguments of other processes, and connections of this machine, are seen in /proc",
        "whether a file exists is seen, with its size and times",
        "paths of workspaces are the real ones, so attempts run one after the other",
    ];
    if !own_mounts {
        open.push(if identity::of_commands().is_some() {
            "times of files that everybody may write can be changed"
        } else {
            "times and modes of this user's files can be changed (not so that others may write), and its keys listed"
        });
    }
    open.into_iter().map(str::to_owned).collect()
}

/// Opens what the fence leaves in reach. Only what can be opened now can be
/// reached later.
pub(super) fn prepare(fence: &Fence) -> Result<RulesetCreated, Box<dyn Error>> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(WANTED))?
        .scope(Scope::from_all(WANTED))?;
    if !fence.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(WANTED))?;
    }
    let of_devices = AccessFs::ReadFile | AccessFs::WriteFile;
    Ok(ruleset
        .create()?
        .add_rules(path_beneath_rules(&fence.read, AccessFs::from_read(WANTED)))?
        .add_rules(path_beneath_rules(DEVICES, of_devices))?
        .add_rules(path_beneath_rules(&fence.write, AccessFs::from_all(WANTED)))?)
}

/// Puts this process and everything it starts into a domain of their own: none of them can
/// signal or trace a process outside.
pub(super) fn set_apart() -> Result<(), Box<dyn Error>> {
    let domain = Ruleset::default()
        .scope(Scope::from_all(WANTED))?
        .create()?;
    restrict(domain)
}

/// Keeps this process and everything it starts from writing anywhere but below some paths, and
/// from the processes outside: it may read their names, and neither signal nor trace them.
/// Returns false where the kernel has no Landlock.
pub(super) fn keep_to(write: &[OsString]) -> Result<bool, Box<dyn Error>> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_write(WANTED))?
        .scope(Scope::from_all(WANTED))?
        .create()?
        .add_rules(path_beneath_rules(write, AccessFs::from_write(WANTED)))?;
    Ok(ruleset.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}

/// Says what is open where [`keep_to`] keeps nothing, by trying it in a thread that ends.
pub(super) fn notes_in_reach() -> Option<String> {
    let kept = std::thread::spawn(|| keep_to(&[]).is_ok_and(|kept| kept)).join();
    (!kept.is_ok_and(|kept| kept)).then(|| {
        "a program can change what is noted of it (this kernel has no Landlock)".to_owned()
    })
}

/// Puts the fence on this thread and everything it starts; nothing takes it off again.
pub(super) fn restrict(fence: RulesetCreated) -> Result<(), Box<dyn Error>> {
    let status = fence.restrict_self()?;
    if status.ruleset != RulesetStatus::FullyEnforced {
        return Err("this kernel's Landlock is too old (ABI 6, Linux 6.12, is needed)".into());
    }
    Ok(())
}
