//! `patchwright tasks`, `events` and `cancel`: what a daemon has, what happens to it, and what it
//! shall leave.

use super::client::{Daemon, field};
use super::show::told;
use crate::common::{Common, Format};
use anyhow::Context;
use clap::Args;
use reqwest::Method;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::process::ExitCode;

/// Arguments of `tasks`, which are those of the query too.
#[derive(Debug, Args, Serialize)]
pub(crate) struct TasksArguments {
    /// Only tasks that are so: queued, running, paused, done or canceled
    #[arg(long)]
    #[serde(rename = "state")]
    pub status: Option<String>,
    /// Only tasks that ended so, as in verified
    #[arg(long)]
    pub ending: Option<String>,
    /// Only tasks of this project
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
    /// Only tasks whose id holds this text
    #[arg(long)]
    pub text: Option<String>,
    /// The `next` of the page before
    #[arg(long)]
    pub cursor: Option<i64>,
    /// Tasks of a page
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
    /// Format in which they are printed
    #[arg(long, value_enum, default_value_t)]
    #[serde(skip)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CancelArguments {
    /// The tasks' ids
    #[arg(required = true)]
    pub tasks: Vec<String>,
}

/// Lists tasks, the newest first.
///
/// # Errors
/// The daemon does not answer, or refuses.
pub(crate) async fn list(common: &Common, arguments: &TasksArguments) -> anyhow::Result<ExitCode> {
    let daemon = Daemon::of(&common.load(Vec::new())?)?;
    let request = daemon.request(Method::GET, &["tasks"])?.query(arguments);
    let answer = daemon.json(request).await?;
    let format = arguments.format;
    format.print(&answer, include_str!("tasks/list.txt"))?;
    Ok(ExitCode::SUCCESS)
}

/// Cancels tasks, one after the other.
///
/// # Errors
/// The daemon does not answer, or refuses.
pub(crate) async fn cancel(
    common: &Common,
    arguments: &CancelArguments,
) -> anyhow::Result<ExitCode> {
    let daemon = Daemon::of(&common.load(Vec::new())?)?;
    for task in &arguments.tasks {
        let request = daemon.request(Method::POST, &["tasks", task, "cancel"])?;
        let answer = daemon.json(request).await?;
        writeln!(std::io::stdout(), "{task} {}", field(&answer, "state"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The longest line of an event stream that is read.
const LONGEST: usize = 64 << 20;

#[derive(Debug, Args)]
pub(crate) struct EventsArguments {
    /// The task's id
    pub task: String,
    /// Format in which they are printed
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Prints events until the task has ended.
///
/// # Errors
/// The daemon does not answer, or refuses; or the stream breaks off.
pub(crate) async fn follow(
    common: &Common,
    arguments: &EventsArguments,
) -> anyhow::Result<ExitCode> {
    let daemon = Daemon::of(&common.load(Vec::new())?)?;
    let request = daemon.request(Method::GET, &["tasks", &arguments.task, "events"])?;
    let mut response = daemon.send(request).await?;
    let mut waiting: Vec<u8> = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        waiting.extend(&chunk);
        anyhow::ensure!(
            waiting.len() <= LONGEST,
            "the daemon sends a line without end"
        );
        while let Some(end) = waiting.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = waiting.drain(..=end).collect();
            tell(&String::from_utf8_lossy(&line), arguments.format)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the event of a line, if it holds one.
fn tell(line: &str, format: Format) -> anyhow::Result<()> {
    let Some(data) = line.trim_end().strip_prefix("data:") else {
        return Ok(());
    };
    let data = data.trim_start();
    let mut out = std::io::stdout();
    let event: Value = serde_json::from_str(data)
        .with_context(|| format!("the daemon sent an event that is no JSON: {data}"))?;
    if format == Format::Json {
        writeln!(out, "{data}")?;
    } else if event.get("summary").is_some() {
        writeln!(out, "{}", told(&event))?;
    } else if event.get("state").is_some() {
        let [state, ending] = ["state", "ending"].map(|name| field(&event, name));
        writeln!(out, "{state}: {ending}")?;
    }
    Ok(())
}
