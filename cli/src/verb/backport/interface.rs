//! The PoV on a branch whose interface is another one: where the task's own commands do not serve,
//! a program of the branch that the same bytes crash in the same way.
//!
//! The input and the harness stay as they are: neither is written anew for the branch.

use super::Backport;
use crate::common::{WrongInput, write_file};
use crate::revisions::{Crashing, tree_of};
use crate::verb::init;
use crate::verb::task_flags::{CrashedTree, ProjectFlags};
use patchwright_agent::task::Task;
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
        let said = self.crashing.first().filter(|_| task.image.is_none());
        let Some((said, known)) = said.and_then(|(_, said)| Some((said, read_leading(said)?)))
        else {
            return Ok(None);
        };
        let settings = &self.loaded.settings;
        let cache = &settings.cache.folder;
        let folder = cache.join(format!("sources/commands-{commit}"));
        private_folder(&folder)?;
        let report = folder.join("crash.txt");
        write_file(&report, said)?;
        let povs = self.crashing.iter();
        let crashed = CrashedTree {
            tree: tree_of(task, settings).await.unwrap_or_default(),
            pov: povs.map(|(pov, _)| pov.file.clone()).collect(),
            project: ProjectFlags {
                crash: Some(report),
                ..ProjectFlags::default()
            },
            ..CrashedTree::default()
        };
        let found = match Box::pin(init::task_of(settings, crashed, Vec::new(), &folder)).await {
            Err(error) if error.is::<WrongInput>() => return Ok(None),
            found => found?,
        };
        let Some(found) = found else { return Ok(None) };
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
        let seen = self.tried("its own program", &found).await?;
        Ok(seen
            .is_ok_and(|seen| seen.iter().any(is_known))
            .then_some(found))
    }
}
