//! Tests of tickets and tasks on SQLite; the runs themselves are the integration
//! tests' business.

use super::{Observers, Outcome, Work, WorkerPool};
use crate::queue::{LeaseHolder, Queue, Ticket};
use crate::service::Service;
use patchwright_agent::journal::Standing;
use patchwright_agent::progress::Observer;
use patchwright_config::{self as settings, Flag, Loaded, Sources};
use patchwright_store::submissions::{Back, Claimed, NewTask, TaskState};
use patchwright_store::{Journal, Store, StoreError};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
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

async fn pool(folder: &Path) -> (Service, WorkerPool) {
    let service = Service::new(Store::open(folder).await.unwrap());
    let observers: Observers = Arc::new(|_| Observer::silent());
    let pool = WorkerPool::open(&service, loaded(folder), observers);
    let mut pool = pool.await.unwrap();
    // Whoever is silent at the next heartbeat of another is given up.
    let queue = Queue::open(&pool.store, Duration::ZERO).await.unwrap();
    pool.queue = Arc::new(queue);
    pool.queue.beat(&pool.holder).await.unwrap();
    (service, pool)
}

/// Gives back what the pool has leased, as if it had been silent for too long.
async fn bury(pool: &WorkerPool) {
    let other = LeaseHolder {
        name: "other".to_owned(),
        ..pool.holder.clone()
    };
    pool.queue.beat(&other).await.unwrap();
}

async fn claim(pool: &WorkerPool, ticket: &Ticket) -> Option<Claimed> {
    let ticket = (ticket.task.as_str(), ticket.number);
    pool.store.claim(ticket, "h", "run").await.unwrap()
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
    let (service, pool) = pool(folder.path()).await;
    let late = new("late", Some(jiff::Timestamp::UNIX_EPOCH));
    service.submit(vec![late, new("bad", None)]).await.unwrap();
    assert_eq!(pool.queue.issue(9).await.unwrap(), 2);
    assert_eq!(pool.queue.issue(9).await.unwrap(), 0);
    let stop = CancellationToken::new();
    for _ in 0..2 {
        let ticket = pool.take().await.unwrap().unwrap();
        pool.attend(ticket, &stop).await;
    }
    bury(&pool).await;
    assert_eq!(pool.take().await.unwrap(), None, "both are taken away");
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
    assert_eq!(pool.queue.issue(9).await.unwrap(), 0);
}

#[tokio::test]
async fn a_paused_queue_gives_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (service, pool) = pool(folder.path()).await;
    service.submit(vec![new("a", None)]).await.unwrap();
    pool.queue.issue(9).await.unwrap();
    service.pause().await.unwrap();
    assert_eq!(pool.take().await.unwrap(), None);
    service.resume().await.unwrap();
    assert!(pool.take().await.unwrap().is_some());
}

