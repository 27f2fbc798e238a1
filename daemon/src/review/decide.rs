//! Decisions: each is written into the journal of its run, with who and when.
//! A rejected patch may start another attempt.

use super::pages::download;
use super::refused::{Answer, Refused};
use super::{Host, Review};
use crate::follow_up::{self, Snapshot};
use crate::service::Service;
use anyhow::Context;
use axum::Form;
use axum::extract::{Extension, Path, State};
use axum::response::{IntoResponse, Redirect};
use patchwright_agent::progress::Observer;
use patchwright_agent::task::Task;
use patchwright_page::{ROOT, Viewer};
use patchwright_run::admission;
use patchwright_run::session::Right;
use patchwright_store::reviews::{DecisionKind, NewDecision};
use patchwright_store::submissions::{Canceled, NewTask, Submitted};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Letters of a reason.
const LONGEST: usize = 4000;

/// A run and the number of its attempt, and what is decided about it.
type Decision = (String, u32, String);

/// Fields that a form sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Decided {
    pub(super) reason: String,
    pub(super) revise: String,
    pub(super) input: String,
}

fn needed(given: bool, message: &str) -> Result<(), Refused> {
    given
        .then_some(())
        .ok_or_else(|| Refused::impossible(message))
}

fn may(allowed: bool) -> Result<(), Refused> {
    let refused = || Refused::forbidden("the role of this token does not cover this");
    allowed.then_some(()).ok_or_else(refused)
}

/// Takes what the form of a candidate's page decides about it.
pub(super) async fn decide(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path((run, number, word)): Path<Decision>,
    Form(form): Form<Decided>,
) -> Answer {
    let kind = match DecisionKind::read(&word) {
        Some(DecisionKind::Reject) if form.revise == "yes" => DecisionKind::Revise,
        Some(kind) if kind != DecisionKind::Revise => kind,
        _ => return Err(Refused::missing(format!("there is no decision {word:?}")).into()),
    };
    Box::pin(review.decide(&viewer, (&run, number), kind, form)).await
}

/// Stops a run.
pub(super) async fn cancel(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path(run): Path<String>,
) -> Answer {
    may(viewer.starts)?;
    let message = "nothing works on this run here, or it has ended";
    needed(review.stop_run(&run).await?, message)?;
    let (_, report, _) = review.report(&run).await?;
    let decision = follow_up::decision(DecisionKind::Cancel, (&report, 0), &viewer.name)?;
    review.store.decide(&run, &decision).await?;
    Ok(Redirect::to(&format!("{ROOT}/runs/{run}")).into_response())
}

impl Review {
    /// Carries out what a person decides about a candidate.
    pub(super) async fn decide(
        &self,
        viewer: &Viewer,
        (run, number): (&str, u32),
        kind: DecisionKind,
        said: Decided,
    ) -> Answer {
        may(match kind {
            DecisionKind::Evaluate => viewer.starts,
            DecisionKind::Revise => viewer.decides && viewer.starts,
            _ => viewer.decides,
        })?;
        let (_, report, _) = self.report(run).await?;
        let attempt = follow_up::attempt(&report, number)?;
        let mut decision = follow_up::decision(kind, (&report, number), &viewer.name)?;
        decision.reason = said.reason.trim().chars().take(LONGEST).collect();
        match kind {
            DecisionKind::Approve => {}
            DecisionKind::Reject | DecisionKind::Revise => {
                needed(!decision.reason.is_empty(), "a rejection needs a reason")?;
                decision.kind = DecisionKind::Reject;
            }
            DecisionKind::Contest => {
                let mut doubts = attempt.rungs.iter().flat_map(|rung| &rung.doubts);
                let known = doubts.any(|doubt| doubt.input.as_ref() == Some(&said.input));
                let message = "a doubt is contested with its input and a reason";
                needed(known && !decision.reason.is_empty(), message)?;
                decision.input = Some(said.input);
            }
            DecisionKind::Evaluate => return Box::pin(self.follow((run, number), decision)).await,
            DecisionKind::Export => {
                let bytes = attempt.delivered_bytes();
                self.store.decide(run, &decision).await?;
                let name = format!("attempt-{number}.diff");
                return Ok(download(&name, "text/x-diff", bytes));
            }
            DecisionKind::Cancel => {
                return Err(Refused::missing("a run is canceled as a whole").into());
            }
        }
        self.store.decide(run, &decision).await?;
        if kind == DecisionKind::Revise {
            decision.kind = kind;
            return Box::pin(self.follow((run, number), decision)).await;
        }
        Ok(Redirect::to(&format!("{ROOT}/runs/{run}/attempts/{number}")).into_response())
    }

