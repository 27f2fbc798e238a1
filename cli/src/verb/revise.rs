//! `patchwright revise`: another attempt, because a candidate is wrong. The reason is
//! the issue that it starts from.

use super::model_arguments::ModelArguments;
use super::session::{self, NewRun, OutputArguments, find_run};
use crate::common::{Common, WrongInput};
use crate::display;
use clap::Args;
use patchwright_daemon::follow_up::{self, NoFollowUp, Snapshot};
use patchwright_daemon::review::user;
use patchwright_store::Store;
use patchwright_store::reviews::{DecisionKind, NewDecision};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct ReviseArguments {
    /// The run's id, its task's, the folder that --out made, or the word latest
    pub run: String,
    /// The candidate that is wrong, by its number
    pub candidate: u32,
    /// The fault of it: the issue that the next attempt has to solve
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The model that answers
    #[command(flatten)]
    pub asked: ModelArguments,
    /// Where the results go
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Rejects a candidate and makes another attempt, in a run of its own.
///
/// # Errors
/// There is no such run or candidate, or the store fails.
pub(crate) async fn revise(
    common: &Common,
    arguments: ReviseArguments,
) -> anyhow::Result<ExitCode> {
    let loaded = common.load(arguments.asked.settings())?;
    let store = Store::of(&loaded.settings).await?;
    let id = find_run(&store, Some(&arguments.run)).await?;
    let snapshot = Snapshot::read(&store, &loaded.settings, &id).await?;
    let subject = (id.as_str(), arguments.candidate);
    let wrong = |error: NoFollowUp| WrongInput(error.to_string());
    let task =
        follow_up::revise(&snapshot, subject, (&arguments.reason, &user())).map_err(wrong)?;
    let output = &arguments.output;
    let answers = patchwright_run::answers(&task, arguments.asked.replay.as_ref(), &loaded)
        .map_err(|detail| output.invalid(&task.id, &detail))?;
    let display = display::of_settings(&loaded.settings);
    let new = NewRun::new(answers, None);
    let asked = (&arguments.asked, output);
    let session = session::begin_announced(&display, (task, loaded), new, asked).await?;
    let next = session.journal.run().to_owned();
    let report = snapshot.report(&id);
    let decision = follow_up::decision(
        DecisionKind::Reject,
        (&report, arguments.candidate),
        &user(),
    );
    let decision = NewDecision {
        reason: arguments.reason.trim().to_owned(),
        ..decision.map_err(wrong)?
    };
    store.decide(&id, &decision).await?;
    let revised = NewDecision {
        kind: DecisionKind::Revise,
        follow_up: Some(next),
        ..decision
    };
    store.decide(&id, &revised).await?;
    session::carry_out(&session, output, display).await
}
