//! Tests of the queue on SQLite; the daemon's tests ask the same of PostgreSQL.

use super::{LeaseHolder, Queue};
use patchwright_store::Store;
use patchwright_store::submissions::NewTask;
use std::time::Duration;

/// A queue with the tickets of these tasks.
async fn queue(lost_after: Duration, tasks: &[NewTask]) -> (tempfile::TempDir, Queue) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    store.submit(tasks).await.unwrap();
    Queue::open(&store, lost_after).await.unwrap();
    // Opening twice is what the next process does.
    let queue = Queue::open(&store, lost_after).await.unwrap();
    assert_eq!(queue.issue(100).await.unwrap(), tasks.len());
    assert_eq!(queue.issue(100).await.unwrap(), 0, "each has one ticket");
    (folder, queue)
}

fn task(id: &str, priority: i32, place: Option<&str>) -> NewTask {
    NewTask {
        id: id.to_owned(),
        priority,
        place: place.map(str::to_owned),
        ..NewTask::default()
    }
}

fn holder(name: &str, place: &str) -> LeaseHolder {
    LeaseHolder {
        name: name.to_owned(),
        place: place.to_owned(),
        shared: true,
    }
}

#[tokio::test]
async fn the_most_urgent_ticket_goes_first_and_to_its_place() {
    let tasks = [
        task("low", -5, None),
        task("lower", -5, None),
        task("high", 9_000, None),
        task("mine", 0, Some("here")),
    ];
    let (_folder, queue) = queue(Duration::from_secs(30), &tasks).await;
    let (here, there) = (holder("a", "here"), holder("b", "there"));
    queue.beat(&here).await.unwrap();
    queue.beat(&there).await.unwrap();
    let mut taken = Vec::new();
    while let Some(ticket) = queue.take(&there).await.unwrap() {
        taken.push(ticket.task);
    }
    assert_eq!(taken, ["high", "low", "lower"]);
    assert_eq!(queue.take(&here).await.unwrap().unwrap().task, "mine");
    assert_eq!(queue.take(&here).await.unwrap(), None);
}

#[tokio::test]
async fn a_ticket_of_the_dead_is_delivered_again_and_theirs_no_more() {
    let (_folder, queue) = queue(Duration::ZERO, &[task("t", 0, None)]).await;
    let (old, new) = (holder("old", "h"), holder("new", "h"));
    for holder in [&old, &new] {
        queue.beat(holder).await.unwrap();
    }
    let first = queue.take(&old).await.unwrap().unwrap();
    assert_eq!(queue.take(&new).await.unwrap(), None);
    queue.beat(&new).await.unwrap();
    let second = queue.take(&new).await.unwrap().unwrap();
    assert_eq!(first, second);
    // The old one comes back: what it says of the ticket means nothing, so the
    // ticket still comes back when the new one dies.
    queue.done(&old, &first).await.unwrap();
    queue.beat(&old).await.unwrap();
    assert!(queue.take(&old).await.unwrap().is_some());
    queue.done(&old, &second).await.unwrap();
    queue.beat(&new).await.unwrap();
    assert_eq!(queue.take(&new).await.unwrap(), None);
}
