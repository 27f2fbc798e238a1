//! A target made of local command lines.
//!
//! The tree is prepared once and built once; every attempt starts from a copy
//! of that. All commands of a task see the tree and what the build left at the
//! same paths, because build systems write absolute paths into what they make.
//! Where the sandbox cannot map paths, workspaces take turns at one real path.

mod baseline;
mod builds;
mod check;
mod command;
mod digest;
mod fetch;
mod kept;
mod room;
mod scratch;
mod shown;
mod spare;
mod verdicts;

pub use fetch::fetch;

use super::{
    Baseline, Build, BuildKind, Fuzzed, InputRun, Inputs, Pov, Replay, Target, TargetTask, TestRun,
    inputs, oracle, probe, reports,
};
use crate::cache::Cache;
use crate::ladder::RungResult;
use crate::probe::{Probe, Sights};
use crate::sandbox::{Host, Isolation, IsolationChoice, Place, Sandbox};
use crate::workspace::{HOME, Workspace};
use crate::{Changes, TargetError};
use builds::BuildKey;
use check::checked;
pub(super) use command::Job;
use futures::FutureExt;
use futures::future::BoxFuture;
use spare::Spares;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::OnceCell;

/// Where things are seen inside the sandbox.
pub(crate) const INSIDE: &str = "/patchwright";

/// A task's commands, run here.
#[derive(Debug)]
pub struct LocalTarget {
    task: TargetTask,
    sandbox: Sandbox,
    /// Goes before the scratch folder that it writes to.
    spares: Spares,
    /// Removed with everything in it when the target is dropped.
    scratch: scratch::Scratch,
    /// The user's entry among the accounts, where paths are mapped.
    accounts: Option<Place>,
    /// The task's folder as commands see it.
    shown_task: OnceCell<PathBuf>,
    next_number: AtomicU64,
    /// Held while a workspace sits at the one real path; only where paths cannot be mapped.
    seat: tokio::sync::Mutex<()>,
    prepared: OnceCell<Arc<Workspace>>,
    pristine: tokio::sync::Mutex<BTreeMap<String, Build>>,
    baseline: OnceCell<Arc<Baseline>>,
    built: Mutex<Vec<(BuildKey, Build)>>,
    /// What earlier runs built.
    cache: Option<Cache>,
    /// What earlier runs judged.
    verdicts: Option<verdicts::Verdicts>,
    /// What all entries of the cache that are this task's depend on.
    digest: OnceCell<Option<String>>,
    /// What tells the values of Java methods; nothing where it does not compile.
    agent: OnceCell<Option<PathBuf>>,
}

impl LocalTarget {
    /// Checks the task and probes for a sandbox. Everything that is written
    /// lies below `scratch` and goes away with the target.
    pub async fn open(
        task: TargetTask,
        isolation: IsolationChoice,
        host: Host,
        scratch: &Path,
    ) -> Result<Self, TargetError> {
        let task = checked(task)?;
        let sandbox = Sandbox::open(isolation, host).await?;
        let fail = |e| TargetError::io("no scratch folder could be made", scratch, e);
        let scratch = if sandbox.maps_paths() {
            scratch::Scratch::new(scratch)
        } else {
            scratch::Scratch::in_reach(scratch)
        };
        let scratch = scratch.map_err(fail)?;
        let home = Path::new(INSIDE).join(HOME);
        let accounts = sandbox
            .maps_paths()
            .then(|| sandbox.accounts(scratch.path(), &home))
            .transpose()?;
        Ok(Self {
            task,
            sandbox,
            spares: Spares::default(),
            scratch,
            accounts,
            shown_task: OnceCell::new(),
            next_number: AtomicU64::new(0),
            seat: tokio::sync::Mutex::new(()),
            prepared: OnceCell::new(),
            pristine: tokio::sync::Mutex::default(),
            baseline: OnceCell::new(),
            built: Mutex::default(),
            cache: None,
            verdicts: None,
            digest: OnceCell::new(),
            agent: OnceCell::new(),
        })
    }

    /// What keeps the commands away from the host.
    pub fn isolation(&self) -> &Isolation {
        self.sandbox.isolation()
    }

    fn fresh(&self, what: &str) -> PathBuf {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        self.scratch.path().join(format!("{what}-{number}"))
    }

    /// A copy of a workspace, made off the asynchronous threads.
    async fn copy(&self, of: &Arc<Workspace>) -> Result<Workspace, TargetError> {
        let (of, root) = (Arc::clone(of), self.fresh("workspace"));
        tokio::task::spawn_blocking(move || Workspace::copy_of(&of, root))
            .await
            .map_err(|e| TargetError::machinery(e.to_string(), "copy of a workspace"))?
    }

