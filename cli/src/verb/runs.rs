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
    let (values, lines): (Vec<Value>, Vec<String>) =
        runs.iter().map(listed).collect::<anyhow::Result<_>>()?;
    let text = arguments.format.render(&values, || Ok(lines.concat()))?;
    if text.is_empty() {
        tell("no run matches")?;
    }
    write_out(text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a run for programs, and its line for people.
fn listed(run: &RunRow) -> anyhow::Result<(Value, String)> {
    let report = run.report.as_deref().map(serde_json::from_str::<Report>);
    let unreadable = || format!("the report of run {} cannot be read", run.id);
    let report = report.transpose().with_context(unreadable)?;
    let (report, ending) = (report.as_ref(), run.ending.as_deref());
    let state = ending.or(run.queued_as.as_deref()).unwrap_or("unfinished");
    let attempts = report.map(|report| report.attempts.len());
    let value = json!({
        "run": run.id,
        "task": run.task,
        "created": run.created,
        "last_event": run.last_event,
        "state": state,
        "ending": ending,
        "attempts": attempts,
        "usd": report.map(|report| report.cost.usd),
        "seconds": report.map(|report| report.seconds.total),
    });
    let attempts = attempts.map_or_else(|| "-".to_owned(), |count| count.to_string());
    let cost = report.map(money).unwrap_or_default();
    let (created, id) = (&run.created, visible_line(&run.id));
    let line = format!("{created}  {state:<16} {attempts:>2} att. {cost:>13}  {id}\n");
    Ok((value, line))
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
