//! What `run`, `resume`, `replay` and `judge` share: from a run that is ready
//! to go on to the printed report and the exit status.

use super::{Format, flag};
use crate::display::Display;
use crate::drive::Drive;
use crate::model::Models;
use crate::output;
use crate::repair::{Ending, EndingKind, Plan, Run, RunLimits};
use crate::report::{self, Report};
use crate::settings::{Flag, Loaded};
use crate::store::{Journal, Store};
use crate::task::Task;
use crate::wire::{self, Answers};
use anyhow::Context;
use clap::Args;
use patchwright_evaluator::Target;
use patchwright_patcher::Patch;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Where the results go.
#[derive(Debug, Clone, Default, Args)]
pub struct OutputArguments {
    /// Write report.json, patch.diff, journal.jsonl and logs to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// What a run was started with, kept in the store so that it can go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Beginning {
    pub(super) limits: RunLimits,
    pub(super) answers: Answers,
    /// The patch of somebody else that is judged.
    pub(super) foreign: Option<Patch>,
    /// Whether a critic looks at patches.
    #[serde(default)]
    pub(super) critic: bool,
    /// The settings that the command line gave, but no secret.
    pub(super) flags: Vec<(String, String)>,
    /// The folder of `--out`, absolute.
    pub(super) out: Option<PathBuf>,
}

impl Beginning {
    /// The run that starts so.
    pub(super) fn run(&self, plan: Plan) -> Run {
        let plan = Plan {
            limits: self.limits.clone(),
            ..plan
        };
        match self.foreign.clone() {
            Some(patch) => Run::judging(plan, patch),
            None => Run::new(plan),
        }
    }

    /// The settings of the command line that started it.
    pub(super) fn flags(&self) -> Vec<Flag> {
        let flags = self.flags.iter();
        flags
            .map(|(key, value)| flag("the beginning of the run", key, value))
            .collect()
    }
}

/// A run that is ready to go on.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) task: Task,
    pub(super) loaded: Loaded,
    pub(super) answers: Answers,
    pub(super) models: Models,
    pub(super) journal: Journal,
    pub(super) output: OutputArguments,
}

impl Session {
    /// A new run of a task: written down and claimed.
    pub(super) async fn begin(
        task: Task,
        loaded: Loaded,
        (answers, foreign): (Answers, Option<Patch>),
        output: OutputArguments,
    ) -> anyhow::Result<Self> {
        let models = wire::models(&answers, &loaded.settings)?;
        let id = wire::run_id(&task.id);
        if let Some(out) = &output.out {
            output::prepare(out, &id)?;
        }
        let store = Store::of(&loaded.settings).await?;
        let beginning = serde_json::to_string(&Beginning {
            limits: wire::limits(&task, &loaded.settings),
            answers: answers.clone(),
            foreign,
            critic: loaded.settings.critic().is_some(),
            flags: given(&loaded),
            out: output.out.as_ref().map(std::path::absolute).transpose()?,
        })?;
        let written = serde_json::to_string(&task)?;
        store
            .create_run(&id, (&task.id, &written), &beginning)
            .await?;
        let journal = Journal::claim(&store, &id).await?;
        Ok(Self {
            task,
            loaded,
            answers,
            models,
            journal,
            output,
        })
    }

    /// Drives the run to its end, prints its report, and tells the exit status.
    /// `start` makes the run of its plan: a new one, or one that was resumed.
    pub(super) async fn carry_out(
        self,
        display: Display,
        start: impl FnOnce(Plan) -> anyhow::Result<Run>,
    ) -> anyhow::Result<ExitCode> {
        let (finished, report) = self.to_the_end(display, None, start).await?;
        print(&report, self.output.format)?;
        let code = finished.ending().map(|ending| ending.kind.exit_code());
        Ok(ExitCode::from(code.unwrap_or(super::PAUSED)))
    }

