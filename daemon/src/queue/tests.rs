//! Tests of the queue on SQLite; the daemon's tests ask the same of PostgreSQL.

use super::{LeaseHolder, Queue};
use patchwright_store::Store;
use patchwright_store::submissions::Issue;
use std::time::Duration;

async fn queue(lost_after: Duration) -> (tempfile::TempDir, Queue) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    let queue = Queue::open(&store, lost_after).await.unwrap();
    // Opening twice is what the next process does.
    (
        folder,
        Queue::open(&store, lost_after)
            .await
            .map(|_| queue)
            .unwrap(),
    )
}

fn issue(id: &str, priority: i64, place: Option<&str>) -> Issue {
    Issue {
        id: id.to_owned(),
        number: 1,
        priority,
        place: place.map(str::to_owned),
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
    let (_folder, queue) = queue(Duration::from_secs(30)).await;
    let (here, there) = (holder("a", "here"), holder("b", "there"));
    queue.beat(&here).await.unwrap();
    queue.beat(&there).await.unwrap();
    let issues = [
        issue("low", -5, None),
        issue("lower", -5, None),
        issue("high", 9_000, None),
        issue("mine", 0, Some("here")),
    ];
    queue.put(&issues).await.unwrap();
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
    let (_folder, queue) = queue(Duration::ZERO).await;
    let (old, new) = (holder("old", "h"), holder("new", "h"));
    for holder in [&old, &new] {
        queue.beat(holder).await.unwrap();
    }
    queue.put(&[issue("t", 0, None)]).await.unwrap();
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
