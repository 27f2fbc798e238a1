//! The PoV on a branch whose interface is another one: where the task's own commands do not serve,
//! a program of the branch that the same bytes crash in the same way.
//!
//! The input and the harness stay as they are: neither is written anew for the branch.

use super::Backport;
use crate::common::{WrongInput, write_file};
use crate::revisions::{Crashing, tree_of};
use crate::verb::init::{self, InitArguments};
use crate::verb::task_flags::{CrashedTree, ProjectFlags};
use patchwright_agent::record::result::TASK_FILE;
use patchwright_agent::task::{self, Task};
use patchwright_config::private_folder;
use patchwright_crash::read_leading;

impl Backport<'_> {
    /// Finds by trying, as `init` does, how the PoVs crash a branch as they crash the tree before the
    /// fix. Commands of this machine serve no task with an image. The task file stays in the cache,
    /// for whoever repeats the run.
    ///
    /// # Errors
    /// Somebody stopped the search, or the machinery fails.
    pub(super) async fn found_there(
        &self,
        commit: &str,
        task: &Task,
    ) -> anyhow::Result<Option<Task>> {
        let settings = &self.loaded.settings;
        let parent = self.task_at("parent", &self.fix.parent).await?;
        let crashing = self.revisions.crashing(&parent).await?.unwrap_or_default();
        let said = crashing.first().map(|(_, said)| said.as_str());
        let Some((said, known)) = said.and_then(|said| Some((said, read_leading(said)?))) else {
            return Ok(None);
        };
        if task.image.is_some() {
            return Ok(None);
        }
        let folder = settings.cache.folder.join("sources");
        let folder = folder.join(format!("commands-{commit}"));
        private_folder(&folder)?;
        let (file, report) = (folder.join(TASK_FILE), folder.join("crash.txt"));
        write_file(&report, said)?;
        let search = InitArguments {
            crashed: CrashedTree {
                tree: tree_of(task, settings).await.unwrap_or_default(),
                pov: crashing.iter().map(|(pov, _)| pov.file.clone()).collect(),
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
            Err(error) if error.is::<WrongInput>() => return Ok(None),
            Ok(draft) if !draft.is_complete() => return Ok(None),
            draft => draft.and_then(|_| Ok(task::read(&file)?))?,
        };
        let found = Task {
            commands: found.commands,
            builds: found.builds,
            povs: found.povs,
            harmless: found.harmless,
            folder: found.folder,
            ..task.clone()
        };
        // What crashes in silence, or in another way, may be another defect.
        let is_known = |(_, said): &Crashing| {
            let seen = read_leading(said);
            seen.is_some_and(|seen| seen.kind == known.kind)
        };
        let seen = self.revisions.crashing(&found).await?.unwrap_or_default();
        Ok(seen.iter().any(is_known).then_some(found))
    }
}
