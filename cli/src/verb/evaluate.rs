//! `patchwright evaluate`: climb the ladder with a candidate that a dry run
//! proposed.

use super::export::{candidate, report};
use super::session::{self, OutputArguments, find_run};
use crate::common::Common;
use anyhow::Context;
use clap::Args;
use patchwright_agent::task::{Mode, Task};
use patchwright_patcher::Patch;
use std::process::ExitCode;

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
    let (task, _) = store.run(&id).await?;
    let task: Task = serde_json::from_str(&task).context("the task of the run cannot be read")?;
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
