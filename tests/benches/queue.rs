//! Measures the daemon from outside: how fast tasks are taken in over HTTP, how
//! long lists take, how soon a task is claimed and begun, what an idle daemon
//! needs, and what a second worker is worth.
//!
//! `cargo bench -p patchwright-tests --bench queue --profile dev`
//!
//! An argument is the address of a PostgreSQL, empty and not in use, to be
//! measured instead of a SQLite file.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark stops at the first surprise and prints what it measured"
)]

use patchwright_tests::command::Patchwright;
use patchwright_tests::daemon::Daemon;
use patchwright_tests::http::Request;
use patchwright_tests::model::ScriptedModel;
use patchwright_tests::program::{PATCH, PROGRAM};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Tasks that are handed in, and by how many at once.
const TASKS: usize = 10_000;
const CLIENTS: usize = 16;
/// Tasks that are claimed one by one.
const CLAIMS: usize = 40;
/// Tasks of the comparison of workers, and how long the tests of each wait.
const BATCH: usize = 8;
const WAIT: &str = "4";

fn main() {
    let url = std::env::args().skip(1).find(|word| word.contains("://"));
    // First, as what the other leaves in the queue would be claimed before.
    claims(url.as_deref());
    intake(url.as_deref());
    if url.is_none() {
        workers();
    }
}

fn patchwright(url: Option<&str>) -> Patchwright {
    Patchwright::new()
        .unwrap()
        .with("PATCHWRIGHT_DATABASE__URL", url.unwrap_or("unset"))
        .with("PATCHWRIGHT_HTTP__RATE", "1000000")
        .with("PATCHWRIGHT_MODEL__API_KEY", "none")
}

fn task(id: &str, source: &Value) -> Vec<u8> {
    let task = json!({"id": id, "language": "c", "mode": "dry-run", "source": source});
    task.to_string().into_bytes()
}

fn submit(daemon: &Daemon, id: &str, source: &Value) {
    let request = Request::new("POST", "/api/v1/tasks");
    let request = request.body("application/json", task(id, source));
    let answer = daemon.ask(&request);
    assert_eq!(answer.status, 201, "{}", answer.text());
}

/// Submissions a second, lists, and the memory of an idle daemon.
fn intake(url: Option<&str>) {
    let patchwright = patchwright(url);
    let daemon = Daemon::start(&patchwright, &["--workers", "0"]).unwrap();
    thread::sleep(Duration::from_secs(2));
    println!("idle memory: {} MiB", memory(daemon.id()) / 1024);
    let source = json!({"git": "https://github.com/a/b", "revision": "main"});
    let next = AtomicUsize::new(0);
    let since = Instant::now();
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= TASKS {
                        return;
                    }
                    submit(&daemon, &format!("task-{number}"), &source);
                }
            });
        }
    });
    let rate = TASKS as f64 / since.elapsed().as_secs_f64();
    println!("submitted by {CLIENTS} clients: {rate:.0} tasks a second");
    for query in ["", "?state=queued&limit=50", "?text=999", "?origin=cli"] {
        let path = format!("/api/v1/tasks{query}");
        let times = (0..50).map(|_| {
            let since = Instant::now();
            assert_eq!(daemon.get(&path).status, 200);
            since.elapsed().as_secs_f64() * 1000.0
        });
        show(&format!("list {path} of {TASKS} tasks"), times.collect());
    }
    println!("memory after that: {} MiB", memory(daemon.id()) / 1024);
    daemon.stop().unwrap();
}

