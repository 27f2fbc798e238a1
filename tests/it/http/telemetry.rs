//! Telemetry of the daemon: metrics, traces, messages.

use super::{handing_in, idle, task};
use crate::scene::{GOOD, KEY, QUERIES, Scene};
use patchwright_tests::model::ScriptedModel;
use std::collections::BTreeSet;
use std::io::{BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;

/// The metrics of a daemon that has done everything are those that the guide
/// tells of, and the dashboard shows no others.
pub(super) fn check_documents(metrics: &str) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let read = |name: &str| std::fs::read_to_string(docs.join(name)).unwrap();
    let types = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "));
    let given: BTreeSet<String> = types
        .filter_map(|line| Some(line.split(' ').next()?.to_owned()))
        .collect();
    let guide = read("daemon.md");
    let rows = guide
        .lines()
        .filter_map(|line| line.strip_prefix("| `patchwright_"));
    let told: BTreeSet<String> = rows
        .filter_map(|row| Some(format!("patchwright_{}", row.split('`').next()?)))
        .collect();
    assert_eq!(
        given, told,
        "what /metrics gives beside what the guide tells of"
    );
    let dashboard: serde_json::Value =
        serde_json::from_str(&read("grafana/patchwright.json")).unwrap();
    let dashboard = dashboard.to_string();
    let shown: BTreeSet<&str> = dashboard
        .split(|letter: char| letter != '_' && !letter.is_ascii_lowercase())
        .filter(|word| word.starts_with("patchwright_"))
        .map(|word| {
            let mut parts = ["_bucket", "_sum", "_count"].iter();
            parts
                .find_map(|part| word.strip_suffix(part))
                .unwrap_or(word)
        })
        .collect();
    assert!(shown.len() > 5, "{shown:?}");
    for name in shown {
        assert!(
            given.contains(name),
            "the dashboard shows {name}, which is not given"
        );
    }
}

#[test]
fn the_unit_is_one_that_systemd_takes() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/systemd/patchwright.service");
    let text = std::fs::read_to_string(unit).unwrap();
    // The program need not be installed here.
    let installed = "ExecStart=/usr/local/bin/patchwright ";
    assert!(text.contains(installed), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("patchwright.service");
    std::fs::write(&copy, text.replace(installed, "ExecStart=/bin/sh ")).unwrap();
    let judged = Command::new("systemd-analyze")
        .arg("verify")
        .arg(&copy)
        .output()
        .unwrap();
    // Whatever it does not understand it tells of and goes on.
    let told = String::from_utf8_lossy(&judged.stderr);
    assert!(judged.status.success() && told.is_empty(), "{told}");
}

#[test]
fn metrics_count_what_was_asked() {
    let (_patchwright, daemon) = idle();
    assert_eq!(daemon.ask(&handing_in(&task("a"))).status, 201);
    assert_eq!(daemon.get("/nothing").status, 404);
    let answer = daemon.get("/metrics");
    let kind = answer.header("content-type").unwrap_or_default().to_owned();
    assert!(kind.starts_with("text/plain; version=0.0.4"), "{kind}");
    let text = answer.text();
    for line in [
        "patchwright_queue_tasks{state=\"queued\"} 1",
        "patchwright_queue_paused 0",
        "patchwright_http_requests_total{route=\"/api/v1/tasks\",method=\"POST\",status=\"201\"} 1",
        "patchwright_http_requests_total{route=\"other\",method=\"GET\",status=\"404\"} 1",
        "patchwright_http_seconds_bucket{route=\"/api/v1/tasks\",le=\"10\"} 1",
    ] {
        assert!(text.contains(line), "{line} is missing in {text}");
    }
}

/// A collector that keeps what it is sent.
fn collector() -> (String, mpsc::Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let (sender, received) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let Ok(request) = patchwright_tests::http::Answer::headers_of_request(&mut reader)
            else {
                continue;
            };
            let length = request
                .header("content-length")
                .and_then(|text| text.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            let _ = reader.read_exact(&mut body);
            let _ = reader
                .get_mut()
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let header = request.header("x-team").unwrap_or_default().to_owned();
            if sender.send((header, body)).is_err() {
                return;
            }
        }
    });
    (address, received)
}

#[test]
fn traces_tell_of_a_run_and_its_calls() {
    let (endpoint, received) = collector();
    let scene = Scene::new()
        .with("PATCHWRIGHT_TELEMETRY__OTLP", &endpoint)
        .with("PATCHWRIGHT_TELEMETRY__OTLP_HEADERS__X-TEAM", "repair");
    let model = ScriptedModel::start([QUERIES, GOOD]).unwrap();
    scene.run(&model, &[]).expect("verified", 0, "");
    let mut sent = Vec::new();
    while let Ok((team, body)) = received.try_recv() {
        assert_eq!(team, "repair");
        sent.extend(body);
    }
    let holds = |words: &str| {
        sent.windows(words.len())
            .any(|part| part == words.as_bytes())
    };
    for words in [
        "service.name",
        "patchwright.run",
        "patchwright.ending",
        "verified",
        "baseline",
        "silent",
        "chat scripted",
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.request.max_tokens",
        "gen_ai.response.model",
        "gen_ai.response.finish_reasons",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
    ] {
        assert!(holds(words), "{words} is missing in the traces");
    }
    for secret in [KEY, "The name may be longer than its buffer", "copy_name"] {
        assert!(!holds(secret), "{secret} is in the traces");
    }
}
