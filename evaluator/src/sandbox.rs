//! Keeps a command away from the host: which isolation, what it sees, what it leaves open.
//!
//! The isolations are a closed set. They differ in what they can promise, so
//! the choice is probed by running something, and reported. What this module
//! does not do: decide what to run, or judge what came of it.

mod bubblewrap;
mod container;
mod helper;
mod host;
mod landlock;

pub use helper::enter_from_arguments;
pub use host::Host;

use crate::TargetError;
use crate::process::{self, Execution, Launch, Limits};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs every script.
const SHELL: &str = "/bin/sh";

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IsolationChoice {
    /// The first that works of bubblewrap, Landlock, container; none of them refuses.
    #[default]
    Auto,
    /// Namespaces by `bwrap`.
    Bubblewrap,
    /// Landlock and a seccomp filter, put on by a helper process.
    Landlock,
    /// A container of Podman.
    Container,
    /// Nothing but limits and a cleaned environment: only on the user's own word.
    None,
}

/// The isolation that is active, for people to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// Which one; never `Auto`.
    pub kind: IsolationChoice,
    /// What it does not keep a command from.
    pub leaves_open: Vec<String>,
    /// What was tried before it, each with the reason why it does not work here.
    pub passed_over: Vec<(IsolationChoice, String)>,
}

/// One host path as a command sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) host: PathBuf,
    pub(crate) inside: PathBuf,
    pub(crate) writable: bool,
}

/// One command line to run.
#[derive(Debug)]
pub(crate) struct Command<'a> {
    /// A script for `sh -eu`.
    pub(crate) script: &'a str,
    /// The script's `$1`, `$2`, ...
    pub(crate) arguments: &'a [OsString],
    pub(crate) places: &'a [Place],
    /// Where it starts, as seen inside.
    pub(crate) folder: &'a Path,
    pub(crate) environment: BTreeMap<String, OsString>,
    pub(crate) network: bool,
    pub(crate) streams_apart: bool,
    pub(crate) limits: Limits,
    /// Largest file it may write, in bytes.
    pub(crate) file_size: u64,
}

/// A way to run commands, chosen once and used for all.
#[derive(Debug, Clone)]
pub(crate) struct Sandbox {
    host: Host,
    mode: Mode,
    isolation: Isolation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Bubblewrap { own_proc: bool },
    Landlock,
    Container,
    Bare,
}

impl Sandbox {
    /// Probes for the isolation that was asked for.
    pub(crate) async fn open(choice: IsolationChoice, host: Host) -> Result<Self, TargetError> {
        let order: &[IsolationChoice] = match &choice {
            IsolationChoice::Auto => &[
                IsolationChoice::Bubblewrap,
                IsolationChoice::Landlock,
                IsolationChoice::Container,
            ],
            one => std::slice::from_ref(one),
        };
        let mut passed_over = Vec::new();
        for kind in order {
            match probe(*kind, &host).await {
                Ok((mode, leaves_open)) => {
                    return Ok(Self {
                        host,
                        mode,
                        isolation: Isolation {
                            kind: *kind,
                            leaves_open,
                            passed_over,
                        },
                    });
                }
                Err(reason) => passed_over.push((*kind, reason)),
            }
        }
        let reasons: Vec<String> = passed_over
            .iter()
            .map(|(kind, reason)| format!("{kind:?}: {reason}"))
            .collect();
        Err(TargetError::machinery(
            format!(
                "no sandbox works here; install bubblewrap, or say sandbox = \"none\" at your own risk: {}",
                reasons.join("; ")
            ),
            "sandbox",
        ))
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    pub(crate) fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// Whether every workspace can be shown at the same paths; otherwise they take turns at one.
    pub(crate) fn maps_paths(&self) -> bool {
        matches!(self.mode, Mode::Bubblewrap { .. } | Mode::Container)
    }

    /// Makes the temporary home the user's real one.
    ///
    /// The JVM, and with it Maven, does not look at `HOME` but at the user's entry
    /// among the system's accounts. Where paths can be mapped the command gets
    /// accounts of its own, written into `folder`.
    pub(crate) fn accounts(&self, folder: &Path, home: &Path) -> Result<Place, TargetError> {
        let home = home.display();
        let host = folder.join("accounts");
        let number = match self.mode {
            Mode::Container => container::USER,
            _ => bubblewrap::USER,
        };
        let text = format!("user:x:{number}:{number}:user:{home}:/bin/sh\n");
        std::fs::write(&host, text)
            .map_err(|e| TargetError::io("the accounts could not be written", &host, e))?;
        Ok(Place {
            host,
            inside: "/etc/passwd".into(),
            writable: false,
        })
    }

    /// Runs a command line to its end.
    pub(crate) async fn run(&self, command: Command<'_>) -> Result<Execution, TargetError> {
        execute(self.mode, &self.host, &command).await
    }
}

/// Which isolation would be active here, for a command that checks a machine.
pub async fn active(choice: IsolationChoice, host: Host) -> Result<Isolation, TargetError> {
    Ok(Sandbox::open(choice, host).await?.isolation)
}

/// Every command runs below the helper, which ends all of it.
async fn execute(mode: Mode, host: &Host, command: &Command<'_>) -> Result<Execution, TargetError> {
    let helper = host.helper.as_os_str();
    let (folder, program, words) = match mode {
        Mode::Container => return container::run(host, command).await,
        Mode::Bubblewrap { own_proc } => (
            Path::new("/"),
            OsStr::new("bwrap"),
            bubblewrap::arguments(host, command, own_proc),
        ),
        Mode::Landlock => (command.folder, helper, landlock::arguments(host, command)),
        Mode::Bare => (command.folder, OsStr::new(SHELL), shell_words(command)),
    };
    let mut environment = host.environment(command.network);
    environment.extend(command.environment.clone());
    let writable = command.places.iter().filter(|place| place.writable);
    let launch = Launch {
        program: host.helper.clone(),
        arguments: helper::supervised(folder, program, words),
        environment,
        streams_apart: command.streams_apart,
        writes: writable.map(|place| place.host.clone()).collect(),
    };
    process::run(launch, command.limits).await
}

/// The words of a call, which the isolations write each in their own way.
#[derive(Default)]
struct Words(Vec<OsString>);

impl Words {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(OsString::from));
    }
}

