//! The daemon's HTTP interface: a real process, asked over real connections.

mod access;
mod disk;
mod intake;
mod load;
mod results;
mod schemathesis;
mod telemetry;

use patchwright_tests::command::Patchwright;
use patchwright_tests::daemon::Daemon;
use patchwright_tests::http::{Answer, Request};
use serde_json::{Value, json};
use std::path::Path;

/// The path for submitting tasks.
pub(crate) const TASKS: &str = "/api/v1/tasks";

/// A daemon that works nothing off.
pub(crate) fn idle() -> (Patchwright, Daemon) {
    started(&[])
}

/// The same with further settings.
pub(crate) fn started(settings: &[&str]) -> (Patchwright, Daemon) {
    let patchwright = Patchwright::new().expect("patchwright builds");
    let mut arguments = vec!["--workers", "0"];
    for setting in settings {
        arguments.extend(["--set", setting]);
    }
    let daemon = Daemon::start(&patchwright, &arguments).expect("the daemon starts");
    (patchwright, daemon)
}

/// A task that needs nothing but its source.
pub(crate) fn task(id: &str) -> Value {
    json!({
        "id": id, "language": "c", "mode": "dry-run",
        "source": {"git": "https://github.com/nobody/nothing", "revision": "main"},
    })
}

/// A request that hands this task in.
pub(crate) fn handing_in(task: &Value) -> Request {
    Request::new("POST", TASKS).body("application/json", task.to_string())
}

/// A refusal is a problem (RFC 9457), of this status, that says this, and that
/// tells nothing of the inside.
pub(crate) fn refused(answer: &Answer, status: u16, words: &str) {
    let (text, problem) = (answer.text(), answer.json());
    assert_eq!(answer.status, status, "{text}");
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json"),
        "{text}"
    );
    assert_eq!(problem["status"], status, "{text}");
    let kind = problem["type"].as_str().unwrap_or_default();
    assert!(kind.starts_with("urn:patchwright:problem:"), "{text}");
    let detail = problem["detail"].as_str().unwrap_or_default();
    assert!(detail.contains(words), "{words:?} is missing in {text}");
    for inside in [
        "/tmp/",
        "patchwright-test-",
        "panicked",
        "sqlx",
        "SELECT",
        ".rs:",
    ] {
        assert!(!text.contains(inside), "{inside:?} in {text}");
    }
}

/// The fixture program `records` as an upload; its source as an archive.
pub(crate) fn records(id: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/programs/records");
    let text = std::fs::read_to_string(folder.join("task.toml")).expect("a fixture");
    let table: toml::Table = text.parse().expect("a task file");
    let mut task = serde_json::to_value(table).expect("a task");
    task["id"] = id.into();
    task["source"] = json!({"archive": "src.tar.gz"});
    let mut parts = vec![
        ("task".to_owned(), task.to_string().into_bytes()),
        ("src.tar.gz".to_owned(), packed(&folder, "src")),
    ];
    for name in [
        "Makefile",
        "harness.c",
        "pov/long-name.txt",
        "corpus/empty.txt",
        "corpus/two.txt",
        "corpus/nonsense.txt",
    ] {
        let content = std::fs::read(folder.join(name)).expect("a fixture");
        parts.push((name.to_owned(), content));
    }
    parts
}

/// A request that uploads these parts.
pub(crate) fn uploading(parts: &[(String, Vec<u8>)]) -> Request {
    let parts: Vec<(&str, &[u8])> = parts
        .iter()
        .map(|(name, content)| (name.as_str(), content.as_slice()))
        .collect();
    Request::new("POST", TASKS).upload(&parts)
}

/// Packs a file or folder with `tar`.
pub(crate) fn packed(folder: &Path, name: &str) -> Vec<u8> {
    let output = std::process::Command::new("tar")
        .args(["--create", "--gzip", "--file", "-", name])
        .current_dir(folder)
        .output()
        .expect("tar runs");
    assert!(output.status.success(), "{output:?}");
    output.stdout
}
