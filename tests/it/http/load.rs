//! Many callers at once: acknowledged tasks survive a kill, and the throughput. `--nocapture` prints the figures; `PATCHWRIGHT_SOAK` at build time
//! raises the counts. No time is asserted.

use super::{TASKS, handing_in, started, task};
use patchwright_tests::daemon::Daemon;
use patchwright_tests::http::{Answer, Kept, Request};
use std::io::BufReader;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

const CALLERS: usize = 16;
const STREAMS: usize = 24;
/// Tasks of each caller.
const EACH: usize = if option_env!("PATCHWRIGHT_SOAK").is_some() {
    625
} else {
    20
};

/// Hands tasks in over one connection until one is not acknowledged; how many were.
fn hand_in(to: SocketAddr, prefix: &str) -> Vec<String> {
    let Ok(mut connection) = Kept::open(to) else {
        return Vec::new();
    };
    let mut acknowledged = Vec::new();
    for number in 0..EACH {
        let id = format!("{prefix}-{number}");
        match connection.ask(&handing_in(&task(&id))) {
            Ok(answer) if answer.status == 201 => acknowledged.push(id),
            Ok(answer) => panic!("{}", answer.text()),
            Err(_) => break,
        }
    }
    acknowledged
}

fn all_at_once(to: SocketAddr, round: &str) -> (Vec<String>, Duration) {
    let since = Instant::now();
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let prefix = format!("{round}-{caller}");
            thread::spawn(move || hand_in(to, &prefix))
        })
        .collect();
    let acknowledged = callers
        .into_iter()
        .flat_map(|caller| caller.join().unwrap());
    (acknowledged.collect(), since.elapsed())
}

fn resident(daemon: &Daemon) -> String {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", daemon.id())).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.unwrap_or_default().to_owned()
}

#[test]
fn acknowledged_tasks_survive_a_kill() {
    let (patchwright, daemon) = started(&["http.rate=100000"]);
    println!("idle: {}", resident(&daemon));
    let (before, time) = all_at_once(daemon.address(), "quiet");
    assert_eq!(before.len(), CALLERS * EACH);
    println!("{} tasks from {CALLERS} callers in {time:?}", before.len());
    let address = daemon.address();
    let callers = thread::spawn(move || all_at_once(address, "killed").0);
    thread::sleep(Duration::from_millis(60));
    // SIGKILL, in the middle of it.
    drop(daemon);
    let mut acknowledged = callers.join().unwrap();
    acknowledged.extend(before);
    let daemon = Daemon::start(&patchwright, &["--workers", "0"]).unwrap();
    let mut known = std::collections::BTreeSet::new();
    let mut query = String::new();
    loop {
        let page = daemon.get(&format!("{TASKS}?limit=1000{query}")).json();
        let tasks = page["tasks"].as_array().unwrap();
        known.extend(
            tasks
                .iter()
                .map(|task| task["id"].as_str().unwrap().to_owned()),
        );
        match page["next"].as_i64() {
            Some(next) => query = format!("&cursor={next}"),
            None => break,
        }
    }
    let lost: Vec<_> = acknowledged
        .iter()
        .filter(|id| !known.contains(*id))
        .collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    let since = Instant::now();
    assert_eq!(
        daemon
            .get(&format!("{TASKS}?state=queued&text=quiet-3-1"))
            .status,
        200
    );
    println!(
        "{} tasks are known; one filter took {:?}",
        known.len(),
        since.elapsed()
    );
}

#[test]
fn many_followers_are_served_beside_the_callers() {
    let (_patchwright, daemon) = started(&["http.rate=100000"]);
    let submit = Request::new("POST", TASKS).body("application/json", task("watched").to_string());
    assert_eq!(daemon.ask(&submit).status, 201);
    let (_, alone) = all_at_once(daemon.address(), "alone");
    let followers: Vec<_> = (0..STREAMS)
        .map(|_| {
            let stream = Request::get(&format!("{TASKS}/watched/events"))
                .begin(daemon.address())
                .unwrap();
            let mut stream = BufReader::new(stream);
            assert_eq!(Answer::head(&mut stream).unwrap().status, 200);
            stream
        })
        .collect();
    let (acknowledged, beside) = all_at_once(daemon.address(), "beside");
    assert_eq!(acknowledged.len(), CALLERS * EACH);
    // They all see the end.
    assert_eq!(
        daemon
            .ask(&Request::new("POST", "/api/v1/tasks/watched/cancel"))
            .status,
        202
    );
    for mut follower in followers {
        let mut told = Vec::new();
        while let Ok(Some(piece)) = patchwright_tests::http::chunk(&mut follower) {
            told.extend(piece);
        }
        assert!(
            String::from_utf8_lossy(&told).contains("event: end"),
            "{told:?}"
        );
    }
    // Once more without them: the table has grown meanwhile, and so has whatever
    // else the machine does.
    let (_, again) = all_at_once(daemon.address(), "again");
    println!(
        "{} tasks: {alone:?} alone, {beside:?} beside {STREAMS} streams, {again:?} alone again",
        acknowledged.len()
    );
}