    /// Has a candidate climb the ladder or starts another attempt, in a run of its own, and
    /// writes the decision with it.
    async fn follow(&self, (run, number): (&str, u32), mut decision: NewDecision) -> Answer {
        let snapshot = Snapshot::read(&self.store, &self.loaded.settings, run).await?;
        let task = if decision.kind == DecisionKind::Evaluate {
            follow_up::evaluate(&self.store, &snapshot, (run, number)).await?
        } else {
            let because = (decision.reason.as_str(), decision.who.as_str());
            follow_up::revise(&snapshot, (run, number), because)?
        };
        let (id, page) = match &self.host {
            Host::Daemon(_, service) => self.submit(service, task, &decision.who).await?,
            Host::User(_, running) => Box::pin(self.begin(task, running.clone())).await?,
        };
        decision.follow_up = Some(id);
        self.store.decide(run, &decision).await?;
        Ok(Redirect::to(&page).into_response())
    }
}

/// Origin of tasks that are started here.
const ORIGIN: &str = "review";
/// Letters of a task's id that its follow-ups keep; theirs is longer by time and number.
const KEPT: usize = 100;

/// The runs that this process works on, each with what stops it.
pub(super) type Running = Arc<Mutex<BTreeMap<String, CancellationToken>>>;

/// A follow-up that was started: the id of its task or run, and the page that shows it.
type Started = (String, String);

pub(super) fn locked(running: &Running) -> MutexGuard<'_, BTreeMap<String, CancellationToken>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Review {
    async fn submit(&self, service: &Service, task: Task, who: &str) -> anyhow::Result<Started> {
        let kept: String = task.id.chars().take(KEPT).collect();
        let id = patchwright_run::run_id(&kept);
        let task = Task {
            id: id.clone(),
            ..task
        };
        let new = NewTask {
            id: id.clone(),
            task: serde_json::to_string(&task)?,
            origin: ORIGIN.to_owned(),
            quota: Some(admission::quota(&self.loaded.settings.intake, who)),
            ..NewTask::default()
        };
        match service.submit(vec![new]).await?.first() {
            Some(Submitted::New | Submitted::Same) => {
                let page = format!("{ROOT}?text={id}");
                Ok((id, page))
            }
            Some(Submitted::Full(key)) => {
                let message =
                    format!("this caller's quota is used up ({key}); nothing was started");
                Err(Refused::impossible(message).into())
            }
            _ => anyhow::bail!("the follow-up {id} was not taken by the queue"),
        }
    }

    /// Stops a run, and tells whether anything was there to stop.
    pub(super) async fn stop_run(&self, run: &str) -> anyhow::Result<bool> {
        match &self.host {
            Host::User(_, running) => {
                let stop = locked(running).get(run).cloned();
                Ok(stop.inspect(CancellationToken::cancel).is_some())
            }
            Host::Daemon(_, service) => {
                let task = self.store.listed_run(run).await?.map(|row| row.task);
                let Some(task) = task else { return Ok(false) };
                // A run that the queue does not know of is not its task's last one.
                let last = service.store().task(&task).await?.and_then(|row| row.run);
                if last.as_deref() != Some(run) {
                    return Ok(false);
                }
                let canceled = service.store().cancel(&task).await?;
                Ok(matches!(canceled, Canceled::Queued | Canceled::Running))
            }
        }
    }

    /// Begins a run, and works on it beside the pages until it ends or they do.
    async fn begin(&self, task: Task, running: Running) -> anyhow::Result<Started> {
        let id = patchwright_run::run_id(&task.id);
        let task = (task, self.loaded.as_ref().clone());
        let session = follow_up::begin(&self.store, task, Right::Run(id.clone())).await?;
        let own = self.stop.child_token();
        locked(&running).insert(id.clone(), own.clone());
        let name = id.clone();
        tokio::spawn(async move {
            // On the heap: the future of a whole run is large.
            let driven = Box::pin(session.drive((Observer::silent(), None), &own)).await;
            let ended = match driven {
                Ok(run) => session.conclude(&run).await.map(|_| ()),
                Err(error) => Err(error),
            };
            if let Err(error) = ended.context("a follow-up failed") {
                let error = format!("{error:#}");
                tracing::error!(run = name, error, "a run was cut off");
            }
            locked(&running).remove(&name);
        });
        let page = format!("{ROOT}/runs/{id}");
        Ok((id, page))
    }
}
