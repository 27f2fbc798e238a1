//! `patchwright judge` and `patchwright evaluate`: climb the ladder with a patch that somebody else
//! wrote, or with a candidate that a dry run proposed.

use super::export::{candidate, report};
use super::model_arguments::ModelArguments;
use super::session::{self, Beginning, OutputArguments, find_run, task_of};
use crate::common::Common;
use crate::display;
use clap::Args;
use patchwright_agent::task::{self, Mode, Task};
use patchwright_patcher::Patch;
use patchwright_run::Answers;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct JudgeArguments {
    /// A folder with a task.toml, or a task file
    pub task: PathBuf,
    /// The patch: a unified diff
    #[arg(long, value_name = "FILE")]
    pub patch: PathBuf,
    /// The model that challenges the patch with inputs; none unless it is named
    #[command(flatten)]
    pub asked: ModelArguments,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArguments {
    /// The run's id, its task's, the folder that --out made, or the word latest
    pub run: String,
    /// The candidate, by its number
    pub candidate: u32,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Judges a patch: the evidence, and the ending that it would get.
///
/// # Errors
/// The patch cannot be read, or the store fails.
pub(crate) async fn judge(common: &Common, arguments: JudgeArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(arguments.asked.settings())?;
    let output = &arguments.output;
    let name = arguments.task.display().to_string();
    let task = task::read(&arguments.task).map_err(|error| output.invalid(&name, &error))?;
    let patch = read_patch(&arguments.patch).map_err(|detail| output.invalid(&task.id, &detail))?;
    let answers = if arguments.asked.names_somebody() {
        patchwright_run::answers(&task, arguments.asked.replay.as_ref(), &loaded)
            .map_err(|detail| output.invalid(&task.id, &detail))?
    } else {
        Answers::Nobody
    };
    let display = display::of_settings(&loaded.settings);
    let new = Beginning::new(answers, Some(patch));
    let asked = (&arguments.asked, output);
    // On the heap: what begins a run is large.
    let report = Box::pin(session::begin_to_end(display, (task, loaded), new, asked)).await?;
    session::print(&report, output.format)
}

fn read_patch(file: &Path) -> Result<Patch, String> {
    let name = file.display();
    let bytes =
        std::fs::read(file).map_err(|error| format!("--patch: {name} cannot be read: {error}"))?;
    let patch = Patch::from_diff(&bytes);
    if patch.edits.is_empty() {
        return Err(format!(
            "--patch: {name} changes nothing: give a unified diff, as `git diff` prints it"
        ));
    }
    Ok(patch)
}

/// Evaluates a candidate in a run of its own.
///
/// # Errors
/// There is no such run or candidate, or the store fails.
pub(crate) async fn evaluate(
    common: &Common,
    arguments: EvaluateArguments,
) -> anyhow::Result<ExitCode> {
    let (loaded, store) = common.open().await?;
    let id = find_run(&store, Some(&arguments.run)).await?;
    let report = report(&store, &id).await?;
    let attempt = candidate(&report, Some(arguments.candidate))?;
    let task = task_of(&store, &id).await?;
    if task.commands.build.is_empty() {
        let detail =
            "commands.build: is needed to evaluate a candidate; the task of this run has none";
        return Err(arguments.output.invalid(&task.id, &detail));
    }
    let task = Task {
        mode: Mode::Repair,
        candidates: 1,
        ..task
    };
    let patch = Patch::from_diff(&attempt.diff_bytes());
    let report = session::judge((task, loaded), patch, &arguments.output).await?;
    session::print(&report, arguments.output.format)
}
