//! `kill -9` of workers and of the daemon, again and again, while others go on.

use super::farm::{Database, ENDING, Farm};
use crate::store::settings;
use patchwright_daemon::service::Service;
use patchwright_store::Store;
use patchwright_tests::command::Patchwright;
use patchwright_tests::daemon::Daemon;
use patchwright_tests::http::Request;
use serde_json::json;
use std::time::Duration;

/// The number of workers.
const WORKERS: usize = 3;

/// Returns the number of kills.
fn kills() -> usize {
    if option_env!("PATCHWRIGHT_SOAK").is_some() {
        200
    } else {
        5
    }
}

/// Kills workers one after the other, each replaced at once, until it was done
/// often enough; then every task must have ended, once.
async fn survives(database: Database) {
    let farm = Farm::new(database, "0s").await;
    let tasks = kills() + WORKERS;
    farm.submit(tasks).await;
    let start = |number: usize| match number % WORKERS {
        0 => farm.daemon(),
        _ => farm.worker(),
    };
    let mut workers: Vec<_> = (0..WORKERS).map(start).collect();
    let mut state = 88_172_645_463_325_252_u64;
    for kill in 0..kills() {
        // Marsaglia's xorshift: moments that look random and are the same
        // every time.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        tokio::time::sleep(Duration::from_millis(300 + state % 1200)).await;
        // The old one is killed where it is dropped.
        workers[kill % WORKERS] = start(kill);
    }
    farm.until(|row| row.state.is_over()).await;
    let rows = farm.rows().await;
    assert_eq!(rows.len(), tasks);
    for row in rows {
        assert_eq!(row.ending.as_deref(), ENDING, "{row:#?}");
        farm.check_run(&row).await;
    }
}

#[tokio::test]
async fn no_task_is_lost_or_done_twice_on_sqlite() {
    survives(Database::Sqlite).await;
}

#[tokio::test]
async fn no_task_is_lost_or_done_twice_on_postgresql() {
    survives(Database::postgres()).await;
}

#[tokio::test]
async fn a_kill_loses_no_acknowledged_task() {
    let patchwright = Patchwright::new().unwrap();
    let daemon = Daemon::start(&patchwright, &["--workers", "0"]).unwrap();
    let taken: Vec<String> = std::thread::scope(|scope| {
        let clients = (0..8).map(|client| {
            let daemon = &daemon;
            scope.spawn(move || {
                let mut taken = Vec::new();
                for number in 0.. {
                    let id = format!("task-{client}-{number}");
                    let task = json!({"id": id, "language": "c", "mode": "dry-run",
                        "source": {"git": "https://github.com/a/b", "revision": "main"}});
                    let request = Request::new("POST", "/api/v1/tasks");
                    let body = task.to_string();
                    match daemon.ask(&request.body("application/json", body)).status {
                        201 => taken.push(id),
                        _ => break,
                    }
                }
                taken
            })
        });
        let clients: Vec<_> = clients.collect();
        std::thread::sleep(Duration::from_millis(700));
        super::signal(daemon.id(), "KILL");
        let taken = clients.into_iter().map(|client| client.join().unwrap());
        taken.flatten().collect()
    });
    assert!(
        taken.len() > 8,
        "{} were taken: {}",
        taken.len(),
        daemon.told()
    );
    let state = patchwright.folder().join("state/patchwright");
    let store = Store::of(&settings(&state, "unset")).await.unwrap();
    let service = Service::new(store);
    for id in taken {
        assert!(
            service.store().task(&id).await.unwrap().is_some(),
            "{id} is lost"
        );
    }
}
