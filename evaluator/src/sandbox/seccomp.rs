//! The seccomp filter of every command: a list of the system calls that
//! programs live on. All others do not exist (`ENOSYS`), which is what programs
//! expect of an older kernel and have an answer to.
//!
//! Absent are those that make or enter namespaces, mount, load code into the
//! kernel, reach keys, trace without a parent's right, or talk to the kernel
//! through a door of their own (`io_uring`, `bpf`, `perf`, netlink but for
//! routes, vsock, packet sockets). A 32-bit program is killed: its calls have
//! numbers that the list does not speak of.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Made<T> = Result<T, Box<dyn Error>>;

/// What else keeps a command away from the host: it decides what the filter may leave to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Surroundings {
    /// The letters that tell it to the process which puts the filter on.
    pub(super) fn word(self) -> String {
        let letters = [
            (self.namespaces, 'n'),
            (self.network, 'w'),
            (self.counted, 'c'),
            (self.open_files, 'o'),
            (self.same_user, 's'),
        ];
        let set = letters.iter().filter(|(on, _)| *on);
        std::iter::once('-')
            .chain(set.map(|(_, letter)| *letter))
            .collect()
    }

    pub(super) fn from_word(word: &str) -> Self {
        Self {
            namespaces: word.contains('n'),
            network: word.contains('w'),
            counted: word.contains('c'),
            open_files: word.contains('o'),
            same_user: word.contains('s'),
        }
    }
}

/// The calls that any command may make with any arguments.
const ALLOWED: &[i64] = &[
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_brk,
    libc::SYS_capget,
    libc::SYS_capset,
    libc::SYS_chdir,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_connect,
    libc::SYS_copy_file_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fadvise64,
    libc::SYS_fallocate,
    libc::SYS_fchdir,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fcntl,
    libc::SYS_fdatasync,
    libc::SYS_fgetxattr,
    libc::SYS_flistxattr,
    libc::SYS_flock,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_get_mempolicy,
    libc::SYS_get_robust_list,
    libc::SYS_getcpu,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getgroups,
    libc::SYS_getitimer,
    libc::SYS_getpeername,
    libc::SYS_getpgid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getpriority,
    libc::SYS_getrandom,
    libc::SYS_getresgid,
    libc::SYS_getresuid,
    libc::SYS_getrusage,
    libc::SYS_getsid,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_getuid,
    libc::SYS_getxattr,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_rm_watch,
    libc::SYS_io_cancel,
    libc::SYS_io_destroy,
    libc::SYS_io_getevents,
    libc::SYS_io_setup,
    libc::SYS_io_submit,
    libc::SYS_ioprio_get,
    libc::SYS_kill,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_restrict_self,
    libc::SYS_lgetxattr,
    libc::SYS_linkat,
    libc::SYS_listen,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lseek,
    libc::SYS_lsetxattr,
    libc::SYS_madvise,
    libc::SYS_mbind,
    libc::SYS_membarrier,
    libc::SYS_mincore,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_mlockall,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_msync,
    libc::SYS_munlock,
    libc::SYS_munlockall,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pipe2,
    libc::SYS_pkey_alloc,
    libc::SYS_pkey_free,
    libc::SYS_pkey_mprotect,
    libc::SYS_ppoll,
    libc::SYS_prctl,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_process_mrelease,
    libc::SYS_process_vm_readv,
    libc::SYS_pselect6,
    // Debuggers and LeakSanitizer trace their own children; what lies outside
    // is kept from it by the process namespace or by Landlock.
    libc::SYS_ptrace,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_read,
    libc::SYS_readahead,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmmsg,
    libc::SYS_recvmsg,
    libc::SYS_remap_file_pages,
    libc::SYS_removexattr,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getattr,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_rr_get_interval,
    libc::SYS_sched_yield,
    libc::SYS_seccomp,
    libc::SYS_sendfile,
    libc::SYS_sendmmsg,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_set_mempolicy,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_setfsgid,
    libc::SYS_setfsuid,
    libc::SYS_setgid,
    libc::SYS_setgroups,
    libc::SYS_setitimer,
    libc::SYS_setpgid,
    libc::SYS_setregid,
    libc::SYS_setresgid,
    libc::SYS_setresuid,
    libc::SYS_setreuid,
    libc::SYS_setsid,
    libc::SYS_setsockopt,
    libc::SYS_setuid,
    libc::SYS_setxattr,
    libc::SYS_shutdown,
    libc::SYS_sigaltstack,
    libc::SYS_signalfd4,
    libc::SYS_splice,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_symlinkat,
    libc::SYS_sync,
    libc::SYS_sync_file_range,
    libc::SYS_syncfs,
    libc::SYS_sysinfo,
    libc::SYS_tee,
    libc::SYS_tgkill,
    libc::SYS_timer_create,
    libc::SYS_timer_delete,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_gettime,
    libc::SYS_timer_settime,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_gettime,
    libc::SYS_timerfd_settime,
    libc::SYS_times,
    libc::SYS_tkill,
    libc::SYS_truncate,
    libc::SYS_umask,
    libc::SYS_uname,
    libc::SYS_unlinkat,
    libc::SYS_utimensat,
    libc::SYS_vmsplice,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_write,
    libc::SYS_writev,
];

