//! The store and the service above it: the same guarantees on SQLite and on a real
//! PostgreSQL.

use patchwright_agent::journal::{EventKind, NewEvent, SpendingLimits};
use patchwright_agent::record::StepId;
use patchwright_config::{self as settings, Flag, Settings, Sources};
use patchwright_daemon::service::Service;
use patchwright_store::runs::RunFilter;
use patchwright_store::submissions::{Canceled, NewTask, Submitted, TaskFilter, TaskState};
use patchwright_store::{Journal, Store, StoreError};
use patchwright_tests::postgres::Postgres;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use tempfile::TempDir;

/// Settings with this state folder and database.
pub(crate) fn settings(folder: &Path, url: &str) -> Settings {
    let flag = |key: &str, value: &str| Flag {
        name: "test".to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
    };
    let folder = folder.display().to_string();
    let sources = Sources {
        flags: vec![
            flag("store.folder", &folder),
            flag("cache.folder", &folder),
            flag("database.url", url),
        ],
        ..Sources::default()
    };
    settings::load(&sources).unwrap().settings
}

/// An empty store of each kind, and the folder it needs.
pub(crate) async fn stores() -> Vec<(TempDir, Store)> {
    let mut stores = Vec::new();
    for url in ["unset", &Postgres::shared().database().unwrap()] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::of(&settings(folder.path(), url)).await.unwrap();
        stores.push((folder, store));
    }
    stores
}

fn event(name: &str) -> NewEvent {
    NewEvent {
        step: StepId { lane: 1, number: 2 },
        kind: EventKind::Intent,
        name: name.into(),
        summary: "a NUL \0 inside".into(),
        body: json!({"a": [1, "\u{0}x"]}),
    }
}

fn task(id: &str) -> NewTask {
    NewTask {
        id: id.to_owned(),
        task: format!("{{\"id\":\"{id}\"}}"),
        origin: "api".to_owned(),
        ..NewTask::default()
    }
}

#[tokio::test]
async fn events_have_numbers_without_gaps_however_many_write() {
    for (_folder, store) in stores().await {
        store.create_run("r", ("t", "{}"), "{}").await.unwrap();
        let journal = Journal::claim(&store, "r").await.unwrap();
        let writers = (0..20).map(|number| {
            let journal = journal.clone();
            tokio::spawn(async move { journal.append(event(&number.to_string())).await.unwrap() })
        });
        let numbers = futures::future::join_all(writers).await;
        let numbers: BTreeSet<i64> = numbers.into_iter().map(Result::unwrap).collect();
        assert_eq!(numbers, (1..=20).collect());
        let events = store.events_after("r", 15, 3).await.unwrap();
        let numbers: Vec<i64> = events.iter().map(|event| event.number).collect();
        assert_eq!(numbers, [16, 17, 18]);
        assert_eq!(events[0].body, event("").body);
    }
}

#[tokio::test]
async fn a_superseded_process_writes_and_spends_nothing() {
    for (_folder, store) in stores().await {
        store.create_run("r", ("t", "{}"), "{}").await.unwrap();
        let old = Journal::claim(&store, "r").await.unwrap();
        old.reserve(1, 0.5, SpendingLimits::default())
            .await
            .unwrap();
        let new = Journal::claim(&store, "r").await.unwrap();
        let refused = [
            old.append(event("late")).await.map(|_| ()),
            old.finish("verified", "{}").await,
            old.reserve(2, 0.5, SpendingLimits::default()).await,
            old.settle(1, 0.1).await,
        ];
        for refused in refused {
            assert!(
                matches!(refused, Err(StoreError::Superseded { .. })),
                "{refused:?}"
            );
        }
        // The reservation of the old one stays booked.
        let limits = SpendingLimits {
            run: Some(0.9),
            ..SpendingLimits::default()
        };
        assert!(matches!(
            new.reserve(2, 0.5, limits).await,
            Err(StoreError::Money { which: "run", .. })
        ));
        new.finish("verified", "{}").await.unwrap();
        let runs = store.runs(&RunFilter::default()).await.unwrap();
        assert_eq!(runs[0].report.as_deref(), Some("{}"));
        let unreadable = store.report("r").await.unwrap_err().to_string();
        assert!(
            unreadable.starts_with("the report of run r cannot be read: missing field"),
            "{unreadable}"
        );
        assert_eq!(
            store
                .blob(&store.keep(b"a\0b").await.unwrap())
                .await
                .unwrap()
                .unwrap(),
            b"a\0b"
        );
    }
}

#[tokio::test]
async fn a_money_limit_holds_over_many_runs_at_once() {
    for (_folder, store) in stores().await {
        let limits = SpendingLimits {
            total: Some(1.0),
            ..SpendingLimits::default()
        };
        let calls = (0..20).map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                let run = format!("r{number}");
                store.create_run(&run, (&run, "{}"), "{}").await.unwrap();
                let journal = Journal::claim(&store, &run).await.unwrap();
                journal.reserve(1, 0.3, limits).await.is_ok()
            })
        });
        let granted = futures::future::join_all(calls).await;
        assert_eq!(
            granted
                .into_iter()
                .filter(|done| *done.as_ref().unwrap())
                .count(),
            3
        );
    }
}