    /// Drives the run to its end and writes everything down but the report to
    /// standard output. Without a target, commands are run on this machine.
    pub(super) async fn to_the_end(
        &self,
        display: Display,
        target: Option<Arc<dyn Target>>,
        start: impl FnOnce(Plan) -> anyhow::Result<Run>,
    ) -> anyhow::Result<(Run, Report)> {
        let id = self.journal.run().to_owned();
        let store = self.journal.store().clone();
        display.line(&format!(
            "run {id} (should it be cut off: patchwright resume {id})"
        ));
        let finished = self.drive(display, target, start).await?;
        let report = Report::of(&finished, &id, &self.task.id, &self.answers.to_string());
        if finished.ending().is_some() {
            self.journal
                .finish(&report.ending, &serde_json::to_string(&report)?)
                .await?;
        }
        if let Some(out) = &self.output.out {
            output::write(out, &report, &store).await?;
        }
        Ok((finished, report))
    }

    async fn drive(
        &self,
        display: Display,
        target: Option<Arc<dyn Target>>,
        start: impl FnOnce(Plan) -> anyhow::Result<Run>,
    ) -> anyhow::Result<Run> {
        let settings = &self.loaded.settings;
        let mut plan = wire::plan(&self.task, settings);
        let stop = CancellationToken::new();
        let watcher = tokio::spawn(stop_on_signal(stop.clone()));
        let parts = tokio::select! {
            parts = wire::parts_on(&self.task, settings, self.models.clone(), display, target) => parts,
            () = stop.cancelled() => Err(Ending::new(EndingKind::Canceled, "stopped by request")),
        };
        let parts = match parts {
            Ok(parts) => parts,
            Err(ending) => return Ok(start(plan)?.stopped(ending)),
        };
        plan.crash = wire::given_crash(&self.task, &parts.tree);
        let run = start(plan)?;
        let finished = Drive::new(parts.clone(), self.journal.clone(), stop)
            .to_the_end(run)
            .await;
        watcher.abort();
        parts.display.close();
        Ok(finished?)
    }
}

/// The settings that flags gave. What is secret stays out of the store, and the
/// store itself is found before this is read.
fn given(loaded: &Loaded) -> Vec<(String, String)> {
    let flags = loaded.entries.iter().filter(|entry| {
        entry.origin.starts_with("--") && !entry.secret && !entry.key.starts_with("store.")
    });
    flags
        .filter_map(|entry| {
            let value = match &entry.value {
                serde_json::Value::String(text) => text.clone(),
                value @ (serde_json::Value::Bool(_) | serde_json::Value::Number(_)) => {
                    value.to_string()
                }
                _ => return None,
            };
            Some((entry.key.clone(), value))
        })
        .collect()
}

pub(super) async fn stop_on_signal(stop: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
    stop.cancel();
}

/// The first lines: what is run, and whose answers it uses.
pub(super) fn announce(display: &Display, task: &Task, answers: &Answers) {
    let title = task
        .title
        .as_deref()
        .map(|title| format!(": {title}"))
        .unwrap_or_default();
    display.line(&format!("task {}{title}", task.id));
    match answers {
        Answers::Recorded(path) => display.line(&format!(
            "the model's answers are RECORDED, read from {}; no model is asked",
            path.display()
        )),
        Answers::Live(name) => display.line(&format!("asking the model {name}")),
        Answers::Journal(run) => display.line(&format!(
            "the model's answers are RECORDED, taken from the journal of {run}; no model is asked"
        )),
        Answers::Nobody => {}
    }
}

/// An ending before there was a run.
pub(super) fn refuse(name: &str, ending: Ending, format: Format) -> anyhow::Result<ExitCode> {
    let code = ending.kind.exit_code();
    let run = Run::new(wire::empty_plan()).stopped(ending);
    print(&Report::of(&run, "", name, "none"), format)?;
    Ok(ExitCode::from(code))
}

/// Prints a report to standard output.
pub(super) fn print(report: &Report, format: Format) -> anyhow::Result<()> {
    let text = match format {
        Format::Text => report::render(report),
        Format::Json => serde_json::to_string_pretty(report)? + "\n",
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .context("standard output is closed")
}

/// The id of a run that was named by its id or by the folder that `--out` made.
pub(super) fn run_id(named: &str) -> anyhow::Result<String> {
    let file = Path::new(named).join(output::RUN);
    if !file.is_file() {
        return Ok(named.to_owned());
    }
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    Ok(text.trim().to_owned())
}
