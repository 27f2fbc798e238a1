//! The seccomp filter of every command: a list of the system calls that
//! programs live on. All others do not exist (`ENOSYS`), which is what programs
//! expect of an older kernel and have an answer to.
//!
//! Some are let through with some arguments only: `clone` without namespaces,
//! sockets of a few families. A 32-bit program is killed: its calls have numbers
//! that the list does not speak of.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::error::Error;

include!(concat!(env!("OUT_DIR"), "/system_calls.rs"));

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Made<T> = Result<T, Box<dyn Error>>;

/// Other protection of the host: it decides what the filter may leave to it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Surroundings {
    /// Processes, IPC, and (without network) sockets are the command's own.
    pub(super) namespaces: bool,
    /// It may speak to other machines.
    pub(super) network: bool,
    /// Memory that belongs to no process is counted by a control group.
    pub(super) counted: bool,
    /// Files that are not its own may be changed by it as far as their modes allow.
    pub(super) open_files: bool,
    /// It runs as the user that runs us, who owns other files too.
    pub(super) same_user: bool,
}

/// All flags of `clone` and `unshare` that ask for a namespace, `CLONE_NEWTIME`
/// excepted: its bit is part of a signal's number in `clone`.
const NAMESPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;
const NEW_TIME: u64 = 0x80;
/// Values that `personality` may set: Linux as it is or older, 32-bit names, and
/// addresses without randomness, as debuggers and sanitizers ask for.
const PERSONALITIES: u64 = 0x0008 | 0x0002_0000 | 0x0004_0000 | 0x0020_0000;
/// Asks for the personality and sets nothing.
const ASK: u64 = 0xffff_ffff;
/// The bits of a mode that no file of the user's may get from a command:
/// set-user, set-group, sticky, and writable by all.
const RISKY_MODES: [u64; 4] = [0o4000, 0o2000, 0o1000, 0o0002];
/// The kind of a socket without its flags.
const SOCKET_KIND: u64 = 0xf;

/// The filter that lets through only what is listed.
pub(super) fn program(around: Surroundings) -> Made<BpfProgram> {
    let mut rules: Rules = freely(ALLOWED).chain(freely(ALLOWED_ON_X86_64)).collect();
    if around.namespaces {
        rules.extend(freely(IPC));
    }
    if around.counted {
        rules.extend(freely(UNMAPPED_MEMORY));
    }
    if around.counted && !around.namespaces {
        rules.remove(&libc::SYS_shmget);
    }
    processes(&mut rules, around)?;
    sockets(&mut rules, around)?;
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    compile(rules, unknown, SeccompAction::Allow)
}

/// A second filter for a command that could change files besides its own:
/// refuses to change attributes, and, where it runs as their owner, to change
/// owners or to set a mode that lets others in. Nothing where all other files
/// are read-only.
pub(super) fn of_own_files(around: Surroundings) -> Made<Option<BpfProgram>> {
    if !around.open_files {
        return Ok(None);
    }
    let mut calls = vec![
        libc::SYS_fremovexattr,
        libc::SYS_fsetxattr,
        libc::SYS_lremovexattr,
        libc::SYS_lsetxattr,
        libc::SYS_removexattr,
        libc::SYS_setxattr,
    ];
    let mut modes = Vec::new();
    if around.same_user {
        calls.extend([libc::SYS_fchown, libc::SYS_fchownat]);
        modes.extend([
            (libc::SYS_fchmod, 1),
            (libc::SYS_fchmodat, 2),
            (libc::SYS_fchmodat2, 2),
        ]);
        #[cfg(target_arch = "x86_64")]
        {
            calls.extend([libc::SYS_chown, libc::SYS_lchown]);
            modes.push((libc::SYS_chmod, 1));
        }
    }
    let mut rules: Rules = freely(&calls).collect();
    for (call, argument) in modes {
        let set = RISKY_MODES.map(|bit| rule(&[(argument, SeccompCmpOp::MaskedEq(bit), bit)]));
        rules.insert(call, set.into_iter().collect::<Result<_, _>>()?);
    }
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    compile(rules, SeccompAction::Allow, refused).map(Some)
}

/// A filter that keeps the limit of core dumps as it is. Who sets it is told that it was
/// set: sanitizers do, and give up where that fails.
pub(super) fn of_core_dumps() -> Made<BpfProgram> {
    use SeccompCmpOp::{Eq, Ne};
    let core = u64::from(libc::RLIMIT_CORE);
    let sets = SeccompCondition::new(2, SeccompCmpArgLen::Qword, Ne, 0)?;
    let resource = SeccompCondition::new(1, SeccompCmpArgLen::Dword, Eq, core)?;
    let mut rules: Rules = BTreeMap::new();
    let sets_core = SeccompRule::new(vec![resource, sets])?;
    rules.insert(libc::SYS_prlimit64, vec![sets_core]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_setrlimit, vec![rule(&[(0, Eq, core)])?]);
    compile(rules, SeccompAction::Allow, SeccompAction::Errno(0))
}

