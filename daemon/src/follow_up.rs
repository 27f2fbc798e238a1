//! Follow-ups: the task of a run that revises or evaluates a candidate of another.

use anyhow::Context;
use patchwright_agent::drive;
use patchwright_agent::record::{AcceptedInput, Attempt, Blob, Evaluation, FollowUp, Revision};
use patchwright_agent::repair::Run;
use patchwright_agent::report::{AttemptReport, Report};
use patchwright_agent::task::{Mode, Task};
use patchwright_config::{Loaded, Settings};
use patchwright_patcher::Patch;
use patchwright_run::Answers;
use patchwright_run::session::{self, Beginning, Right, Session};
use patchwright_store::Store;
use patchwright_store::reviews::{DecisionKind, NewDecision};
use std::collections::BTreeMap;

/// A candidate that cannot be followed up on.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoFollowUp(pub String);

/// Finds an attempt of a report.
///
/// # Errors
/// When it has none of this number.
pub fn attempt(report: &Report, number: u32) -> Result<&AttemptReport, NoFollowUp> {
    let mut attempts = report.attempts.iter();
    let found = attempts.find(|attempt| attempt.number == number);
    found.ok_or_else(|| NoFollowUp(format!("the run has no attempt {number}")))
}

/// Returns a decision about an attempt, or about the run as a whole where the number is 0,
/// with the evidence as it stands now.
///
/// # Errors
/// When the run has no such attempt.
pub fn decision(
    kind: DecisionKind,
    (report, number): (&Report, u32),
    who: &str,
) -> Result<NewDecision, NoFollowUp> {
    let attempt = match number {
        0 => None,
        number => Some(attempt(report, number)?),
    };
    Ok(NewDecision {
        kind,
        attempt: number,
        who: who.to_owned(),
        reason: String::new(),
        input: None,
        follow_up: None,
        ending: report.ending.clone(),
        p_right: attempt.and_then(|attempt| attempt.p_right),
        features: attempt.map_or_else(BTreeMap::new, |attempt| attempt.features.clone()),
    })
}

/// A run as far as its journal tells.
#[derive(Debug)]
pub struct Snapshot {
    pub task: Task,
    /// Its start values.
    pub beginning: Beginning,
    /// Its decisions so far.
    pub run: Run,
}

impl Snapshot {
    /// Reads a run from its journal.
    ///
    /// # Errors
    /// When there is no such run, or its journal cannot be read.
    pub async fn read(store: &Store, settings: &Settings, run: &str) -> anyhow::Result<Self> {
        let (task, beginning) = session::read(store, run).await?;
        let events = store.events(run).await?;
        let begun = beginning.run(patchwright_run::plan(&task, settings));
        let run = drive::resume(begun, &events).context("the journal of the run cannot be read")?;
        Ok(Self {
            task,
            beginning,
            run,
        })
    }

    /// The report so far.
    pub fn report(&self, run: &str) -> Report {
        let answers = self.beginning.answers.told(self.run.models());
        Report::of(&self.run, run, &self.task.id, &answers)
    }

    /// An attempt of the run.
    ///
    /// # Errors
    /// When it has none of this number.
    pub fn attempt(&self, number: u32) -> Result<&Attempt, NoFollowUp> {
        let attempt = self.run.attempt(number);
        attempt.ok_or_else(|| NoFollowUp(format!("the run has no attempt {number}")))
    }
}

/// Makes the task of a run that makes another attempt, because a person rejected one.
///
/// # Errors
/// When there is no such attempt, or no reason.
pub fn revise(
    snapshot: &Snapshot,
    (run, number): (&str, u32),
    (reason, who): (&str, &str),
) -> Result<Task, NoFollowUp> {
    let reason = reason.trim();
    if reason.is_empty() {
        let message = "a rejection needs a reason: the model is told it as the issue to solve";
        return Err(NoFollowUp(message.to_owned()));
    }
    let revision = Revision {
        run: run.to_owned(),
        attempt: snapshot.attempt(number)?.clone(),
        reason: reason.to_owned(),
        who: who.to_owned(),
    };
    Ok(Task {
        follows: Some(FollowUp::Revise(Box::new(revision))),
        ..snapshot.task.clone()
    })
}

/// Makes the task of a run that climbs the ladder with a candidate. Inputs on which
/// a person found the new behaviour right are no doubts there.
///
/// # Errors
/// When there is no such attempt, the task has no build command, or the store fails.
pub async fn evaluate(
    store: &Store,
    snapshot: &Snapshot,
    (run, number): (&str, u32),
) -> anyhow::Result<Task> {
    if snapshot.task.commands.build.is_empty() {
        let message =
            "commands.build: is needed to evaluate a candidate; the task of this run has none";
        return Err(NoFollowUp(message.to_owned()).into());
    }
    let attempt = snapshot.attempt(number)?;
    let report = snapshot.report(run);
    let diff = self::attempt(&report, number)?.diff_bytes();
    let mut accepted = snapshot.run.decisions().to_vec();
    let decisions = store.decisions(Some(run)).await?.into_iter();
    let contested = decisions
        .filter(|one| one.made.kind == DecisionKind::Contest && one.made.attempt == number);
    accepted.extend(contested.filter_map(|one| {
        let reason = format!("{}: {}", one.made.who, one.made.reason);
        let blob = Blob::Kept(one.made.input?);
        let doubts = attempt.rungs.iter().flat_map(|rung| &rung.doubts);
        let mut shown = doubts.filter_map(|doubt| doubt.input.as_ref());
        let shown = shown.find(|input| input.blob == blob)?;
        Some(AcceptedInput::new(shown, reason))
    }));
    let evaluation = Evaluation {
        run: run.to_owned(),
        attempt: number,
        patch: Patch::from_diff(&diff),
        accepted,
    };
    Ok(Task {
        mode: Mode::Repair,
        candidates: 1,
        follows: Some(FollowUp::Evaluate(evaluation)),
        ..snapshot.task.clone()
    })
}

/// Begins the run of a task: an evaluation asks nobody, any other the model that is configured.
///
/// # Errors
/// When no model is configured, or the run cannot be written down.
pub(crate) async fn begin(
    store: &Store,
    (task, loaded): (Task, Loaded),
    right: Right,
) -> anyhow::Result<Session> {
    let (answers, foreign) = if let Some(FollowUp::Evaluate(evaluation)) = &task.follows {
        (Answers::Nobody, Some(evaluation.patch.clone()))
    } else {
        let answers = patchwright_run::answers(&task, None, &loaded).map_err(NoFollowUp)?;
        (answers, None)
    };
    let models = patchwright_run::models(&answers, &loaded.settings)?;
    let new = Beginning::new(answers, foreign);
    Session::begin(store, (task, loaded), (right, models), new).await
}
