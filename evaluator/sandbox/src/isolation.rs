//! Keeps a command away from the host: which isolation, what it sees, what it leaves open.
//!
//! The isolations are a closed set. They differ in what they can promise, so
//! the choice is probed by running something, and reported. What this module
//! does not do: decide what to run, or judge what came of it.

mod bubblewrap;
mod configuration;
mod container;
mod each;
mod engine;
mod enter;
mod host;
mod landlock;
mod mounts;
mod probe;
mod seccomp;
mod supervisor;

use crate::identity::{self, Ids};
use crate::process::{self, Execution, Group, Launch, Limits};
use crate::{Result, SandboxError};
use bubblewrap::Own;
use container::Container;
pub use engine::{EngineAddress, Image};
use enter::{Become, Doors};
pub use host::Host;
pub use probe::offered;
use probe::{accept, probe};
use rustix::process::DumpableBehavior;
use schemars::JsonSchema;
use seccomp::Surroundings;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use supervisor::Supervision;
pub use supervisor::enter_from_arguments;

/// Runs every script.
const SHELL: &str = "/bin/sh";
/// The folders of a command with a root of its own that lie in memory.
const IN_MEMORY: &[&str] = &["/dev/shm", "/tmp"];
/// Folders for everybody, to which programs write wherever they run.
const COMMON: [&str; 3] = ["/dev", "/tmp", "/var/tmp"];

/// Where a command with a root of its own finds our own program. The name is another one in
/// each process of ours, so that no program can tell by it where it runs.
fn inner_helper() -> &'static Path {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| {
        let number = RandomState::new().hash_one(0);
        Path::new("/srv").join(format!("{number:x}")).join("start")
    })
}

/// Isolation that the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IsolationChoice {
    /// Bubblewrap where it works, else Landlock; where neither works, commands are refused.
    #[default]
    Auto,
    /// Namespaces by `bwrap`.
    Bubblewrap,
    /// Landlock and a seccomp filter, put on by a helper process.
    Landlock,
    /// Nothing but limits and a cleaned environment: only on the user's own word.
    None,
    /// A container of the task's own image: what a task asks for by naming one.
    Container,
    /// The isolation of a service that runs the commands elsewhere; it cannot be asked for here.
    Remote,
}

impl fmt::Display for IsolationChoice {
    /// Writes the name that the settings have for it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The isolation that commands ran in, and the stronger ones that did not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SandboxRecord")]
pub struct Isolation {
    /// `bubblewrap`, `landlock`, `container`, `none`, or `remote` for a service that runs the commands.
    #[serde(rename = "isolation")]
    #[schemars(with = "String")]
    pub kind: IsolationChoice,
    /// The ways that it leaves open.
    pub leaves_open: Vec<String>,
    /// The isolations that were preferred and do not work here.
    #[serde(rename = "not_used")]
    pub passed_over: Vec<StrongerSandbox>,
}

/// An isolation that was preferred, and does not work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StrongerSandbox {
    /// Its name.
    #[schemars(with = "String")]
    pub isolation: IsolationChoice,
    /// The reason why it does not work.
    pub reason: String,
}

impl fmt::Display for StrongerSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not {}: {}", self.isolation, self.reason)
    }
}

impl fmt::Display for Isolation {
    /// Writes the name, and why it is no stronger one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        let mut stronger = self.passed_over.iter();
        stronger.try_for_each(|stronger| write!(f, "; {stronger}"))
    }
}

/// One host path as a command sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub host: PathBuf,
    pub inside: PathBuf,
    pub writable: bool,
}

/// One command line to run.
#[derive(Debug)]
pub struct Command<'a> {
    /// A script for `sh -eu`.
    pub script: &'a str,
    /// The script's `$1`, `$2`, ...
    pub arguments: &'a [OsString],
    pub places: &'a [Place],
    /// Where it starts, as seen inside.
    pub folder: &'a Path,
    pub environment: BTreeMap<String, OsString>,
    pub network: bool,
    pub limits: Limits,
    /// Largest file it may write, in bytes.
    pub file_size: u64,
}

/// A way to run commands, chosen once and used for all.
#[derive(Debug, Clone)]
pub struct Sandbox {
    host: Host,
    world: World,
    isolation: Isolation,
}

