//! One task of a worker, from its claim to its outcome.

use super::WorkerPool;
use crate::follow_up;
use anyhow::Context;
use patchwright_agent::journal::JournalError;
use patchwright_agent::progress::Observer;
use patchwright_agent::record::EndingKind;
use patchwright_agent::task::Task;
use patchwright_run::files;
use patchwright_run::session::{Right, Session};
use patchwright_store::submissions::{Claimed, Ending};
use patchwright_store::{StoreError, now};
use std::fmt;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The outcome of a claim.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The task has an ending.
    Ended(Ending),
    /// The infrastructure failed; it is due again at this time.
    Failed(jiff::Timestamp),
    /// No model can answer before this time; it goes on then.
    Paused(jiff::Timestamp),
    /// This process is about to end; whoever is next goes on.
    Stopped,
    /// Somebody else has the task.
    Lost,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(ending) => f.write_str(&ending.ending),
            Self::Failed(due) => write!(f, "failed, due again at {due}"),
            Self::Paused(until) => write!(f, "paused until {until}"),
            Self::Stopped => f.write_str("handed back"),
            Self::Lost => f.write_str("taken over by somebody else"),
        }
    }
}

impl WorkerPool {
    /// Carries the task's run out: the one that was begun, or a new one.
    pub(super) async fn outcome(&self, claimed: &Claimed) -> Outcome {
        if let Some(ending) = self.over_already(claimed) {
            return Outcome::Ended(ending);
        }
        let finished = if claimed.begun {
            self.go_on(claimed).await
        } else {
            Box::pin(self.begin(claimed)).await
        };
        match finished {
            Ok(outcome) => outcome,
            Err(error) if is_superseded(&error) => Outcome::Lost,
            Err(error) => {
                let ending = EndingKind::InfraError.to_string();
                self.outcome_of(claimed, ending, format!("{error:#}"))
            }
        }
    }

    /// Returns the ending of a task that is not to be worked on.
    fn over_already(&self, claimed: &Claimed) -> Option<Ending> {
        let most = self.loaded.settings.queue.claims;
        let deadline = claimed.deadline.as_ref();
        let late = deadline.is_some_and(|deadline| *deadline <= now());
        let (kind, detail) = if claimed.cancel != 0 {
            (EndingKind::Canceled, "canceled".to_owned())
        } else if late {
            let detail = "the deadline had passed before a worker was free".to_owned();
            (EndingKind::Deadline, detail)
        } else if claimed.epoch - claimed.handed_back > i64::from(most) {
            let detail = format!(
                "{most} workers took it and none came to an end; what it runs may kill them"
            );
            (EndingKind::InfraError, detail)
        } else {
            return None;
        };
        Some(Ending {
            ending: kind.as_str().to_owned(),
            detail,
        })
    }

    /// An ending, or another try when the infrastructure failed.
    fn outcome_of(&self, claimed: &Claimed, ending: String, detail: String) -> Outcome {
        let rules = &self.loaded.settings.queue;
        let failures = u32::try_from(claimed.failures).unwrap_or(u32::MAX);
        if ending != EndingKind::InfraError.as_str() || failures >= rules.retries {
            return Outcome::Ended(Ending { ending, detail });
        }
        let pause = rules.first_delay.saturating_mul(1 << failures.min(20));
        let pause = pause.min(rules.longest_delay);
        tracing::warn!(task = claimed.id, reason = detail, "failed");
        let now = jiff::Timestamp::now();
        Outcome::Failed(now.checked_add(pause).unwrap_or(now))
    }

    /// Begins the run.
    async fn begin(&self, claimed: &Claimed) -> anyhow::Result<Outcome> {
        let loaded = self.loaded.as_ref().clone();
        let mut task: Task =
            serde_json::from_str(&claimed.task).context("the task cannot be read")?;
        let cache = &loaded.settings.cache.folder;
        task = files::lay_out(task, &self.store, cache).await?;
        // Nobody wants the patch after the deadline.
        if let Some(deadline) = &claimed.deadline {
            let left = left_until(deadline, jiff::Timestamp::now())?;
            let wall = patchwright_run::limits(&task, &loaded.settings).wall;
            task.limits.wall = Some(left).filter(|left| *left < wall).or(task.limits.wall);
        }
        let right = Right::Claimed(claimed.clone());
        let session = follow_up::begin(&self.store, (task, loaded), right).await?;
        self.drive(claimed, &session).await
    }

    /// Goes on with the run of a worker that was stopped or died.
    async fn go_on(&self, claimed: &Claimed) -> anyhow::Result<Outcome> {
        let store = &self.store;
        if let Some(report) = store.report(&claimed.run).await? {
            return Ok(self.outcome_of(claimed, report.ending, report.detail));
        }
        let loaded = self.loaded.as_ref().clone();
        let right = Right::Claimed(claimed.clone());
        let session = Session::pick_up(store, right, |_| Ok(loaded)).await?;
        self.drive(claimed, &session).await
    }

    /// Drives a run and writes down how it ended, if it has.
    async fn drive(&self, claimed: &Claimed, session: &Session) -> anyhow::Result<Outcome> {
        let stop = CancellationToken::new();
        // On the heap: the future of a whole run is large.
        let run = Box::pin(session.drive((Observer::silent(), None), &stop)).await?;
        let report = session.conclude(&run).await?;
        Ok(match run.paused() {
            Some((until, _)) => Outcome::Paused(
                until
                    .parse()
                    .with_context(|| format!("the run waits until {until:?}, which is no time"))?,
            ),
            None => self.outcome_of(claimed, report.ending, report.detail),
        })
    }
}

/// Returns the time until a deadline; a moment when it has just passed, so that the run
/// begins and ends for that reason.
fn left_until(deadline: &str, now: jiff::Timestamp) -> anyhow::Result<Duration> {
    let deadline: jiff::Timestamp = deadline
        .parse()
        .with_context(|| format!("the deadline {deadline:?} of the task is no time"))?;
    let left = deadline.duration_since(now).as_secs().max(1);
    Ok(Duration::from_secs(left.unsigned_abs()))
}

fn is_superseded(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StoreError::Superseded { .. }))
        || matches!(error.downcast_ref(), Some(JournalError::Superseded(_)))
}

#[cfg(test)]
mod tests {
    use super::left_until;
    use std::time::Duration;

    #[test]
    fn a_deadline_that_passed_leaves_a_moment_and_not_for_ever() {
        let now = "2030-01-01T00:01:00Z".parse().unwrap();
        let left = |deadline: &str| left_until(deadline, now).ok();
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(left("2030-01-01T00:02:30.000Z"), seconds(90));
        assert_eq!(left("2030-01-01T00:00:00.000Z"), seconds(1));
        assert_eq!(left("tomorrow"), None);
    }
}
