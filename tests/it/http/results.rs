//! Results of a task over HTTP, during the run and after it.

use super::{TASKS, handing_in, idle, records, refused, task, uploading};
use crate::scene::{GOOD, KEY, QUERIES, STILL_CRASHES, events};
use patchwright_tests::command::Patchwright;
use patchwright_tests::daemon::Daemon;
use patchwright_tests::http::{Answer, Request, chunk};
use patchwright_tests::model::ScriptedModel;
use serde_json::Value;
use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

#[test]
fn a_task_that_has_not_ended_has_nothing_yet() {
    let (_patchwright, daemon) = idle();
    assert_eq!(daemon.ask(&handing_in(&task("a"))).status, 201);
    for (what, words) in [
        ("report", "has not ended, it is queued"),
        ("patch", "has not ended"),
        ("journal", "has not begun"),
    ] {
        refused(&daemon.get(&format!("{TASKS}/a/{what}")), 404, words);
    }
}

/// The events of a task, from `last` on, at most so many; each with its id.
fn follow(daemon: &Daemon, last: &str, most: usize) -> Vec<(String, Value)> {
    let request = Request::get(&format!("{TASKS}/records/events")).with("last-event-id", last);
    let mut stream = BufReader::new(request.begin(daemon.address()).unwrap());
    let head = Answer::head(&mut stream).unwrap();
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    let (mut text, mut found) = (String::new(), Vec::new());
    while found.len() < most {
        let Ok(Some(piece)) = chunk(&mut stream) else {
            break;
        };
        text += &String::from_utf8(piece).unwrap();
        while let Some((event, rest)) = text.clone().split_once("\n\n") {
            text = rest.to_owned();
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            if let (Some(id), Some(data)) = (field("id: "), field("data: ")) {
                found.push((id.to_owned(), serde_json::from_str(data).unwrap()));
            }
        }
    }
    found.truncate(most);
    found
}

#[test]
fn an_upload_is_repaired_and_followed_to_its_end() {
    let model = ScriptedModel::start([QUERIES, STILL_CRASHES, GOOD]).unwrap();
    let patchwright = Patchwright::new()
        .unwrap()
        .with("PATCHWRIGHT_MODEL__NAME", "scripted")
        .with("PATCHWRIGHT_MODEL__BASE_URL", &model.base_url())
        .with("PATCHWRIGHT_MODEL__API_KEY", KEY)
        .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_IN", "1.0")
        .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_OUT", "1.0")
        .with("PATCHWRIGHT_LIMITS__ROBUST", "1s")
        .with("PATCHWRIGHT_LIMITS__EXECUTIONS", "1")
        .with("PATCHWRIGHT_LIMITS__SAME", "3s");
    let daemon = Daemon::start(&patchwright, &["--workers", "1"]).unwrap();
    assert_eq!(daemon.ask(&uploading(&records("records"))).status, 201);
    // Three events, then the rest after a break, and again from the middle.
    let first = follow(&daemon, "", 3);
    let rest = follow(&daemon, &first[2].0, usize::MAX);
    let all: Vec<_> = first.into_iter().chain(rest).collect();
    let again = follow(&daemon, &all[4].0, usize::MAX);
    assert_eq!(again, all[5..]);
    let (last, ended) = all.last().unwrap();
    assert_eq!(
        (last.as_str(), &ended["state"], &ended["ending"]),
        ("end", &"done".into(), &"verified".into()),
        "{}",
        daemon.told()
    );
    let over = Request::get(&format!("{TASKS}/records/events")).with("last-event-id", "end");
    assert_eq!(daemon.ask(&over).status, 204);

    let journal = daemon.get(&format!("{TASKS}/records/journal"));
    assert_eq!(journal.header("content-type"), Some("application/jsonl"));
    let told: Vec<Value> = all[..all.len() - 1]
        .iter()
        .map(|(_, event)| event.clone())
        .collect();
    assert_eq!(events(&journal.text()), told);
    let patch = daemon.get(&format!("{TASKS}/records/patch"));
    assert!(
        patch
            .text()
            .contains("+  if (name > NAME_LIMIT) return -1;"),
        "{}",
        patch.text()
    );
    let report = daemon.get(&format!("{TASKS}/records/report")).json();
    assert_eq!(report["best"]["diff"].as_str(), Some(patch.text().as_str()));
    let metrics = daemon.get("/metrics").text();
    for line in [
        "patchwright_runs_total{ending=\"verified\"} 1",
        "patchwright_model_calls_total{model=\"scripted\",outcome=\"reply\"} 3",
        "patchwright_verdicts_total{rung=\"silent\",holds=\"false\"} 1",
        "patchwright_step_seconds_count{stage=\"baseline\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} is missing in {metrics}");
    }
    super::telemetry::check_documents(&metrics);
    assert!(!daemon.told().contains(KEY));
    assert_eq!(daemon.stop().unwrap(), Some(0));
}

