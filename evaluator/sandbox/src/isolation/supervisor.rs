//! The small program that stands between us and every command.
//!
//! It is our own binary, called again. It becomes the parent of everything the
//! command leaves behind, so that also a child that left its session can be
//! found, and ends all of it when the command has ended or its own standard
//! input closes, which happens whenever its caller goes away. A namespace needs
//! it too: `bwrap` asks the kernel to be killed with its parent, but only some
//! milliseconds after it has started, and who is killed before that leaves it
//! behind.
//!
//! Where there is no namespace of processes, what it can see is not enough: a command that forks
//! faster than processes are listed would outlive it. There the step before the command leaves a
//! process behind that the command cannot reach, and that ends all of it at once (see `enter`).
//!
//! It runs outside of every isolation, so nothing that a task names reaches its
//! environment. What it itself cannot do is never taken for an end of the
//! command: it dies of a signal then, as no command it supervises makes it.

use super::each;
use super::enter::{self, EACH, END_DOMAIN, ENTER, KEEP_TO, WORD};
use super::seccomp::{self, Surroundings};
use crate::process::{cgroup, watch};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, geteuid, getpid, kill_process, set_child_subreaper, setsid, wait,
};
use rustix::thread::{
    CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities,
};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Run a command and end all it leaves behind.
const SUPERVISE: &str = "supervise";

/// Most time for killing everything: a fork bomb is caught by repeating.
const KILL_TIME: Duration = Duration::from_secs(4);
/// Exit status of `timeout`, `env` and other such programs when they fail themselves.
const OWN_FAILURE: u8 = 125;
/// The first descriptor that is none of the three standard streams.
const FIRST_FOREIGN: i32 = 3;

/// The way in which a program is supervised.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Supervision {
    /// True when it gets a user namespace, whose users the caller maps.
    pub(super) divided: bool,
    /// The control group of the program, and that of the caller.
    pub(super) group: Option<[OsString; 2]>,
    /// The filter that is handed to the program, which must be `bwrap`.
    pub(super) filter: Option<Surroundings>,
}

impl Supervision {
    /// Returns the words of the call, up to the program.
    pub(super) fn words(&self) -> Vec<OsString> {
        // What cannot be told is refused by who reads it.
        let told = serde_json::to_string(self).unwrap_or_default();
        vec![WORD.into(), SUPERVISE.into(), told.into()]
    }
}

/// Does what the arguments of this process say. To be called first thing in
/// `main`, before any thread is started, when the first argument is `sandbox-exec`.
pub fn enter_from_arguments() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(2).collect();
    let result = match arguments.split_first() {
        Some((word, rest)) if word == SUPERVISE => supervise(rest).map_err(|error| {
            let _ = writeln!(std::io::stderr(), "sandbox: {error}");
            let _ = kill_process(getpid(), Signal::KILL);
            error
        }),
        Some((word, rest)) if word == ENTER => enter::enter(rest),
        Some((word, _)) if word == END_DOMAIN => enter::end_domain(),
        Some((word, rest)) if word == KEEP_TO => enter::keep_to(rest),
        Some((word, rest)) if word == EACH => each::each(rest),
        _ => Err("this word is for the program's own use".into()),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "sandbox: {error}");
            ExitCode::from(OWN_FAILURE)
        }
    }
}

fn supervise(arguments: &[OsString]) -> Result<ExitCode, Box<dyn Error>> {
    let [told, program, rest @ ..] = arguments else {
        return Err("no command was given".into());
    };
    let how: Supervision = serde_json::from_slice(told.as_bytes())?;
    close_foreign()?;
    // A terminal of the caller's must be neither read nor typed at; whoever
    // leads a session already has none.
    let _ = setsid();
    forget_keys()?;
    if let Some([group, _]) = &how.group {
        cgroup::join(Path::new(group))?;
    }
    if how.divided {
        divide()?;
    }
    set_child_subreaper(Some(getpid()))?;
    let mut command = Command::new(program);
    let filter = how.filter.map(hand_over).transpose()?;
    if let Some(filter) = &filter {
        command.args(["--seccomp", &filter.as_raw_fd().to_string()]);
    }
    let input = if filter.is_some() {
        Stdio::null()
    } else {
        let (order, giver) = std::io::pipe()?;
        *lock(&ORDER) = Some(giver);
        order.into()
    };
    let child = command
        .args(rest)
        .stdin(input)
        .process_group(0)
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    drop(filter);
    if let Some([_, own_group]) = &how.group {
        // What ends the group must leave us to tell of it.
        cgroup::join(Path::new(own_group))?;
    }
    let main = Pid::from_child(&child);
    end_with_caller();
    let code = loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == main => {
                let signal = status.terminating_signal().map(|signal| 128 + signal);
                let status = status.exit_status().or(signal);
                break status.unwrap_or(OWN_FAILURE.into());
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    };
    if !end_all() {
        return Err("processes of the command could not be ended".into());
    }
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(OWN_FAILURE)))
}

