//! The target: what can be built, replayed and tested.
//!
//! The trait is one of the project's few seams; local commands are the first
//! thing behind it. It tells what happened and judges as little as possible:
//! the rungs do that.

mod elsewhere;
mod inputs;
pub(crate) mod local;
mod measure;
mod oracle;
mod probe;
mod reports;

pub use inputs::{InputRun, Inputs, Wanted};
pub(crate) use local::INSIDE;
pub use local::{LocalTarget, fetch};
pub use measure::{measure, reproducible};
pub use oracle::Outcome;
pub(crate) use oracle::{judge, missing_banner};

use crate::crash::CrashReport;
use crate::ladder::RungResult;
use crate::probe::{Probe, Sights};
use crate::sandbox::Isolation;
use crate::workspace::Workspace;
use crate::{Changes, Execution, TargetError};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One thing to repair, as far as commands need to know it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TargetTask {
    /// The pristine source tree on this host; it is copied, never written.
    pub tree: PathBuf,
    /// `$TASK`: the folder of the task file, shown read-only.
    pub task_folder: PathBuf,
    /// What it is written in: `c`, `c++`, `java`.
    pub language: String,
    /// The command lines.
    pub commands: Commands,
    /// The builds by name, each with the variables it sets. Empty: one build without a name.
    pub builds: BTreeMap<String, BTreeMap<String, String>>,
    /// The inputs that make it crash.
    pub povs: Vec<Pov>,
    /// Inputs that are fine today: files on this host.
    pub harmless: Vec<PathBuf>,
    /// Where the tree is seen by the commands, instead of the usual place.
    pub seen_as: Option<String>,
    /// What each command may use.
    pub limits: CommandLimits,
}

/// Lines for `sh -eu`, run in the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commands {
    /// Run once, with network, before the first build.
    pub prepare: Option<String>,
    /// Builds the tree.
    pub build: String,
    /// Runs one PoV; a PoV may have its own.
    pub pov: Option<String>,
    /// Runs the tests.
    pub test: Option<String>,
    /// Where the tests leave results by name: patterns below the tree.
    pub reports: Vec<String>,
}

/// An input that makes the unpatched program crash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pov {
    /// The input, a file on this host.
    pub file: PathBuf,
    /// Which of the builds it runs on; the first when it is not said.
    pub build: Option<String>,
    /// `$HARNESS`.
    pub harness: Option<String>,
    /// Its own command instead of the common one.
    pub command: Option<String>,
    /// How often it is run; measured at the baseline when it is not said.
    pub repeat: Option<u32>,
    /// Its own time limit.
    pub timeout: Option<Duration>,
    /// A regular expression: what a run prints once the target has really started.
    pub ran: Option<String>,
    /// Whether `$POV` may also be a folder of inputs, all run by one process.
    pub batch: bool,
}

impl Pov {
    /// The file's name, which is how the PoV is called in results.
    pub fn name(&self) -> String {
        self.file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }
}

/// What each command may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLimits {
    /// Wall time of `prepare` and `fetch`.
    pub prepare: Duration,
    /// Wall time of one build.
    pub build: Duration,
    /// Wall time of one PoV.
    pub pov: Duration,
    /// Wall time of the tests.
    pub test: Duration,
    /// Resident memory of all processes of a command together, in bytes.
    pub memory: u64,
    /// Processes of a command at one time.
    pub processes: u64,
    /// Bytes of output that are kept, half of them from the head, half from the tail.
    pub output: usize,
    /// Bytes of the largest file a command may write.
    pub file: u64,
    /// Bytes a command may write in all.
    pub disk: u64,
    /// `$JOBS`: how many things a build should do at once.
    pub jobs: u32,
    /// Wall time of the rung *robust*.
    pub robust: Duration,
    /// Wall time of the rung *same elsewhere*.
    pub same: Duration,
}

impl Default for CommandLimits {
    fn default() -> Self {
        let minutes = Duration::from_mins;
        Self {
            prepare: minutes(15),
            build: minutes(15),
            pov: minutes(1),
            test: minutes(15),
            memory: 8 << 30,
            processes: 2048,
            output: 4 << 20,
            file: 2 << 30,
            disk: 10 << 30,
            jobs: 2,
            robust: minutes(1),
            same: minutes(1),
        }
    }
}

/// One build of the tree, pristine or patched. Its files live as long as it does.
#[derive(Debug, Clone)]
pub struct Build {
    /// Which of the task's builds; empty for the one without a name.
    pub name: String,
    /// The digest of the changes that were built.
    pub changes: String,
    /// What the build command did; of an earlier call where the result was at hand.
    pub execution: Execution,
    /// Where it lies; nothing when that is not this machine.
    pub(crate) workspace: Option<Arc<Workspace>>,
}

impl Build {
    /// Whether the build command succeeded.
    pub fn succeeded(&self) -> bool {
        self.execution.ending.success()
    }

    /// Where it lies, for those who run commands in it.
    pub(crate) fn place(&self) -> Result<&Arc<Workspace>, TargetError> {
        self.workspace.as_ref().ok_or_else(|| {
            TargetError::machinery("a build of another target was asked for", "target")
        })
    }
}