    pub(super) fn jobs(&self) -> u32 {
        self.task.limits.jobs
    }

    pub(super) fn is_java(&self) -> bool {
        self.task.language == "java"
    }

    pub(super) fn compiled_agent(&self) -> &OnceCell<Option<PathBuf>> {
        &self.agent
    }

    /// Where the compiled agent is kept.
    pub(super) fn agent_place(&self) -> PathBuf {
        self.scratch.path().join("agent.jar")
    }

    /// A folder for the inputs of a batch and their outputs.
    pub(super) fn batch_folder(&self) -> Result<tempfile::TempDir, TargetError> {
        tempfile::tempdir_in(self.scratch.path())
            .map_err(|e| TargetError::io("no batch folder could be made", self.scratch.path(), e))
    }

    async fn replay_once(&self, build: &Build, pov: &Pov) -> Result<Replay, TargetError> {
        let proof = oracle::proof(pov.ran.as_deref())
            .map_err(|e| TargetError::invalid(format!("[[pov]] ran: {e}")))?;
        let job = Job {
            wall: pov.timeout.unwrap_or(self.task.limits.pov),
            pov: Some(&pov.file),
            harness: pov.harness.as_deref(),
            ..Job::new(self.pov_command(pov)?, build.place()?, &build.name)
        };
        let execution = self.command(job).await?;
        let (outcome, crash) = oracle::judge(&execution, proof.as_ref());
        Ok(Replay {
            outcome,
            crash,
            execution,
        })
    }

    pub(super) fn pov_command<'a>(&'a self, pov: &'a Pov) -> Result<&'a str, TargetError> {
        pov.command
            .as_deref()
            .or(self.task.commands.pov.as_deref())
            .ok_or_else(|| {
                TargetError::invalid(format!("there is no command that runs {}", pov.name()))
            })
    }

    async fn test_once(&self, build: &Build) -> Result<Option<TestRun>, TargetError> {
        let Some(test) = &self.task.commands.test else {
            return Ok(None);
        };
        reports::clear(build.place()?, &self.task.commands.reports)?;
        let job = Job {
            wall: self.task.limits.test,
            ..Job::new(test, build.place()?, &build.name)
        };
        let execution = self.command(job).await?;
        let reports = reports::read(build.place()?, &self.task.commands.reports)?;
        Ok(Some(TestRun { execution, reports }))
    }
}

impl Target for LocalTarget {
    fn task(&self) -> &TargetTask {
        &self.task
    }

    fn baseline(&self) -> BoxFuture<'_, Result<Arc<Baseline>, TargetError>> {
        async {
            let made = self.baseline.get_or_try_init(|| async {
                let baseline = self.make_baseline().await?;
                Ok::<_, TargetError>(Arc::new(baseline))
            });
            made.await.cloned()
        }
        .boxed()
    }

    fn build<'a>(
        &'a self,
        changes: &'a Changes,
        name: &'a str,
        how: BuildKind,
    ) -> BoxFuture<'a, Result<Build, TargetError>> {
        self.build_changed(changes, name, how).boxed()
    }

    fn replay<'a>(
        &'a self,
        build: &'a Build,
        pov: &'a Pov,
    ) -> BoxFuture<'a, Result<Replay, TargetError>> {
        self.replay_once(build, pov).boxed()
    }

    fn test<'a>(&'a self, build: &'a Build) -> BoxFuture<'a, Result<Option<TestRun>, TargetError>> {
        self.test_once(build).boxed()
    }

    fn run_inputs<'a>(
        &'a self,
        build: &'a Build,
        pov: &'a Pov,
        inputs: &'a Inputs,
    ) -> BoxFuture<'a, Result<Vec<InputRun>, TargetError>> {
        inputs::run(self, build, pov, inputs).boxed()
    }

    fn probe<'a>(
        &'a self,
        build: &'a Build,
        pov: &'a Pov,
        probes: &'a [Probe],
    ) -> BoxFuture<'a, Result<Sights, TargetError>> {
        probe::run(self, build, pov, probes).boxed()
    }

    fn fuzz<'a>(
        &'a self,
        build: &'a Build,
        pov: &'a Pov,
        seeds: &'a [Vec<u8>],
        time: Duration,
    ) -> BoxFuture<'a, Result<Option<Fuzzed>, TargetError>> {
        inputs::fuzz(self, build, pov, (seeds, time)).boxed()
    }

    fn known_verdict<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Option<RungResult>> {
        self.recalled(question).boxed()
    }

    fn keep_verdict<'a>(&'a self, question: &'a str, result: &'a RungResult) -> BoxFuture<'a, ()> {
        self.keep_result(question, result).boxed()
    }
}

#[cfg(test)]
pub(crate) mod tests;
