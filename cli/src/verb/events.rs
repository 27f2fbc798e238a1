//! `patchwright events`: follow what happens to a task of a daemon.

use super::client::{Daemon, field};
use super::show::told;
use crate::common::{Common, Format};
use anyhow::Context;
use clap::Args;
use reqwest::Method;
use serde_json::Value;
use std::io::Write;
use std::process::ExitCode;

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
pub(crate) async fn run(common: &Common, arguments: &EventsArguments) -> anyhow::Result<ExitCode> {
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
        writeln!(
            out,
            "{}: {}",
            field(&event, "state"),
            field(&event, "ending")
        )?;
    }
    Ok(())
}
