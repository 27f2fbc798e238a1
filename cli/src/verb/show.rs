//! `patchwright show`: the report of a run, or how far it has come. What this
//! machine's store does not know, the daemon of the settings is asked about.

use super::client::{Daemon, field};
use super::session::{print, run_id, status};
use crate::common::{Common, Format};
use anyhow::Context;
use clap::Args;
use patchwright_agent::report::Report;
use patchwright_store::{Store, StoreError};
use reqwest::Method;
use serde_json::Value;
use std::io::Write;
use std::process::ExitCode;

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// The run's id, the folder that --out made, or a task of the daemon that
    /// client.server names
    pub run: String,
    /// Format in which the report is printed
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
pub(crate) async fn run(common: &Common, arguments: ShowArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(Vec::new())?;
    let id = run_id(&arguments.run)?;
    let store = Store::of(&loaded.settings).await?;
    match store.run(&id).await {
        Err(StoreError::NoRun { .. }) if loaded.settings.client.server.is_some() => {
            return of_daemon(&Daemon::of(&loaded)?, &arguments).await;
        }
        known => known?,
    };
    if arguments.journal {
        return journal(&store, &id, arguments.format).await;
    }
    show(&store, &id, arguments.format).await
}

/// Prints what a daemon says of the last run of a task: its report, or its
/// journal as far as it goes.
async fn of_daemon(daemon: &Daemon, arguments: &ShowArguments) -> anyhow::Result<ExitCode> {
    let what = if arguments.journal {
        "journal"
    } else {
        "report"
    };
    let request = daemon.request(Method::GET, &["tasks", &arguments.run, what])?;
    let text = daemon.send(request).await?.text().await?;
    if !arguments.journal {
        let report: Report =
            serde_json::from_str(&text).context("the daemon's answer is no report")?;
        print(&report, arguments.format)?;
        return Ok(status(&report));
    }
    let mut out = std::io::stdout().lock();
    for line in text.lines() {
        match arguments.format {
            Format::Json => writeln!(out, "{line}")?,
            Format::Text => writeln!(out, "{}", told(&serde_json::from_str(line)?))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// An event in a line for people.
pub(super) fn told(event: &Value) -> String {
    let of = |name| field(event, name);
    format!(
        "{} lane {} {:<7} {:<9} {}",
        of("time"),
        of("lane"),
        of("kind"),
        of("name"),
        of("summary")
    )
}

/// Prints the report of a run, or its journal when it has not ended.
pub(super) async fn show(store: &Store, id: &str, format: Format) -> anyhow::Result<ExitCode> {
    let Some(report) = store.report(id).await? else {
        return journal(store, id, format).await;
    };
    let report: Report =
        serde_json::from_str(&report).context("the report of the run cannot be read")?;
    print(&report, format)?;
    Ok(status(&report))
}

async fn journal(store: &Store, id: &str, format: Format) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    for event in store.events(id).await? {
        match format {
            Format::Json => writeln!(out, "{}", serde_json::to_string(&event)?)?,
            Format::Text => writeln!(out, "{}", told(&serde_json::to_value(&event)?))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}
