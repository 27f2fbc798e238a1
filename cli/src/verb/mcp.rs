//! `patchwright mcp`: the code search for agents and editors, and their patches judged.
//!
//! Standard output belongs to the protocol; nothing else is written there.

use super::retrieve::tell_cost;
use crate::common::Common;
use crate::mcp::{Judge, serve};
use clap::Args;
use patchwright_agent::task;
use patchwright_model::account::Account;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::Mutex;

#[derive(Debug, Clone, Args)]
pub(crate) struct McpArguments {
    /// Source tree to search
    #[arg(long, value_name = "DIR")]
    pub repo: PathBuf,
    /// Also judge patches for this task: a folder with a task.toml, or a task file
    #[arg(long, value_name = "TASK")]
    pub task: Option<PathBuf>,
}

/// Serves the tree until the client hangs up.
///
/// # Errors
/// The settings are wrong, the tree or the cache cannot be used, or the client
/// does not speak the protocol.
pub(crate) async fn run(common: &Common, arguments: McpArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(Vec::new())?;
    let task = arguments.task.as_deref().map(task::read).transpose()?;
    let judge = task.map(|task| Judge {
        task,
        loaded: loaded.clone(),
        busy: Mutex::default(),
    });
    let settings = loaded.settings;
    let account = Arc::new(Account::new(settings.limits.usd));
    let signals = patchwright_run::signals(&settings, &account)?;
    let served = Box::pin(serve(arguments.repo, settings, (signals, judge))).await;
    tell_cost(&account)?;
    served?;
    Ok(ExitCode::SUCCESS)
}
