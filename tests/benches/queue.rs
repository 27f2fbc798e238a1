//! Benchmark of the daemon from outside: submissions a second over HTTP, the time
//! of lists, the time until a task is claimed and begun, the memory of an idle
//! daemon, the cost of followers, and the gain by a second worker.
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
use patchwright_tests::http::{Answer, Kept, Request};
use patchwright_tests::model::{Misbehaviour, ScriptedModel};
use patchwright_tests::program::{PATCH, PROGRAM};
use serde_json::{Value, json};
use std::io::BufReader;
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Tasks that are handed in, and by how many at once.
const TASKS: usize = 10_000;
const CLIENTS: usize = 16;
/// Tasks that are claimed one by one.
const CLAIMS: usize = 40;
/// Those who follow, and how often tasks are handed in with them and without.
const STREAMS: usize = 24;
const ROUNDS: usize = 5;
/// Tasks of such a round: handed in, and claimed.
const ROUND: (usize, usize) = (1000, 15);
/// Tasks of the comparison of workers, and how long the tests of each wait.
const BATCH: usize = 8;
const WAIT: &str = "4";

fn main() {
    let url = std::env::args().skip(1).find(|word| word.contains("://"));
    // First, as what the other leaves in the queue would be claimed before.
    claims(url.as_deref());
    intake(url.as_deref());
    followed(url.as_deref());
    if url.is_none() {
        workers();
    }
}

fn patchwright(url: Option<&str>) -> Patchwright {
    Patchwright::new()
        .unwrap()
        .with("PATCHWRIGHT_DATABASE__URL", url.unwrap_or("unset"))
        .with("PATCHWRIGHT_INTAKE__OPEN_TASKS", "1000000")
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
    let rate = many(TASKS, || {
        |number| submit(&daemon, &format!("task-{number}"), &source)
    });
    println!("submitted by {CLIENTS} clients, a connection each time: {rate:.0} tasks a second");
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

/// Lets all clients work off this many numbers; how many a second.
fn many<W: FnMut(usize)>(count: usize, worker: impl Fn() -> W + Sync) -> f64 {
    let next = AtomicUsize::new(0);
    let since = Instant::now();
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut work = worker();
                loop {
                    match next.fetch_add(1, Ordering::Relaxed) {
                        number if number < count => work(number),
                        _ => return,
                    }
                }
            });
        }
    });
    count as f64 / since.elapsed().as_secs_f64()
}

/// Measures the cost of many followers for other clients: rounds without and
/// with them in turn, on the same growing table. The processor time of the daemon
/// says more than the clock on a busy machine.
fn followed(url: Option<&str>) {
    let patchwright = patchwright(url);
    let daemon = Daemon::start(&patchwright, &["--workers", "0"]).unwrap();
    let source = json!({"git": "https://github.com/a/b", "revision": "main"});
    submit(&daemon, "watched", &source);
    let mut figures: [Vec<(f64, f64)>; 2] = Default::default();
    for round in 0..2 * ROUNDS {
        let streams = follow(&daemon, "watched", STREAMS * (round % 2));
        let before = computed(daemon.id());
        let rate = many(ROUND.0, || {
            let mut connection = Kept::open(daemon.address()).unwrap();
            let (source, round) = (&source, &round);
            move |number| {
                let body = task(&format!("round-{round}-{number}"), source);
                let request = Request::new("POST", "/api/v1/tasks").body("application/json", body);
                assert_eq!(connection.ask(&request).unwrap().status, 201);
            }
        });
        let each = (computed(daemon.id()) - before) * 1000.0 / ROUND.0 as f64;
        figures[round % 2].push((rate, each));
        drop(streams);
    }
    for (what, figures) in
        [("alone", 0), ("beside streams", 1)].map(|(what, at)| (what, &figures[at]))
    {
        let rate = median(figures.iter().map(|(rate, _)| *rate).collect());
        let each = median(figures.iter().map(|(_, each)| *each).collect());
        println!(
            "submitted {what}, connections kept: {rate:.0} a second, {each:.3} ms computed for each"
        );
    }
    daemon.stop().unwrap();
}

