//! `patchwright run`: repair one crash.

use super::model_arguments::ModelArguments;
use super::session::{self, Beginning, OutputArguments};
use super::task_flags::TaskFlags;
use crate::common::Common;
use crate::display::{self, Display};
use crate::upstream::{self, HistoryQuestion};
use clap::Args;
use patchwright_agent::record::{CrashHistory, Ending, EndingKind};
use patchwright_agent::report::Report;
use patchwright_agent::task::{self, Mode, Task};
use patchwright_config::{Flag, Loaded};
use patchwright_run::Answers;
use std::path::PathBuf;
use std::process::ExitCode;

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
    /// The part of the history that is looked up
    #[command(flatten)]
    pub question: HistoryQuestion,
    /// End as a duplicate where only known crashes are seen: a file with their signatures, or the word runs
    #[arg(long, value_name = "FILE|runs")]
    pub known: Option<String>,
    /// A task put together from flags
    #[command(flatten)]
    pub parts: TaskFlags,
}

/// The setting that `--known` stands for; a run that goes on later finds the file again.
pub(super) fn known_flag(known: Option<&str>) -> anyhow::Result<Option<Flag>> {
    let value = match known {
        None => return Ok(None),
        Some("runs") => "runs".to_owned(),
        Some(file) => std::path::absolute(file)?.to_string_lossy().into_owned(),
    };
    Ok(Some(Flag::new("--known", "store.known", &value)))
}

/// Runs a task to its end.
///
/// # Errors
/// Failures that are no ending: the store, the output folder.
pub(crate) async fn run(common: &Common, arguments: RunArguments) -> anyhow::Result<ExitCode> {
    let mut flags = arguments.asked.settings();
    flags.extend(known_flag(arguments.known.as_deref())?);
    let loaded = common.load(flags)?;
    #[cfg(feature = "daemon")]
    let _telemetry = patchwright_daemon::telemetry::start_for_run(&loaded.settings.telemetry)?;
    let output = &arguments.output;
    let name = arguments.task.as_ref();
    let name = name.map_or_else(String::new, |path| path.display().to_string());
    let task = read_task(&arguments).map_err(|error| output.invalid(&name, &error))?;
    let answers = patchwright_run::answers(&task, arguments.asked.replay.as_ref(), &loaded)
        .map_err(|detail| output.invalid(&name, &detail))?;
    let asked = (&arguments.asked, output);
    let report = repair((task, loaded), (answers, &arguments.question), asked);
    Ok(session::status(&Box::pin(report).await?))
}

/// Repairs a crash, or judges the commit that fixed it already, and prints the report.
pub(super) async fn repair(
    (task, mut loaded): (Task, Loaded),
    (mut answers, question): (Answers, &HistoryQuestion),
    asked: (&ModelArguments, &OutputArguments),
) -> anyhow::Result<Report> {
    let display = display::of_settings(&loaded.settings);
    let (_, output) = asked;
    let history = look_up(&task, &loaded, &display, question).await;
    let history = history.map_err(|ending| output.refused(&task.id, ending))?;
    let fix = history.fixed_by.as_ref().map(upstream::patch_of);
    if fix.is_some() {
        display.line("history: the crash is fixed already; judging that commit as a patch");
        // Its project has reviewed it.
        loaded.settings.critic.calls = 0;
        answers = Answers::Nobody;
    }
    let new = Beginning {
        history,
        ..Beginning::new(answers, fix)
    };
    // On the heap: what begins a run is large.
    let report = Box::pin(session::begin_to_end(display, (task, loaded), new, asked)).await?;
    session::print(&report, output.format)?;
    Ok(report)
}

/// Looks the crash up in the history of its project, before anything is paid for.
async fn look_up(
    task: &Task,
    loaded: &Loaded,
    display: &Display,
    question: &HistoryQuestion,
) -> Result<CrashHistory, Ending> {
    if task.mode == Mode::DryRun {
        return Ok(CrashHistory::default());
    }
    let looking = upstream::look_up(task, &loaded.settings, display, question);
    let (kind, detail) = match session::unless_stopped(Box::pin(looking)).await {
        Some(Ok(history)) => return Ok(history),
        Some(Err(error)) => (EndingKind::InvalidTask, format!("--upstream: {error:#}")),
        None => {
            let detail = "stopped while the history was looked at";
            (EndingKind::Canceled, detail.to_owned())
        }
    };
    display.close();
    Err(Ending::new(kind, detail))
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