/// The files that commands live among.
#[derive(Debug, Clone)]
enum World {
    /// Those of this machine, as far as the isolation shows them.
    Host(Mode),
    Image(Arc<Container>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Bubblewrap(Own),
    Landlock { own_mounts: bool },
    Bare,
}

impl Sandbox {
    /// Probes for the isolation that was asked for.
    pub async fn open(choice: IsolationChoice, host: Host) -> Result<Self> {
        let order: &[IsolationChoice] = match &choice {
            IsolationChoice::Auto => &[IsolationChoice::Bubblewrap, IsolationChoice::Landlock],
            one => std::slice::from_ref(one),
        };
        let mut passed_over = Vec::new();
        for kind in order {
            let probed = probe(*kind, &host).await;
            match probed.and_then(|found| accept(choice, found)) {
                Ok((mode, mut leaves_open)) => {
                    leaves_open.extend(landlock::notes_in_reach());
                    return Ok(Self {
                        host,
                        world: World::Host(mode),
                        isolation: Isolation {
                            kind: *kind,
                            leaves_open,
                            passed_over,
                        },
                    });
                }
                Err(reason) => passed_over.push(StrongerSandbox {
                    isolation: *kind,
                    reason,
                }),
            }
        }
        let reasons: Vec<String> = passed_over
            .iter()
            .map(|one| format!("{}: {}", one.isolation, one.reason))
            .collect();
        let what = format!("no sandbox works here: {}", reasons.join("; "));
        Err(SandboxError::machinery(what, "sandbox.choice"))
    }

    /// Gets a task's image ready for its commands.
    pub async fn in_container(image: &Image, host: Host) -> Result<Self> {
        let container = Container::open(image, &host).await?;
        let own = container.engine.leaves_open.iter().cloned();
        let leaves_open = own.chain(landlock::notes_in_reach()).collect();
        Ok(Self {
            host,
            isolation: Isolation {
                kind: IsolationChoice::Container,
                leaves_open,
                passed_over: Vec::new(),
            },
            world: World::Image(Arc::new(container)),
        })
    }

    /// Returns the id of the image that commands run in; none where they run on this machine.
    pub fn image(&self) -> Option<&str> {
        match &self.world {
            World::Host(_) => None,
            World::Image(container) => Some(&container.image),
        }
    }

    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Copies our own program into a folder where the user that commands run as does not get
    /// to it at its own place: a command may start it.
    pub fn reach_helper(&mut self, folder: &Path) -> Result<()> {
        if self.maps_paths() || identity::can_reach(&self.host.helper) {
            return Ok(());
        }
        let copy = folder.join("sandbox-exec");
        std::fs::copy(&self.host.helper, &copy)
            .map_err(|e| SandboxError::io("our own program could not be copied", &copy, e))?;
        self.host.helper = copy;
        Ok(())
    }

    pub fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// Tells whether every workspace can be shown at the same paths; otherwise they take
    /// turns at one.
    pub fn maps_paths(&self) -> bool {
        self.needs_configuration() || matches!(self.world, World::Image(_))
    }

    /// Tells whether commands need a copy of the system's configuration: they have a root of
    /// their own, made of this machine's files.
    pub fn needs_configuration(&self) -> bool {
        matches!(self.world, World::Host(Mode::Bubblewrap(_)))
    }

    /// The system's configuration as a command with a root of its own sees it, written
    /// into `folder`. Its accounts make the temporary home the user's real one.
    pub fn configuration(folder: &Path, home: &Path) -> Result<Place> {
        let host = folder.join("etc");
        configuration::write(&host, home)
            .map_err(|e| SandboxError::io("the configuration could not be copied", &host, e))?;
        Ok(Place {
            host,
            inside: host::ETC.into(),
            writable: false,
        })
    }

    /// Returns the words before a program that a command starts and that is to write to these
    /// folders only, as they are seen inside. The command itself keeps its rights: what it
    /// notes of the program elsewhere, the program cannot reach.
    pub fn keeping_to(&self, own: &[&Path]) -> Vec<OsString> {
        self.own_step(enter::KEEP_TO, own)
    }

    /// Returns the words before a folder of notes, `all` or any other word, and a program that
    /// is to be started like this for each file below `in` of that folder, which becomes its
    /// last argument. The name of each file is printed with the status. What the program printed
    /// is moved to `out`, where it failed, or always with `all`.
    pub fn keeping_each_to(&self, own: &[&Path]) -> Vec<OsString> {
        self.own_step(enter::EACH, own)
    }

    fn own_step(&self, step: &str, own: &[&Path]) -> Vec<OsString> {
        let mut words = match &self.world {
            World::Host(Mode::Bubblewrap(_)) => vec![inner_helper().into()],
            World::Host(_) => vec![self.host.helper.clone().into()],
            World::Image(container) => container.helper(),
        };
        words.extend([enter::WORD, step].map(OsString::from));
        words.extend(COMMON.map(OsString::from));
        words.extend(own.iter().map(OsString::from));
        words.push(enter::END_OF_WORDS.into());
        words
    }

