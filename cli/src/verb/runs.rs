//! `patchwright runs` and `decisions`: the runs of this machine's store, the newest first, and the decisions
//! of people about candidates, as labels that P(right) can be fitted on.

use super::session::find_run;
use crate::common::{Common, Format, tell, write_out};
use anyhow::Context;
use clap::{Args, ValueEnum};
use patchwright_agent::report::Report;
use patchwright_agent::report_text::money;
use patchwright_source::visible_line;
use patchwright_store::reviews::csv;
use patchwright_store::runs::{RunFilter, RunRow};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct RunsArguments {
    /// Only runs whose task's id holds this text
    #[arg(long, value_name = "TEXT")]
    pub task: Option<String>,
    /// Only runs that ended so, as in verified
    #[arg(long)]
    pub ending: Option<String>,
    /// Only runs that have no ending: they run, wait, or were cut off
    #[arg(long, conflicts_with = "ending")]
    pub unfinished: bool,
    /// The largest number of runs; 0 for all
    #[arg(long, default_value_t = 20)]
    pub limit: u32,
    /// Format in which they are printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Lists runs.
///
/// # Errors
/// The store fails.
pub(crate) async fn list(common: &Common, arguments: &RunsArguments) -> anyhow::Result<ExitCode> {
    let (_, store) = common.open().await?;
    let filter = RunFilter {
        task: arguments.task.clone(),
        ending: arguments.ending.clone(),
        unfinished: arguments.unfinished,
        limit: arguments.limit,
    };
    let runs = store.runs(&filter).await?;
    let mut out = std::io::stdout().lock();
    if arguments.format == Format::Json {
        let runs: Vec<Value> = runs.iter().map(in_json).collect::<anyhow::Result<_>>()?;
        writeln!(out, "{}", serde_json::to_string_pretty(&runs)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if runs.is_empty() {
        tell("no run matches")?;
    }
    for run in &runs {
        writeln!(out, "{}", in_words(run)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn report(run: &RunRow) -> anyhow::Result<Option<Report>> {
    let report = run.report.as_deref().map(serde_json::from_str);
    let unreadable = || format!("the report of run {} cannot be read", run.id);
    report.transpose().with_context(unreadable)
}

/// Returns the ending, or the state of a run that has none.
fn state(run: &RunRow) -> &str {
    let ending = run.ending.as_deref().or(run.queued_as.as_deref());
    ending.unwrap_or("unfinished")
}

fn in_words(run: &RunRow) -> anyhow::Result<String> {
    let report = report(run)?;
    let cost = report.as_ref().map(money).unwrap_or_default();
    let attempts = report.map(|report| report.attempts.len().to_string());
    Ok(format!(
        "{}  {:<16} {:>2} att. {cost:>13}  {}",
        run.created,
        state(run),
        attempts.as_deref().unwrap_or("-"),
        visible_line(&run.id)
    ))
}

fn in_json(run: &RunRow) -> anyhow::Result<Value> {
    let report = report(run)?;
    Ok(json!({
        "run": run.id,
        "task": run.task,
        "created": run.created,
        "last_event": run.last_event,
        "state": state(run),
        "ending": run.ending,
        "attempts": report.as_ref().map(|report| report.attempts.len()),
        "usd": report.as_ref().map(|report| report.cost.usd),
        "seconds": report.as_ref().map(|report| report.seconds.total),
    }))
}

#[derive(Debug, Args)]
pub(crate) struct DecisionsArguments {
    /// Only those about this run: its id, its task's, or the folder that --out made
    pub run: Option<String>,
    /// Format in which they are printed
    #[arg(long, value_enum, default_value_t)]
    pub format: TableFormat,
}

/// Format of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// One line a decision, for spreadsheets.
    #[default]
    Csv,
    /// A list of objects.
    Json,
}

/// Prints decisions.
///
/// # Errors
/// There is no such run, or the store fails.
pub(crate) async fn decisions(
    common: &Common,
    arguments: &DecisionsArguments,
) -> anyhow::Result<ExitCode> {
    let (_, store) = common.open().await?;
    let id = match &arguments.run {
        Some(named) => Some(find_run(&store, Some(named)).await?),
        None => None,
    };
    let decisions = store.decisions(id.as_deref()).await?;
    let text = match arguments.format {
        TableFormat::Csv => csv(&decisions)?,
        TableFormat::Json => serde_json::to_string_pretty(&decisions)? + "\n",
    };
    write_out(&text)?;
    Ok(ExitCode::SUCCESS)
}
