//! Decisions: each is written into the journal of its run, with who and when.

use super::Review;
use super::pages::download;
use super::refused::{Answer, Refused};
use crate::follow_up::{self, Snapshot};
use axum::Form;
use axum::extract::{Extension, Path, State};
use axum::response::{IntoResponse, Redirect};
use patchwright_agent::task::Task;
use patchwright_page::{ROOT, Viewer};
use patchwright_store::reviews::{DecisionKind, NewDecision};
use serde::Deserialize;

/// Letters of a reason.
const LONGEST: usize = 4000;

/// A run and the number of its attempt, and what is decided about it.
type Decision = (String, u32, String);

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

fn needed(given: bool, message: &str) -> Result<(), Refused> {
    let refused = || Refused::impossible(message);
    given.then_some(()).ok_or_else(refused)
}

fn may(allowed: bool) -> Result<(), Refused> {
    let refused = || Refused::forbidden("the role of this token does not cover this");
    allowed.then_some(()).ok_or_else(refused)
}

/// Carries out what a person decides about a candidate.
pub(super) async fn decide(
    State(review): State<Review>,
    Extension(viewer): Extension<Viewer>,
    Path((run, number, word)): Path<Decision>,
    Form(form): Form<Decided>,
) -> Answer {
    let kind = DecisionKind::read(&word);
    let kind = kind.ok_or_else(|| Refused::missing(format!("there is no decision {word:?}")))?;
    let revise = kind == DecisionKind::Reject && form.revise == "yes";
    may(match kind {
        DecisionKind::Evaluate => viewer.starts,
        _ => viewer.decides && (viewer.starts || !revise),
    })?;
    let (_, report, _) = review.report(&run).await?;
    let attempt = follow_up::attempt(&report, number)?;
    let mut decision = follow_up::decision(kind, (&report, number), &viewer.name)?;
    decision.reason = form.reason();
    match kind {
        DecisionKind::Approve => {}
        DecisionKind::Reject => needed(!decision.reason.is_empty(), "a rejection needs a reason")?,
        DecisionKind::Contest => {
            let mut doubts = attempt.rungs.iter().flat_map(|rung| &rung.doubts);
            let known = doubts.any(|doubt| doubt.input.as_ref() == Some(&form.input));
            let message = "a doubt is contested with its input and a reason";
            needed(known && !decision.reason.is_empty(), message)?;
            decision.input = Some(form.input);
        }
        DecisionKind::Evaluate => return review.evaluate((&run, number), decision).await,
        DecisionKind::Export => {
            let bytes = attempt.delivered_bytes();
            review.store.decide(&run, &decision).await?;
            let name = format!("attempt-{number}.diff");
            return Ok(download(&name, "text/x-diff", bytes));
        }
        DecisionKind::Revise | DecisionKind::Cancel => {
            return Err(Refused::missing(format!("{word:?} is decided elsewhere")).into());
        }
    }
    review.store.decide(&run, &decision).await?;
    if revise {
        return review.revise((&run, number), decision).await;
    }
    Ok(Redirect::to(&format!("{ROOT}/runs/{run}/attempts/{number}")).into_response())
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
    /// Has a candidate climb the ladder, in a run of its own.
    async fn evaluate(&self, (run, number): (&str, u32), decision: NewDecision) -> Answer {
        let snapshot = Snapshot::read(&self.store, &self.loaded.settings, run).await?;
        let (task, _) = follow_up::evaluate(&self.store, &snapshot, (run, number)).await?;
        self.follow(task, run, decision).await
    }

    /// Starts another attempt, because a person rejected one.
    async fn revise(&self, (run, number): (&str, u32), rejected: NewDecision) -> Answer {
        let snapshot = Snapshot::read(&self.store, &self.loaded.settings, run).await?;
        let because = (rejected.reason.as_str(), rejected.who.as_str());
        let task = follow_up::revise(&snapshot, (run, number), because)?;
        let next = NewDecision {
            kind: DecisionKind::Revise,
            ..rejected
        };
        self.follow(task, run, next).await
    }

    /// Starts a follow-up and writes the decision with it.
    async fn follow(&self, task: Task, run: &str, decision: NewDecision) -> Answer {
        let (id, page) = self.start(task, &decision.who).await?;
        let decision = NewDecision {
            follow_up: Some(id),
            ..decision
        };
        self.store.decide(run, &decision).await?;
        Ok(Redirect::to(&page).into_response())
    }
}
