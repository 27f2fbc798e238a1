//! Some small tasks, a model that solves them, and workers to be maltreated.

use super::signal;
use crate::store::settings;
use patchwright_agent::journal::{Event, EventKind};
use patchwright_agent::task;
use patchwright_daemon::service::Service;
use patchwright_store::Store;
use patchwright_store::submissions::{NewTask, TaskFilter, TaskRow};
use patchwright_tests::command::Patchwright;
use patchwright_tests::model::ScriptedModel;
use patchwright_tests::postgres::Postgres;
use patchwright_tests::program::{PATCH, PROGRAM};
use std::collections::BTreeSet;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The limit of waiting before a test fails. No test measures time by it.
const PATIENCE: Duration = Duration::from_mins(5);
/// The addition to it for each task: two hundred kills need as many tasks.
const PATIENCE_FOR_EACH: Duration = Duration::from_secs(6);
const GLANCE: Duration = Duration::from_millis(50);
/// A write takes so long only when somebody holds the database.
const WRITE: Duration = Duration::from_secs(2);

/// The ending of a task of the farm: there are no harmless inputs, so there is
/// nothing to compare with.
pub(super) const ENDING: Option<&str> = Some("plausible");

/// The database of the queue.
#[derive(Debug)]
pub(super) enum Database {
    Sqlite,
    At(String),
}

impl Database {
    pub(super) fn both() -> [Self; 2] {
        [Self::Sqlite, Self::postgres()]
    }

    pub(super) fn postgres() -> Self {
        Self::At(Postgres::shared().database().unwrap())
    }

    fn url(&self) -> &str {
        match self {
            Self::Sqlite => "unset",
            Self::At(url) => url,
        }
    }
}

/// A worker that does not outlive its test.
#[derive(Debug)]
pub(super) struct Worker(Child);

