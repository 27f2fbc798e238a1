//! Disks that are full or read-only, and databases of another version: nothing is
//! left half done, and work continues when the disk is well again.

use super::{TASKS, handing_in, idle, refused, task};
use patchwright_tests::command::Patchwright;
use patchwright_tests::daemon::Daemon;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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
    assert_eq!(daemon.get(&format!("{TASKS}/before")).status, 200);
    refused(&daemon.get(&format!("{TASKS}/after")), 404, "no task");
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
