//! What becomes of tickets and tasks, with a queue in memory; the runs
//! themselves are the integration tests' business.

use super::{Came, Crew, Observers, Work};
use crate::queue::test_double::MemoryQueue;
use crate::service::Service;
use patchwright_agent::progress::Observer;
use patchwright_config::{self as settings, Flag, Loaded, Sources};
use patchwright_store::submissions::{Back, NewTask, TaskState};
use patchwright_store::{Journal, Store, StoreError};
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn loaded(folder: &Path) -> Loaded {
    let folder = folder.display().to_string();
    let values = [
        ("store.folder", folder.as_str()),
        ("cache.folder", &folder),
        ("queue.claims", "2"),
        ("queue.free_mb", "0"),
    ];
    let flags = values.map(|(key, value)| Flag {
        name: "test".to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
    });
    let sources = Sources {
        flags: flags.to_vec(),
        ..Sources::default()
    };
    settings::load(&sources).unwrap()
}

async fn crew(folder: &Path) -> (Service, Crew, Arc<MemoryQueue>) {
    let service = Service::new(Store::open(folder).await.unwrap());
    let queue = Arc::new(MemoryQueue::default());
    let observers: Observers = Arc::new(|_| Observer::silent());
    let crew = Crew::new(&service, queue.clone(), loaded(folder), observers);
    (service, crew, queue)
}

fn new(id: &str, deadline: Option<jiff::Timestamp>) -> NewTask {
    NewTask {
        id: id.to_owned(),
        task: "{}".to_owned(),
        deadline,
        origin: "cli".to_owned(),
        ..NewTask::default()
    }
}

#[tokio::test]
async fn a_task_that_is_too_late_ends_and_one_that_fails_waits() {
    let folder = tempfile::tempdir().unwrap();
    let (service, crew, queue) = crew(folder.path()).await;
    let late = new("late", Some(jiff::Timestamp::UNIX_EPOCH));
    service.submit(vec![late, new("bad", None)]).await.unwrap();
    assert_eq!(crew.issue_some().await.unwrap(), 2);
    assert_eq!(crew.issue_some().await.unwrap(), 0);
    let stop = CancellationToken::new();
    for _ in 0..2 {
        let ticket = crew.take().await.unwrap().unwrap();
        crew.attend(ticket, &stop).await;
    }
    assert_eq!(queue.left(), 0);
    let late = service.task("late").await.unwrap().unwrap();
    assert_eq!(
        (late.state, late.ending.as_deref()),
        (TaskState::Done, Some("deadline"))
    );
    let bad = service.task("bad").await.unwrap().unwrap();
    assert_eq!(
        (bad.state, bad.failures, bad.run),
        (TaskState::Queued, 1, None)
    );
    // It is not due yet.
    assert_eq!(crew.issue_some().await.unwrap(), 0);
}

#[tokio::test]
async fn a_paused_queue_gives_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (service, crew, _queue) = crew(folder.path()).await;
    service.submit(vec![new("a", None)]).await.unwrap();
    crew.issue_some().await.unwrap();
    service.pause().await.unwrap();
    assert_eq!(crew.take().await.unwrap(), None);
    service.resume().await.unwrap();
    assert!(crew.take().await.unwrap().is_some());
}

#[tokio::test]
async fn who_takes_over_has_the_task_and_who_was_given_up_loses_it() {
    let folder = tempfile::tempdir().unwrap();
    let (service, crew, queue) = crew(folder.path()).await;
    service.submit(vec![new("a", None)]).await.unwrap();
    crew.issue_some().await.unwrap();
    let first = crew.take().await.unwrap().unwrap();
    let old = crew
        .store
        .claim("a", first.number, "h")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(crew.take().await.unwrap(), None);
    queue.bury(crew.name());
    let second = crew.take().await.unwrap().unwrap();
    assert_eq!(first, second);
    let new = crew.store.claim("a", second.number, "h").await;
    let new = new.unwrap().unwrap();
    Work::new(&crew, &old).lost().await;
    assert!(matches!(
        Journal::begin(&crew.store, &old, "run", ("{}", "{}")).await,
        Err(StoreError::Superseded { .. })
    ));
    assert!(
        crew.store.run("run").await.is_err(),
        "nothing of it is left"
    );
    let now = jiff::Timestamp::now();
    assert!(
        !crew
            .store
            .hand_back(&old, now, Back::Stopped)
            .await
            .unwrap()
    );
    assert!(
        crew.store
            .hand_back(&new, now, Back::Stopped)
            .await
            .unwrap()
    );
    // The ticket of before does not count any more; the next one does.
    assert_eq!(
        crew.store.claim("a", second.number, "h").await.unwrap(),
        None
    );
    let last = async || {
        let claimed = crew.store.claim("a", second.number + 1, "h").await;
        claimed.unwrap().unwrap()
    };
    last().await;
    // Two workers died with it; the one that handed it back does not count.
    let fourth = last().await;
    assert_eq!((fourth.claims, fourth.handed_back), (4, 1));
    let came = Work::new(&crew, &fourth).carry_out().await;
    let Came::Ended(ending) = came else {
        panic!("{came:?}");
    };
    assert_eq!(ending.ending, "infra_error");
    assert!(ending.detail.contains("2 workers took it"), "{ending:?}");
}

#[tokio::test]
async fn a_task_that_waits_for_a_model_is_not_running_and_is_woken() {
    let folder = tempfile::tempdir().unwrap();
    let (service, crew, _queue) = crew(folder.path()).await;
    let tasks = ["now", "later"].map(|id| new(id, None));
    service.submit(tasks.to_vec()).await.unwrap();
    crew.issue_some().await.unwrap();
    let now = jiff::Timestamp::now();
    let later = now + jiff::SignedDuration::from_hours(1);
    for (id, due) in [("now", now), ("later", later)] {
        let claimed = crew.store.claim(id, 1, "h").await.unwrap().unwrap();
        Journal::begin(&crew.store, &claimed, &format!("run of {id}"), ("{}", "{}"))
            .await
            .unwrap();
        let given = crew.store.hand_back(&claimed, due, Back::Paused).await;
        assert!(given.unwrap());
        let row = service.task(id).await.unwrap().unwrap();
        assert_eq!(row.state, TaskState::Paused);
    }
    let depth = service.depth().await.unwrap();
    assert_eq!((depth.paused, depth.running, depth.queued), (2, 0, 0));
    assert_eq!(crew.issue_some().await.unwrap(), 1, "one is due");
    let woken = crew.store.claim("now", 2, "h").await.unwrap().unwrap();
    assert_eq!(woken.run.as_deref(), Some("run of now"), "its run goes on");
    assert_eq!(crew.store.claim("later", 2, "h").await.unwrap(), None);
    service.cancel("later").await.unwrap();
    let row = service.task("later").await.unwrap().unwrap();
    assert_eq!(row.state, TaskState::Canceled);
}
