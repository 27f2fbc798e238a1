//! `patchwright revise`: another attempt, because a candidate is wrong. The reason is
//! the issue that it starts from; where it is a review, its points are answered.

use super::export::candidate;
use super::model_arguments::ModelArguments;
use super::session::{self, Beginning, OutputArguments, find_run};
use crate::common::{Common, WrongInput, write_file};
use crate::display;
use crate::reviewed::Review;
use clap::Args;
use patchwright_daemon::follow_up::{self, NoFollowUp, Snapshot};
use patchwright_daemon::review::user;
use patchwright_store::Store;
use patchwright_store::reviews::{DecisionKind, NewDecision};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct ReviseArguments {
    /// The run's id, its task's, the folder that --out made, or the word latest
    pub run: String,
    /// The candidate that is wrong, by its number; the best when none is named
    pub candidate: Option<u32>,
    /// The fault of it: the issue that the next attempt has to solve
    #[arg(long, value_name = "TEXT", required_unless_present = "from")]
    pub reason: Option<String>,
    /// The review of it, as the issue to solve: a mail, a thread in mbox, or words, which may quote the patch; `-`
    /// for standard input, or the address of the pull request or of a mail
    #[arg(long, value_name = "FILE|URL", conflicts_with = "reason")]
    pub from: Option<String>,
    /// With --from: where the answer to each of its points goes; a mail where the review is one
    #[arg(
        long,
        value_name = "FILE",
        requires = "from",
        default_value = "answer.txt"
    )]
    pub answer: PathBuf,
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
pub(crate) async fn run(common: &Common, arguments: ReviseArguments) -> anyhow::Result<ExitCode> {
    let loaded = common.load(arguments.asked.settings())?;
    let store = Store::of(&loaded.settings).await?;
    let id = find_run(&store, Some(&arguments.run)).await?;
    let snapshot = Snapshot::read(&store, &loaded.settings, &id).await?;
    let report = snapshot.report(&id);
    let old = candidate(&report, arguments.candidate)?;
    let wrong = |error: NoFollowUp| WrongInput(error.to_string());
    let review = match &arguments.from {
        Some(place) => Some(Review::of(place, &loaded.settings).await?),
        None => None,
    };
    let answer = arguments.answer;
    if review.is_some() && answer.exists() {
        let file = answer.display();
        let there = format!("{file} is there already: name another file with --answer");
        return Err(WrongInput(there).into());
    }
    let reason = review.as_ref().map(Review::reason).or(arguments.reason);
    let reason = reason.unwrap_or_default();
    let subject = (id.as_str(), old.number);
    let task = follow_up::revise(&snapshot, subject, (&reason, &user())).map_err(wrong)?;
    let output = &arguments.output;
    let answers = patchwright_run::answers(&task, arguments.asked.replay.as_ref(), &loaded)
        .map_err(|detail| output.invalid(&task.id, &detail))?;
    let display = display::of_settings(&loaded.settings);
    let new = Beginning::new(answers, None);
    let asked = (&arguments.asked, output);
    let session = session::begin_announced(&display, (task, loaded), new, asked).await?;
    let next = session.journal.run().to_owned();
    let decision = follow_up::decision(DecisionKind::Reject, (&report, old.number), &user());
    let decision = NewDecision {
        reason: reason.trim().to_owned(),
        ..decision.map_err(wrong)?
    };
    store.decide(&id, &decision).await?;
    let revised = NewDecision {
        kind: DecisionKind::Revise,
        follow_up: Some(next),
        ..decision
    };
    store.decide(&id, &revised).await?;
    let told = session::to_the_end(&session, output, (display, None)).await?;
    if let Some(review) = review {
        write_file(&answer, review.answer(old, &told)?)?;
    }
    session::print(&told, output.format)
}
