//! The PoV on a branch whose interface is another one: where the task's own commands do not serve,
//! a program of the branch that the same bytes crash in the same way.
//!
//! The input and the harness stay as they are: neither is written anew for the branch.

use super::Backport;
use crate::common::{Stopped, write_file};
use crate::revisions::tree_of;
use crate::verb::init::{self, InitArguments};
use crate::verb::task_flags::{CrashedTree, ProjectFlags};
use patchwright_agent::record::result::TASK_FILE;
use patchwright_agent::task::{self, Task};
use patchwright_config::private_folder;

impl Backport<'_> {
    /// Finds by trying, as `init` does, how a PoV crashes a branch as it crashes the tree before the
    /// fix. The task file stays in the cache, for whoever repeats the run.
    pub(super) async fn found_there(
        &self,
        commit: &str,
        task: &Task,
    ) -> anyhow::Result<Option<Task>> {
        let settings = &self.loaded.settings;
        let folder = settings.cache.folder.join("sources");
        let folder = folder.join(format!("commands-{commit}"));
        let file = folder.join(TASK_FILE);
        let parent = self.task_at("parent", &self.fix.parent).await?;
        let crashing = self.revisions.crashing(&parent).await?.unwrap_or_default();
        let Some((pov, said)) = crashing.into_iter().next() else {
            return Ok(None);
        };
        private_folder(&folder)?;
        let report = folder.join("crash.txt");
        write_file(&report, said)?;
        let search = InitArguments {
            crashed: CrashedTree {
                tree: tree_of(task, settings).await.unwrap_or_default(),
                pov: vec![pov.file],
                project: ProjectFlags {
                    crash: Some(report),
                    ..ProjectFlags::default()
                },
                ..CrashedTree::default()
            },
            out: file.clone(),
            force: true,
            yes: true,
            ..InitArguments::default()
        };
        let found = match Box::pin(init::write(settings, search)).await {
            Err(error) if error.is::<Stopped>() => return Err(error),
            Err(_) => return Ok(None),
            Ok(draft) if !draft.is_complete() => return Ok(None),
            Ok(_) => task::read(&file)?,
        };
        Ok(Some(Task {
            id: task.id.clone(),
            title: task.title.clone(),
            ..found
        }))
    }
}
