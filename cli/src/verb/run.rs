//! `patchwright run`: repair one crash.

use super::model_arguments::ModelArguments;
use super::session::{self, OutputArguments};
use super::task_flags::TaskFlags;
use crate::common::Common;
use crate::display;
use clap::Args;
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::repair::Run;
use patchwright_agent::task::{self, Task};
use patchwright_agent::wire;
use patchwright_daemon::telemetry;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// A folder with a task.toml, or a task file
    pub task: Option<PathBuf>,
    /// Propose candidates; execute nothing of the project
    #[arg(long)]
    pub dry_run: bool,
    /// The model that answers
    #[command(flatten)]
    pub asked: ModelArguments,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArguments,
    /// A task put together from flags
    #[command(flatten)]
    pub parts: TaskFlags,
}

/// Runs a task to its end.
///
/// # Errors
/// Failures that are no ending: the store, the output folder.
pub(crate) async fn run(common: &Common, arguments: RunArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(arguments.asked.settings())?;
    let _telemetry = telemetry::start_for_run(&loaded.settings.telemetry)?;
    let name = arguments
        .task
        .as_ref()
        .map(|path| path.display().to_string())
        .unwrap_or_default();
    let refuse = |detail: String| {
        session::refuse(
            &name,
            Ending::new(EndingKind::InvalidTask, detail),
            arguments.output.format,
        )
    };
    let task = match read_task(&arguments) {
        Ok(task) => task,
        Err(error) => return refuse(error.to_string()),
    };
    let answers = match wire::answers(&task, arguments.asked.replay.as_ref(), &loaded) {
        Ok(answers) => answers,
        Err(detail) => return refuse(detail),
    };
    let display = display::of_settings(&loaded.settings);
    session::announce(&display, &task, &answers);
    let mut session = session::begin(task, loaded, (answers, None), &arguments.output).await?;
    session.models = arguments.asked.recorded(session.models)?;
    session::carry_out(&session, &arguments.output, display, |plan| {
        Ok(Run::new(plan))
    })
    .await
}

fn read_task(arguments: &RunArguments) -> anyhow::Result<Task> {
    Ok(match (&arguments.task, arguments.parts.given()) {
        (Some(path), false) if arguments.dry_run => task::read_to_propose(path)?,
        (Some(path), false) => task::read(path)?,
        (None, true) => arguments.parts.task(arguments.dry_run)?,
        (Some(_), true) => {
            anyhow::bail!("give either a task file or --repo and its flags, not both")
        }
        (None, false) => anyhow::bail!(
            "name a task folder, or put one together with --repo, --crash, --build, --pov and --test"
        ),
    })
}
