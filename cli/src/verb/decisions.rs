//! `patchwright decisions`: the decisions of people about candidates, as labels that
//! P(right) can be fitted on.

use super::session::find_run;
use crate::common::{Common, write_out};
use clap::{Args, ValueEnum};
use patchwright_store::reviews::csv;
use std::process::ExitCode;

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
pub(crate) async fn run(
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
