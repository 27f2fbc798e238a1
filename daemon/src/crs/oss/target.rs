//! The sidecars as a target: what they build, run and test is judged by the
//! same rules as local commands.
//!
//! Every build of the builder is a clean one, so both kinds of build are one
//! here. Inputs are run in `runs`; values inside the program cannot be looked
//! at, and what needs them says so.

mod runs;

use super::sidecar::{CommandResult, SidecarError, Sidecars};
use futures::FutureExt;
use futures::future::BoxFuture;
use patchwright_evaluator::runner::{InputRun, Inputs, measure, reproducible};
use patchwright_evaluator::sandbox::{Isolation, IsolationChoice};
use patchwright_evaluator::{
    Baseline, Build, BuildKind, Changes, Ending, Execution, Limit, Pov, Replay, Target,
    TargetError, TargetTask, TestRun,
};
use patchwright_source::Tree;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::OnceCell;

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

    fn keep(&self, known: Known) {
        let mut builds = self.builds.lock().unwrap_or_else(PoisonError::into_inner);
        builds.insert(known.build.changes.clone(), known);
    }

    fn execution(&self, ending: Ending, told: &CommandResult, started: Instant) -> Execution {
        let seconds = started.elapsed().as_secs_f64();
        Execution::reported(ending, &told.output, seconds, self.task.limits.output)
    }

    async fn build_changed(&self, changes: &Changes, name: &str) -> Result<Build, TargetError> {
        let digest = changes.digest();
        if let Some(known) = self.known(&digest) {
            return Ok(known.build);
        }
        if changes.is_empty() {
            let done = Execution::reported(Ending::Exited(0), b"", 0.0, 0);
            let build = Build::remote(name, &digest, done);
            self.keep(Known {
                build: build.clone(),
                rebuild: None,
                patch: INERT.to_vec(),
            });
            return Ok(build);
        }
        let patch = patchwright_patcher::diff(&self.tree, changes);
        self.build_patch(&digest, name, patch).await
    }

    async fn build_patch(
        &self,
        digest: &str,
        name: &str,
        patch: Vec<u8>,
    ) -> Result<Build, TargetError> {
        let started = Instant::now();
        let told = self
            .sidecars
            .build(&patch)
            .await
            .map_err(|error| failed(&error))?;
        let execution = self.execution(ending_of_job(&told), &told, started);
        let build = Build::remote(name, digest, execution);
        self.keep(Known {
            build: build.clone(),
            rebuild: told.rebuild_id,
            patch,
        });
        Ok(build)
    }

    async fn test_once(&self, build: &Build) -> Result<Option<TestRun>, TargetError> {
        let known = self
            .known(&build.changes)
            .ok_or_else(|| machinery("a build was asked for that was not made here", "target"))?;
        let started = Instant::now();
        let told = self
            .sidecars
            .test(&known.patch)
            .await
            .map_err(|error| failed(&error))?;
        let execution = self.execution(ending_of_job(&told), &told, started);
        if execution.ending.success() && execution.text().contains(NO_TESTS) {
            return Ok(None);
        }
        Ok(Some(TestRun {
            execution,
            reports: Vec::new(),
        }))
    }

    async fn make_baseline(&self) -> Result<Baseline, TargetError> {
        let started = Instant::now();
        self.sidecars
            .ready()
            .await
            .map_err(|error| failed(&error))?;
        let name = self.task.main_build();
        let build = self.build_changed(&Changes::default(), &name).await?;
        let mut povs = Vec::new();
        for pov in &self.task.povs {
            povs.push(measure(self, &build, pov).await?);
        }
        reproducible(&povs)?;
        let tests = self.test_once(&build).await?;
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

impl Target for SidecarTarget {
    fn task(&self) -> &TargetTask {
        &self.task
    }

    fn baseline(&self) -> BoxFuture<'_, Result<Arc<Baseline>, TargetError>> {
        async {
            let made = self
                .baseline
                .get_or_try_init(|| async { self.make_baseline().await.map(Arc::new) });
            made.await.cloned()
        }
        .boxed()
    }

    fn build<'a>(
        &'a self,
        changes: &'a Changes,
        name: &'a str,
        _how: BuildKind,
    ) -> BoxFuture<'a, Result<Build, TargetError>> {
        self.build_changed(changes, name).boxed()
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
        self.run_all(build, pov, inputs).boxed()
    }
}

/// Result of a build or of the tests.
fn ending_of_job(told: &CommandResult) -> Ending {
    let timed_out = told.exit_code != 0 && told.output.starts_with(TIMED_OUT.as_bytes());
    if timed_out {
        Ending::Limit(Limit::WallTime)
    } else {
        Ending::Exited(told.exit_code)
    }
}

fn machinery(what: &str, place: &str) -> TargetError {
    TargetError::Infrastructure {
        what: what.to_owned(),
        where_: place.to_owned(),
        source: None,
    }
}

fn failed(error: &SidecarError) -> TargetError {
    match error {
        SidecarError::NoHarness { .. } => TargetError::InvalidTask {
            reason: error.to_string(),
            log: String::new(),
        },
        _ => machinery(&error.to_string(), "OSS-CRS"),
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandResult, ending_of_job};
    use patchwright_evaluator::{Ending, Limit};

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
                output: output.into(),
                rebuild_id: None,
            };
            assert_eq!(ending_of_job(&told), expected, "{output}");
        }
    }
}
