//! `patchwright run`: repair one crash.

mod flags;

pub(crate) use flags::Sanitizer;

use super::session::{self, OutputArguments};
use crate::common::{Common, flag};
use crate::display;
use clap::Args;
use patchwright_agent::record::{Ending, EndingKind};
use patchwright_agent::repair::Run;
use patchwright_agent::task::{self, Task};
use patchwright_agent::wire;
use patchwright_config::Flag;
use patchwright_daemon::telemetry;
use patchwright_model::recorded::Recording;
use patchwright_model::{ModelError, Models};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// A folder with a task.toml, or a task file
    pub task: Option<PathBuf>,
    /// Propose candidates; execute nothing of the project
    #[arg(long)]
    pub dry_run: bool,
    /// Ask this model, by the name its endpoint knows
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Where the endpoint is, as in http://127.0.0.1:8000/v1
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The endpoint's interface: chat or responses
    #[arg(long, value_name = "API")]
    pub api: Option<String>,
    /// Take the model's answers from this transcript
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub replay: Option<PathBuf>,
    /// Write what the model is asked and answers to this transcript
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArguments,
    /// A task put together from flags
    #[command(flatten)]
    pub parts: flags::TaskFlags,
}

/// Runs a task to its end.
///
/// # Errors
/// Failures that are no ending: the store, the output folder.
pub(crate) async fn run(common: &Common, arguments: RunArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(settings_flags(&arguments))?;
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
    let answers = match wire::answers(&task, arguments.replay.as_ref(), &loaded) {
        Ok(answers) => answers,
        Err(detail) => return refuse(detail),
    };
    let display = display::of_settings(&loaded.settings);
    session::announce(&display, &task, &answers);
    let mut session = session::begin(task, loaded, (answers, None), &arguments.output).await?;
    if let Some(path) = &arguments.record {
        session.models = recorded(session.models, path)?;
    }
    session::carry_out(&session, &arguments.output, display, |plan| {
        Ok(Run::new(plan))
    })
    .await
}

/// Models whose every exchange goes to one file.
fn recorded(models: Models, path: &Path) -> Result<Models, ModelError> {
    let first = models.lanes.first().cloned();
    let first = first.ok_or_else(|| ModelError::fatal("there is no model to record"))?;
    let recording = Recording::new(first, path)?;
    Ok(models.map(|model| Arc::new(recording.beside(model))))
}

fn settings_flags(arguments: &RunArguments) -> Vec<Flag> {
    let mut flags = Vec::new();
    let given = [
        ("--model", "model.name", &arguments.model),
        ("--base-url", "model.base_url", &arguments.base_url),
        ("--api", "model.api", &arguments.api),
    ];
    for (name, key, value) in given {
        if let Some(value) = value {
            flags.push(flag(name, key, value));
        }
    }
    flags
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