    /// Runs a command line to its end.
    pub async fn run(&self, command: Command<'_>) -> Result<Execution> {
        match &self.world {
            World::Host(mode) => execute(*mode, &self.host, &command).await,
            World::Image(container) => container.run(&self.host, &command).await,
        }
    }
}

/// Keeps the memory, files and environment of this process, where keys are,
/// from other processes of the same user. To be called first thing in `main`.
pub fn hide_this_process() {
    // It fails nowhere; where it did, a command would still run as another
    // user, or behind a process namespace or Landlock.
    let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Every command runs below the supervisor, which ends all of it, and behind
/// closed doors.
async fn execute(mode: Mode, host: &Host, command: &Command<'_>) -> Result<Execution> {
    let group = Group::make(&command.limits);
    let around = surroundings(mode, command, group.as_ref());
    let ids = identity::of_commands();
    // Root, whose folders are shown in it, and the user of the command.
    let of_root = |inside: u32, ids: Ids| Some(vec![(0, Ids::default()), (inside, ids)]);
    let namespace = match (mode, ids) {
        (Mode::Bubblewrap(_), Some(ids)) => of_root(bubblewrap::USER, ids),
        (Mode::Landlock { own_mounts: true }, Some(ids)) => of_root(ids.user, ids),
        // The one who makes it keeps the number.
        (Mode::Landlock { own_mounts: true }, None) => {
            let own = Ids::of_caller();
            Some(vec![(own.user, own)])
        }
        _ => None,
    };
    let divided = namespace.is_some();
    let supervision = Supervision {
        divided,
        group: group.as_ref().map(Group::paths),
        filter: matches!(mode, Mode::Bubblewrap(_)).then_some(around),
    };
    let mut arguments = supervision.words();
    if let Mode::Bubblewrap(own) = mode {
        arguments.push("bwrap".into());
        arguments.extend(bubblewrap::arguments(host, command, (own, divided)));
        arguments.push(inner_helper().into());
        arguments.extend(entered(host, command, bubblewrap::doors(divided)));
    } else {
        arguments.push(host.helper.clone().into());
        arguments.extend(entered(host, command, doors(mode, host, command, around)));
    }
    let writable = command.places.iter().filter(|place| place.writable);
    let launch = Launch {
        program: host.helper.clone(),
        arguments,
        group,
        environment: host.environment(command.network),
        writes: writable.map(|place| place.host.clone()).collect(),
        in_memory: if matches!(mode, Mode::Bubblewrap(_)) {
            IN_MEMORY
        } else {
            &[]
        },
        namespace,
    };
    process::run(launch, command.limits).await
}

/// The doors of a command that sees the host's own root.
fn doors(mode: Mode, host: &Host, command: &Command<'_>, around: Surroundings) -> Doors {
    let Mode::Landlock { own_mounts } = mode else {
        return Doors {
            keep_privileges: true,
            ..Doors::default()
        };
    };
    Doors {
        ids: identity::of_commands(),
        fence: Some(landlock::fence(host, command)),
        ends_domain: true,
        filter: Some(around),
        read_only: own_mounts,
        keep_privileges: false,
    }
}

/// Returns what else keeps a command away from the host.
fn surroundings(mode: Mode, command: &Command<'_>, group: Option<&Group>) -> Surroundings {
    Surroundings {
        namespaces: matches!(mode, Mode::Bubblewrap(_)),
        network: command.network,
        counted: group.is_some(),
        open_files: mode == Mode::Landlock { own_mounts: false },
        same_user: identity::of_commands().is_none(),
    }
}

/// The words with which our own program closes the doors and becomes the command.
fn entered(host: &Host, command: &Command<'_>, doors: Doors) -> Vec<OsString> {
    let step = Become {
        doors,
        folder: command.folder.into(),
        file_size: command.file_size,
        handed_on: host.environment(command.network).into_keys().collect(),
    };
    let shell = [SHELL, "-eu", "-c", command.script, "sh"];
    step.words(command.environment.clone(), &shell, command.arguments)
}

/// The words of a call, which the isolations write each in their own way.
#[derive(Default)]
struct Words(Vec<OsString>);

impl Words {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(OsString::from));
    }
}

#[cfg(any(test, feature = "test-support"))]
pub mod test_host;
#[cfg(test)]
mod tests;