/// One run of a PoV.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Replay {
    /// What it comes to.
    pub outcome: Outcome,
    /// The crash, where there is one.
    pub crash: Option<CrashReport>,
    /// What the command did.
    pub execution: Execution,
}

/// One run of the tests.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TestRun {
    /// What the command did.
    pub execution: Execution,
    /// Result files that it left: path below the tree, and content.
    pub reports: Vec<(String, Vec<u8>)>,
}

/// A PoV on the unpatched program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BaselinePov {
    /// The PoV's name.
    pub name: String,
    /// How often it was run.
    pub runs: u32,
    /// How often it crashed or hung.
    pub crashes: u32,
    /// The run that shows it best: the first crash, else the last run.
    pub replay: Replay,
    /// How often a patched program has to survive it before that means something.
    pub repeat: u32,
}

impl BaselinePov {
    /// Whether it crashed here at all.
    pub fn reproduces(&self) -> bool {
        self.crashes > 0
    }
}

/// What the unpatched program does.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The builds by name.
    pub builds: BTreeMap<String, Build>,
    /// Each PoV of the task, in its order.
    pub povs: Vec<BaselinePov>,
    /// The tests; nothing when the task has none.
    pub tests: Option<TestRun>,
    /// What keeps the commands away from the host.
    pub isolation: Isolation,
    /// Wall time of all commands together, in seconds.
    pub seconds: f64,
}

/// Something that can be built, replayed and tested.
pub trait Target: Send + Sync {
    /// The task.
    fn task(&self) -> &TargetTask;

    /// Builds the pristine tree, runs every PoV and the tests. Done once, then remembered.
    fn baseline(&self) -> BoxFuture<'_, Result<Arc<Baseline>, TargetError>>;

    /// Builds the changed tree; `name` is one of the task's builds.
    fn build<'a>(
        &'a self,
        changes: &'a Changes,
        name: &'a str,
        how: BuildKind,
    ) -> BoxFuture<'a, Result<Build, TargetError>>;

    /// Runs one PoV once.
    fn replay<'a>(
        &'a self,
        build: &'a Build,
        pov: &'a Pov,
    ) -> BoxFuture<'a, Result<Replay, TargetError>>;

    /// Runs the tests once; nothing when the task has none.
    fn test<'a>(&'a self, build: &'a Build) -> BoxFuture<'a, Result<Option<TestRun>, TargetError>>;

    /// Runs many inputs the way a PoV is run.
    fn run_inputs<'a>(
        &'a self,
        build: &'a Build,
        pov: &'a Pov,
        inputs: &'a Inputs,
    ) -> BoxFuture<'a, Result<Vec<InputRun>, TargetError>>;

    /// Runs a PoV once under a debugger and says what it saw at lines of this
    /// build. Not every target has one.
    fn probe<'a>(
        &'a self,
        _build: &'a Build,
        _pov: &'a Pov,
        _probes: &'a [Probe],
    ) -> BoxFuture<'a, Result<Sights, TargetError>> {
        Box::pin(async {
            Ok(Sights {
                problem: Some("no debugger can be run where this program runs".to_owned()),
                ..Sights::default()
            })
        })
    }

    /// Lets the project's own fuzzer look for a crash, from these seeds and for
    /// this time; nothing where the harness is none, or cannot be asked.
    fn fuzz<'a>(
        &'a self,
        _build: &'a Build,
        _pov: &'a Pov,
        _seeds: &'a [Vec<u8>],
        _time: Duration,
    ) -> BoxFuture<'a, Result<Option<Fuzzed>, TargetError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// The result that a rung came to before when it asked the same; nothing
    /// where none is kept.
    fn known_verdict<'a>(&'a self, _question: &'a str) -> BoxFuture<'a, Option<RungResult>> {
        Box::pin(std::future::ready(None))
    }

    /// Keeps the result of a rung for those who will ask the same.
    fn keep_verdict<'a>(
        &'a self,
        _question: &'a str,
        _result: &'a RungResult,
    ) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// What the project's own fuzzer did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fuzzed {
    /// How often it ran the target.
    pub executions: u64,
    /// The inputs that crashed or hung.
    pub found: Vec<Vec<u8>>,
}

/// How a build comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuildKind {
    /// On top of the built baseline, so that only what changed is built.
    Incremental,
    /// From the pristine tree, as anybody else would build it.
    Clean,
}

impl TargetTask {
    /// The names of the builds; one empty name when the task tells none.
    pub fn build_names(&self) -> Vec<String> {
        if self.builds.is_empty() {
            vec![String::new()]
        } else {
            self.builds.keys().cloned().collect()
        }
    }

    /// The build that a PoV runs on.
    pub fn build_of(&self, pov: &Pov) -> String {
        pov.build.clone().unwrap_or_else(|| self.main_build())
    }

    /// The build that the tests run on.
    pub fn main_build(&self) -> String {
        self.povs
            .first()
            .and_then(|pov| pov.build.clone())
            .or_else(|| self.builds.keys().next().cloned())
            .unwrap_or_default()
    }

    /// The builds that are really used, the main one first.
    pub fn used_builds(&self) -> Vec<String> {
        let mut names = vec![self.main_build()];
        for name in self.povs.iter().map(|pov| self.build_of(pov)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
