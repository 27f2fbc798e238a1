//! Runner: the trait [`Target`], behind which programs are built, replayed and tested.
//!
//! [`crate::LocalTarget`] implements it with local commands. A target reports facts and
//! judges as little as possible; the rungs judge.

mod coverage;
mod exits;
mod input_file;
mod inputs;
mod observed;
mod outcome;
mod reproduction;
mod task;

use crate::probe::{Observations, Probe};
use crate::sanitizer_hooks;
pub use crate::sanitizer_hooks::Gained;
use crate::workspace::programs::{self, Program};
use crate::workspace::{Workspace, products};
use crate::{Result, TargetError};
use async_trait::async_trait;
pub use coverage::{Counted, Coverage, LineRange, Way};
pub use exits::{ExitEvent, ExitEventKind, ExitFrame, Exits, FunctionChecks, ProcessExit};
pub use input_file::{InputFile, content};
pub use inputs::{ALLOW_LEAKS, Capture, InputRun, Inputs, MemoryPattern};
pub use observed::{Observed, ObservedCall, ObservedRun};
pub use outcome::{Outcome, missing_banner};
pub(crate) use outcome::{judge, proof};
use patchwright_crash::CrashReport;
use patchwright_crash::test_report::TestReport;
pub use patchwright_record::{Commands, Pov};
use patchwright_sandbox::Execution;
use patchwright_sandbox::Isolation;
use patchwright_source::{Changes, TreePath};
pub use reproduction::{measure, reproducible};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
pub use task::{CommandLimits, INSIDE, TargetTask, program_and_arguments};

/// One build of the tree, pristine or patched. Its files are removed when it is dropped.
#[derive(Debug, Clone)]
pub struct Build {
    /// The name among the task's builds; empty for the one without a name.
    pub name: String,
    /// The digest of the changes that were built.
    pub changes: String,
    /// The execution of the build command, of an earlier call where the build was cached.
    pub execution: Execution,
    /// Its workspace; none for a build on another machine.
    pub(crate) workspace: Option<Arc<Workspace>>,
}

impl Build {
    /// Creates a build on another machine, which its target identifies by name, changes
    /// and kind.
    pub fn remote(name: &str, changes: &str, execution: Execution) -> Self {
        Self {
            name: name.to_owned(),
            changes: changes.to_owned(),
            execution,
            workspace: None,
        }
    }

    /// Creates a build in a workspace of this machine.
    pub(crate) fn in_workspace(
        (name, changes): (&str, &str),
        execution: Execution,
        workspace: impl Into<Arc<Workspace>>,
    ) -> Self {
        Self {
            workspace: Some(workspace.into()),
            ..Self::remote(name, changes, execution)
        }
    }

    /// Tells whether the build command succeeded.
    pub fn succeeded(&self) -> bool {
        self.execution.ending.success()
    }

    /// Returns the symbols around a sanitizer that this build has and the unpatched one
    /// lacks; none where one of them is on another machine.
    pub fn gained_symbols(&self, unpatched: &Self) -> Gained {
        let (Some(old), Some(new)) = (&unpatched.workspace, &self.workspace) else {
            return Gained::default();
        };
        sanitizer_hooks::gained(old.root(), new.root())
    }

    /// Tells whether it has all products of a clean build of the same sources; false where
    /// one of them is on another machine or cannot be read.
    pub async fn has_products_of(&self, clean: &Self) -> bool {
        let (Some(one), Some(other)) = (self.workspace.clone(), clean.workspace.clone()) else {
            return false;
        };
        let compared =
            tokio::task::spawn_blocking(move || products::holds_all(one.root(), other.root()));
        matches!(compared.await, Ok(Ok(true)))
    }

    /// Returns its programs as words for a command, such as `"$OUT"/name`; none for a
    /// build on another machine.
    pub fn programs(&self) -> Vec<String> {
        let Some(workspace) = &self.workspace else {
            return Vec::new();
        };
        let found = programs::programs(workspace.root()).into_iter();
        found
            .filter(Program::is_for_people)
            .map(|program| format!("\"${}\"/{}", program.part.to_uppercase(), program.path))
            .collect()
    }

