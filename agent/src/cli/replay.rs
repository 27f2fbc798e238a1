//! `patchwright replay`: walk a finished run again, offline. The answers come
//! from its journal; every patch is built and judged anew.

use super::Common;
use super::session::{Beginning, OutputArguments, Session, announce, run_id};
use crate::model::journaled::Journaled;
use crate::model::{Models, Reply};
use crate::repair::Outcome;
use crate::store::{Event, EventKind, Store};
use crate::task::Task;
use crate::wire::{self, Answers};
use anyhow::Context;
use clap::Args;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

/// The steps whose intents hold a prompt.
const ASKED: [&str; 4] = ["ask", "compact", "critic", "judge"];

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// The run's id, or the folder that --out made
    pub run: String,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Replays a run as a new one.
///
/// # Errors
/// There is no such run, or the store fails.
pub async fn replay(common: &Common, arguments: ReplayArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(Vec::new())?;
    let id = run_id(&arguments.run)?;
    let store = Store::of(&loaded.settings).await?;
    let (task, beginning) = store.run(&id).await?;
    let task: Task = serde_json::from_str(&task).context("the task of the run cannot be read")?;
    let beginning: Beginning =
        serde_json::from_str(&beginning).context("the settings of the run cannot be read")?;
    let models = journaled(&store, &id, beginning.critic).await?;
    let display = wire::display(&loaded.settings);
    let answers = Answers::Journal(id);
    announce(&display, &task, &answers);
    let answers = (answers, beginning.foreign.clone());
    let mut session = Session::begin(task, loaded, answers, arguments.output).await?;
    session.models = models;
    session
        .carry_out(display, |plan| Ok(beginning.run(plan)))
        .await
}

/// Models that answer as the journal of a run tells.
pub(super) async fn journaled(store: &Store, run: &str, critic: bool) -> anyhow::Result<Models> {
    let events = store.events(run).await?;
    let journaled = Arc::new(Journaled::new(exchanges(&events)));
    Ok(Models::on_record(journaled, critic))
}

/// Each prompt of a journal with the reply that it got.
fn exchanges(events: &[Event]) -> Vec<(String, Reply)> {
    let mut prompts: BTreeMap<(u32, u32), String> = BTreeMap::new();
    let mut exchanges = Vec::new();
    for event in events {
        let key = (event.lane, event.step);
        if event.kind == EventKind::Intent && ASKED.contains(&event.name.as_str()) {
            let prompt = event.body.get("prompt").and_then(serde_json::Value::as_str);
            prompts.insert(key, prompt.unwrap_or_default().to_owned());
        }
        let outcome = event.body.get("outcome").cloned().unwrap_or_default();
        if event.kind == EventKind::Outcome
            && let Ok(Outcome::Reply(record)) = serde_json::from_value(outcome)
            && let Some(prompt) = prompts.remove(&key)
        {
            let reply = Reply {
                text: record.text,
                finish: record.finish,
                usage: record.usage,
                model: record.model,
            };
            exchanges.push((prompt, reply));
        }
    }
    exchanges
}