/// Streams of the events of a task, begun.
fn follow(daemon: &Daemon, id: &str, count: usize) -> Vec<BufReader<TcpStream>> {
    let streams = (0..count).map(|_| {
        let request = Request::get(&format!("/api/v1/tasks/{id}/events"));
        let mut stream = BufReader::new(request.begin(daemon.address()).unwrap());
        assert_eq!(Answer::head(&mut stream).unwrap().status, 200);
        stream
    });
    streams.collect()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Seconds that a process has computed so far.
fn computed(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = fields.split(' ').skip(11).take(2);
    // Linux counts a hundred of them a second, whatever the machine.
    ticks
        .map(|field| field.parse::<f64>().unwrap())
        .sum::<f64>()
        / 100.0
}

/// From the submission to the claim, and from the claim to the first event of
/// the run, with a worker that waits for work.
fn claims(url: Option<&str>) {
    let patchwright = patchwright(url);
    let sources = patchwright.scratch("sources");
    std::fs::create_dir_all(sources.join("one")).unwrap();
    std::fs::write(sources.join("one/main.c"), "int main(void) { return 0; }\n").unwrap();
    // The model of a task that is followed lets it wait for a day.
    let late = Arc::new(AtomicBool::new(false));
    let is_late = late.clone();
    let model = ScriptedModel::answering(move |_| {
        if is_late.load(Ordering::Relaxed) {
            Misbehaviour::TooManyRequestsLongWait.into()
        } else {
            PATCH.into()
        }
    });
    let model = model.unwrap();
    let endpoint = format!("model.base_url={}", model.base_url());
    let folders = format!("intake.folders=[\"{}\"]", sources.display());
    let settings = [
        "model.name=scripted",
        &endpoint,
        &folders,
        "limits.attempts=1",
        "limits.pause=0s",
    ];
    let settings = settings.iter().flat_map(|setting| ["--set", *setting]);
    let daemon = Daemon::start(&patchwright, &settings.collect::<Vec<_>>()).unwrap();
    let source = json!({"path": sources.join("one")});
    let (claimed, begun) = claimed_in(&daemon, "claim", CLAIMS, &source);
    show("submitted to claimed", claimed);
    show("claimed to begun", begun);
    late.store(true, Ordering::Relaxed);
    submit(&daemon, "watched", &source);
    state(&daemon, "watched", "paused");
    late.store(false, Ordering::Relaxed);
    let mut figures: [(Vec<f64>, Vec<f64>); 2] = Default::default();
    for round in 0..2 * ROUNDS {
        let streams = follow(&daemon, "watched", STREAMS * (round % 2));
        let (waited, began) = claimed_in(&daemon, &format!("round-{round}"), ROUND.1, &source);
        figures[round % 2].0.extend(waited);
        figures[round % 2].1.extend(began);
        drop(streams);
    }
    let [alone, beside] = figures;
    for (what, (waited, began)) in [("alone", alone), ("beside streams", beside)] {
        show(&format!("submitted to claimed, {what}"), waited);
        show(&format!("claimed to begun, {what}"), began);
    }
    daemon.stop().unwrap();
}

/// Hands tasks in one after the other: the times from each submission to its
/// claim, and from there to the first event of its run, in milliseconds.
fn claimed_in(daemon: &Daemon, prefix: &str, count: usize, source: &Value) -> (Vec<f64>, Vec<f64>) {
    let times = (0..count).map(|number| {
        let id = format!("{prefix}-{number}");
        submit(daemon, &id, source);
        let row = state(daemon, &id, "done");
        let events = daemon.get(&format!("/api/v1/tasks/{id}/journal")).text();
        let first: Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
        let time = |value: &Value| -> jiff::Timestamp { value.as_str().unwrap().parse().unwrap() };
        let (created, started) = (time(&row["created"]), time(&row["started"]));
        let between = |from: jiff::Timestamp, to: jiff::Timestamp| {
            to.duration_since(from).as_secs_f64() * 1000.0
        };
        (
            between(created, started),
            between(started, time(&first["time"])),
        )
    });
    times.unzip()
}

/// The task, once it is so.
fn state(daemon: &Daemon, id: &str, state: &str) -> Value {
    loop {
        let row = daemon.get(&format!("/api/v1/tasks/{id}")).json();
        if row["state"] == state {
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
            .with("PATCHWRIGHT_LIMITS__EXECUTIONS", "1")
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
