//! `kill -9` of workers, again and again, while others go on.

use super::farm::{Database, ENDING, Farm};
use std::time::Duration;

/// How many workers there are.
const WORKERS: usize = 3;

/// How often one of them is killed.
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
    let mut workers: Vec<_> = (0..WORKERS).map(|_| farm.worker()).collect();
    let mut state = 88_172_645_463_325_252_u64;
    for kill in 0..kills() {
        // Marsaglia's xorshift: moments that look random and are the same
        // every time.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        tokio::time::sleep(Duration::from_millis(300 + state % 1200)).await;
        // The old one is killed where it is dropped.
        workers[kill % WORKERS] = farm.worker();
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