impl Deref for Worker {
    type Target = Child;
    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Worker {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A queue with its workers.
#[derive(Debug)]
pub(super) struct Farm {
    pub(super) service: Service,
    patchwright: Patchwright,
    model: ScriptedModel,
    tests: String,
}

impl Farm {
    /// A queue whose tasks' tests take this long.
    pub(super) async fn new(database: Database, tests: &str) -> Self {
        let model = ScriptedModel::answering(|_| PATCH.into()).unwrap();
        Self::asking(model, database, tests).await
    }

    /// The same with a model of the test's own, asked once a call.
    pub(super) async fn asking(model: ScriptedModel, database: Database, tests: &str) -> Self {
        let patchwright = Patchwright::new()
            .unwrap()
            .with("PATCHWRIGHT_DATABASE__URL", database.url())
            .with("PATCHWRIGHT_MODEL__API_KEY", "none")
            .with("PATCHWRIGHT_LIMITS__ROBUST", "500ms")
            .with("PATCHWRIGHT_LIMITS__EXECUTIONS", "1")
            .with("PATCHWRIGHT_LIMITS__SAME", "500ms")
            .with("PATCHWRIGHT_QUEUE__HEARTBEAT", "500ms")
            .with("PATCHWRIGHT_QUEUE__LOST_AFTER", "2s")
            .with("PATCHWRIGHT_QUEUE__CLAIMS", "1000");
        let state = patchwright.folder().join("state/patchwright");
        let store = Store::of(&settings(&state, database.url())).await.unwrap();
        Self {
            service: Service::new(store),
            patchwright,
            model,
            tests: tests.to_owned(),
        }
    }

    /// Writes the folder of a task.
    pub(super) fn write(&self, id: &str) -> std::path::PathBuf {
        let folder = self.patchwright.scratch("tasks").join(id);
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("src/main.c"), PROGRAM).unwrap();
        fs::write(folder.join("pov"), "x").unwrap();
        let seconds = self.tests.replace('h', "*3600").replace('s', "");
        let task = format!(
            "id = \"{id}\"\nlanguage = \"c\"\n[source]\npath = \"src\"\n[commands]\n\
             build = 'cp main.c \"$OUT\"/main.c'\n\
             pov = 'if grep -q BUG \"$OUT\"/main.c; then kill -SEGV $$; fi'\n\
             test = 'sleep $(({seconds}))'\n[[pov]]\nfile = \"pov\"\n[limits]\ntest = \"2h\"\nwall = \"3h\"\n"
        );
        fs::write(folder.join("task.toml"), task).unwrap();
        folder
    }

    /// Hands in this many tasks.
    pub(super) async fn submit(&self, count: usize) {
        let tasks = (0..count).map(|number| {
            let task = task::read(&self.write(&format!("task-{number}"))).unwrap();
            NewTask {
                id: task.id.clone(),
                task: serde_json::to_string(&task).unwrap(),
                priority: 0,
                deadline: None,
                origin: "cli".to_owned(),
                group: None,
                place: None,
                quota: None,
            }
        });
        self.service.submit(tasks.collect()).await.unwrap();
    }

    /// A `patchwright` command with the model of this farm.
    pub(super) fn command(&self, arguments: &[&str]) -> std::process::Command {
        let endpoint = format!("model.base_url={}", self.model.base_url());
        let model = ["--set", "model.name=scripted", "--set", &endpoint];
        let arguments = [arguments, &model[..]].concat();
        self.patchwright.command(&arguments).unwrap()
    }

    /// Starts a worker.
    pub(super) fn worker(&self) -> Worker {
        self.worker_with(&[])
    }

    /// Starts a worker with further settings.
    pub(super) fn worker_with(&self, settings: &[&str]) -> Worker {
        let settings = settings.iter().flat_map(|setting| ["--set", setting]);
        let arguments: Vec<&str> = std::iter::once("work").chain(settings).collect();
        self.start(&arguments)
    }

    /// Starts a daemon.
    pub(super) fn daemon(&self) -> Worker {
        self.start(&["serve", "--set", "http.listen=127.0.0.1:0"])
    }

    fn start(&self, arguments: &[&str]) -> Worker {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Worker(command.spawn().unwrap())
    }

    /// Stops a worker between two of its writes. One that is stopped in the
    /// middle of a write to SQLite holds everybody up until it goes on.
    pub(super) async fn freeze(&self, worker: &Worker) {
        loop {
            signal(worker.id(), "STOP");
            let write = tokio::time::timeout(WRITE, self.service.store().set_paused(false));
            if write.await.is_ok_and(|written| written.is_ok()) {
                return;
            }
            signal(worker.id(), "CONT");
            tokio::time::sleep(GLANCE).await;
        }
    }

    pub(super) async fn row(&self, id: &str) -> TaskRow {
        self.service.store().task(id).await.unwrap().unwrap()
    }

    /// Every row, however many there are.
    pub(super) async fn rows(&self) -> Vec<TaskRow> {
        let filter = TaskFilter {
            limit: Some(1000),
            ..TaskFilter::default()
        };
        self.service.store().tasks(&filter).await.unwrap().tasks
    }

    pub(super) async fn events(&self, run: &str) -> Vec<Event> {
        self.service
            .store()
            .events_after(run, 0, 10_000)
            .await
            .unwrap()
    }

    /// Waits until all tasks are so.
    pub(super) async fn until(&self, so: impl Fn(&TaskRow) -> bool) {
        self.wait(|rows| rows.iter().all(&so)).await;
    }

    /// Waits until one of the tasks is so.
    pub(super) async fn until_any(&self, so: impl Fn(&TaskRow) -> bool) {
        self.wait(|rows| rows.iter().any(&so)).await;
    }

    async fn wait(&self, so: impl Fn(&[TaskRow]) -> bool) {
        let (since, mut most) = (Instant::now(), 0);
        loop {
            let all = TaskFilter {
                limit: Some(1000),
                ..TaskFilter::default()
            };
            let rows = self.service.store().tasks(&all).await;
            // A server that is being restarted does not answer.
            let rows = rows.map(|page| page.tasks).unwrap_or_default();
            if !rows.is_empty() && so(&rows) {
                return;
            }
            most = rows.len().max(most);
            let patience = PATIENCE + PATIENCE_FOR_EACH * u32::try_from(most).unwrap();
            assert!(since.elapsed() < patience, "{rows:#?}");
            tokio::time::sleep(GLANCE).await;
        }
    }

    /// The run of a task ended once, and no step of it has two outcomes.
    pub(super) async fn check_run(&self, row: &TaskRow) {
        let run = row.run.as_deref().unwrap();
        let report = self.service.report(&row.id).await.unwrap().unwrap();
        assert_eq!(report.run, run);
        assert_eq!(Some(report.ending.as_str()), row.ending.as_deref());
        let events = self.events(run).await;
        let numbers: Vec<i64> = events.iter().map(|event| event.number).collect();
        assert_eq!(
            numbers,
            (1..=i64::try_from(events.len()).unwrap()).collect::<Vec<_>>()
        );
        assert!(events.is_sorted_by_key(|event| event.epoch), "{events:#?}");
        let mut done = BTreeSet::new();
        for event in events
            .iter()
            .filter(|event| event.kind == EventKind::Outcome)
        {
            assert!(done.insert((event.lane, event.step)), "twice: {event:#?}");
        }
    }
}

/// Waits until something is so.
pub(super) fn until(so: impl Fn() -> bool) {
    let since = Instant::now();
    while !so() {
        assert!(since.elapsed() < PATIENCE, "it does not come");
        std::thread::sleep(GLANCE);
    }
}

/// The processes that a process started and that are still there.
pub(super) fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes
        .filter(|process: &u32| {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            let mut fields = rest.split_whitespace();
            let state = fields.next().unwrap_or("Z");
            fields.next() == Some(&parent.to_string()) && state != "Z"
        })
        .collect()
}