/// From the submission to the claim, and from the claim to the first event of
/// the run, with a worker that waits for work.
fn claims(url: Option<&str>) {
    let patchwright = patchwright(url);
    let sources = patchwright.scratch("sources");
    std::fs::create_dir_all(sources.join("one")).unwrap();
    std::fs::write(sources.join("one/main.c"), "int main(void) { return 0; }\n").unwrap();
    let model = ScriptedModel::answering(|_| PATCH.into()).unwrap();
    let endpoint = format!("model.base_url={}", model.base_url());
    let folders = format!("intake.folders=[\"{}\"]", sources.display());
    let settings = [
        "model.name=scripted",
        &endpoint,
        &folders,
        "limits.attempts=1",
    ];
    let settings = settings.iter().flat_map(|setting| ["--set", *setting]);
    let daemon = Daemon::start(&patchwright, &settings.collect::<Vec<_>>()).unwrap();
    let source = json!({"path": sources.join("one")});
    let (mut claimed, mut begun) = (Vec::new(), Vec::new());
    for number in 0..CLAIMS {
        let id = format!("claim-{number}");
        submit(&daemon, &id, &source);
        let row = over(&daemon, &id);
        let events = daemon.get(&format!("/api/v1/tasks/{id}/journal")).text();
        let first: Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
        let time = |value: &Value| -> jiff::Timestamp { value.as_str().unwrap().parse().unwrap() };
        let (created, started) = (time(&row["created"]), time(&row["started"]));
        let between = |from: jiff::Timestamp, to: jiff::Timestamp| {
            to.duration_since(from).as_secs_f64() * 1000.0
        };
        claimed.push(between(created, started));
        begun.push(between(started, time(&first["time"])));
    }
    show("submitted to claimed", claimed);
    show("claimed to begun", begun);
    daemon.stop().unwrap();
}

fn over(daemon: &Daemon, id: &str) -> Value {
    loop {
        let row = daemon.get(&format!("/api/v1/tasks/{id}")).json();
        if row["state"] == "done" {
            return row;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// A batch whose tests wait, with one worker and with two.
fn workers() {
    let seconds = [1, 2].map(|workers: usize| {
        let patchwright = patchwright(None)
            .with("PATCHWRIGHT_LIMITS__ROBUST", "500ms")
            .with("PATCHWRIGHT_LIMITS__SAME", "500ms");
        let model = ScriptedModel::answering(|_| PATCH.into()).unwrap();
        for number in 0..BATCH {
            write(&patchwright, &format!("wait-{number}"));
        }
        let endpoint = format!("model.base_url={}", model.base_url());
        let workers = workers.to_string();
        let arguments = [
            "batch",
            "tasks",
            "--workers",
            &workers,
            "--set",
            "model.name=scripted",
            "--set",
            &endpoint,
        ];
        let mut command = patchwright.command(&arguments).unwrap();
        let since = Instant::now();
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        since.elapsed().as_secs_f64()
    });
    let [one, two] = seconds;
    println!(
        "{BATCH} tasks whose tests wait {WAIT} s: one worker {one:.1} s, two {two:.1} s, {:.2} times as fast",
        one / two
    );
}

fn write(patchwright: &Patchwright, id: &str) {
    let folder = patchwright.scratch("tasks").join(id);
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/main.c"), PROGRAM).unwrap();
    std::fs::write(folder.join("pov"), "x").unwrap();
    let task = format!(
        "id = \"{id}\"\nlanguage = \"c\"\n[source]\npath = \"src\"\n[commands]\nbuild = 'cp main.c \"$OUT\"/main.c'\n\
         pov = 'if grep -q BUG \"$OUT\"/main.c; then kill -SEGV $$; fi'\ntest = 'sleep {WAIT}'\n[[pov]]\nfile = \"pov\"\n"
    );
    std::fs::write(folder.join("task.toml"), task).unwrap();
}

fn show(what: &str, mut milliseconds: Vec<f64>) {
    milliseconds.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let place = (milliseconds.len() as f64 * part) as usize;
        milliseconds
            .get(place.min(milliseconds.len() - 1))
            .copied()
            .unwrap()
    };
    println!("{what}: p50 {:.1} ms, p95 {:.1} ms", at(0.5), at(0.95));
}

/// Resident memory of a process, in KiB.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