    /// Tells whether one of its programs holds the runtime of a sanitizer.
    pub fn has_sanitizer(&self) -> bool {
        let workspace = self.workspace.as_ref();
        workspace.is_some_and(|workspace| sanitizer_hooks::is_sanitized(workspace.root()))
    }

    pub(crate) fn place(&self) -> Result<&Arc<Workspace>> {
        self.workspace.as_ref().ok_or_else(|| {
            TargetError::machinery("a build of another target was asked for", "target")
        })
    }
}

/// One run of a PoV.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Replay {
    pub outcome: Outcome,
    /// The crash, where there is one.
    pub crash: Option<CrashReport>,
    /// The execution of the command.
    pub execution: Execution,
    /// Reason why nobody looked for exceptions that a silent Java program did not catch; none
    /// where a debugger did, and of other runs.
    #[serde(default)]
    pub unwatched: Option<String>,
    /// Exception of Java by which a silent program ended: the answer of a library that declares it,
    /// which the caller that was run lets through.
    #[serde(default)]
    pub answer: Option<String>,
}

impl Replay {
    /// Judges a run, on whatever machine it was; `ran` is the PoV's own proof of having run.
    pub fn judged(execution: Execution, ran: Option<&str>) -> Result<Self> {
        let (outcome, crash) = judge(&execution, proof(ran)?.as_ref());
        Ok(Self {
            outcome,
            crash,
            execution,
            unwatched: Some("no debugger watches a run on another machine".to_owned()),
            answer: None,
        })
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TestRun {
    /// The execution of the command.
    pub execution: Execution,
    /// Result files that it left: path below the tree, and content.
    pub reports: Vec<(String, Vec<u8>)>,
}

impl TestRun {
    /// Reads the results by name from the result files, else from the output.
    pub fn report(&self) -> TestReport {
        let mut all = TestReport::default();
        for (name, bytes) in &self.reports {
            if let Some(report) = TestReport::read_file(name, bytes) {
                all.merge(report);
            }
        }
        if all.tests.is_empty()
            && let Some(report) = TestReport::read_log(&self.execution.text())
        {
            all.merge(report);
        }
        all
    }

    /// Returns the reason why the run shows nothing, where no test was run.
    pub fn nothing_run(&self) -> Option<String> {
        self.report().nothing_run(&self.execution.text())
    }
}

/// A PoV on the unpatched program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BaselinePov {
    /// The PoV's name.
    pub name: String,
    pub runs: u32,
    /// Number of runs that crashed or hung.
    pub crashes: u32,
    /// The first run that crashed, else the last run.
    pub replay: Replay,
    /// Runs that a patched program must survive before it counts as silent.
    pub repeat: u32,
}

impl BaselinePov {
    /// Tells whether it crashed here at all.
    pub fn reproduces(&self) -> bool {
        self.crashes > 0
    }

    /// Returns the time limit of another input: a multiple of the PoV's time between the least
    /// and the most that are given.
    pub fn time_limit(&self, times: u32, (least, most): (Duration, Duration)) -> Duration {
        let usual = Duration::from_secs_f64(self.replay.execution.seconds.min(60.0));
        (usual * times).clamp(least, most)
    }
}

/// The behaviour of the unpatched program.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The builds by name.
    pub builds: BTreeMap<String, Build>,
    /// Each PoV of the task, in its order.
    pub povs: Vec<BaselinePov>,
    /// The tests; none when the task has none.
    pub tests: Option<TestRun>,
    /// The isolation of the commands.
    pub isolation: Isolation,
    /// Wall time of all commands together, in seconds.
    pub seconds: f64,
}

/// The reason why a target that runs programs elsewhere observes nothing.
const NO_DEBUGGER: &str = "no debugger can be run where this program runs";

/// Something that can be built, replayed and tested.
#[async_trait]
pub trait Target: Send + Sync + fmt::Debug {
    fn task(&self) -> &TargetTask;

    /// Names the part of the baseline that is being made, for whoever waits; nothing where
    /// that is not known.
    fn doing(&self) -> Option<String> {
        None
    }

    /// Builds the pristine tree and runs every PoV and the tests, once.
    async fn baseline(&self) -> Result<Arc<Baseline>>;

