//! `patchwright resume`: go on with a run that was cut off, from its last event.

use super::Common;
use super::session::{Beginning, OutputArguments, Session, announce, run_id};
use crate::drive;
use crate::output;
use crate::store::{Journal, Store};
use crate::task::Task;
use crate::wire::{self, Answers};
use anyhow::Context;
use clap::Args;
use std::process::ExitCode;

/// Arguments of `resume`.
#[derive(Debug, Args)]
pub struct ResumeArguments {
    /// The run's id, or the folder that --out made
    pub run: String,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Goes on with a run. What is on record is not done again; a run that has
/// ended is only shown.
///
/// # Errors
/// There is no such run, or the store fails.
pub async fn resume(common: &Common, arguments: ResumeArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(Vec::new())?;
    let id = run_id(&arguments.run)?;
    let store = Store::of(&loaded.settings).await?;
    if store.report(&id).await?.is_some() {
        return super::show::show(&store, &id, arguments.output.format).await;
    }
    let (task, beginning) = store.run(&id).await?;
    let task: Task = serde_json::from_str(&task).context("the task of the run cannot be read")?;
    let beginning: Beginning =
        serde_json::from_str(&beginning).context("the settings of the run cannot be read")?;
    let loaded = common.load(beginning.flags())?;
    let display = wire::display(&loaded.settings);
    announce(&display, &task, &beginning.answers);
    let models = match &beginning.answers {
        Answers::Journal(of) => super::replay::journaled(&store, of, beginning.critic).await?,
        answers => wire::models(answers, &loaded.settings)?,
    };
    let journal = Journal::claim(&store, &id).await?;
    let events = store.events(&id).await?;
    let mut output = arguments.output;
    output.out = output.out.or_else(|| beginning.out.clone());
    if let Some(out) = &output.out {
        output::prepare(out, &id)?;
    }
    let answers = beginning.answers.clone();
    display.line(&format!("going on after {} events", events.len()));
    let session = Session {
        task,
        loaded,
        answers,
        models,
        journal,
        output,
    };
    session
        .carry_out(display, |plan| {
            drive::resume(beginning.run(plan), &events)
                .context("the journal of the run cannot be read")
        })
        .await
}