/// A server that sends archives on to a cloud's metadata and knows nothing else.
fn elsewhere() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 4096];
            let read = stream.read(&mut asked).unwrap_or(0);
            let answer: &[u8] = if asked[..read].starts_with(b"GET /x.tar") {
                b"HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/latest\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            } else {
                b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            };
            let _ = stream.write_all(answer);
        }
    });
    address
}

#[test]
fn a_source_that_is_not_there_ends_the_task_clearly() {
    let patchwright = Patchwright::new()
        .unwrap()
        .with("PATCHWRIGHT_MODEL__NAME", "scripted")
        .with("PATCHWRIGHT_MODEL__BASE_URL", "http://127.0.0.1:9/v1");
    let address = elsewhere();
    let daemon = Daemon::start(
        &patchwright,
        &[
            "--workers",
            "1",
            "--set",
            "intake.private_hosts=[\"127.0.0.1\"]",
            "--set",
            "intake.hosts=[\"*\"]",
        ],
    )
    .unwrap();
    // The first is sent on to where no source may come from, the second is not found.
    for (id, source, words) in [
        (
            "moved",
            serde_json::json!({"archive": format!("http://{address}/x.tar"), "sha256": "00"}),
            "private or reserved network",
        ),
        (
            "gone",
            serde_json::json!({"git": format!("http://{address}/x.git"), "revision": "main"}),
            "status 404",
        ),
    ] {
        let mut task = task(id);
        task["source"] = source;
        assert_eq!(daemon.ask(&handing_in(&task)).status, 201);
        let ended = loop {
            let task = daemon.get(&format!("{TASKS}/{id}")).json();
            if task["state"] == "done" {
                break task;
            }
            thread::sleep(Duration::from_millis(50));
        };
        assert_eq!(ended["ending"], "invalid_task", "{ended}");
        assert!(ended["detail"].as_str().unwrap().contains(words), "{ended}");
    }
}

#[test]
fn a_submitted_task_spends_no_more_than_the_operator_allows() {
    let model = ScriptedModel::answering(|_| QUERIES.into()).unwrap();
    let patchwright = Patchwright::new()
        .unwrap()
        .with("PATCHWRIGHT_MODEL__NAME", "scripted")
        .with("PATCHWRIGHT_MODEL__BASE_URL", &model.base_url())
        .with("PATCHWRIGHT_MODEL__API_KEY", KEY)
        .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_IN", "1.0")
        .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_OUT", "1.0")
        .with("PATCHWRIGHT_LIMITS__ROUNDS", "1000")
        .with("PATCHWRIGHT_LIMITS__USD", "0.15");
    let daemon = Daemon::start(&patchwright, &["--workers", "1"]).unwrap();
    let mut parts = records("records");
    let mut task: Value = serde_json::from_slice(&parts[0].1).unwrap();
    task["mode"] = "dry-run".into();
    task["limits"] = serde_json::json!({"usd": 100.0, "tokens": 1_000_000_000, "rounds": 2000});
    parts[0].1 = task.to_string().into_bytes();
    assert_eq!(daemon.ask(&uploading(&parts)).status, 201);
    follow(&daemon, "", usize::MAX);
    let report = daemon.get(&format!("{TASKS}/records/report")).json();
    let spent = report["cost"]["usd"].as_f64().unwrap();
    assert!(spent > 0.0 && spent <= 0.15, "{report:#}");
    let detail = report["detail"].as_str().unwrap();
    assert!(detail.contains("limit of 0.1500 USD"), "{report:#}");
}
