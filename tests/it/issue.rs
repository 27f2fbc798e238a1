//! `patchwright fix --issue URL`: an issue of a forge as the start of a repair, from a forge of
//! this test.

use crate::crs::served::Served;
use crate::init::project;
use crate::scene::Scene;
use axum::Router;
use axum::response::Redirect;
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use patchwright_tests::command::Finished;
use serde_json::{Value, json};
use std::fs;

/// A zip archive with `../report/notes.txt`, which every program accepts, and `report/poc.txt`,
/// which crashes `records`.
const ARCHIVE: &str = "UEsDBBQAAAAIAHazel0V1+WoBgAAAAQAAAATAAAALi4vcmVwb3J0L25vdGVzLnR4dEu0NeQCAFBLAwQUAAAACAABsnpdAqV/ySgAAAAmAAAADgAAAHJlcG9ydC9wb2MudHh0S4zPS8xNjc9Pi8/NL0qNL8lIzItPy0wrSU3Ni89JLSlJLSq2NecCAFBLAQIUAxQAAAAIAHazel0V1+WoBgAAAAQAAAATAAAAAAAAAAAAAACAAQAAAAAuLi9yZXBvcnQvbm90ZXMudHh0UEsBAhQDFAAAAAgAAbJ6XQKlf8koAAAAJgAAAA4AAAAAAAAAAAAAAKSBNwAAAHJlcG9ydC9wb2MudHh0UEsFBgAAAAACAAIAfQAAAIsAAAAAAA==";
/// The crashing input of `records` in base64.
const ENCODED: &str = "YV9uYW1lX29mX21vcmVfdGhhbl9maWZ0ZWVuX2xldHRlcnM9Nwo=";
const REPORT: &str = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000020 at pc 0x1 bp 0x2 sp 0x3\nWRITE of size 35 at 0x602000000020 thread T0\n    #0 0x1 in copy_name /src/project/records.c:8:3\nSUMMARY: AddressSanitizer: heap-buffer-overflow\n";

/// Runs `fix` on an issue of a forge that lies on this machine.
fn fix(scene: &Scene, url: &str) -> Finished {
    let inside = "intake.private_hosts=[\"127.0.0.1\"]";
    scene.plain(&["fix", "project", "--issue", url, "--set", inside])
}

fn answer(value: Value) -> axum::routing::MethodRouter {
    get(move || async move { axum::Json(value) })
}

#[test]
fn an_issue_with_an_archive_is_a_report_and_a_pov() {
    let scene = Scene::new();
    project(&scene);
    let body = format!(
        "Long names crash it.\r\n\r\n```\r\n{}```\r\n",
        REPORT.replace('\n', "\r\n")
    );
    let issue =
        json!({ "title": "Overflow on long names", "body": body, "labels": [{ "name": "bug" }] });
    let comments = "The input: [poc.zip](/files/1/poc.zip), see ORIGIN/o/records/files/1/poc.zip";
    let archive = STANDARD.decode(ARCHIVE).unwrap();
    let comment = |origin: &str| json!([{ "user": { "login": "ann" }, "body": comments.replace("ORIGIN", origin) }]);
    let api = "/api/v3/repos/o/records/issues/7";
    let router = Router::new()
        .route(api, answer(issue))
        .route(
            &format!("{api}/comments"),
            get(move |headers: axum::http::HeaderMap| async move {
                let host = headers["host"].to_str().unwrap().to_owned();
                axum::Json(comment(&format!("http://{host}")))
            }),
        )
        .route(
            "/o/records/files/1/poc.zip",
            get(|| async { Redirect::to("/stored") }),
        )
        .route("/stored", get(move || async move { archive }));
    let forge = Served::start(router);
    let told = fix(&scene, &format!("{}/o/records/issues/7", forge.url()));
    assert_eq!(told.code, Some(2), "{told:#?}");
    for line in [
        "PoV      crashes here: AddressSanitizer: heap-buffer-overflow",
        "stopped  no model is configured",
    ] {
        assert!(told.stdout.contains(line), "{line}: {told:#?}");
    }
    assert!(
        told.stderr
            .contains("issue: Overflow on long names; 2 inputs found in it"),
        "{told:#?}"
    );
    let read = |name: &str| {
        fs::read_to_string(
            scene
                .patchwright
                .scratch(&format!("patchwright-project/{name}")),
        )
        .unwrap()
    };
    let task = read("task.toml");
    for words in [
        "title = \"Overflow on long names\"",
        "file = \"issue/2-poc.txt\"",
        "report = \"issue/report.md\"",
    ] {
        assert!(task.contains(words), "{words}: {task}");
    }
    let report = read("issue/report.md");
    for words in ["Labels: bug", "Comment of ann:", "in copy_name"] {
        assert!(report.contains(words), "{words}: {report}");
    }
}

#[test]
fn only_the_forge_of_the_issue_is_asked() {
    let scene = Scene::new();
    project(&scene);
    let other = Served::start(Router::new().route("/x", get(|| async { "a=1\n" })));
    let inside = other.url().replace("127.0.0.1", "localhost") + "/x";
    let body = format!("/uploads/0/away.bin\n\n```\n{ENCODED}\n```\n\n```\n{REPORT}```\n");
    let issue = json!({ "title": "Overflow", "description": body, "labels": ["bug"] });
    let router = Router::new()
        .route("/api/v4/projects/{id}/issues/3", answer(issue))
        .route("/api/v4/projects/{id}/issues/3/notes", answer(json!([])))
        .route(
            "/g/records/uploads/0/away.bin",
            get(move || async move { Redirect::to(&inside) }),
        );
    let forge = Served::start(router);
    let url = format!("{}/g/records/-/issues/3", forge.url());
    let told = fix(&scene, &url);
    assert!(told.stdout.contains("PoV      crashes here"), "{told:#?}");
    let report = scene
        .patchwright
        .scratch("patchwright-project/issue/report.md");
    let report = fs::read_to_string(report).unwrap();
    assert!(
        report.contains("could not be downloaded: the host \"localhost\" is not among"),
        "{report}"
    );
    for (url, reason) in [
        (url.as_str(), "lies in a private or reserved network"),
        (
            "https://forge.example/o/records",
            "is no address of an issue",
        ),
    ] {
        let told = scene.plain(&["fix", "project", "--out", "other", "--issue", url]);
        assert_eq!(told.code, Some(2), "{told:#?}");
        assert!(told.stderr.contains(reason), "{told:#?}");
        assert!(!scene.patchwright.scratch("other").exists());
    }
}