/// The older calls that only this processor has.
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[i64] = &[
    libc::SYS_access,
    libc::SYS_alarm,
    libc::SYS_arch_prctl,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_creat,
    libc::SYS_dup2,
    libc::SYS_epoll_create,
    libc::SYS_epoll_ctl_old,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_wait_old,
    libc::SYS_eventfd,
    libc::SYS_fork,
    libc::SYS_futimesat,
    libc::SYS_get_thread_area,
    libc::SYS_getdents,
    libc::SYS_getpgrp,
    libc::SYS_getrlimit,
    libc::SYS_inotify_init,
    libc::SYS_lchown,
    libc::SYS_link,
    libc::SYS_lstat,
    libc::SYS_mkdir,
    libc::SYS_mknod,
    libc::SYS_open,
    libc::SYS_pause,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_rename,
    libc::SYS_rmdir,
    libc::SYS_select,
    libc::SYS_set_thread_area,
    libc::SYS_setrlimit,
    libc::SYS_signalfd,
    libc::SYS_stat,
    libc::SYS_symlink,
    libc::SYS_time,
    libc::SYS_unlink,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_vfork,
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[i64] = &[];

/// What reaches beyond the command unless it has an IPC namespace.
const IPC: &[i64] = &[
    libc::SYS_mq_getsetattr,
    libc::SYS_mq_notify,
    libc::SYS_mq_open,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
];

/// What makes memory that no process needs to map.
const UNMAPPED_MEMORY: &[i64] = &[libc::SYS_memfd_create, libc::SYS_shmget];

/// The first argument of a call that sets something of a process, or of oneself when it is 0.
const OF_PROCESS: &[i64] = &[
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

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
/// What `personality` may set: Linux as it is or older, 32-bit names, and
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
    let mut rules: Rules = ALLOWED
        .iter()
        .chain(ALLOWED_HERE)
        .map(|call| (*call, Vec::new()))
        .collect();
    if around.namespaces {
        rules.extend(IPC.iter().map(|call| (*call, Vec::new())));
    }
    if around.counted {
        rules.extend(UNMAPPED_MEMORY.iter().map(|call| (*call, Vec::new())));
    }
    if around.counted && !around.namespaces {
        rules.remove(&libc::SYS_shmget);
    }
    processes(&mut rules, around)?;
    sockets(&mut rules, around)?;
    compile(
        rules,
        SeccompAction::Errno(libc::ENOSYS.unsigned_abs()),
        SeccompAction::Allow,
    )
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
    let mut rules: Rules = calls.into_iter().map(|call| (call, Vec::new())).collect();
    for (call, argument) in modes {
        let set = RISKY_MODES.map(|bit| rule(&[(argument, SeccompCmpOp::MaskedEq(bit), bit)]));
        rules.insert(call, set.into_iter().collect::<Result<_, _>>()?);
    }
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    compile(rules, SeccompAction::Allow, refused).map(Some)
}

/// The bytes in which `bwrap` reads a filter.
pub(super) fn bytes(program: &BpfProgram) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for step in program {
        // Writing to a vector cannot go wrong.
        let _ = bytes.write_all(&step.code.to_ne_bytes());
        let _ = bytes.write_all(&[step.jt, step.jf]);
        let _ = bytes.write_all(&step.k.to_ne_bytes());
    }
    bytes
}

fn compile(rules: Rules, otherwise: SeccompAction, matched: SeccompAction) -> Made<BpfProgram> {
    let here = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, otherwise, matched, here)?.try_into()?)
}

/// One rule: all of these arguments, by their lower 32 bits, compare so.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, seccompiler::BackendError> {
    let all = conditions.iter().map(|(argument, compare, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, compare.clone(), *value)
    });
    SeccompRule::new(all.collect::<Result<_, _>>()?)
}

/// What is allowed with some arguments only, sockets excepted.
fn processes(rules: &mut Rules, around: Surroundings) -> Made<()> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let unspaced = rule(&[(0, MaskedEq(NAMESPACES), 0)])?;
    rules.insert(libc::SYS_clone, vec![unspaced]);
    let unspaced = rule(&[(0, MaskedEq(NAMESPACES | NEW_TIME), 0)])?;
    rules.insert(libc::SYS_unshare, vec![unspaced]);
    let harmless = rule(&[(0, MaskedEq(!PERSONALITIES & ASK), 0)])?;
    rules.insert(
        libc::SYS_personality,
        vec![harmless, rule(&[(0, Eq, ASK)])?],
    );
    // Neither types at a terminal.
    let typing = [(1, Ne, libc::TIOCSTI), (1, Ne, libc::TIOCLINUX)];
    rules.insert(libc::SYS_ioctl, vec![rule(&typing)?]);
    if around.namespaces {
        let others = [
            libc::SYS_prlimit64,
            libc::SYS_setpriority,
            libc::SYS_ioprio_set,
        ];
        rules.extend(
            others
                .iter()
                .chain(OF_PROCESS)
                .map(|call| (*call, Vec::new())),
        );
        return Ok(());
    }
    // Without a process namespace all processes of the user can be named.
    for call in OF_PROCESS {
        rules.insert(*call, vec![rule(&[(0, Eq, 0)])?]);
    }
    let own = rule(&[(0, Eq, 0)])?;
    let asks = SeccompCondition::new(2, SeccompCmpArgLen::Qword, Eq, 0)?;
    rules.insert(
        libc::SYS_prlimit64,
        vec![own, SeccompRule::new(vec![asks])?],
    );
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
            assert_eq!(Surroundings::from_word(&around.word()), around);
            let filter = program(around).unwrap();
            assert_eq!(bytes(&filter).len(), filter.len() * 8);
            let second = of_own_files(around).unwrap();
            assert_eq!(second.is_some(), around.open_files);
        }
    }
}