/// The bytes in which `bwrap` reads a filter.
pub(super) fn bytes(program: &BpfProgram) -> Vec<u8> {
    let bytes = program.iter().flat_map(|step| {
        let head = step.code.to_ne_bytes().into_iter();
        head.chain([step.jt, step.jf]).chain(step.k.to_ne_bytes())
    });
    bytes.collect()
}

fn compile(rules: Rules, otherwise: SeccompAction, matched: SeccompAction) -> Made<BpfProgram> {
    let here = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, otherwise, matched, here)?.try_into()?)
}

/// System calls with whatever arguments.
fn freely(calls: &[i64]) -> impl Iterator<Item = (i64, Vec<SeccompRule>)> {
    calls.iter().map(|call| (*call, Vec::new()))
}

/// One rule: all of these arguments, by their lower 32 bits, compare so.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, seccompiler::BackendError> {
    let all = conditions.iter().map(|(argument, compare, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, compare.clone(), *value)
    });
    SeccompRule::new(all.collect::<Result<_, _>>()?)
}

/// System calls that are allowed with some arguments only, sockets excepted.
fn processes(rules: &mut Rules, around: Surroundings) -> Made<()> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let unspaced = rule(&[(0, MaskedEq(NAMESPACES), 0)])?;
    rules.insert(libc::SYS_clone, vec![unspaced]);
    let unspaced = rule(&[(0, MaskedEq(NAMESPACES | NEW_TIME), 0)])?;
    rules.insert(libc::SYS_unshare, vec![unspaced]);
    let harmless = rule(&[(0, MaskedEq(!PERSONALITIES & ASK), 0)])?;
    let asks = rule(&[(0, Eq, ASK)])?;
    rules.insert(libc::SYS_personality, vec![harmless, asks]);
    // Neither types at a terminal.
    let typing = [(1, Ne, libc::TIOCSTI), (1, Ne, libc::TIOCLINUX)];
    rules.insert(libc::SYS_ioctl, vec![rule(&typing)?]);
    if around.namespaces {
        let others = [
            libc::SYS_prlimit64,
            libc::SYS_setpriority,
            libc::SYS_ioprio_set,
        ];
        rules.extend(freely(&others).chain(freely(OF_PROCESS)));
        return Ok(());
    }
    // Without a process namespace all processes of the user can be named.
    for call in OF_PROCESS {
        rules.insert(*call, vec![rule(&[(0, Eq, 0)])?]);
    }
    let own = rule(&[(0, Eq, 0)])?;
    let asks = SeccompCondition::new(2, SeccompCmpArgLen::Qword, Eq, 0)?;
    let asks = SeccompRule::new(vec![asks])?;
    rules.insert(libc::SYS_prlimit64, vec![own, asks]);
    let own = |kind: u64| rule(&[(0, Eq, kind), (1, Eq, 0)]);
    rules.insert(libc::SYS_setpriority, vec![own(0)?]);
    rules.insert(libc::SYS_ioprio_set, vec![own(1)?]);
    Ok(())
}

/// Sockets by family. One with a path or a name reaches whoever listens
/// there on the host, unless the command has a root and a network of its own.
fn sockets(rules: &mut Rules, around: Surroundings) -> Made<()> {
    use SeccompCmpOp::{Eq, MaskedEq};
    let number = |constant: i32| u64::from(constant.unsigned_abs());
    let local = around.namespaces && !around.network;
    let mut socket = Vec::new();
    if around.namespaces || around.network {
        for family in [libc::AF_INET, libc::AF_INET6] {
            for protocol in [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP] {
                socket.push(rule(&[(0, Eq, number(family)), (2, Eq, number(protocol))])?);
            }
        }
        let routes = [
            (0, Eq, number(libc::AF_NETLINK)),
            (2, Eq, number(libc::NETLINK_ROUTE)),
        ];
        socket.push(rule(&routes)?);
    }
    let unix = (0, Eq, number(libc::AF_UNIX));
    let mut pair = Vec::new();
    if local {
        socket.push(rule(std::slice::from_ref(&unix))?);
        pair.push(rule(std::slice::from_ref(&unix))?);
    } else {
        // A datagram socket of a pair could still be sent elsewhere.
        for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET] {
            let of_kind = (1, MaskedEq(SOCKET_KIND), number(kind));
            pair.push(rule(&[unix.clone(), of_kind])?);
        }
    }
    if !socket.is_empty() {
        rules.insert(libc::SYS_socket, socket);
    }
    rules.insert(libc::SYS_socketpair, pair);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Surroundings, bytes, of_own_files, program};

    #[test]
    fn the_words_come_back_and_every_filter_compiles() {
        for number in 0..32_u8 {
            let around = Surroundings {
                namespaces: number & 1 != 0,
                network: number & 2 != 0,
                counted: number & 4 != 0,
                same_user: number & 8 != 0,
                open_files: number & 16 != 0,
            };
            let told = serde_json::to_string(&around).unwrap();
            let read: Surroundings = serde_json::from_str(&told).unwrap();
            assert_eq!(format!("{read:?}"), format!("{around:?}"));
            let filter = program(around).unwrap();
            assert_eq!(bytes(&filter).len(), filter.len() * 8);
            let second = of_own_files(around).unwrap();
            assert_eq!(second.is_some(), around.open_files);
        }
    }
}
