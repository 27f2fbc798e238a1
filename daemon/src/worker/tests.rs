//! Tests of tickets and tasks on SQLite; the runs themselves are the integration
//! tests' business.

use super::{Outcome, WorkerPool};
use crate::service::Service;
use patchwright_agent::journal::Standing;
use patchwright_config::{self as settings, Flag, Loaded, Sources};
use patchwright_store::submissions::{Back, Claimed, NewTask, TaskState};
use patchwright_store::{Journal, Store, StoreError};
use std::path::Path;
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
    let mut pool = WorkerPool::new(&service, loaded(folder));
    // Whoever is silent at the next heartbeat of another is given up.
    pool.claimant.lease = Duration::ZERO;
    (service, pool)
}

async fn claim(pool: &WorkerPool, slot: usize) -> Option<Claimed> {
    let claimant = pool.slot(slot).claimant;
    pool.store
        .claim(&claimant, |id| format!("run of {id}"))
        .await
        .unwrap()
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
    let stop = CancellationToken::new();
    for _ in 0..2 {
        let claimed = pool.claim().await.unwrap().unwrap();
        let outcome = pool.carry_out(&claimed, &stop).await;
        pool.record(&claimed, &outcome, &stop).await;
    }
    pool.renew(true).await.unwrap();
    assert_eq!(pool.claim().await.unwrap(), None, "neither is due");
    let late = service.store().task("late").await.unwrap().unwrap();
    assert_eq!(
        (late.state, late.ending.as_deref()),
        (TaskState::Done, Some("deadline"))
    );
    let bad = service.store().task("bad").await.unwrap().unwrap();
    assert_eq!(
        (bad.state, bad.failures, bad.run),
        (TaskState::Queued, 1, None)
    );
}

#[tokio::test]
async fn a_paused_queue_gives_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (service, pool) = pool(folder.path()).await;
    service.submit(vec![new("a", None)]).await.unwrap();
    service.store().set_paused(true).await.unwrap();
    assert_eq!(pool.claim().await.unwrap(), None);
    service.store().set_paused(false).await.unwrap();
    assert!(pool.claim().await.unwrap().is_some());
}

#[tokio::test]
async fn who_takes_over_has_the_task_and_who_was_given_up_loses_it() {
    let folder = tempfile::tempdir().unwrap();
    let (service, pool) = pool(folder.path()).await;
    service.submit(vec![new("a", None)]).await.unwrap();
    let old = claim(&pool, 0).await.unwrap();
    assert_eq!(claim(&pool, 1).await, None);
    pool.renew(true).await.unwrap();
    let new = claim(&pool, 1).await.unwrap();
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
        Journal::claim(&pool.store, "run of a").await,
        Err(StoreError::Queued { .. })
    ));
    let now = jiff::Timestamp::now();
    let hand_back = async |claimed| {
        let handed = pool.store.hand_back(claimed, now, Back::Stopped).await;
        handed.unwrap()
    };
    assert!(!hand_back(&old).await);
    assert!(hand_back(&new).await);
    claim(&pool, 0).await.unwrap();
    // Two workers died with it; the one that handed it back does not count. A
    // worker whose claim was committed without its knowledge has it still.
    let fourth = claim(&pool, 0).await.unwrap();
    assert_eq!((fourth.epoch, fourth.handed_back), (4, 1));
    let outcome = Box::pin(pool.outcome(&fourth)).await;
    let Outcome::Ended(ending) = &outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(ending.ending, "infra_error");
    assert!(ending.detail.contains("2 workers took it"), "{ending:?}");
    assert!(pool.try_record(&fourth, &outcome).await.unwrap());
    assert!(
        pool.store.run("run of a").await.is_err(),
        "nothing is left of a run that was never begun"
    );
}

#[tokio::test]
async fn a_canceled_task_is_not_queued_again() {
    let folder = tempfile::tempdir().unwrap();
    let (service, pool) = pool(folder.path()).await;
    service.submit(vec![new("a", None)]).await.unwrap();
    let claimed = claim(&pool, 0).await.unwrap();
    let journal = Journal::begin(&pool.store, &claimed, ("{}", "{}")).await;
    service.store().cancel("a").await.unwrap();
    let standing = journal.unwrap().standing().await.unwrap();
    assert_eq!(standing, Standing::Canceled);
    let now = jiff::Timestamp::now();
    let handed = pool.store.hand_back(&claimed, now, Back::Failed).await;
    assert!(handed.unwrap());
    let row = service.store().task("a").await.unwrap().unwrap();
    assert_eq!(row.state, TaskState::Canceled);
    assert_eq!(row.ending.as_deref(), Some("canceled"));
}

#[tokio::test]
async fn a_task_that_waits_for_a_model_is_not_running_and_is_woken() {
    let folder = tempfile::tempdir().unwrap();
    let (service, pool) = pool(folder.path()).await;
    let tasks = ["now", "later"].map(|id| new(id, None));
    service.submit(tasks.to_vec()).await.unwrap();
    let now = jiff::Timestamp::now();
    let later = now + jiff::SignedDuration::from_hours(1);
    let both = [
        claim(&pool, 0).await.unwrap(),
        claim(&pool, 1).await.unwrap(),
    ];
    for (claimed, (id, due)) in both.into_iter().zip([("now", now), ("later", later)]) {
        assert_eq!(claimed.id, id);
        let begun = Journal::begin(&pool.store, &claimed, ("{}", "{}")).await;
        begun.unwrap();
        let given = pool.store.hand_back(&claimed, due, Back::Paused).await;
        assert!(given.unwrap());
        let row = service.store().task(id).await.unwrap().unwrap();
        assert_eq!(row.state, TaskState::Paused);
    }
    let depth = service.store().depth().await.unwrap();
    assert_eq!((depth.waiting, depth.running, depth.queued), (2, 0, 0));
    let woken = claim(&pool, 0).await.unwrap();
    assert_eq!((woken.run.as_str(), woken.begun), ("run of now", true));
    assert_eq!(claim(&pool, 1).await, None, "the other is not due");
    service.store().cancel("later").await.unwrap();
    let row = service.store().task("later").await.unwrap().unwrap();
    assert_eq!(row.state, TaskState::Canceled);
}

#[tokio::test]
async fn the_most_urgent_task_goes_first_and_to_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (service, here) = pool(folder.path()).await;
    let mut there = here.clone();
    there.claimant.place = "there".to_owned();
    let task = |id: &str, priority, place: Option<&str>| NewTask {
        priority,
        place: place.map(str::to_owned),
        ..new(id, None)
    };
    let mine = here.claimant.place.as_str();
    let tasks = vec![
        task("low", -5, None),
        task("lower", -5, None),
        task("high", 9_000, None),
        task("mine", 0, Some(mine)),
    ];
    service.submit(tasks).await.unwrap();
    let mut taken = Vec::new();
    while let Some(claimed) = claim(&there, taken.len()).await {
        taken.push(claimed.id);
    }
    assert_eq!(taken, ["high", "low", "lower"]);
    assert_eq!(claim(&here, 8).await.unwrap().id, "mine");
    assert_eq!(claim(&here, 9).await, None);
}
