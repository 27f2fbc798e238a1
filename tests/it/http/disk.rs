//! Disks that are full or read-only, and databases of another version: nothing is
//! left half done, and work continues when the disk is well again.

use super::{TASKS, handing_in, idle, records, refused, started, task, uploading};
use patchwright_tests::command::Patchwright;
use patchwright_tests::daemon::Daemon;
use patchwright_tests::http::Request;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A daemon that only keeps.
const SERVE: [&str; 5] = [
    "serve",
    "--workers",
    "0",
    "--set",
    "http.listen=127.0.0.1:0",
];
/// Takes the ballast away when the mark is gone, and becomes the daemon.
const BALLAST: &str = r#"
mark=$1 ballast=$2
shift 2
head -c 5000000 /dev/zero >"$ballast"
(while [ -e "$mark" ]; do sleep 0.05; done; rm "$ballast"; : >"$mark.done") &
exec "$@"
"#;

fn state(patchwright: &Patchwright) -> PathBuf {
    patchwright.folder().join("state/patchwright")
}

fn sql(database: &Path, statement: &str) {
    let script =
        "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()";
    let done = Command::new("python3")
        .args(["-c", script])
        .arg(database)
        .arg(statement)
        .status();
    assert!(done.unwrap().success());
}

fn large(id: &str) -> serde_json::Value {
    let mut large = task(id);
    large["title"] = json!("x".repeat(60_000));
    large
}

#[test]
fn a_full_disk_is_said_and_forgotten_when_it_has_room() {
    let patchwright = Patchwright::new().unwrap();
    let (mark, state) = (patchwright.scratch("full"), state(&patchwright));
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(&mark, "").unwrap();
    let (place, ballast) = (state.display().to_string(), state.join("ballast"));
    let mounts = ["--size", "8000000", "--tmpfs", &place];
    let names = [mark.display().to_string(), ballast.display().to_string()];
    let before = ["sh", "-c", BALLAST, "sh", &names[0], &names[1]];
    let command = patchwright.among(&mounts, &before, &SERVE).unwrap();
    let daemon = Daemon::of(command).unwrap();
    let mut taken = Vec::new();
    let answer = loop {
        let id = format!("large-{}", taken.len());
        let answer = daemon.ask(&handing_in(&large(&id)));
        if answer.status != 201 {
            break answer;
        }
        taken.push(id);
    };
    refused(&answer, 503, "nothing was changed");
    // Every connection meets the full disk.
    for number in 0..20 {
        let answer = daemon.ask(&handing_in(&large(&format!("more-{number}"))));
        assert!([201, 503].contains(&answer.status), "{}", answer.text());
        if answer.status == 201 {
            taken.push(format!("more-{number}"));
        }
    }
    std::fs::remove_file(&mark).unwrap();
    let done = mark.with_extension("done");
    while !done.exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    for number in 0..5 {
        let id = format!("after-{number}");
        let answer = daemon.ask(&handing_in(&large(&id)));
        assert_eq!(answer.status, 201, "{} {}", answer.text(), daemon.told());
        taken.push(id);
    }
    let queued = daemon.get("/api/v1/queue").json()["queued"].as_u64();
    assert_eq!(
        queued,
        Some(taken.len() as u64),
        "all that was taken and no more"
    );
}

#[test]
fn a_store_that_takes_nothing_is_said() {
    let (patchwright, daemon) = idle();
    assert_eq!(daemon.ask(&handing_in(&task("before"))).status, 201);
    let database = state(&patchwright).join("patchwright.db");
    sql(
        &database,
        "CREATE TRIGGER full BEFORE INSERT ON submissions BEGIN SELECT RAISE(ABORT, 'disk full: /secret/place'); END",
    );
    let answer = daemon.ask(&handing_in(&task("after")));
    refused(&answer, 503, "nothing was changed");
    assert!(!answer.text().contains("secret"));
    refused(&daemon.get("/readyz"), 503, "");
    refused(&daemon.get("/readyz"), 503, "");
    assert_eq!(daemon.get(&format!("{TASKS}/before")).status, 200);
    refused(&daemon.get(&format!("{TASKS}/after")), 404, "no task");
    sql(&database, "DROP TRIGGER full");
    assert_eq!(daemon.get("/readyz").status, 200);
    assert_eq!(daemon.get("/api/v1/queue").json()["canceled"], 0);
}

#[test]
fn too_little_room_is_said_before_an_upload_fails() {
    let (_patchwright, daemon) = started(&["queue.free_mb=8796093022207"]);
    refused(&daemon.get("/readyz"), 503, "queue.free_mb");
    assert_eq!(daemon.get("/healthz").status, 200);
}

