//! `patchwright judge`: climb the ladder with a patch that somebody else wrote.

use super::model_arguments::ModelArguments;
use super::session::{self, NewRun, OutputArguments};
use crate::common::Common;
use crate::display;
use clap::Args;
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::repair::Run;
use patchwright_agent::task::{self, Task};
use patchwright_config::Loaded;
use patchwright_patcher::Patch;
use patchwright_run::Answers;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `judge`.
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
    let task = match task::read(&arguments.task) {
        Ok(task) => task,
        Err(error) => {
            let name = arguments.task.display().to_string();
            let ending = Ending::new(EndingKind::InvalidTask, error.to_string());
            return session::refuse(&name, ending, arguments.output.format);
        }
    };
    let patch = match read_patch(&arguments.patch) {
        Ok(patch) => patch,
        Err(detail) => {
            let ending = Ending::new(EndingKind::InvalidTask, detail);
            return session::refuse(&task.id, ending, arguments.output.format);
        }
    };
    let answers = if arguments.asked.names_somebody() {
        match patchwright_run::answers(&task, arguments.asked.replay.as_ref(), &loaded) {
            Ok(answers) => answers,
            Err(detail) => {
                let ending = Ending::new(EndingKind::InvalidTask, detail);
                return session::refuse(&task.id, ending, arguments.output.format);
            }
        }
    } else {
        Answers::Nobody
    };
    let asked = (answers, &arguments.asked);
    Box::pin(climb((task, loaded), patch, asked, &arguments.output)).await
}

/// Climbs the ladder with a patch; whoever answers writes inputs against it.
///
/// # Errors
/// The store fails.
pub(super) async fn climb(
    (task, loaded): (Task, Loaded),
    patch: Patch,
    (answers, asked): (Answers, &ModelArguments),
    output: &OutputArguments,
) -> anyhow::Result<ExitCode> {
    let display = display::of_settings(&loaded.settings);
    session::announce(&display, &task, &answers);
    let nobody = answers == Answers::Nobody;
    let new = NewRun::new(answers, Some(patch.clone()));
    let mut session = session::begin(task, loaded, new, output).await?;
    session.models = asked.recorded(session.models)?;
    session::carry_out(&session, output, display, |plan| {
        Ok(if nobody {
            Run::judging(plan, patch)
        } else {
            Run::challenging(plan, patch)
        })
    })
    .await
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
