//! Decisions: each is written into the journal of its run, with who and when.

use super::Review;
use super::pages::{Failed, Forbidden, download};
use super::start::Started;
use crate::follow_up::{self, NoFollowUp, Snapshot};
use axum::Form;
use axum::extract::{Extension, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use patchwright_agent::task::Task;
use patchwright_page::{ROOT, Viewer};
use patchwright_store::reviews::{DecisionKind, NewDecision};
use serde::Deserialize;

/// Letters of a reason.
const LONGEST: usize = 4000;

type Answer = Result<Response, Failed>;
type Candidate = (String, u32);

/// Fields that a form sends.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Decided {
    #[serde(default)]
    reason: String,
    #[serde(default)]
    revise: String,
    #[serde(default)]
    input: String,
}

impl Decided {
    fn reason(&self) -> String {
        self.reason.trim().chars().take(LONGEST).collect()
    }
}

fn may(allowed: bool) -> Result<(), Forbidden> {
    if allowed { Ok(()) } else { Err(Forbidden) }
}

/// Records that a person holds a candidate right.
pub(super) async fn approve(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path(candidate): Path<Candidate>,
    Form(form): Form<Decided>,
) -> Answer {
    may(viewer.decides)?;
    let decision = review
        .decision(DecisionKind::Approve, &candidate, &viewer)
        .await?;
    let decision = NewDecision {
        reason: form.reason(),
        ..decision
    };
    review.store.decide(&candidate.0, &decision).await?;
    Ok(back(&candidate))
}

/// Records that a person holds a candidate wrong, and starts another attempt on request.
pub(super) async fn reject(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path(candidate): Path<Candidate>,
    Form(form): Form<Decided>,
) -> Answer {
    let revise = form.revise == "yes";
    may(viewer.decides && (viewer.starts || !revise))?;
    let reason = form.reason();
    if reason.is_empty() {
        return Err(NoFollowUp("a rejection needs a reason".to_owned()).into());
    }
    let decision = review
        .decision(DecisionKind::Reject, &candidate, &viewer)
        .await?;
    let decision = NewDecision { reason, ..decision };
    review.store.decide(&candidate.0, &decision).await?;
    if !revise {
        return Ok(back(&candidate));
    }
    let (run, number) = (candidate.0.as_str(), candidate.1);
    let snapshot = Snapshot::read(&review.store, &review.loaded.settings, run).await?;
    let task = follow_up::revise(&snapshot, (run, number), (&decision.reason, &viewer.name))?;
    let next = NewDecision {
        kind: DecisionKind::Revise,
        ..decision
    };
    review.follow(task, &candidate, next).await
}

/// Records that a person holds the new behaviour on an input right.
pub(super) async fn contest(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path(candidate): Path<Candidate>,
    Form(form): Form<Decided>,
) -> Answer {
    may(viewer.decides)?;
    let decision = review
        .decision(DecisionKind::Contest, &candidate, &viewer)
        .await?;
    let (_, report, _) = review.report(&candidate.0).await?;
    let attempt = follow_up::attempt(&report, candidate.1)?;
    let mut doubts = attempt.rungs.iter().flat_map(|rung| &rung.doubts);
    if form.reason().is_empty() || !doubts.any(|doubt| doubt.input.as_ref() == Some(&form.input)) {
        let message = "a doubt is contested with its input and a reason";
        return Err(NoFollowUp(message.to_owned()).into());
    }
    let decision = NewDecision {
        reason: form.reason(),
        input: Some(form.input),
        ..decision
    };
    review.store.decide(&candidate.0, &decision).await?;
    Ok(back(&candidate))
}

/// Has a candidate climb the ladder, in a run of its own.
pub(super) async fn evaluate(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path(candidate): Path<Candidate>,
) -> Answer {
    may(viewer.starts)?;
    let decision = review
        .decision(DecisionKind::Evaluate, &candidate, &viewer)
        .await?;
    let (run, number) = (candidate.0.as_str(), candidate.1);
    let snapshot = Snapshot::read(&review.store, &review.loaded.settings, run).await?;
    let (task, _) = follow_up::evaluate(&review.store, &snapshot, (run, number)).await?;
    review.follow(task, &candidate, decision).await
}

/// Hands the diff of a candidate on.
pub(super) async fn export(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path(candidate): Path<Candidate>,
) -> Answer {
    may(viewer.decides)?;
    let decision = review
        .decision(DecisionKind::Export, &candidate, &viewer)
        .await?;
    let (_, report, _) = review.report(&candidate.0).await?;
    let bytes = follow_up::attempt(&report, candidate.1)?.delivered_bytes();
    review.store.decide(&candidate.0, &decision).await?;
    let name = format!("attempt-{}.diff", candidate.1);
    Ok(download(&name, "text/x-diff", bytes))
}

/// Stops a run.
pub(super) async fn cancel(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path(run): Path<String>,
) -> Answer {
    may(viewer.starts)?;
    if !review.stop_run(&run).await? {
        let message = "nothing works on this run here, or it has ended";
        return Err(NoFollowUp(message.to_owned()).into());
    }
    let decision = review
        .decision(DecisionKind::Cancel, &(run.clone(), 0), &viewer)
        .await?;
    review.store.decide(&run, &decision).await?;
    Ok(Redirect::to(&format!("{ROOT}/runs/{run}")).into_response())
}

fn back((run, number): &Candidate) -> Response {
    Redirect::to(&format!("{ROOT}/runs/{run}/attempts/{number}")).into_response()
}

impl Review {
    /// A decision about a candidate, or about a run as a whole, with the evidence as it
    /// stands now.
    async fn decision(
        &self,
        kind: DecisionKind,
        (run, number): &Candidate,
        viewer: &Viewer,
    ) -> Result<NewDecision, Failed> {
        let (_, report, _) = self.report(run).await?;
        Ok(follow_up::decision(kind, (&report, *number), &viewer.name)?)
    }

    /// Starts a follow-up and writes the decision with it.
    async fn follow(&self, task: Task, candidate: &Candidate, decision: NewDecision) -> Answer {
        let started = self.start(task, &decision.who).await?;
        let decision = NewDecision {
            follow_up: Some(started.id().to_owned()),
            ..decision
        };
        self.store.decide(&candidate.0, &decision).await?;
        let to = match &started {
            Started::Task(id) => format!("{ROOT}?text={id}"),
            Started::Run(id) => format!("{ROOT}/runs/{id}"),
        };
        Ok(Redirect::to(&to).into_response())
    }
}