#[tokio::test]
async fn one_id_is_one_task_however_often_it_is_sent() {
    for (_folder, store) in stores().await {
        let service = Service::new(store);
        let callers = (0..40).map(|caller| {
            let service = service.clone();
            tokio::spawn(async move {
                let tasks = vec![task("same"), task(&format!("own-{caller}"))];
                service.submit(tasks).await.unwrap()
            })
        });
        let answers = futures::future::join_all(callers).await;
        let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        let new = answers.iter().filter(|answer| answer[0] == Submitted::New);
        assert_eq!(new.count(), 1);
        assert!(answers.iter().all(|answer| answer[1] == Submitted::New));
        let mut other = task("same");
        other.task = "{\"id\":\"same\",\"title\":\"another\"}".to_owned();
        let differs = service.submit(vec![other]).await.unwrap();
        assert_eq!(differs, [Submitted::Differs]);
        assert_eq!(service.store().depth().await.unwrap().queued, 41);
    }
}

#[tokio::test]
async fn tasks_are_found_by_filter_and_page() {
    for (_folder, store) in stores().await {
        let service = Service::new(store);
        let tasks = (0..25).map(|number| NewTask {
            group: (number % 2 == 0).then(|| "even".to_owned()),
            deadline: Some(jiff::Timestamp::UNIX_EPOCH),
            priority: number,
            ..task(&format!("Task_{number:02}"))
        });
        service.submit(tasks.collect()).await.unwrap();
        service.store().cancel("Task_04").await.unwrap();
        let mut filter = TaskFilter {
            limit: Some(10),
            ..TaskFilter::default()
        };
        let mut seen = Vec::new();
        loop {
            let page = service.store().tasks(&filter).await.unwrap();
            seen.extend(page.tasks.into_iter().map(|task| task.id));
            filter.cursor = page.next;
            if page.next.is_none() {
                break;
            }
        }
        assert_eq!(seen.len(), 25);
        assert_eq!(
            (seen[0].as_str(), seen[24].as_str()),
            ("Task_24", "Task_00")
        );
        let count =
            async |filter: TaskFilter| service.store().tasks(&filter).await.unwrap().tasks.len();
        let group = Some("even".to_owned());
        let even = TaskFilter {
            group,
            ..TaskFilter::default()
        };
        assert_eq!(count(even.clone()).await, 13);
        let state = Some(TaskState::Queued);
        assert_eq!(count(TaskFilter { state, ..even }).await, 12);
        for (text, found) in [("task_1", 10), ("TASK", 25), ("%", 0), ("' OR 1=1", 0)] {
            let text = Some(text.to_owned());
            assert_eq!(
                count(TaskFilter {
                    text,
                    ..TaskFilter::default()
                })
                .await,
                found
            );
        }
        let row = service.store().task("Task_07").await.unwrap().unwrap();
        assert_eq!(
            (row.priority, row.state, row.claims),
            (7, TaskState::Queued, 0)
        );
        assert_eq!(row.deadline.unwrap(), "1970-01-01T00:00:00.000Z");
    }
}

#[tokio::test]
async fn a_task_is_canceled_and_the_queue_is_paused() {
    for (_folder, store) in stores().await {
        let service = Service::new(store);
        service.submit(vec![task("a")]).await.unwrap();
        assert_eq!(
            service.store().cancel("none").await.unwrap(),
            Canceled::Unknown
        );
        assert_eq!(service.store().cancel("a").await.unwrap(), Canceled::Queued);
        assert_eq!(service.store().cancel("a").await.unwrap(), Canceled::Over);
        let row = service.store().task("a").await.unwrap().unwrap();
        assert_eq!(row.state, TaskState::Canceled);
        assert_eq!(row.ending.as_deref(), Some("canceled"));
        assert_eq!(service.report("a").await.unwrap(), None);
        service.store().set_paused(true).await.unwrap();
        service.store().set_paused(true).await.unwrap();
        assert!(service.store().depth().await.unwrap().paused);
        service.store().set_paused(false).await.unwrap();
        let depth = service.store().depth().await.unwrap();
        assert_eq!((depth.paused, depth.queued, depth.canceled), (false, 0, 1));
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_without_saying_it() {
    let folder = tempfile::tempdir().unwrap();
    for url in ["mysql://root:hush@localhost/x", "hush"] {
        let refused = Store::of(&settings(folder.path(), url)).await.unwrap_err();
        let said = refused.to_string();
        assert!(
            said.contains("database.url") && !said.contains("hush"),
            "{said}"
        );
    }
}