/// What [`SHELL`] is told to run a script within limits a shell can set: no core dumps,
/// no file larger than allowed (`ulimit -f` counts blocks of 512 bytes).
fn shell_words(command: &Command<'_>) -> Vec<OsString> {
    const WRAPPER: &str = r#"ulimit -c 0; ulimit -f "$1"; shift; exec /bin/sh -eu -c "$@""#;
    let mut words: Vec<OsString> = ["-c", WRAPPER, "sh"].map(OsString::from).into();
    words.push((command.file_size / 512).to_string().into());
    words.push(command.script.into());
    words.push("sh".into());
    words.extend(command.arguments.iter().cloned());
    words
}

/// Tries an isolation by running the smallest command in it.
async fn probe(kind: IsolationChoice, host: &Host) -> Result<(Mode, Vec<String>), String> {
    match kind {
        IsolationChoice::Auto => Err("no isolation by itself".to_owned()),
        IsolationChoice::Container => {
            attempt(Mode::Container, host).await?;
            container::forget_old(host).await;
            Ok((Mode::Container, container::leaves_open()))
        }
        IsolationChoice::Bubblewrap => {
            let own = Mode::Bubblewrap { own_proc: true };
            let borrowed = Mode::Bubblewrap { own_proc: false };
            match attempt(own, host).await {
                Ok(()) => Ok((own, Vec::new())),
                Err(reason) => attempt(borrowed, host).await.map_err(|_| reason).map(|()| {
                    let open = "the host's /proc is seen: names and arguments of other processes";
                    (borrowed, vec![open.to_owned()])
                }),
            }
        }
        IsolationChoice::Landlock => attempt(Mode::Landlock, host)
            .await
            .map(|()| (Mode::Landlock, landlock::leaves_open())),
        IsolationChoice::None => attempt(Mode::Bare, host).await.map(|()| {
            let open = "everything: files, network and processes of this user";
            (Mode::Bare, vec![open.to_owned()])
        }),
    }
}

async fn attempt(mode: Mode, host: &Host) -> Result<(), String> {
    let limits = Limits {
        wall: Duration::from_secs(10),
        idle: None,
        memory: 1 << 30,
        processes: 64,
        output: 4096,
        disk: 1 << 20,
    };
    let command = Command {
        script: "exit 0",
        arguments: &[],
        places: &[],
        folder: Path::new("/"),
        environment: BTreeMap::new(),
        network: false,
        streams_apart: false,
        limits,
        file_size: 1 << 20,
    };
    let execution = execute(mode, host, &command)
        .await
        .map_err(|error| error.to_string())?;
    if execution.ending.success() {
        return Ok(());
    }
    let text = execution.text();
    let first = text.lines().next().unwrap_or_default();
    Err(format!("{}: {first}", execution.ending))
}

#[cfg(test)]
pub(crate) mod test_host;
#[cfg(test)]
mod tests;
