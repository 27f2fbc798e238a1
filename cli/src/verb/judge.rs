//! `patchwright judge`: climb the ladder with a patch that somebody else wrote.

use super::model_arguments::ModelArguments;
use super::session::{self, NewRun, OutputArguments};
use crate::common::Common;
use crate::display;
use clap::Args;
use patchwright_agent::task;
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
    let new = NewRun::new(answers, Some(patch));
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
