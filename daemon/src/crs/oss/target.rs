//! The sidecars as a target: what they build, run and test is judged by the
//! same rules as local commands.
//!
//! Every build of the builder is a clean one, so both kinds of build are one
//! here. Values inside the program cannot be looked at, and what needs them says so.

use super::sidecar::{CommandResult, Sidecars};
use async_trait::async_trait;
use futures::stream::{self, StreamExt, TryStreamExt};
use patchwright_sandbox::{Ending, Execution, Isolation, IsolationChoice, Limit};
use patchwright_source::{Changes, Tree};
use patchwright_target::runner::{Capture, InputRun, Inputs, measure, reproducible};
use patchwright_target::{
    Baseline, Build, BuildKind, Outcome, Pov, Replay, Target, TargetError, TargetTask, TestRun,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::OnceCell;

/// The runner's exit status for a PoV that took too long.
const POV_TIMED_OUT: i32 = 124;
/// Inputs that are sent to the runner at one time.
const LANES: usize = 4;

/// The builder takes no job without a patch. This one changes nothing that is built.
const INERT: &[u8] = b"diff --git a/.patchwright-unpatched b/.patchwright-unpatched
new file mode 100644
--- /dev/null
+++ b/.patchwright-unpatched
@@ -0,0 +1 @@
+unpatched
";
/// The builder's message for a project without tests; it then reports success.
const NO_TESTS: &str = "No test script found";
/// The builder's message for a job that took too long; its exit status is that of a failure.
const TIMED_OUT: &str = "Timed out after ";

/// The builder and the runner of an OSS-CRS run.
#[derive(Debug)]
pub struct SidecarTarget {
    task: TargetTask,
    sidecars: Sidecars,
    tree: Tree,
    baseline: OnceCell<Arc<Baseline>>,
    builds: Mutex<BTreeMap<String, Known>>,
}

/// A build, the number that the runner knows it by, and its patch.
#[derive(Debug, Clone)]
struct Known {
    build: Build,
    rebuild: Option<i64>,
    patch: Vec<u8>,
}

impl SidecarTarget {
    /// A target for a task whose tree lies here and is built there.
    pub fn new(task: TargetTask, sidecars: Sidecars, tree: Tree) -> Self {
        Self {
            task,
            sidecars,
            tree,
            baseline: OnceCell::new(),
            builds: Mutex::default(),
        }
    }

    fn known(&self, changes: &str) -> Option<Known> {
        let builds = self.builds.lock().unwrap_or_else(PoisonError::into_inner);
        builds.get(changes).cloned()
    }

    /// Returns what is known of a build that was made here.
    fn made(&self, build: &Build) -> Result<Known, TargetError> {
        let missing =
            || TargetError::machinery("a build was asked for that was not made here", "target");
        self.known(&build.changes).ok_or_else(missing)
    }

    /// Remembers a build, the number that the runner knows it by, and its patch.
    fn keep(&self, build: Build, rebuild: Option<i64>, patch: Vec<u8>) -> Build {
        let mut builds = self.builds.lock().unwrap_or_else(PoisonError::into_inner);
        let known = Known {
            build: build.clone(),
            rebuild,
            patch,
        };
        builds.insert(build.changes.clone(), known);
        build
    }

    fn execution(&self, ending: Ending, told: &CommandResult, started: Instant) -> Execution {
        let seconds = started.elapsed().as_secs_f64();
        let output = told.output();
        Execution::reported(ending, output.as_bytes(), seconds, self.task.limits.output)
    }

    async fn build_patch(
        &self,
        digest: &str,
        name: &str,
        patch: Vec<u8>,
    ) -> Result<Build, TargetError> {
        let started = Instant::now();
        let told = self.sidecars.job("build", &patch).await?;
        let execution = self.execution(ending_of_job(&told), &told, started);
        let build = Build::remote(name, digest, execution);
        Ok(self.keep(build, told.rebuild_id, patch))
    }

    async fn make_baseline(&self) -> Result<Baseline, TargetError> {
        let started = Instant::now();
        self.sidecars.ready().await?;
        let name = self.task.main_build();
        let build = self
            .build(&Changes::default(), &name, BuildKind::Clean)
            .await?;
        let mut povs = Vec::new();
        for pov in &self.task.povs {
            povs.push(measure(self, &build, pov).await?);
        }
        reproducible(&povs)?;
        let tests = self.test(&build).await?;
        Ok(Baseline {
            builds: [(name, build)].into(),
            povs,
            tests,
            isolation: Isolation {
                kind: IsolationChoice::Remote,
                leaves_open: vec!["whatever the framework's builder and runner leave open".into()],
                passed_over: Vec::new(),
            },
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

#[async_trait]
impl Target for SidecarTarget {
    fn task(&self) -> &TargetTask {
        &self.task
    }

    async fn baseline(&self) -> Result<Arc<Baseline>, TargetError> {
        let made = self
            .baseline
            .get_or_try_init(|| async { self.make_baseline().await.map(Arc::new) });
        made.await.cloned()
    }

    async fn build(
        &self,
        changes: &Changes,
        name: &str,
        _how: BuildKind,
    ) -> Result<Build, TargetError> {
        let digest = changes.digest();
        if let Some(known) = self.known(&digest) {
            return Ok(known.build);
        }
        if changes.is_empty() {
            let done = Execution::reported(Ending::Exited(0), b"", 0.0, 0);
            let build = Build::remote(name, &digest, done);
            return Ok(self.keep(build, None, INERT.to_vec()));
        }
        let patch = patchwright_patcher::diff(&self.tree, changes);
        self.build_patch(&digest, name, patch).await
    }

    async fn replay(&self, build: &Build, pov: &Pov) -> Result<Replay, TargetError> {
        let input = tokio::fs::read(&pov.file).await;
        let input = input.map_err(|e| TargetError::io("the PoV cannot be read", &pov.file, e))?;
        let execution = self.run(build, pov, &input).await?;
        let ended = execution.ending;
        let mut replay = Replay::judged(execution, pov.ran.as_deref())?;
        // The runner leaves with 0 when nothing happened, and only then.
        if replay.outcome == Outcome::Silent && !ended.success() {
            let reason = format!("the runner reports {ended}, and nothing says why");
            replay.outcome = Outcome::NotRun(reason);
        }
        Ok(replay)
    }

    async fn test(&self, build: &Build) -> Result<Option<TestRun>, TargetError> {
        let known = self.made(build)?;
        let started = Instant::now();
        let told = self.sidecars.job("test", &known.patch).await?;
        let execution = self.execution(ending_of_job(&told), &told, started);
        if execution.ending.success() && execution.text().contains(NO_TESTS) {
            return Ok(None);
        }
        Ok(Some(TestRun {
            execution,
            reports: Vec::new(),
        }))
    }

    async fn run_inputs(
        &self,
        build: &Build,
        pov: &Pov,
        inputs: &Inputs,
    ) -> Result<Vec<InputRun>, TargetError> {
        if let Capture::Values(_) = inputs.capture {
            return Ok(Vec::new());
        }
        let until = Instant::now() + inputs.budget;
        let wanted: Vec<usize> = if inputs.only.is_empty() {
            (0..inputs.contents.len()).collect()
        } else {
            inputs.only.clone()
        };
        let in_time = wanted.into_iter().take_while(|_| Instant::now() < until);
        let runs = in_time.map(|index| self.run_input((build, pov), inputs, index));
        let running = stream::iter(runs).buffer_unordered(LANES);
        let runs: Vec<Option<InputRun>> = running.try_collect().await?;
        let mut runs: Vec<InputRun> = runs.into_iter().flatten().collect();
        runs.sort_by_key(|run| run.index);
        Ok(runs)
    }
}

impl SidecarTarget {
    /// Feeds an input to a build.
    async fn run(&self, build: &Build, pov: &Pov, input: &[u8]) -> Result<Execution, TargetError> {
        let harness = pov.harness.as_deref().unwrap_or_default();
        let known = self.made(build)?;
        let started = Instant::now();
        let run = |number| self.sidecars.run_pov(input.to_vec(), harness, number);
        let mut ran = run(known.rebuild).await?;
        if ran.is_none() {
            self.build_unpatched(&build.changes, &build.name).await?;
            ran = run(self.made(build)?.rebuild).await?;
        }
        let told = ran
            .ok_or_else(|| TargetError::machinery("it runs no build without a number", "runner"))?;
        Ok(self.execution(ending_of_run(told.exit_code), &told, started))
    }

    /// Older runners know no unpatched build: they get one that was patched
    /// with nothing.
    async fn build_unpatched(&self, digest: &str, name: &str) -> Result<(), TargetError> {
        let build = self.build_patch(digest, name, INERT.to_vec()).await?;
        if build.succeeded() {
            return Ok(());
        }
        let ending = build.execution.ending;
        Err(TargetError::InvalidTask {
            reason: format!("the build of the unpatched tree failed: {ending}"),
            log: build.execution.text(),
        })
    }

    async fn run_input(
        &self,
        (build, pov): (&Build, &Pov),
        inputs: &Inputs,
        index: usize,
    ) -> Result<Option<InputRun>, TargetError> {
        let Some(content) = inputs.contents.get(index) else {
            return Ok(None);
        };
        let execution = self.run(build, pov, content).await?;
        let quiet = inputs.capture == Capture::Failures && execution.ending.success();
        let output = (!quiet).then(|| execution.text().into_bytes());
        Ok(Some(InputRun {
            index,
            ending: execution.ending,
            output: output.unwrap_or_default(),
        }))
    }
}

/// Result of a build or of the tests.
fn ending_of_job(told: &CommandResult) -> Ending {
    let timed_out = told.exit_code != 0 && told.output().starts_with(TIMED_OUT);
    if timed_out {
        Ending::Limit(Limit::WallTime)
    } else {
        Ending::Exited(told.exit_code)
    }
}

/// Returns the result of a PoV: the runner knows signals as negative numbers, the script
/// below it as 128 and more.
fn ending_of_run(status: i32) -> Ending {
    match status {
        POV_TIMED_OUT => Ending::Limit(Limit::WallTime),
        ..0 => Ending::Signal(-status),
        status => Ending::from_shell(status),
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandResult, ending_of_job, ending_of_run};
    use patchwright_sandbox::{Ending, Limit};

    #[test]
    fn a_job_that_took_too_long_hit_a_limit() {
        for (exit_code, output, expected) in [
            (
                1,
                "Timed out after 1800 seconds",
                Ending::Limit(Limit::WallTime),
            ),
            (1, "make: Timed out after 1800 seconds", Ending::Exited(1)),
            (0, "Timed out after 1800 seconds", Ending::Exited(0)),
        ] {
            let told = CommandResult {
                exit_code,
                stdout: output.into(),
                stderr: String::new(),
                rebuild_id: None,
            };
            assert_eq!(ending_of_job(&told), expected, "{output}");
        }
    }

    #[test]
    fn exit_statuses_of_the_runner() {
        for (status, expected) in [
            (0, Ending::Exited(0)),
            (1, Ending::Exited(1)),
            (77, Ending::Exited(77)),
            (124, Ending::Limit(Limit::WallTime)),
            (127, Ending::Exited(127)),
            (-11, Ending::Signal(11)),
            (134, Ending::Signal(6)),
        ] {
            assert_eq!(ending_of_run(status), expected, "{status}");
        }
    }
}
