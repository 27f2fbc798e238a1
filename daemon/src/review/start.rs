//! Start of follow-up runs: in the queue of a daemon, or in this process.

use super::Review;
use super::refused::Refused;
use crate::follow_up;
use crate::service::Service;
use anyhow::Context;
use patchwright_agent::progress::Observer;
use patchwright_agent::task::Task;
use patchwright_config::Loaded;
use patchwright_page::ROOT;
use patchwright_run::admission;
use patchwright_run::session::{Right, Session, Start};
use patchwright_store::Store;
use patchwright_store::submissions::{Canceled, NewTask, Submitted};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Origin of tasks that are started here.
const ORIGIN: &str = "review";
/// Letters of a task's id that its follow-ups keep; theirs is longer by time and number.
const KEPT: usize = 100;

/// Whoever works on follow-ups.
#[derive(Debug, Clone)]
pub(super) enum Starter {
    /// The workers of a queue.
    Queue(Service),
    /// This process.
    Here {
        store: Store,
        loaded: Arc<Loaded>,
        running: Arc<Mutex<BTreeMap<String, CancellationToken>>>,
    },
}

/// A follow-up that was started: the id of its task or run, and the page that shows it.
pub(super) type Started = (String, String);

impl Starter {
    pub(super) fn here(store: Store, loaded: Arc<Loaded>) -> Self {
        Self::Here {
            store,
            loaded,
            running: Arc::default(),
        }
    }

    /// Tells whether this process works on a run.
    pub(super) fn works_on(&self, run: &str) -> bool {
        match self {
            Self::Queue(_) => false,
            Self::Here { running, .. } => {
                let running = running.lock().unwrap_or_else(PoisonError::into_inner);
                running.contains_key(run)
            }
        }
    }
}

impl Review {
    /// Starts the run of a follow-up.
    pub(super) async fn start(&self, task: Task, who: &str) -> anyhow::Result<Started> {
        match &self.starter {
            Starter::Queue(service) => self.submit(service, task, who).await,
            Starter::Here {
                store,
                loaded,
                running,
            } => begin((store, loaded), task, running.clone(), self.stop.clone()).await,
        }
    }

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
        match &self.starter {
            Starter::Here { running, .. } => {
                let running = running.lock().unwrap_or_else(PoisonError::into_inner);
                let stop = running.get(run);
                stop.inspect(|stop| stop.cancel());
                Ok(stop.is_some())
            }
            Starter::Queue(service) => {
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
}

/// Begins a run, and works on it beside the pages until it ends or they do.
async fn begin(
    (store, loaded): (&Store, &Arc<Loaded>),
    task: Task,
    running: Arc<Mutex<BTreeMap<String, CancellationToken>>>,
    stop: CancellationToken,
) -> anyhow::Result<Started> {
    let (answers, foreign) = follow_up::answers(&task, loaded).map_err(follow_up::NoFollowUp)?;
    let id = patchwright_run::run_id(&task.id);
    let start = Start::new(Right::Run(id.clone()), answers, &loaded.settings)?;
    let start = Start { foreign, ..start };
    let session = Session::begin(store, task, loaded.as_ref().clone(), start).await?;
    let own = stop.child_token();
    running
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(id.clone(), own.clone());
    let name = id.clone();
    tokio::spawn(async move {
        // On the heap: the future of a whole run is large.
        let driven = Box::pin(session.drive((Observer::silent(), None), &own)).await;
        let ended = match driven {
            Ok(run) => session.conclude(&run).await.map(|_| ()),
            Err(error) => Err(error),
        };
        if let Err(error) = ended.context("a follow-up failed") {
            tracing::error!(
                run = name,
                error = format!("{error:#}"),
                "a run was cut off"
            );
        }
        running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&name);
    });
    let page = format!("{ROOT}/runs/{id}");
    Ok((id, page))
}
