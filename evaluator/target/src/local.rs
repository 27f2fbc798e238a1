//! Local target: runs the command lines of a task on this machine.
//!
//! The tree is prepared once and built once; every attempt starts from a copy of that. All
//! commands of a task see the tree and the build's output at the same paths, because build
//! systems write absolute paths into their output. Where the sandbox cannot map paths,
//! workspaces take turns at one real path.

mod baseline;
mod batch;
mod build_cache;
mod builds;
mod command;
mod coverage;
mod debugger;
#[cfg(test)]
mod debugger_tests;
mod disguise;
mod exits;
mod fetch;
mod fuzzer;
mod hang;
mod instrumented;
mod jvm_agent;
mod observed_tests;
mod one_jvm;
mod scratch;
mod script;
mod shared_process;
mod shown;
mod stage;
mod task_check;
mod task_digest;
mod test_reports;
mod uncaught;

pub use build_cache::put_record;
pub use disguise::quoted;
pub use fetch::{FetchPlace, fetch};
pub use scratch::Scratch;
pub use task_digest::{TaskDigest, digest_of_inputs};

use crate::cache::Cache;
use crate::probe::{Observations, Probe};
use crate::runner::{
    Baseline, Build, BuildKind, Counted, Exits, Fuzzed, INSIDE, InputRun, Inputs, Instrumentation,
    Observed, ObservedRun, Pov, Replay, Target, TargetTask, TestRun,
};
use crate::workspace::Workspace;
use crate::{Result, TargetError};
use async_trait::async_trait;
use builds::BuildKey;
use command::Job;
use patchwright_crash::CrashReport;
use patchwright_sandbox::{Host, Isolation, IsolationChoice, Place, Sandbox};
use patchwright_source::{Changes, Language};
use scratch::CommandFolder;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use task_check::checked;
use tokio::sync::OnceCell;

/// A task's commands, run here.
#[derive(Debug)]
pub struct LocalTarget {
    task: TargetTask,
    sandbox: Sandbox,
    /// Removed with everything in it when the target is dropped.
    scratch: Arc<Scratch>,
    /// The system's configuration for its commands, where paths are mapped.
    configuration: OnceCell<Place>,
    /// The folder of a command's folders, as it is seen inside.
    home: PathBuf,
    /// The names that folders have in its runs.
    names: disguise::Names,
    /// When the task's folder changed last, and where commands see it.
    shown_task: tokio::sync::Mutex<Option<(Option<SystemTime>, PathBuf)>>,
    /// Held while a workspace is at the one real path; only where paths cannot be mapped.
    seat: tokio::sync::Mutex<()>,
    prepared: OnceCell<Arc<Workspace>>,
    /// The part of the baseline that is being made.
    doing: Mutex<Option<String>>,
    pristine: tokio::sync::Mutex<BTreeMap<String, Build>>,
    baseline: OnceCell<Arc<Baseline>>,
    built: Mutex<Vec<(BuildKey, Build)>>,
    /// The needs of the commands of PoVs.
    needs: Mutex<stage::KnownNeeds>,
    /// Exits of the unpatched program by input, which every attempt is compared with.
    usual_exits: exits::UsualExits,
    answers: uncaught::Answers,
    /// Builds of earlier runs.
    cache: Option<Cache>,
    /// The digest in the names of this task's cache entries.
    digest: Arc<TaskDigest>,
    /// The compiled agent for the JVM; none where it does not compile.
    agent: OnceCell<Option<Vec<u8>>>,
    /// True when the driver for many inputs was seen to tell what the program tells.
    driver_fits: OnceCell<bool>,
}

impl LocalTarget {
    /// Checks the task and probes for a sandbox. Everything is written below `scratch` and
    /// removed with the target.
    pub async fn open(
        task: TargetTask,
        isolation: IsolationChoice,
        host: Host,
        scratch: &Path,
    ) -> Result<Self> {
        let task = checked(task)?;
        let mut sandbox = match &task.image {
            Some(image) => Sandbox::in_container(image, host).await?,
            None => Sandbox::open(isolation, host).await?,
        };
        let scratch = Scratch::open(scratch, &sandbox)?;
        sandbox.reach_helper(scratch.path())?;
        let digest = TaskDigest::new(task.clone(), &sandbox);
        Ok(Self {
            task,
            sandbox,
            scratch: Arc::new(scratch),
            configuration: OnceCell::new(),
            home: disguise::home(&disguise::fresh_name()),
            names: disguise::Names::default(),
            shown_task: tokio::sync::Mutex::default(),
            seat: tokio::sync::Mutex::new(()),
            prepared: OnceCell::new(),
            doing: Mutex::default(),
            pristine: tokio::sync::Mutex::default(),
            baseline: OnceCell::new(),
            built: Mutex::default(),
            needs: Mutex::default(),
            usual_exits: Mutex::default(),
            answers: Mutex::default(),
            cache: None,
            digest: Arc::new(digest),
            agent: OnceCell::new(),
            driver_fits: OnceCell::new(),
        })
    }

    /// Returns the isolation of the commands.
    pub fn isolation(&self) -> &Isolation {
        self.sandbox.isolation()
    }

