//! The small program that stands between us and a command where no namespace does.
//!
//! It is our own binary, called again. As `supervise` it becomes the parent of
//! everything the command leaves behind, so that also a child that left its
//! session can be found, and ends all of it when the command has ended or its
//! own standard input closes, which happens whenever its caller goes away. As
//! `enter` it puts the fence on and becomes the command.

use super::landlock::{self, Fence};
use crate::process::watch;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait};
use std::error::Error;
use std::ffi::OsString;
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

/// Does what the arguments of this process say. To be called first thing in
/// `main`, before any thread is started, when the first argument is `sandbox-exec`.
pub fn enter_from_arguments() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(2).collect();
    let result = match arguments.split_first() {
        Some((word, rest)) if word == SUPERVISE => supervise(rest),
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
    set_child_subreaper(Some(getpid()))?;
    let child = Command::new(program)
        .args(rest)
        .current_dir(Path::new(folder))
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()?;
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
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    };
    end_all();
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(OWN_FAILURE)))
}

/// Kills everything below this process until nothing is left.
fn end_all() {
    let until = Instant::now() + KILL_TIME;
    while Instant::now() < until {
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
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
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
