//! `patchwright backport`: carry a fix to other branches, and prove it on each.
//!
//! A branch is affected when the PoV crashes it. The fix is carried by a merge of git, or else by
//! finding the place of each edit anew, and judged there as `patchwright judge` does. What neither
//! way carries a model writes, where one is named for it; else it is left to people, with the
//! commits that it builds on.

mod agreement;
mod branch;
mod conflict;
pub(in crate::verb) mod fix;
mod interface;
mod mail;

use super::export;
use super::model_arguments::ModelArguments;
use super::session::{self, OutputArguments};
use crate::common::{Common, WrongInput, plain_name};
use crate::display;
use crate::revisions::{Crashing, Place, Revisions, Seen};
use anyhow::Context;
use branch::Branch;
use clap::Args;
use fix::{Fix, commit};
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::task::{self, Task};
use patchwright_config::Loaded;
use patchwright_run::{Answers, answering};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct BackportArguments {
    /// The fix: a commit of the project with --task, or a run whose best candidate it is
    pub fix: String,
    /// The task with the PoV and the commands: a folder with a task.toml, or a task file
    #[arg(long, value_name = "TASK")]
    pub task: Option<PathBuf>,
    /// A branch, tag or commit that may need the fix
    #[arg(long, value_name = "REF", num_args = 1.., required = true)]
    pub onto: Vec<String>,
    /// The repository, where it is not the one that the task's tree is in
    #[arg(long, value_name = "REPOSITORY")]
    pub upstream: Option<String>,
    /// The model that carries the fix where neither a merge nor the location of edits does
    #[command(flatten)]
    pub asked: ModelArguments,
    /// Where the mails go, and the evidence in a folder for each branch
    #[command(flatten)]
    pub output: OutputArguments,
}

/// A fix that is being carried.
struct Backport<'a> {
    common: &'a Common,
    loaded: &'a Loaded,
    arguments: &'a BackportArguments,
    /// Somebody who carries what git and the location of edits do not.
    answers: Option<Answers>,
    revisions: Revisions<'a>,
    fix: Fix,
    /// The PoVs that crash the tree before the fix.
    crashing: Vec<Crashing>,
}

/// Carries a fix to branches and prints a table of what came of it.
///
/// # Errors
/// The task, the commit or a branch is not there, the PoV does not crash the tree before the
/// fix, or the machinery fails.
pub(crate) async fn run(common: &Common, arguments: BackportArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(arguments.asked.settings())?;
    let (task, candidate) = read(common, &arguments).await?;
    if task.povs.is_empty() {
        let reason = "has no PoV: nothing would show whether a tree is affected";
        return Err(WrongInput(format!("task {} {reason}", task.id)).into());
    }
    let place = place(&task, &loaded, arguments.upstream.as_deref()).await?;
    let revisions = Revisions::begin(&task, &loaded.settings, &place).await?;
    let fix = match candidate {
        None => Fix::of_commit(&revisions, &arguments.fix).await?,
        Some(diff) => {
            let base = place.base.as_deref();
            let base = base.context("the tree of the task is no commit of a repository")?;
            Fix::of_diff(&revisions, (base, diff), (None, Vec::new())).await?
        }
    };
    let asked = &arguments.asked;
    let answers = asked.names_somebody();
    let answers = answers.then(|| answering(None, asked.replay.as_ref(), &loaded));
    let answers = answers.transpose().map_err(WrongInput)?;
    let mut onto = Vec::new();
    for name in &arguments.onto {
        onto.push((name.as_str(), commit(&revisions, name).await?));
    }
    let mut backport = Backport {
        common,
        loaded: &loaded,
        arguments: &arguments,
        answers,
        revisions,
        fix,
        crashing: Vec::new(),
    };
    backport.crashing = backport.try_parent().await?;
    let mut branches = Vec::new();
    for (name, commit) in &onto {
        let branch = Box::pin(backport.branch((name, commit))).await?;
        let stopped = branch.was_stopped();
        branches.push(branch);
        if stopped {
            break;
        }
    }
    let fix = &backport.fix;
    let all = json!({ "schema": 1, "task": task.id, "fix": fix, "branches": branches });
    let format = arguments.output.format;
    format.print(&all, include_str!("backport/table.txt"))?;
    Ok(ExitCode::from(status(&branches)))
}

