//! `patchwright replay`: walk a finished run again, offline. The answers come
//! from its journal; every patch is built and judged anew.

use super::session::{NewRun, OutputArguments, announce, begin, carry_out, find_run};
use crate::common::Common;
use crate::display;
use clap::Args;
use patchwright_run::Answers;
use patchwright_run::session;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The run's id, its task's, or the folder that --out made; the last run when
    /// none is named
    pub run: Option<String>,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Replays a run as a new one.
///
/// # Errors
/// There is no such run, or the store fails.
pub(crate) async fn replay(
    common: &Common,
    arguments: ReplayArguments,
) -> anyhow::Result<ExitCode> {
    let (loaded, store) = common.open().await?;
    let id = find_run(&store, arguments.run.as_deref()).await?;
    let (task, beginning) = session::read(&store, &id).await?;
    let models = session::journaled(&store, &id).await?;
    let display = display::of_settings(&loaded.settings);
    let answers = Answers::Journal(id);
    announce(&display, &task, &answers);
    let new = NewRun {
        history: beginning.history.clone(),
        ..NewRun::new(answers, beginning.foreign.clone())
    };
    let mut session = begin(task, loaded, new, &arguments.output).await?;
    session.models = models;
    // With the limits that the run had, whatever the settings say now.
    session.beginning = beginning;
    carry_out(&session, &arguments.output, display).await
}