/// The end of a pipe whose closing is the order to end everything, for a process inside.
static ORDER: Mutex<Option<PipeWriter>> = Mutex::new(None);

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends everything as soon as the caller closes our standard input or dies.
fn end_with_caller() {
    std::thread::spawn(|| {
        // Nothing is ever sent any more.
        let mut caller = std::io::stdin().lock().take(u64::MAX);
        let _ = std::io::copy(&mut caller, &mut std::io::sink());
        end_all();
        std::process::exit(OWN_FAILURE.into());
    });
}

/// Leaves the caller's keys behind: whoever inherits a session's keyring may use what is in it.
fn forget_keys() -> Result<(), Box<dyn Error>> {
    match keyutils::Keyring::join_anonymous_session() {
        Ok(_) => Ok(()),
        // A kernel without keys has none to leave behind, and a container that
        // keeps us from them keeps the command from them too.
        Err(errno) if matches!(errno.0, libc::ENOSYS | libc::EPERM) => Ok(()),
        Err(errno) => Err(format!("no keyring of its own: {errno}").into()),
    }
}

/// Goes into a new user namespace and waits until the caller has said which
/// users there are in it.
fn divide() -> Result<(), Box<dyn Error>> {
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUSER)
        .map_err(|errno| format!("no user namespace can be made: {errno}"))?;
    let caller = rustix::stdio::stdin();
    rustix::io::write(caller, b"x")?;
    if rustix::io::read(caller, &mut [0_u8; 1])? != 1 {
        return Err("the users of the namespace could not be mapped".into());
    }
    keep_for_next()
}

/// Keeps what the next step needs to mount in the namespace: who is not its
/// root would lose it with the next program.
fn keep_for_next() -> Result<(), Box<dyn Error>> {
    if geteuid().is_root() {
        return Ok(());
    }
    let mut sets = capabilities(None)?;
    sets.inheritable = CapabilitySet::SYS_ADMIN | CapabilitySet::SETPCAP;
    set_capabilities(None, sets)?;
    for kept in sets.inheritable.iter() {
        configure_capability_in_ambient_set(kept, true)?;
    }
    Ok(())
}

/// The reading end of a pipe that holds the filter, open in what is started next.
fn hand_over(around: Surroundings) -> Result<PipeReader, Box<dyn Error>> {
    let program = seccomp::program(around)?;
    let (reader, mut writer) = std::io::pipe()?;
    // It holds 64 KiB, more than the longest filter that the kernel takes.
    writer.write_all(&seccomp::bytes(&program))?;
    rustix::io::fcntl_setfd(&reader, rustix::io::FdFlags::empty())?;
    Ok(reader)
}

/// Closes what whoever started us left open: a descriptor of a folder would
/// lead a command out of its sandbox, one of a lock would be held by it.
fn close_foreign() -> Result<(), Box<dyn Error>> {
    let open: Vec<i32> = std::fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor >= FIRST_FOREIGN)
        .collect();
    for descriptor in open {
        // The one that listed them is closed already.
        let _ = nix::unistd::close(descriptor);
    }
    Ok(())
}

/// Kills everything below this process until nothing is left; false where something is.
fn end_all() -> bool {
    *lock(&ORDER) = None;
    let until = Instant::now() + KILL_TIME;
    while !is_alone() {
        if Instant::now() > until {
            return false;
        }
        let below = watch::descendants(std::process::id());
        for signal in [Signal::STOP, Signal::KILL] {
            let process = |pid: &u32| Pid::from_raw(i32::try_from(*pid).ok()?);
            for pid in below.iter().filter_map(process) {
                let _ = kill_process(pid, signal);
            }
        }
    }
    true
}

/// Tells whether this process has no children left, those taken leave of that have
/// ended. As whatever loses its parent becomes a child of ours, nothing is
/// below us then; to look for it among all processes takes milliseconds.
fn is_alone() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(errno) => return errno == Errno::CHILD,
        }
    }
}
