//! Journals, epochs, blobs and money.

use super::{Journal, Store, StoreError};
use patchwright_agent::journal::{EventKind, NewEvent, SpendingLimits};
use patchwright_agent::record::StepId;
use serde_json::json;

async fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    store.create_run("r", ("t", "{}"), "{}").await.unwrap();
    (folder, store)
}

fn event(name: &str) -> NewEvent {
    NewEvent {
        step: StepId { lane: 1, number: 2 },
        kind: EventKind::Intent,
        name: name.into(),
        summary: "about to".into(),
        body: json!({"a": [1, "\u{0}x"]}),
    }
}

#[tokio::test]
async fn nobody_else_reads_what_is_stored() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("state/patchwright");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    // As an earlier version left it.
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("patchwright.db"), "").unwrap();
    for _ in 0..2 {
        let store = Store::open(&folder).await.unwrap();
        store.create_run("r", ("t", "{}"), "{}").await.ok();
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            if name.starts_with("patchwright.db") {
                assert_eq!(mode(&entry.path()), 0o600, "{name}");
            }
        }
    }
    let made = root.path().join("new/state");
    let _store = Store::open(&made).await.unwrap();
    assert_eq!(mode(&made), 0o700);
}

#[tokio::test]
async fn events_come_back_in_order() {
    let (_folder, store) = store().await;
    let journal = Journal::claim(&store, "r").await.unwrap();
    assert_eq!(journal.append(event("one")).await.unwrap(), 1);
    assert_eq!(journal.append(event("two")).await.unwrap(), 2);
    let events = store.events("r").await.unwrap();
    assert_eq!(
        events
            .iter()
            .map(|event| event.name.as_str())
            .collect::<Vec<_>>(),
        ["one", "two"]
    );
    assert_eq!(events[1].body, event("two").body);
}

#[tokio::test]
async fn who_was_superseded_writes_nothing() {
    let (_folder, store) = store().await;
    let old = Journal::claim(&store, "r").await.unwrap();
    let new = Journal::claim(&store, "r").await.unwrap();
    assert!(matches!(
        old.append(event("late")).await,
        Err(StoreError::Superseded { .. })
    ));
    assert!(matches!(
        old.finish("verified", "{}").await,
        Err(StoreError::Superseded { .. })
    ));
    new.append(event("fresh")).await.unwrap();
    assert_eq!(store.events("r").await.unwrap().len(), 1);
    assert!(matches!(
        Journal::claim(&store, "none").await,
        Err(StoreError::NoRun { .. })
    ));
}

#[tokio::test]
async fn blobs_are_kept_once() {
    let (_folder, store) = store().await;
    let hash = store.keep(b"log").await.unwrap();
    assert_eq!(store.keep(b"log").await.unwrap(), hash);
    assert_eq!(store.blob(&hash).await.unwrap().unwrap(), b"log");
    assert_eq!(store.keep(b"").await.unwrap(), "");
    assert_eq!(store.blob("none").await.unwrap(), None);
}

#[tokio::test]
async fn money_is_reserved_before_and_settled_after() {
    let (_folder, store) = store().await;
    let journal = Journal::claim(&store, "r").await.unwrap();
    let limits = SpendingLimits {
        run: Some(1.0),
        ..SpendingLimits::default()
    };
    journal.reserve(1, 0.6, limits).await.unwrap();
    let refused = journal
        .reserve(2, 0.6, limits)
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("run limit of 1.0000"), "{refused}");
    journal.settle(1, 0.1).await.unwrap();
    journal.reserve(2, 0.6, limits).await.unwrap();
    let day = SpendingLimits {
        day: Some(0.5),
        ..SpendingLimits::default()
    };
    assert!(matches!(
        journal.reserve(3, 0.1, day).await,
        Err(StoreError::Money { which: "day", .. })
    ));
}

#[tokio::test]
async fn a_limit_holds_for_many_at_once() {
    let (_folder, store) = store().await;
    let journal = Journal::claim(&store, "r").await.unwrap();
    let limits = SpendingLimits {
        total: Some(1.0),
        ..SpendingLimits::default()
    };
    let calls = (0..20).map(|number| {
        let journal = journal.clone();
        tokio::spawn(async move { journal.reserve(number, 0.3, limits).await.is_ok() })
    });
    let granted = futures::future::join_all(calls)
        .await
        .into_iter()
        .filter(|done| *done.as_ref().unwrap())
        .count();
    assert_eq!(granted, 3);
}
