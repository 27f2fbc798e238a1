//! Stored cases, findings and patches: the same on SQLite and on PostgreSQL.

use crate::store::stores;
use patchwright_daemon::crs::rows::{
    CaseRow, CaseState, Fate, FindingKind, FindingRow, FindingState, PatchRow,
};
use patchwright_store::Store;
use patchwright_store::crs::Written;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

fn case(id: &str, deadline: Option<i64>) -> CaseRow {
    CaseRow {
        id: id.to_owned(),
        project: "twins".to_owned(),
        detail: None,
        prepared: None,
        state: CaseState::Waiting,
        problem: None,
        deadline,
        created: 0,
    }
}

fn finding(id: &str, case: &str) -> FindingRow {
    FindingRow {
        id: id.to_owned(),
        case: case.to_owned(),
        kind: FindingKind::Pov,
        request: serde_json::from_value(json!({
            "project_name": "twins", "blobs": [], "pov_id": id, "sarif_report": null, "type": "full",
        }))
        .unwrap(),
        round: 0,
        state: FindingState::Open,
        patch: None,
    }
}

fn patch(id: &str, case: &str) -> PatchRow {
    let stops = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
    PatchRow {
        id: id.to_owned(),
        case: case.to_owned(),
        finding: "a".to_owned(),
        diff: "eA==".to_owned(),
        doubt: 1,
        stops: stops.clone(),
        tried: stops,
        fate: None,
        remote: None,
        sent: 0,
        rests: 0,
        created: 1,
    }
}

/// Hands in a message with a case and its findings.
async fn take(store: &Store, message: Option<&str>, case: &CaseRow, findings: &[FindingRow]) {
    let mut brought = vec![Written::of(case).unwrap()];
    brought.extend(findings.iter().map(|finding| Written::of(finding).unwrap()));
    store.crs_take(message, &brought).await.unwrap();
}

async fn case_of(store: &Store, id: &str) -> Option<CaseRow> {
    store.crs_record(id).await.unwrap()
}

async fn finding_of(store: &Store, id: &str) -> Option<FindingRow> {
    store.crs_record(id).await.unwrap()
}

async fn findings_of(store: &Store, case: &str) -> Vec<FindingRow> {
    store.crs_records(Some(case)).await.unwrap()
}

async fn patches_of(store: &Store, case: &str) -> Vec<PatchRow> {
    store.crs_records(Some(case)).await.unwrap()
}

#[tokio::test]
async fn a_message_is_taken_once_and_nobody_writes_over_a_cancellation() {
    for (_folder, store) in stores().await {
        let challenge = case("c", Some(i64::MAX));
        take(&store, Some("m"), &challenge, &[finding("a", "c")]).await;
        let again = case("d", Some(i64::MAX));
        take(&store, Some("m"), &again, &[finding("b", "d")]).await;
        assert_eq!(case_of(&store, "d").await, None, "the same message");
        // Somebody read both before they were canceled.
        let before = case_of(&store, "c").await.unwrap();
        assert_eq!(before, challenge);
        let open = finding_of(&store, "a").await.unwrap();
        let canceled = CaseRow {
            state: CaseState::Canceled,
            ..before.clone()
        };
        store.crs_set(&canceled).await.unwrap();
        let failed = FindingRow {
            state: FindingState::Failed,
            ..open.clone()
        };
        assert!(store.crs_change(&open, &failed).await.unwrap());
        let after = CaseRow {
            state: CaseState::Processing,
            ..before.clone()
        };
        assert!(!store.crs_change(&before, &after).await.unwrap());
        let patched = FindingRow {
            state: FindingState::Stopped,
            ..open.clone()
        };
        assert!(!store.crs_change(&open, &patched).await.unwrap());
        let rows = findings_of(&store, "c").await;
        assert_eq!(rows[0].state, FindingState::Failed);
        assert!(!case_of(&store, "c").await.unwrap().is_open(0));
    }
}

#[tokio::test]
async fn patches_come_back_as_they_went_and_one_process_watches() {
    for (_folder, store) in stores().await {
        take(&store, None, &case("c", None), &[finding("a", "c")]).await;
        let mut sent = patch("p", "c");
        store.crs_set(&sent).await.unwrap();
        sent.fate = Some(Fate::DeadlineExceeded);
        sent.remote = Some("r".to_owned());
        sent.sent = 2;
        sent.rests = 1_795_000_000_000;
        store.crs_set(&sent).await.unwrap();
        assert_eq!(patches_of(&store, "c").await, [sent]);
        let now = 1_795_000_000_000;
        assert!(store.crs_lease("one", now, now + 10).await.unwrap());
        assert!(!store.crs_lease("two", now + 5, now + 15).await.unwrap());
        assert!(store.crs_lease("one", now + 5, now + 20).await.unwrap());
        assert!(store.crs_lease("two", now + 21, now + 30).await.unwrap());
        assert!(!store.crs_lease("one", now + 22, now + 40).await.unwrap());
    }
}

#[tokio::test]
async fn ended_rows_are_deleted_in_time() {
    for (_folder, store) in stores().await {
        let (late, known) = (case("late", Some(1)), case("known", None));
        take(&store, Some("m"), &late, &[finding("a", "late")]).await;
        let findings = ["b", "c"].map(|id| finding(id, "known"));
        take(&store, None, &known, &findings).await;
        for (id, case) in [("p", "late"), ("q", "known")] {
            store.crs_set(&patch(id, case)).await.unwrap();
        }
        let open = finding_of(&store, "b").await.unwrap();
        let closed = FindingRow {
            state: FindingState::Stopped,
            ..open.clone()
        };
        assert!(store.crs_change(&open, &closed).await.unwrap());
        store.prune(Duration::from_hours(1)).await.unwrap();
        assert_eq!(case_of(&store, "late").await, None);
        assert!(finding_of(&store, "b").await.is_some(), "it is young");
        std::thread::sleep(Duration::from_millis(5));
        store.prune(Duration::ZERO).await.unwrap();
        assert!(finding_of(&store, "b").await.is_none());
        let left = findings_of(&store, "known").await;
        assert_eq!(left.len(), 1, "what is open stays: {left:?}");
        assert!(patches_of(&store, "known").await.is_empty());
    }
}