    /// Builds the changed tree; `name` is one of the task's builds.
    async fn build(&self, changes: &Changes, name: &str, how: BuildKind) -> Result<Build>;

    /// Makes the clean build of the changed tree ahead of time, at a low priority, so that
    /// the confirmation of a patch finds it at hand. Only a build that succeeds is kept. Does
    /// nothing where builds cannot be made beside other commands.
    async fn build_ahead(&self, _changes: &Changes, _name: &str) -> Result<()> {
        Ok(())
    }

    /// Runs one PoV once.
    async fn replay(&self, build: &Build, pov: &Pov) -> Result<Replay>;

    /// Runs the tests once; none when the task has none.
    async fn test(&self, build: &Build) -> Result<Option<TestRun>>;

    /// Runs many inputs the way a PoV is run.
    async fn run_inputs(&self, build: &Build, pov: &Pov, inputs: &Inputs) -> Result<Vec<InputRun>>;

    /// Runs a PoV once under a debugger and returns its observations at lines of this
    /// build. Not every target has a debugger.
    async fn probe(&self, _build: &Build, _pov: &Pov, _probes: &[Probe]) -> Result<Observations> {
        Ok(Observations {
            problem: Some(NO_DEBUGGER.to_owned()),
            ..Observations::default()
        })
    }

    /// Runs a PoV once under a debugger and returns the ends of its processes, and the
    /// number of sanitizer checks in these functions. Not every target has a debugger.
    async fn exits(&self, _build: &Build, _pov: &Pov, _watched: &Counted) -> Result<Exits> {
        Ok(Exits::unseen(NO_DEBUGGER))
    }

    /// Builds the changed tree with something added to it; nothing where that cannot be
    /// had.
    async fn instrumented_build(
        &self,
        _changes: &Changes,
        _name: &str,
        _added: &Instrumentation,
    ) -> Result<Option<Build>> {
        Ok(None)
    }

    /// Runs the tests, or one PoV, and says how the calls of some functions end, and on a build
    /// with counters how often lines are run. None where there are no tests, what is asked for
    /// cannot be seen, or the run does not end in time.
    async fn observed_run(
        &self,
        _build: &Build,
        _pov: Option<&Pov>,
        _asked: &Observed,
    ) -> Result<Option<ObservedRun>> {
        Ok(None)
    }

    /// Runs a Python script that nobody trusts, and returns what it writes to its standard
    /// output, or why there is nothing. Not every target runs scripts.
    async fn run_script(&self, _build: &Build, _script: &str) -> Result<Result<Vec<u8>, String>> {
        let reason = "no script can be run where this program runs";
        Ok(Err(reason.to_owned()))
    }

    /// Runs a PoV that hangs once more and returns where it is after a while; none where
    /// that cannot be seen.
    async fn stack_of_hang(&self, _build: &Build, _pov: &Pov) -> Result<Option<CrashReport>> {
        Ok(None)
    }

    /// Runs the project's own fuzzer from these seeds and for this time; none where the
    /// harness is no fuzzer.
    async fn fuzz(
        &self,
        _build: &Build,
        _pov: &Pov,
        _seeds: &[Vec<u8>],
        _time: Duration,
    ) -> Result<Option<Fuzzed>> {
        Ok(None)
    }
}

/// The result of the project's own fuzzer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fuzzed {
    pub executions: u64,
    /// The inputs that crashed or hung.
    pub found: Vec<Vec<u8>>,
    /// Inputs that it kept because they run something new, or come nearer to a compared value.
    pub kept: Vec<Vec<u8>>,
}

/// Instrumentation that a compiler adds to some files of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instrumentation {
    /// Counters of lines and branches in what the changes touch.
    Counters,
    /// Sanitizer checks after which the program goes on, in these files as well.
    Recovery(Vec<TreePath>),
    /// Checks for undefined behaviour that end the program, in these files as well.
    Undefined(Vec<TreePath>),
    /// No sanitizer at all, for tools that watch the machine code: a build of its own from the
    /// pristine tree.
    Plain,
}

/// The way of building.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuildKind {
    /// On top of the built baseline, so that only changed parts are built.
    Incremental,
    /// From the pristine tree, as a user would build it.
    Clean,
}