#[test]
fn check_fails_on_a_disk_that_is_full() {
    let patchwright = Patchwright::new().unwrap();
    let state = state(&patchwright).display().to_string();
    std::fs::create_dir_all(&state).unwrap();
    for (size, works) in [("600000", "failed"), ("60000000", "ok")] {
        let mounts = ["--size", size, "--tmpfs", &state];
        let check = ["check", "--format", "json"];
        let mut output = patchwright.among(&mounts, &[], &check).unwrap();
        let output = output.stderr(Stdio::null()).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut findings = report["findings"].as_array().unwrap().iter();
        let store = findings.find(|finding| finding["name"] == "store").unwrap();
        assert_eq!(store["state"], works, "{store}");
    }
}

/// Waits until a task is in this state.
fn until(daemon: &Daemon, id: &str, state: &str) {
    let since = Instant::now();
    loop {
        let answer = daemon.get(&format!("{TASKS}/{id}"));
        if answer.json()["state"] == state {
            return;
        }
        let late = since.elapsed() > Duration::from_mins(2);
        assert!(!late, "{} {}", answer.text(), daemon.told());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_task_whose_outcome_cannot_be_recorded_is_given_up_later() {
    let patchwright = Patchwright::new()
        .unwrap()
        .with("PATCHWRIGHT_MODEL__NAME", "nobody")
        .with("PATCHWRIGHT_MODEL__BASE_URL", "http://127.0.0.1:1");
    let daemon = Daemon::start(&patchwright, &["--workers", "1"]).unwrap();
    let database = state(&patchwright).join("patchwright.db");
    for trigger in [
        "CREATE TRIGGER events_full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'full'); END",
        "CREATE TRIGGER tasks_full BEFORE UPDATE ON submissions WHEN OLD.state = 'running' AND
         (NEW.state <> 'running' OR NEW.owner IS NULL) BEGIN SELECT RAISE(ABORT, 'full'); END",
    ] {
        sql(&database, trigger);
    }
    assert_eq!(daemon.ask(&uploading(&records("stuck"))).status, 201);
    until(&daemon, "stuck", "running");
    let since = Instant::now();
    while !daemon.told().contains("the outcome is not recorded") {
        let late = since.elapsed() > Duration::from_mins(2);
        assert!(!late, "{}", daemon.told());
        std::thread::sleep(Duration::from_millis(50));
    }
    let cancel = Request::new("POST", &format!("{TASKS}/stuck/cancel"));
    assert_eq!(daemon.ask(&cancel).status, 202);
    sql(&database, "DROP TRIGGER events_full");
    sql(&database, "DROP TRIGGER tasks_full");
    until(&daemon, "stuck", "canceled");
    // The worker is free again: it ends a task that is too late.
    let late = Request::new("POST", &format!("{TASKS}?deadline=2000-01-01T00:00:00Z"));
    let late = late.body("application/json", task("next").to_string());
    assert_eq!(daemon.ask(&late).status, 201);
    until(&daemon, "next", "done");
}

/// It does not start, says why, and leaves the database as it is.
fn check_refused(patchwright: &Patchwright, output: &Output, words: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{told}");
    assert!(told.contains(words) && !told.contains("panicked"), "{told}");
    let cause = told.trim_end().rsplit(": ").next().unwrap_or_default();
    assert_eq!(told.matches(cause).count(), 1, "said once: {told}");
    assert!(state(patchwright).join("patchwright.db").is_file());
}

#[test]
fn a_database_that_is_read_only_or_newer_is_refused() {
    let (patchwright, daemon) = idle();
    daemon.stop().unwrap();
    let database = state(&patchwright).join("patchwright.db");
    // The files beside it go when the last user of a database closes it.
    sql(&database, "PRAGMA wal_checkpoint");
    assert!(!database.with_extension("db-wal").exists());
    let place = state(&patchwright).display().to_string();
    let mounts = ["--ro-bind", &place, &place];
    let output = patchwright
        .among(&mounts, &[], &SERVE)
        .unwrap()
        .output()
        .unwrap();
    check_refused(&patchwright, &output, "Read-only file system");
    sql(
        &database,
        "UPDATE _sqlx_migrations SET version = 9999 WHERE version = 1",
    );
    let output = patchwright.command(&SERVE).unwrap().output().unwrap();
    check_refused(
        &patchwright,
        &output,
        "made by a newer version of Patchwright",
    );
}
