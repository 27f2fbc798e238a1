//! `patchwright resume`: go on with a run that was cut off, from its last event.

use super::session::{OutputArguments, announce, carry_out, find_unfinished};
use crate::common::Common;
use crate::display;
use clap::Args;
use patchwright_run::session::{Right, Session};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The run's id, its task's, or the folder that --out made; the last run that
    /// has no ending when none is named
    pub run: Option<String>,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Goes on with a run. What is on record is not done again; a run that has
/// ended is only shown.
///
/// # Errors
/// There is no such run, or the store fails.
pub(crate) async fn resume(
    common: &Common,
    arguments: ResumeArguments,
) -> anyhow::Result<ExitCode> {
    let (_, store) = common.open().await?;
    let id = find_unfinished(&store, arguments.run.as_deref()).await?;
    if store.report(&id).await?.is_some() {
        return super::show::show(&store, &id, arguments.output.format).await;
    }
    let session =
        Session::pick_up(&store, Right::Run(id.clone()), |flags| common.load(flags)).await?;
    let display = display::of_settings(&session.loaded.settings);
    announce(&display, &session.task, &session.beginning.answers);
    let mut output = arguments.output;
    output.out = output.out.or_else(|| session.beginning.out.clone());
    output.prepare(&id)?;
    display.line(&format!("going on after {} events", session.events.len()));
    carry_out(&session, &output, display).await
}
