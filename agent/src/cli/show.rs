//! `patchwright show`: the report of a run, or how far it has come.

use super::session::{print, run_id};
use super::{Common, Format};
use crate::report::Report;
use crate::store::Store;
use anyhow::Context;
use clap::Args;
use std::io::Write;
use std::process::ExitCode;

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The run's id, or the folder that --out made
    pub run: String,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print the journal instead: every event, one a line
    #[arg(long)]
    pub journal: bool,
}

/// Shows a run.
///
/// # Errors
/// There is no such run, or the store fails.
pub async fn run(common: &Common, arguments: ShowArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(Vec::new())?;
    let id = run_id(&arguments.run)?;
    let store = Store::of(&loaded.settings).await?;
    if arguments.journal {
        store.run(&id).await?;
        return journal(&store, &id, arguments.format).await;
    }
    show(&store, &id, arguments.format).await
}

/// Prints the report of a run, or its journal when it has not ended.
pub(super) async fn show(store: &Store, id: &str, format: Format) -> anyhow::Result<ExitCode> {
    let Some(report) = store.report(id).await? else {
        return journal(store, id, format).await;
    };
    let report: Report =
        serde_json::from_str(&report).context("the report of the run cannot be read")?;
    print(&report, format)?;
    Ok(ExitCode::SUCCESS)
}

async fn journal(store: &Store, id: &str, format: Format) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    for event in store.events(id).await? {
        match format {
            Format::Json => writeln!(out, "{}", serde_json::to_string(&event)?)?,
            Format::Text => {
                let kind = format!("{:?}", event.kind).to_lowercase();
                writeln!(
                    out,
                    "{} lane {} {kind:<7} {:<9} {}",
                    event.time, event.lane, event.name, event.summary
                )?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
