//! Landlock with a seccomp filter: files and network kept away without any namespace.
//!
//! Landlock alone stops TCP only; the filter leaves no socket but AF_UNIX, and
//! closes io_uring, which could make sockets past it. Paths cannot be mapped
//! here: a command sees its folders where they really are.

use super::helper::{ENTER, WORD};
use super::host::{MERGED, SYSTEM};
use super::{Command, Host, SHELL, shell_words};
use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
    Scope, path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;

/// Devices that programs take for granted, and that hold no state.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];
/// What is read of the running system: the user's name, maps of the own process, processors, randomness.
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

/// What a command may touch, as it is told to the helper.
#[derive(Debug, Default)]
pub(super) struct Fence {
    pub(super) read: Vec<PathBuf>,
    pub(super) write: Vec<PathBuf>,
    pub(super) network: bool,
}

/// The words that call the helper to put the fence on and become the command.
pub(super) fn arguments(host: &Host, command: &Command<'_>) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![WORD.into(), ENTER.into()];
    let system = SYSTEM.iter().chain(MERGED).chain(READ_ONLY);
    let read = system
        .map(PathBuf::from)
        .chain(Host::configuration(command.network))
        .chain(host.toolchains().cloned())
        .chain(std::iter::once(host.helper.clone()));
    for path in read {
        words.push("--read".into());
        words.push(path.into());
    }
    for place in command.places {
        words.push(if place.writable { "--write" } else { "--read" }.into());
        words.push(place.host.clone().into());
    }
    if command.network {
        words.push("--network".into());
    }
    words.push("--".into());
    words.push(SHELL.into());
    words.extend(shell_words(command));
    words
}

/// What remains open under Landlock, in words for people.
pub(super) fn leaves_open() -> Vec<String> {
    [
        "processes of others are seen in /proc, though not touched",
        "paths of workspaces are the real ones, so attempts run one after the other",
        "modes, owners and times of files can be changed where the user may",
        "AF_UNIX sockets with a path can be connected to where the file system allows it",
    ]
    .map(str::to_owned)
    .into()
}

/// Puts the fence on this thread and everything it starts; nothing takes it off again.
pub(super) fn enter(fence: &Fence) -> Result<(), Box<dyn Error>> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(WANTED))?
        .scope(Scope::from_all(WANTED))?;
    if !fence.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(WANTED))?;
    }
    let devices = DEVICES.iter().map(PathBuf::from);
    let status = ruleset
        .create()?
        .add_rules(path_beneath_rules(&fence.read, AccessFs::from_read(WANTED)))?
        .add_rules(path_beneath_rules(
            devices,
            AccessFs::ReadFile | AccessFs::WriteFile,
        ))?
        .add_rules(path_beneath_rules(&fence.write, AccessFs::from_all(WANTED)))?
        .restrict_self()?;
    if status.ruleset != RulesetStatus::FullyEnforced {
        return Err("this kernel's Landlock is too old (ABI 6, Linux 6.12, is needed)".into());
    }
    let filter: BpfProgram = filter(fence.network)?.try_into()?;
    seccompiler::apply_filter(&filter)?;
    Ok(())
}

/// Refuses what Landlock cannot see. `ptrace` stays: debuggers and LeakSanitizer
/// trace their own children, and Landlock keeps them from tracing others.
fn filter(network: bool) -> Result<SeccompFilter, Box<dyn Error>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in [
        libc::SYS_io_uring_setup,
        libc::SYS_process_vm_writev,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_bpf,
        libc::SYS_userfaultfd,
        libc::SYS_keyctl,
    ] {
        rules.insert(call, Vec::new());
    }
    if !network {
        let not_unix = SeccompCondition::new(
            0,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Ne,
            u64::from(libc::AF_UNIX.unsigned_abs()),
        )?;
        rules.insert(libc::SYS_socket, vec![SeccompRule::new(vec![not_unix])?]);
    }
    Ok(SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        std::env::consts::ARCH.try_into()?,
    )?)
}
