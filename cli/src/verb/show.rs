//! `patchwright show`: the report of a run, or how far it has come. What this
//! machine's store does not know, the daemon of the settings is asked about.

use super::client::{Daemon, Place, field};
use super::session::{print, status};
use crate::common::{Common, Format, PAUSED, tell, write_out};
use crate::display;
use crate::story;
use anyhow::Context;
use clap::Args;
use patchwright_agent::report::Report;
use patchwright_config::Settings;
use patchwright_store::Store;
use reqwest::Method;
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// The run's id, its task's, the folder that --out made, or a task of the
    /// daemon that client.server names; the last run when none is named
    pub run: Option<String>,
    /// Format in which the report is printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print the journal instead: every event, one a line
    #[arg(long)]
    pub journal: bool,
    /// Program that shows a long text on a terminal
    #[arg(long, env = "PAGER", value_name = "COMMAND", default_value = "less")]
    pub pager: String,
    /// Use no pager
    #[arg(long)]
    pub no_pager: bool,
}

/// Shows a run.
///
/// # Errors
/// There is no such run, or the store fails.
pub(crate) async fn run(common: &Common, arguments: ShowArguments) -> anyhow::Result<ExitCode> {
    let (loaded, store) = common.open().await?;
    let place = Place::of((&loaded, &store), arguments.run.as_deref()).await?;
    let id = match place {
        Place::Here(id) => id,
        Place::There(daemon, task) => return of_daemon(&daemon, &task, &arguments).await,
    };
    if arguments.journal {
        return journal(&store, &id, arguments.format).await;
    }
    let Some(report) = store.report(&id).await? else {
        return unfinished(&store, &id, arguments.format).await;
    };
    if arguments.format == Format::Json {
        return print(&report, arguments.format);
    }
    let text = story::text(&report, &store.decisions(Some(&id)).await?)?;
    show(&text, &loaded.settings, &arguments)?;
    Ok(status(&report))
}

/// Prints a story: with colours where they are wanted, in a pager on a terminal.
fn show(text: &str, settings: &Settings, paging: &ShowArguments) -> anyhow::Result<()> {
    let terminal = std::io::stdout().is_terminal();
    let colored = display::colored(settings, terminal);
    let painted = colored.then(|| story::painted(text));
    let text = painted.as_deref().unwrap_or(text);
    if terminal && !paging.no_pager && story::paged(text, &paging.pager)? {
        return Ok(());
    }
    write_out(text)
}

/// Prints what a daemon says of the last run of a task: its report, or its
/// journal as far as it goes.
async fn of_daemon(
    daemon: &Daemon,
    task: &str,
    arguments: &ShowArguments,
) -> anyhow::Result<ExitCode> {
    let what = if arguments.journal {
        "journal"
    } else {
        "report"
    };
    let request = daemon.request(Method::GET, &["tasks", task, what])?;
    let text = daemon.send(request).await?.text().await?;
    if !arguments.journal {
        let report: Report =
            serde_json::from_str(&text).context("the daemon's answer is no report")?;
        return print(&report, arguments.format);
    }
    print_events(text.lines(), arguments.format)
}

/// An event in a line for people.
pub(super) fn told(event: &Value) -> String {
    let shown = ["time", "lane", "kind", "name", "summary"];
    let [time, lane, kind, name, summary] = shown.map(|name| field(event, name));
    format!("{time} lane {lane} {kind:<7} {name:<9} {summary}")
}

/// Prints the journal of a run that has no ending, and what to do about it.
async fn unfinished(store: &Store, id: &str, format: Format) -> anyhow::Result<ExitCode> {
    journal(store, id, format).await?;
    let last = store.events(id).await?.pop().map(|event| event.time);
    let last = match last {
        Some(time) => format!("its last event is of {time}"),
        None => "it has no event".to_owned(),
    };
    let advice = "If nothing works on it any more, it was cut off: patchwright resume";
    tell(&format!("run {id} has not ended; {last}. {advice} {id}"))?;
    Ok(ExitCode::from(PAUSED))
}

async fn journal(store: &Store, id: &str, format: Format) -> anyhow::Result<ExitCode> {
    let events = store.events(id).await?;
    let lines = events.iter().map(serde_json::to_string);
    let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
    print_events(lines.iter().map(String::as_str), format)
}

/// Prints events, of which each is a line of JSON.
fn print_events<'a>(
    lines: impl Iterator<Item = &'a str>,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    for line in lines {
        match format {
            Format::Json => writeln!(out, "{line}")?,
            Format::Text => writeln!(out, "{}", told(&serde_json::from_str(line)?))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}
