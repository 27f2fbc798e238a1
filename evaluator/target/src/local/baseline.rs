//! Baseline: the unpatched program, prepared, built, crashed and tested once.

use super::command::Job;
use super::{LocalTarget, blocking, locked};
use crate::runner::{Baseline, BaselinePov, Build, BuildKind, Target, TestRun, reproducible};
use crate::workspace::{TREE, Workspace, copy_tree};
use crate::{Result, TargetError};
use patchwright_sandbox::{Ending, Execution};
use patchwright_source::Changes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

impl LocalTarget {
    /// Names the part of the baseline that is being made.
    fn begin(&self, part: impl Into<Option<String>>) {
        *locked(&self.doing) = part.into();
    }

    /// Returns the tree as `prepare` left it.
    pub(super) async fn prepared(&self) -> Result<Arc<Workspace>> {
        let made = self.prepared.get_or_try_init(|| async {
            if let Some((workspace, ())) = self.kept_whole(&["prepared"]).await {
                return Ok(Arc::new(workspace));
            }
            let (tree, root) = (self.task.tree.clone(), self.scratch.fresh("prepared"));
            let copied = blocking("copy of the tree", move || {
                let workspace = Workspace::create(root)?;
                copy_tree(&tree, &workspace.part(TREE), None)?;
                Ok::<_, TargetError>(workspace)
            });
            let mut workspace = copied.await??;
            if let Some(prepare) = &self.task.commands.prepare {
                self.begin("preparing the tree".to_owned());
                let main = self.task.main_build();
                let job = Job {
                    wall: self.task.limits.prepare,
                    network: true,
                    ..Job::writing(prepare, &workspace, &main)
                };
                let execution = self.command(job).await?;
                succeeded(&execution, "the prepare command")?;
                // Without such a command this is a plain copy, which is not cached.
                workspace = self.keep_whole(&["prepared"], workspace, ()).await?;
            }
            Ok::<_, TargetError>(Arc::new(workspace))
        });
        made.await.cloned()
    }

    /// Returns the built unpatched tree, a copy of which every attempt starts from.
    pub(super) async fn pristine(&self, name: &str) -> Result<Build> {
        let mut pristine = self.pristine.lock().await;
        if let Some(build) = pristine.get(name) {
            return Ok(build.clone());
        }
        let build = match self.kept_pristine(name).await {
            Some(build) => build,
            None => self.build_pristine(name).await?,
        };
        pristine.insert(name.to_owned(), build.clone());
        Ok(build)
    }

    async fn build_pristine(&self, name: &str) -> Result<Build> {
        let workspace = self.copy(&self.prepared().await?).await?;
        let part = format!("building the unpatched tree {name}");
        self.begin(part.trim_end().to_owned());
        let unchanged = Changes::default().digest();
        let key = (unchanged, name.to_owned(), BuildKind::Clean);
        let mut build = self.kept_or_built(&key, workspace).await?;
        succeeded(&build.execution, "the build of the unpatched tree")?;
        if let Some(workspace) = build.workspace.take().and_then(Arc::into_inner) {
            let execution = build.execution.clone();
            let parts = ["pristine", name];
            let kept = self.keep_whole(&parts, workspace, execution).await?;
            build.workspace = Some(Arc::new(kept));
        }
        Ok(build)
    }

    /// Returns the unpatched tree as an earlier run built it.
    async fn kept_pristine(&self, name: &str) -> Option<Build> {
        let (workspace, execution) = self.kept_whole(&["pristine", name]).await?;
        let unchanged = Changes::default().digest();
        let of = (name, unchanged.as_str());
        Some(Build::in_workspace(of, execution, workspace))
    }

    /// Runs the PoVs and the tests on the unpatched builds.
    async fn observe(
        &self,
        builds: &BTreeMap<String, Build>,
    ) -> Result<(Vec<BaselinePov>, Option<TestRun>)> {
        let mut povs = Vec::new();
        let count = self.task.povs.len();
        for (index, pov) in self.task.povs.iter().enumerate() {
            let (shown, number) = (pov.name(), index + 1);
            self.begin(format!("running the PoV {shown} ({number} of {count})"));
            let name = self.task.build_of(pov);
            let build = builds
                .get(&name)
                .ok_or_else(|| TargetError::invalid(format!("there is no build {name:?}")))?;
            povs.push(self.on(build, pov).measure().await?);
        }
        reproducible(&povs)?;
        if self.task.commands.test.is_some() {
            self.begin("running the tests".to_owned());
        }
        let tests = match builds.get(&self.task.main_build()) {
            Some(build) => self.test(build).await?,
            None => None,
        };
        Ok((povs, tests))
    }

    pub(super) async fn make_baseline(&self) -> Result<Arc<Baseline>> {
        let started = Instant::now();
        let mut builds = BTreeMap::new();
        for name in self.task.used_builds() {
            let build = self.pristine(&name).await?;
            let key = (build.changes.clone(), name.clone(), BuildKind::Incremental);
            self.keep(key, &build);
            builds.insert(name, build);
        }
        let kept = self.kept_baseline().await;
        let known = kept.is_some();
        let (povs, tests) = match kept {
            Some(kept) => {
                *locked(&self.needs) = kept.needs;
                (kept.povs, kept.tests)
            }
            None => self.observe(&builds).await?,
        };
        self.begin(None);
        if let Some(tests) = &tests
            && let Ending::Exited(126 | 127) = tests.execution.ending
        {
            succeeded(&tests.execution, "the test command")?;
        }
        let baseline = Baseline {
            builds,
            povs,
            tests,
            isolation: self.isolation().clone(),
            seconds: started.elapsed().as_secs_f64(),
        };
        if !known {
            self.keep_baseline(&baseline).await;
        }
        Ok(Arc::new(baseline))
    }
}

/// Refuses a task of which a command failed.
pub(super) fn succeeded(execution: &Execution, what: &str) -> Result<()> {
    if execution.ending.success() {
        return Ok(());
    }
    Err(TargetError::InvalidTask {
        reason: format!("{what} failed: {}", execution.ending),
        log: execution.text(),
    })
}