    /// Tells whether every workspace is seen at the same paths; nothing is cached otherwise.
    pub fn maps_paths(&self) -> bool {
        self.sandbox.maps_paths()
    }

    /// Returns the digest in the names of this task's cache entries.
    pub fn task_digest(&self) -> Arc<TaskDigest> {
        Arc::clone(&self.digest)
    }

    /// Returns the scratch folder.
    pub fn scratch(&self) -> Arc<Scratch> {
        Arc::clone(&self.scratch)
    }

    /// Returns the harmless inputs.
    pub fn harmless(&self) -> &[PathBuf] {
        &self.task.harmless
    }

    /// Copies a workspace on a thread for blocking work.
    async fn copy(&self, of: &Arc<Workspace>) -> Result<Workspace> {
        let (of, root) = (Arc::clone(of), self.scratch.fresh("workspace"));
        blocking("copy of a workspace", move || Workspace::copy_of(&of, root)).await?
    }

    /// Creates a folder for the inputs of a batch and their outputs.
    fn batch_folder(&self) -> Result<CommandFolder> {
        CommandFolder::create(self.scratch.path().join(disguise::fresh_name()))
    }
}

/// Returns what is behind a lock, also where a thread ended that held it.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does blocking work on a thread for it; `what` names it in an error.
async fn blocking<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|e| TargetError::machinery(e.to_string(), what))
}

#[async_trait]
impl Target for LocalTarget {
    fn task(&self) -> &TargetTask {
        &self.task
    }

    fn doing(&self) -> Option<String> {
        locked(&self.doing).clone()
    }

    async fn baseline(&self) -> Result<Arc<Baseline>> {
        let made = self.baseline.get_or_try_init(|| self.make_baseline());
        made.await.cloned()
    }

    async fn build(&self, changes: &Changes, name: &str, how: BuildKind) -> Result<Build> {
        self.build_changed(changes, name, how).await
    }

    async fn build_ahead(&self, changes: &Changes, name: &str) -> Result<()> {
        self.clean_build_ahead(changes, name).await
    }

    async fn replay(&self, build: &Build, pov: &Pov) -> Result<Replay> {
        let run = self.on(build, pov);
        let stage = run.stage().await?;
        let job = Job {
            wall: pov.timeout.unwrap_or(self.task.limits.pov),
            pov: Some(&pov.file),
            ..stage.job(run.command()?)
        };
        let execution = self.command(job).await?;
        let mut replay = Replay {
            unwatched: None,
            ..Replay::judged(execution, pov.ran.as_deref())?
        };
        let tree = self.task.seen_tree();
        replay.crash = replay.crash.map(|crash| crash.without_folder(&tree));
        uncaught::look(run, replay).await
    }

    async fn test(&self, build: &Build) -> Result<Option<TestRun>> {
        let Some(test) = &self.task.commands.test else {
            return Ok(None);
        };
        let stage = self.stage_of_tests(build).await?;
        let job = Job {
            wall: self.task.limits.test,
            ..stage.job(test)
        };
        let execution = self.command(job).await?;
        let reports = test_reports::read(&stage.workspace, &self.task.commands.reports)?;
        Ok(Some(TestRun { execution, reports }))
    }

    async fn run_inputs(&self, build: &Build, pov: &Pov, inputs: &Inputs) -> Result<Vec<InputRun>> {
        let mut runs = batch::run(self.on(build, pov), inputs).await?;
        uncaught::take_answers_out(&self.answers, &mut runs);
        Ok(runs)
    }

    async fn probe(&self, build: &Build, pov: &Pov, probes: &[Probe]) -> Result<Observations> {
        debugger::run(self.on(build, pov), probes).await
    }

    async fn instrumented_build(
        &self,
        changes: &Changes,
        name: &str,
        added: &Instrumentation,
    ) -> Result<Option<Build>> {
        instrumented::build(self, changes, name, added).await
    }

    async fn observed_run(
        &self,
        build: &Build,
        pov: Option<&Pov>,
        asked: &Observed,
    ) -> Result<Option<ObservedRun>> {
        if self.task.language == Language::Java {
            return observed_tests::run(self, build, pov, asked).await;
        }
        // Counters see no calls, and no agent is there.
        if pov.is_some() || !asked.functions.is_empty() {
            return Ok(None);
        }
        let coverage = coverage::tests(self, build, &asked.counted, asked.most).await?;
        Ok(coverage.map(|coverage| ObservedRun {
            coverage,
            ..ObservedRun::default()
        }))
    }

    async fn exits(&self, build: &Build, pov: &Pov, watched: &Counted) -> Result<Exits> {
        exits::run(self.on(build, pov), watched).await
    }

    async fn run_script(&self, build: &Build, script: &str) -> Result<Result<Vec<u8>, String>> {
        script::run(self, build, script).await
    }

    async fn stack_of_hang(&self, build: &Build, pov: &Pov) -> Result<Option<CrashReport>> {
        hang::stack(self.on(build, pov)).await
    }

    async fn fuzz(
        &self,
        build: &Build,
        pov: &Pov,
        seeds: &[Vec<u8>],
        time: Duration,
    ) -> Result<Option<Fuzzed>> {
        fuzzer::fuzz(self.on(build, pov), seeds, time).await
    }
}

#[cfg(test)]
mod tests;