/// Returns the exit status: 0 where every branch is settled, else that of the first judgement
/// which is not as good, or 1.
fn status(branches: &[Branch]) -> u8 {
    if branches.iter().any(Branch::was_stopped) {
        return EndingKind::Canceled.exit_code();
    }
    let open = branches.iter().find(|branch| !branch.is_settled());
    open.map_or(0, |branch| {
        let ending = branch.ending.as_deref().and_then(EndingKind::read);
        ending.map_or(1, EndingKind::exit_code)
    })
}

/// Reads the task, and the candidate where the fix is one.
async fn read(
    common: &Common,
    arguments: &BackportArguments,
) -> anyhow::Result<(Task, Option<Vec<u8>>)> {
    if let Some(path) = &arguments.task {
        return Ok((task::read(path)?, None));
    }
    let (_, store) = common.open().await?;
    let found = session::find_run(&store, Some(&arguments.fix)).await;
    let id = found.context("a commit needs --task TASK, for the PoV and the commands")?;
    let task = session::task_of(&store, &id).await?;
    let report = export::report(&store, &id).await?;
    let best = export::candidate(&report, None)?;
    Ok((task, Some(best.diff_bytes())))
}

/// Returns the repository of a task.
pub(super) async fn place(
    task: &Task,
    loaded: &Loaded,
    upstream: Option<&str>,
) -> anyhow::Result<Place> {
    let place = Place::of(task, &loaded.settings, upstream).await?;
    let missing = || {
        WrongInput(format!(
            "the tree of task {} is in no git repository: name one with --upstream REPOSITORY",
            task.id
        ))
    };
    Ok(place.ok_or_else(missing)?)
}

impl Backport<'_> {
    /// Tries the tree before the fix: a PoV that does not crash it tells nothing of others.
    async fn try_parent(&self) -> anyhow::Result<Vec<Crashing>> {
        let parent = &self.fix.parent;
        let name = "the tree before the fix";
        let task = self.task_at("parent", parent).await?;
        let found = match self.tried(name, &task).await? {
            Ok(povs) if povs.is_empty() => "the PoV does not crash it".to_owned(),
            Ok(povs) => return Ok(povs),
            Err(reason) => reason,
        };
        let reason = format!(
            "{name} ({parent}) has to show the crash, or the silence of others means nothing: {found}"
        );
        Err(WrongInput(reason).into())
    }

    /// Builds the tree of a task, runs the PoVs and tells what was seen; returns those that crash it,
    /// or why nothing is known.
    async fn tried(
        &self,
        name: &str,
        task: &Task,
    ) -> anyhow::Result<Result<Vec<Crashing>, String>> {
        let display = display::of_settings(&self.loaded.settings);
        display.line(&format!("trying the PoV at {name}"));
        let seen = session::unless_stopped(self.revisions.crashing(task)).await;
        display.close();
        let stopped = || Ending::new(EndingKind::Canceled, "stopped while the PoV was tried");
        let seen = seen.ok_or_else(|| self.arguments.output.refused(&task.id, stopped()))??;
        display.line(&format!("  {}", Seen::of(&seen).in_words()));
        Ok(seen)
    }

    /// The task with the tree of a commit, which stays in the cache for whoever repeats the run.
    async fn task_at(&self, name: &str, commit: &str) -> anyhow::Result<Task> {
        let task = self.revisions.kept_at(commit).await?;
        let title = task.title.as_deref().unwrap_or(&task.id);
        let id = format!("{}-{}", task.id, file_name(name));
        Ok(Task {
            title: Some(format!("{title}, at {name}")),
            id: id.chars().take(128).collect(),
            ..task
        })
    }
}

/// The name of a branch as the name of a file and as the end of a task's id.
fn file_name(name: &str) -> String {
    let name = plain_name(name, "._", 64);
    name.trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn the_name_of_a_branch_stays_in_its_folder() {
        assert_eq!(file_name("origin/stable-1.0"), "origin-stable-1.0");
        assert_eq!(file_name("../../etc"), "-..-etc");
    }
}