#[tokio::test]
async fn who_takes_over_has_the_task_and_who_was_given_up_loses_it() {
    let folder = tempfile::tempdir().unwrap();
    let (service, pool) = pool(folder.path()).await;
    service.submit(vec![new("a", None)]).await.unwrap();
    pool.queue.issue(9).await.unwrap();
    let first = pool.take().await.unwrap().unwrap();
    let old = claim(&pool, &first).await.unwrap();
    assert_eq!(pool.take().await.unwrap(), None);
    bury(&pool).await;
    let second = pool.take().await.unwrap().unwrap();
    assert_eq!(first, second);
    let new = claim(&pool, &second).await.unwrap();
    assert_eq!((&old.run, old.epoch + 1), (&new.run, new.epoch));
    let standing = |claimed| {
        let journal = Journal::of(&pool.store, claimed);
        async move { journal.standing().await }
    };
    assert!(matches!(
        standing(&old).await,
        Err(StoreError::Superseded { .. })
    ));
    assert_eq!(standing(&new).await.unwrap(), Standing::Held);
    assert!(matches!(
        Journal::begin(&pool.store, &old, ("{}", "{}")).await,
        Err(StoreError::Superseded { .. })
    ));
    assert!(matches!(
        Journal::claim(&pool.store, "run").await,
        Err(StoreError::Queued { .. })
    ));
    let now = jiff::Timestamp::now();
    let hand_back = async |claimed| {
        let handed = pool.store.hand_back(claimed, now, Back::Stopped).await;
        handed.unwrap()
    };
    assert!(!hand_back(&old).await);
    assert!(hand_back(&new).await);
    // The ticket of before does not count any more; the next one does.
    assert_eq!(claim(&pool, &second).await, None);
    let mut next = second.clone();
    next.number += 1;
    claim(&pool, &next).await.unwrap();
    // Two workers died with it; the one that handed it back does not count.
    let fourth = claim(&pool, &next).await.unwrap();
    assert_eq!((fourth.claims, fourth.handed_back), (4, 1));
    let outcome = Work::new(&pool, &fourth).carry_out().await;
    let Outcome::Ended(ending) = &outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(ending.ending, "infra_error");
    assert!(ending.detail.contains("2 workers took it"), "{ending:?}");
    assert!(pool.try_record(&fourth, &outcome).await.unwrap());
    assert!(
        pool.store.run("run").await.is_err(),
        "nothing is left of a run that was never begun"
    );
}

#[tokio::test]
async fn a_canceled_task_is_not_queued_again() {
    let folder = tempfile::tempdir().unwrap();
    let (service, pool) = pool(folder.path()).await;
    service.submit(vec![new("a", None)]).await.unwrap();
    pool.queue.issue(9).await.unwrap();
    let ticket = pool.take().await.unwrap().unwrap();
    let claimed = claim(&pool, &ticket).await.unwrap();
    let journal = Journal::begin(&pool.store, &claimed, ("{}", "{}")).await;
    service.cancel("a").await.unwrap();
    let standing = journal.unwrap().standing().await.unwrap();
    assert_eq!(standing, Standing::Canceled);
    let now = jiff::Timestamp::now();
    let handed = pool.store.hand_back(&claimed, now, Back::Failed).await;
    assert!(handed.unwrap());
    let row = service.task("a").await.unwrap().unwrap();
    assert_eq!(row.state, TaskState::Canceled);
    assert_eq!(row.ending.as_deref(), Some("canceled"));
}

#[tokio::test]
async fn a_task_that_waits_for_a_model_is_not_running_and_is_woken() {
    let folder = tempfile::tempdir().unwrap();
    let (service, pool) = pool(folder.path()).await;
    let tasks = ["now", "later"].map(|id| new(id, None));
    service.submit(tasks.to_vec()).await.unwrap();
    pool.queue.issue(9).await.unwrap();
    let now = jiff::Timestamp::now();
    let later = now + jiff::SignedDuration::from_hours(1);
    for (id, due) in [("now", now), ("later", later)] {
        let run = format!("run of {id}");
        let claimed = pool.store.claim((id, 0), "h", &run).await;
        let claimed = claimed.unwrap().unwrap();
        let begun = Journal::begin(&pool.store, &claimed, ("{}", "{}")).await;
        begun.unwrap();
        let given = pool.store.hand_back(&claimed, due, Back::Paused).await;
        assert!(given.unwrap());
        let row = service.task(id).await.unwrap().unwrap();
        assert_eq!(row.state, TaskState::Paused);
    }
    let depth = service.depth().await.unwrap();
    assert_eq!((depth.waiting, depth.running, depth.queued), (2, 0, 0));
    assert_eq!(pool.queue.issue(9).await.unwrap(), 1, "one is due");
    let woken = pool.store.claim(("now", 1), "h", "new").await;
    let woken = woken.unwrap().unwrap();
    assert_eq!((woken.run.as_str(), woken.begun), ("run of now", true));
    let early = pool.store.claim(("later", 1), "h", "new").await;
    assert_eq!(early.unwrap(), None);
    service.cancel("later").await.unwrap();
    let row = service.task("later").await.unwrap().unwrap();
    assert_eq!(row.state, TaskState::Canceled);
}
