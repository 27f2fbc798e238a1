//! `patchwright tasks` and `patchwright cancel`: what a daemon has, and what it
//! shall leave.

use super::client::{Daemon, field};
use crate::common::{Common, Format};
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
    let mut out = std::io::stdout().lock();
    if arguments.format == Format::Json {
        writeln!(out, "{}", serde_json::to_string_pretty(&answer)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let tasks = answer.get("tasks").and_then(Value::as_array);
    for task in tasks.into_iter().flatten() {
        let of = |name| field(task, name);
        writeln!(
            out,
            "{} {:<8} {:<16} {:<24} {}",
            of("created"),
            of("state"),
            of("ending"),
            of("id"),
            of("run")
        )?;
    }
    if let Some(next) = answer.get("next").filter(|next| !next.is_null()) {
        writeln!(out, "there are more: --cursor {next}")?;
    }
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
