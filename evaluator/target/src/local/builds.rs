//! Builds of the tree, pristine or changed. The last few are kept for the following rungs;
//! `build_cache` keeps them beyond the run.

use super::{Job, LocalTarget, locked};
use crate::runner::{Build, BuildKind};
use crate::workspace::Workspace;
use crate::{Result, TargetError};
use patchwright_sandbox::{Ending, Execution};
use patchwright_source::Changes;
use std::ffi::OsString;
use std::sync::Arc;

/// Runs the build `$1` with less weight than other commands, where the system does not weigh
/// sessions instead; with enough that it ends on a busy machine.
const IN_THE_BACKGROUND: &str = r#"renice -n 4 -p $$ >/dev/null 2>&1 || :
eval "$1""#;
/// Builds of attempts that are kept for the following rungs.
const KEPT_BUILDS: usize = 8;

/// The digest of the changes, the name of the build, and its kind.
pub(super) type BuildKey = (String, String, BuildKind);

impl LocalTarget {
    pub(super) fn at_hand(&self, key: &BuildKey) -> Option<Build> {
        let built = locked(&self.built);
        let found = built.iter().find(|(known, _)| known == key);
        found.map(|(_, build)| build.clone())
    }

    pub(super) fn keep(&self, key: BuildKey, build: &Build) {
        let mut built = locked(&self.built);
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
    ) -> Result<Build> {
        let key = (changes.digest(), name.to_owned(), how);
        if let Some(build) = self.known(changes, &key).await? {
            return Ok(build);
        }
        let workspace = Arc::new(self.changed(changes, &key).await?);
        let build = self.run_build(workspace, name, &key.0).await?;
        self.keep_build(&key, &build).await?;
        self.keep(key, &build);
        Ok(build)
    }

    /// Makes a clean build beside other commands. One that fails is not kept: it may have
    /// waited too long for the processor. Where paths cannot be mapped, commands take turns,
    /// and others would wait for it.
    pub(super) async fn clean_build_ahead(&self, changes: &Changes, name: &str) -> Result<()> {
        let key = (changes.digest(), name.to_owned(), BuildKind::Clean);
        if !self.maps_paths() || self.known(changes, &key).await?.is_some() {
            return Ok(());
        }
        let workspace = Arc::new(self.changed(changes, &key).await?);
        let arguments = [OsString::from(&self.task.commands.build)];
        let job = Job {
            wall: self.task.limits.build,
            arguments: &arguments,
            ..Job::writing(IN_THE_BACKGROUND, &workspace, name)
        };
        let execution = self.command(job).await?;
        let build = Build::in_workspace((name, &key.0), execution, workspace);
        if build.succeeded() {
            self.keep_build(&key, &build).await?;
            self.keep(key, &build);
        }
        Ok(())
    }

    /// Returns a copy of the tree, built or prepared, with the changes of a build.
    pub(super) async fn changed(
        &self,
        changes: &Changes,
        (_, name, how): &BuildKey,
    ) -> Result<Workspace> {
        let workspace = match how {
            BuildKind::Incremental => self.copy(self.pristine(name).await?.place()?).await?,
            BuildKind::Clean => self.copy(&self.prepared().await?).await?,
        };
        workspace.apply(changes)?;
        Ok(workspace)
    }

    /// Returns a build of this run or of an earlier one.
    async fn known(&self, changes: &Changes, key: &BuildKey) -> Result<Option<Build>> {
        if let Some(build) = self.at_hand(key) {
            return Ok(Some(build));
        }
        let kept = self.kept_build(changes, key).await?;
        if let Some(build) = &kept {
            self.keep(key.clone(), build);
        }
        Ok(kept)
    }

    pub(super) async fn run_build(
        &self,
        workspace: Arc<Workspace>,
        name: &str,
        changes: &str,
    ) -> Result<Build> {
        let job = Job {
            wall: self.task.limits.build,
            ..Job::writing(&self.task.commands.build, &workspace, name)
        };
        let execution = self.command(job).await?;
        if killed_from_outside(&execution) {
            let what = "the system killed a program of the build, for lack of memory most likely";
            return Err(TargetError::machinery(what, "build"));
        }
        Ok(Build::in_workspace((name, changes), execution, workspace))
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
