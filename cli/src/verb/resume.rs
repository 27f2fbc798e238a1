//! `patchwright resume` and `patchwright replay`: go on with a run that was cut off, from its last
//! event; or walk a finished run again, offline. The answers of a replay come from the run's journal,
//! and every patch is built and judged anew.

use super::session::{self, Beginning, OutputArguments, announce, find_run, latest, to_the_end};
use crate::common::Common;
use crate::display;
use clap::Args;
use patchwright_run::Answers;
use patchwright_run::session::{Right, Session, journaled, read};
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

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The run's id, its task's, or the folder that --out made; the last run when
    /// none is named
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
pub(crate) async fn run(common: &Common, arguments: ResumeArguments) -> anyhow::Result<ExitCode> {
    let (_, store) = common.open().await?;
    let id = match arguments.run.as_deref() {
        None => latest(&store, true).await?,
        named => find_run(&store, named).await?,
    };
    let mut output = arguments.output;
    if let Some(report) = store.report(&id).await? {
        return session::print(&report, output.format);
    }
    let session =
        Session::pick_up(&store, Right::Run(id.clone()), |flags| common.load(flags)).await?;
    let display = display::of_settings(&session.loaded.settings);
    announce(&display, &session.task, &session.beginning.answers);
    output.out = output.out.or_else(|| session.beginning.out.clone());
    output.prepare(&id)?;
    display.line(&format!("going on after {} events", session.events.len()));
    let report = to_the_end(&session, &output, (display, None)).await?;
    session::print(&report, output.format)
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
    let (task, beginning) = read(&store, &id).await?;
    let models = journaled(&store, &id).await?;
    let display = display::of_settings(&loaded.settings);
    let answers = Answers::Journal(id);
    announce(&display, &task, &answers);
    let new = Beginning {
        history: beginning.history.clone(),
        ..Beginning::new(answers, beginning.foreign.clone())
    };
    let mut session = Box::pin(session::begin(task, loaded, new, &arguments.output)).await?;
    session.models = models;
    // With the limits that the run had, whatever the settings say now.
    session.beginning = beginning;
    let report = to_the_end(&session, &arguments.output, (display, None)).await?;
    session::print(&report, arguments.output.format)
}
