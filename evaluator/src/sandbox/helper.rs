//! The small program that stands between us and every command.
//!
//! It is our own binary, called again. As `supervise` it becomes the parent of
//! everything the command leaves behind, so that also a child that left its
//! session can be found, and ends all of it when the command has ended or its
//! own standard input closes, which happens whenever its caller goes away. A
//! namespace needs it too: `bwrap` asks the kernel to be killed with its
//! parent, but only some milliseconds after it has started, and who is killed
//! before that leaves it behind. As `enter` it puts the fence on and becomes
//! the command.
//!
//! What it itself cannot do is never taken for an end of the command: it dies
//! of a signal then, as no command it supervises makes it.

use super::landlock::{self, Fence};
use crate::process::watch;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait};
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The first argument that makes our binary a helper.
pub(super) const WORD: &str = "sandbox-exec";
/// Run a command and end all it leaves behind.
pub(super) const SUPERVISE: &str = "supervise";
/// Put the fence on, then become the command.
pub(super) const ENTER: &str = "enter";

/// How long killing everything may take: a fork bomb is caught by repeating.
const KILL_TIME: Duration = Duration::from_secs(4);
/// What `timeout`, `env` and other such programs leave with when they fail themselves.
const OWN_FAILURE: u8 = 125;
/// The first descriptor that is none of the three standard streams.
const FIRST_FOREIGN: i32 = 3;

/// The words that have a program supervised, started in `folder`.
pub(super) fn supervised(
    folder: &Path,
    program: &OsStr,
    arguments: Vec<OsString>,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![WORD.into(), SUPERVISE.into(), folder.into()];
    words.push(program.into());
    words.extend(arguments);
    words
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
        Some((word, rest)) if word == ENTER => enter(rest),
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
    let [folder, program, rest @ ..] = arguments else {
        return Err("no command was given".into());
    };
    close_foreign()?;
    set_child_subreaper(Some(getpid()))?;
    let child = Command::new(program)
        .args(rest)
        .current_dir(Path::new(folder))
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let main = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    std::thread::spawn(|| {
        // Nothing is ever sent: reading ends when the caller closes or dies.
        let _ = std::io::copy(
            &mut std::io::stdin().lock().take(u64::MAX),
            &mut std::io::sink(),
        );
        end_all();
        std::process::exit(OWN_FAILURE.into());
    });
    let code = loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == main => {
                let signal = status.terminating_signal().map(|signal| 128 + signal);
                break status
                    .exit_status()
                    .or(signal)
                    .unwrap_or(OWN_FAILURE.into());
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    };
    end_all();
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(OWN_FAILURE)))
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

/// Kills everything below this process until nothing is left.
fn end_all() {
    let until = Instant::now() + KILL_TIME;
    while !is_alone() && Instant::now() < until {
        let below = watch::descendants(std::process::id());
        if below.is_empty() {
            return;
        }
        for signal in [Signal::STOP, Signal::KILL] {
            for pid in below.iter().filter_map(|pid| i32::try_from(*pid).ok()) {
                if let Some(pid) = Pid::from_raw(pid) {
                    let _ = kill_process(pid, signal);
                }
            }
        }
    }
}

/// Whether this process has no children left, those taken leave of that have
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

fn enter(arguments: &[OsString]) -> Result<ExitCode, Box<dyn Error>> {
    let mut fence = Fence::default();
    let mut words = arguments.iter();
    loop {
        match words.next().and_then(|word| word.to_str()) {
            Some("--read") => fence.read.extend(words.next().map(Into::into)),
            Some("--write") => fence.write.extend(words.next().map(Into::into)),
            Some("--network") => fence.network = true,
            Some("--") => break,
            other => return Err(format!("unknown word {other:?}").into()),
        }
    }
    let program = words.next().ok_or("no command was given")?;
    landlock::enter(&fence)?;
    Err(Command::new(program).args(words).exec().into())
}
