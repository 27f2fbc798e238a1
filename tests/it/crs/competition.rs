//! Double of the competition's server (AIxCC's CRS API v1.4): it serves archives,
//! asks for Basic authentication, and answers patches as a test says.

use super::served::Served;
use super::twins;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use patchwright_daemon::crs::protocol::{decode, encode};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

pub(super) const KEY: &str = "0b6f6e9e-5b7e-4c8b-8a3c-2d3a4f5b6c7d";
pub(super) const TOKEN: &str = "the-competition-knows-us-by-this-token";
pub(super) const TASK: &str = "5c24a2b9-7d1b-4d3c-9df1-4a4f4e3b7a10";

/// The change that introduces the bug, on the left.
const CHANGE: &str = "diff --git a/main.c b/main.c\n--- a/main.c\n+++ b/main.c\n@@ -9,7 +9,7 @@\n static int left(const char *text) {\n   char *name = malloc(4);\n-  memset(name, 'x', 4);\n+  memset(name, 'x', size_of(text));\n   int last = name[3];\n   free(name);\n   return last;\n }\n";

#[derive(Debug)]
pub(super) struct Competition {
    house: Arc<House>,
    served: Served,
}

#[derive(Debug)]
struct House {
    folder: TempDir,
    /// Every patch that was submitted, as text.
    patches: Mutex<Vec<String>>,
    /// The answers to requests for their status, in turn.
    verdicts: Vec<&'static str>,
    /// The number of pings.
    pings: AtomicUsize,
}

impl Competition {
    /// The n-th patch that comes gets the n-th verdict, and the last ever after;
    /// `503` refuses to take it.
    pub(super) fn start(verdicts: &[&'static str]) -> Self {
        let folder = TempDir::with_prefix("competition-").expect("a folder");
        pack(folder.path());
        let house = Arc::new(House {
            folder,
            patches: Mutex::default(),
            verdicts: verdicts.to_vec(),
            pings: AtomicUsize::new(0),
        });
        let guarded = Router::new()
            .route("/v1/ping/", get(ping))
            .route("/v1/task/{task}/patch/", post(submit))
            .route("/v1/task/{task}/patch/{patch}/", get(ask))
            .route_layer(middleware::from_fn(guard));
        let router = guarded
            .route("/files/{name}", get(file))
            .with_state(house.clone());
        Self {
            house,
            served: Served::start(router),
        }
    }

    pub(super) fn url(&self) -> String {
        self.served.url()
    }

    pub(super) fn patches(&self) -> Vec<String> {
        self.house.patches.lock().expect("the patches").clone()
    }

    pub(super) fn pings(&self) -> usize {
        self.house.pings.load(Ordering::Relaxed)
    }

    /// The message that hands the challenge in.
    pub(super) fn message(&self, deadline: i64) -> Value {
        let source = |kind: &str, name: &str| {
            let bytes = fs::read(self.house.folder.path().join(name)).expect("a tarball");
            let sum = Command::new("sha256sum")
                .arg(self.house.folder.path().join(name))
                .output()
                .expect("sha256sum");
            assert!(!bytes.is_empty());
            let sum = String::from_utf8_lossy(&sum.stdout).into_owned();
            let url = format!("{}/files/{name}", self.url());
            json!({ "type": kind, "url": url, "sha256": sum.split(' ').next() })
        };
        json!({
            "message_id": "0d6b0e9b-0f54-4bb1-b21d-5a6f0b7c8d9e",
            "message_time": 1,
            "tasks": [{
                "task_id": TASK,
                "type": "delta",
                "metadata": { "round.id": "1" },
                "project_name": "twins",
                "focus": "twins-main",
                "harnesses_included": true,
                "deadline": deadline,
                "source": [
                    source("repo", "repo.tar.gz"),
                    source("fuzz-tooling", "tooling.tar.gz"),
                    source("diff", "diff.tar.gz"),
                ],
            }],
        })
    }
}

/// Makes the tarballs.
fn pack(folder: &std::path::Path) {
    let place = |name: &str| folder.join(name);
    twins::write(&place("repo/twins-main"));
    let main = place("repo/twins-main/main.c");
    let text = fs::read_to_string(&main).expect("the program");
    let before = text.replacen(
        "memset(name, 'x', size_of(text))",
        "memset(name, 'x', 4)",
        1,
    );
    assert_ne!(before, text);
    fs::write(&main, before).expect("the program");
    let project = place("tooling/fuzz-tooling/projects/twins");
    fs::create_dir_all(&project).expect("a folder");
    fs::write(
        project.join("project.yaml"),
        "language: c\nsanitizers:\n  - address\n",
    )
    .expect("a file");
    let build = format!("{} \"$OUT/harness\" main.c\n", twins::COMPILE);
    fs::write(project.join("build.sh"), build).expect("a file");
    fs::write(
        project.join("test.sh"),
        "test \"$(\"$OUT\"/harness)\" = 120\n",
    )
    .expect("a file");
    fs::create_dir_all(place("diff/diff")).expect("a folder");
    fs::write(place("diff/diff/ref.diff"), CHANGE).expect("a file");
    for name in ["repo", "tooling", "diff"] {
        let made = Command::new("tar")
            .args(["--create", "--gzip", "--file"])
            .arg(place(&format!("{name}.tar.gz")))
            .args(["--directory"])
            .arg(place(name))
            .arg(".")
            .status();
        assert!(made.expect("tar").success());
    }
}

async fn guard(headers: HeaderMap, request: Request, next: Next) -> Response {
    let right = format!("Basic {}", encode(format!("{KEY}:{TOKEN}").as_bytes()));
    let given = headers
        .get("authorization")
        .and_then(|value| value.to_str().ok());
    if given == Some(right.as_str()) {
        return next.run(request).await;
    }
    let refused = Json(json!({ "message": "unauthorized" }));
    (StatusCode::UNAUTHORIZED, refused).into_response()
}

async fn file(State(house): State<Arc<House>>, Path(name): Path<String>) -> Vec<u8> {
    fs::read(house.folder.path().join(name)).expect("a tarball")
}

async fn ping(State(house): State<Arc<House>>) -> Json<Value> {
    house.pings.fetch_add(1, Ordering::Relaxed);
    Json(json!({ "status": "pong" }))
}

impl House {
    fn verdict(&self, number: usize) -> &'static str {
        self.verdicts[(number - 1).min(self.verdicts.len() - 1)]
    }
}

async fn submit(
    State(house): State<Arc<House>>,
    Path(task): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    assert_eq!(task, TASK);
    let patch = decode(body["patch"].as_str().expect("a patch")).expect("base64");
    let mut patches = house.patches.lock().expect("the patches");
    patches.push(String::from_utf8(patch).expect("text"));
    if house.verdict(patches.len()) == "503" {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let id = format!("00000000-0000-4000-8000-{:012}", patches.len());
    let answer =
        json!({ "patch_id": id, "status": "accepted", "functionality_tests_passing": null });
    Json(answer).into_response()
}

async fn ask(
    State(house): State<Arc<House>>,
    Path((_, patch)): Path<(String, String)>,
) -> Json<Value> {
    let number: usize = patch
        .rsplit('-')
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a number");
    let verdict = house.verdict(number);
    let tests = (verdict == "passed").then_some(true);
    Json(json!({ "patch_id": patch, "status": verdict, "functionality_tests_passing": tests }))
}
