//! A queue with several workers: nothing is lost and nothing is done twice,
//! whatever happens to the workers, on SQLite and on PostgreSQL.

mod batch;
mod farm;
mod kills;

use farm::{Database, Farm};
use patchwright_store::submissions::{Canceled, TaskState};
use patchwright_tests::model::{Misbehaviour, ScriptedModel};
use patchwright_tests::postgres::Postgres;
use patchwright_tests::program::PATCH;
use std::process::Command;
use std::time::Duration;

/// Says something to a process: `STOP`, `CONT`, `TERM`.
fn signal(process: u32, name: &str) {
    let sent = Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

#[tokio::test]
async fn a_frozen_worker_that_comes_back_kills_what_it_runs_and_writes_nothing() {
    for database in Database::both() {
        let farm = Farm::new(database, "1h").await;
        farm.submit(1).await;
        let mut frozen = farm.worker();
        farm.until(|row| row.state == TaskState::Running && row.run.is_some())
            .await;
        farm::until(|| !farm::children(frozen.id()).is_empty());
        farm.freeze(&frozen).await;
        let mut next = farm.worker();
        farm.until(|row| row.claims == 2).await;
        farm::until(|| !farm::children(next.id()).is_empty());
        signal(frozen.id(), "CONT");
        farm::until(|| farm::children(frozen.id()).is_empty());
        let row = farm.row("task-0").await;
        assert_eq!((row.claims, row.state), (2, TaskState::Running), "{row:?}");
        // The run is the same, and the old claim wrote nothing after the new one.
        let events = farm.events(row.run.as_deref().unwrap()).await;
        let epochs: Vec<i64> = events.iter().map(|event| event.epoch).collect();
        assert!(epochs.is_sorted(), "{epochs:?}");
        assert!(
            frozen.try_wait().unwrap().is_none(),
            "it goes on with other tasks"
        );
        frozen.kill().unwrap();
        next.kill().unwrap();
    }
}

#[tokio::test]
async fn a_worker_that_is_asked_to_end_hands_back_and_the_next_goes_on() {
    let farm = Farm::new(Database::Sqlite, "2s").await;
    farm.submit(1).await;
    let mut first = farm.worker();
    farm.until(|row| row.state == TaskState::Running && row.run.is_some())
        .await;
    let run = farm.row("task-0").await.run;
    signal(first.id(), "TERM");
    assert_eq!(first.wait().unwrap().code(), Some(0));
    let row = farm.row("task-0").await;
    assert_eq!((row.state, &row.run), (TaskState::Queued, &run));
    let _second = farm.worker();
    farm.until(|row| row.state.is_over()).await;
    let row = farm.row("task-0").await;
    assert_eq!(
        (row.claims, row.failures, &row.run),
        (2, 0, &run),
        "{row:?}"
    );
    assert_eq!(row.ending.as_deref(), farm::ENDING, "{row:?}");
}

#[tokio::test]
async fn a_canceled_task_is_killed_and_a_paused_queue_waits() {
    let farm = Farm::new(Database::Sqlite, "1h").await;
    farm.service.store().set_paused(true).await.unwrap();
    farm.submit(2).await;
    let worker = farm.worker();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(farm.service.store().depth().await.unwrap().queued, 2);
    farm.service.store().set_paused(false).await.unwrap();
    farm::until(|| !farm::children(worker.id()).is_empty());
    let running = farm.service.store().cancel("task-0").await.unwrap();
    let queued = farm.service.store().cancel("task-1").await.unwrap();
    // Both are of one priority: the first handed in is the first taken.
    assert_eq!((running, queued), (Canceled::Running, Canceled::Queued));
    farm.until(|row| row.state == TaskState::Canceled).await;
    farm::until(|| farm::children(worker.id()).is_empty());
    let report = farm.service.report("task-0").await.unwrap().unwrap();
    assert_eq!(report.ending, "canceled");
}

#[tokio::test]
async fn a_run_that_no_model_can_answer_is_woken_when_its_time_has_come() {
    for database in Database::both() {
        let mut asked = 0;
        let model = ScriptedModel::answering(move |_| {
            asked += 1;
            match asked {
                1 => Misbehaviour::TooManyRequests.into(),
                _ => PATCH.into(),
            }
        });
        let farm = Farm::asking(model.unwrap(), database, "0s").await;
        farm.submit(1).await;
        let _worker = farm.worker_with(&[
            "limits.pause=0s",
            "model.retries.pause=1s",
            "model.retries.count=0",
        ]);
        farm.until(|row| row.state.is_over()).await;
        let row = farm.row("task-0").await;
        assert_eq!(row.ending.as_deref(), farm::ENDING, "{row:?}");
        assert_eq!((row.claims, row.failures), (2, 0), "{row:?}");
        farm.check_run(&row).await;
    }
}

#[tokio::test]
async fn a_run_that_waits_for_a_model_holds_no_worker() {
    let model = ScriptedModel::answering(|_| Misbehaviour::TooManyRequestsLongWait.into());
    let farm = Farm::asking(model.unwrap(), Database::Sqlite, "0s").await;
    farm.submit(2).await;
    let _worker = farm.worker();
    farm.until(|row| row.state == TaskState::Paused).await;
    let depth = farm.service.store().depth().await.unwrap();
    assert_eq!((depth.waiting, depth.running, depth.queued), (2, 0, 0));
    for id in ["task-0", "task-1"] {
        assert_eq!(
            farm.service.store().cancel(id).await.unwrap(),
            Canceled::Queued
        );
    }
}

#[tokio::test]
async fn a_postgresql_that_is_restarted_is_waited_for() {
    let mut server = Postgres::start().unwrap();
    let url = server.database().unwrap();
    let farm = Farm::new(Database::At(url), "1s").await;
    farm.submit(4).await;
    let _workers = [farm.worker(), farm.worker()];
    farm.until_any(|row| row.run.is_some()).await;
    server.down().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    server.up().unwrap();
    farm.until(|row| row.state.is_over()).await;
    for row in farm.rows().await {
        assert_eq!(row.ending.as_deref(), farm::ENDING, "{row:?}");
        assert_eq!(row.failures, 0, "{row:?}");
        farm.check_run(&row).await;
    }
}
