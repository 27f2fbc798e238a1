//! Builds of the tree, pristine or changed. The last few are kept for the following rungs;
//! `build_cache` keeps them beyond the run.

use super::{Job, LocalTarget};
use crate::runner::{Build, BuildKind};
use crate::workspace::Workspace;
use crate::{Ending, Execution, TargetError};
use patchwright_source::Changes;
use std::sync::{Arc, PoisonError};

/// Builds of attempts that are kept for the following rungs.
const KEPT_BUILDS: usize = 8;

/// The digest of the changes, the name of the build, and its kind.
pub(super) type BuildKey = (String, String, BuildKind);

impl LocalTarget {
    /// Returns a copy of the built tree, made in advance if possible.
    pub(super) async fn copy_of_pristine(&self, name: &str) -> Result<Workspace, TargetError> {
        let pristine = self.pristine(name).await?;
        let copy = match self.spares.take(name).await {
            Some(copy) => copy,
            None => self.copy(pristine.place()?).await?,
        };
        self.make_spare(name).await?;
        Ok(copy)
    }

    /// Starts to make the copy for the next attempt.
    pub(super) async fn make_spare(&self, name: &str) -> Result<(), TargetError> {
        let pristine = self.pristine(name).await?;
        self.spares
            .prepare(name, pristine.place()?, self.scratch.fresh("spare"));
        Ok(())
    }

    pub(super) fn at_hand(&self, key: &BuildKey) -> Option<Build> {
        let built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        built
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, build)| build.clone())
    }

    pub(super) fn keep(&self, key: BuildKey, build: &Build) {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        built.retain(|(known, _)| *known != key);
        built.push((key, build.clone()));
        if built.len() > KEPT_BUILDS {
            built.remove(0);
        }
    }

    pub(super) async fn build_changed(
        &self,
        changes: &Changes,
        name: &str,
        how: BuildKind,
    ) -> Result<Build, TargetError> {
        let key = (changes.digest(), name.to_owned(), how);
        if let Some(build) = self.at_hand(&key) {
            return Ok(build);
        }
        if let Some(build) = self.kept_build(changes, &key).await? {
            self.keep(key, &build);
            return Ok(build);
        }
        let workspace = match how {
            BuildKind::Incremental => self.copy_of_pristine(name).await?,
            BuildKind::Clean => self.copy(&self.prepared().await?).await?,
        };
        let workspace = Arc::new(workspace);
        workspace.apply(changes)?;
        let build = self.run_build(workspace, name, &key.0).await?;
        self.keep_build(&key, &build).await?;
        self.keep(key, &build);
        Ok(build)
    }

    pub(super) async fn run_build(
        &self,
        workspace: Arc<Workspace>,
        name: &str,
        changes: &str,
    ) -> Result<Build, TargetError> {
        let job = Job {
            wall: self.task.limits.build,
            ..Job::new(&self.task.commands.build, &workspace, name)
        };
        let execution = self.command(job).await?;
        if killed_from_outside(&execution) {
            let what = "the system killed a program of the build, for lack of memory most likely";
            return Err(TargetError::machinery(what, "build"));
        }
        Ok(Build {
            name: name.to_owned(),
            changes: changes.to_owned(),
            execution,
            workspace: Some(workspace),
        })
    }
}

/// Tells whether something other than our limits sent `SIGKILL`.
fn killed_from_outside(execution: &Execution) -> bool {
    match execution.ending {
        Ending::Signal(9) => true,
        Ending::Exited(status) if status != 0 => execution
            .text()
            .contains("Killed signal terminated program"),
        _ => false,
    }
}
