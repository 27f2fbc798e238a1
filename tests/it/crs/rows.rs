//! Stored cases, findings and patches: the same on SQLite and on PostgreSQL.

use crate::store::stores;
use patchwright_store::crs::{
    Brought, CaseRow, CaseState, Fate, FindingKind, FindingRow, FindingState, PatchRow,
};
use std::collections::BTreeSet;
use std::time::Duration;

fn case(id: &str, deadline: Option<i64>) -> CaseRow {
    CaseRow {
        id: id.to_owned(),
        project: "twins".to_owned(),
        detail: deadline.map(|_| "{}".to_owned()),
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
        request: "{}".to_owned(),
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

#[tokio::test]
async fn a_message_is_taken_once_and_nobody_writes_over_a_cancellation() {
    for (_folder, store) in stores().await {
        let brought = |case: CaseRow, finding: FindingRow| Brought {
            message: Some("m".to_owned()),
            cases: vec![case],
            findings: vec![finding],
        };
        let challenge = brought(case("c", Some(i64::MAX)), finding("a", "c"));
        store.crs_take(&challenge).await.unwrap();
        let again = brought(case("d", Some(i64::MAX)), finding("b", "d"));
        store.crs_take(&again).await.unwrap();
        assert_eq!(store.crs_case("d").await.unwrap(), None, "the same message");
        let cases = store.crs_cases(Some("twins")).await.unwrap();
        assert_eq!(cases.len(), 1);
        assert!(store.crs_cases(Some("others")).await.unwrap().is_empty());
        // Somebody read both before they were canceled.
        let before = cases[0].clone();
        let open = store.crs_finding("a").await.unwrap().unwrap();
        store.crs_cancel("c").await.unwrap();
        let after = CaseRow {
            state: CaseState::Processing,
            ..before.clone()
        };
        assert!(!store.crs_change_case(&before, &after).await.unwrap());
        let patched = FindingRow {
            state: FindingState::Patched,
            ..open.clone()
        };
        assert!(!store.crs_change_finding(&open, &patched).await.unwrap());
        let rows = store.crs_findings("c").await.unwrap();
        assert_eq!(rows[0].state, FindingState::Failed);
        assert!(store.crs_open_cases(0).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn patches_come_back_as_they_went_and_one_process_watches() {
    for (_folder, store) in stores().await {
        let known = Brought {
            message: None,
            cases: vec![case("c", None)],
            findings: vec![finding("a", "c")],
        };
        store.crs_take(&known).await.unwrap();
        let mut sent = patch("p", "c");
        store.crs_set_patch(&sent).await.unwrap();
        sent.fate = Some(Fate::DeadlineExceeded);
        sent.remote = Some("r".to_owned());
        sent.sent = 2;
        sent.rests = 1_795_000_000_000;
        store.crs_set_patch(&sent).await.unwrap();
        assert_eq!(store.crs_patches("c").await.unwrap(), [sent]);
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
        let brought = Brought {
            message: Some("m".to_owned()),
            cases: vec![case("late", Some(1)), case("known", None)],
            findings: [("a", "late"), ("b", "known"), ("c", "known")]
                .map(|(id, case)| finding(id, case))
                .to_vec(),
        };
        store.crs_take(&brought).await.unwrap();
        for (id, case) in [("p", "late"), ("q", "known")] {
            store.crs_set_patch(&patch(id, case)).await.unwrap();
        }
        let open = store.crs_finding("b").await.unwrap().unwrap();
        let closed = FindingRow {
            state: FindingState::Closed,
            ..open.clone()
        };
        assert!(store.crs_change_finding(&open, &closed).await.unwrap());
        store.prune(Duration::from_hours(1)).await.unwrap();
        assert_eq!(store.crs_case("late").await.unwrap(), None);
        assert!(
            store.crs_finding("b").await.unwrap().is_some(),
            "it is young"
        );
        std::thread::sleep(Duration::from_millis(5));
        store.prune(Duration::ZERO).await.unwrap();
        assert!(store.crs_finding("b").await.unwrap().is_none());
        let left = store.crs_findings("known").await.unwrap();
        assert_eq!(left.len(), 1, "what is open stays: {left:?}");
        assert!(store.crs_patches("known").await.unwrap().is_empty());
    }
}
