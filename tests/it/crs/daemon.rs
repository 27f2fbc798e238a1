//! The daemon as a CRS sees it: the patch service, and the common parts of both
//! interfaces.

use super::twins;
use patchwright_daemon::crs::protocol::{decode, encode};
use patchwright_tests::command::Patchwright;
use patchwright_tests::daemon::Daemon;
use patchwright_tests::http::{Answer, Request};
use patchwright_tests::model::{Answer as Said, ScriptedModel};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

pub(super) const LEFT: &str = "11111111-1111-4111-8111-111111111111";
pub(super) const RIGHT: &str = "22222222-2222-4222-8222-222222222222";
/// The limit of waiting before a test fails. No test measures time by it.
const PATIENCE: Duration = Duration::from_mins(3);

/// A Patchwright that knows the project `twins`.
pub(super) fn patchwright(more: &str) -> Patchwright {
    let patchwright = Patchwright::new().expect("patchwright builds");
    let project = patchwright.scratch("projects/twins");
    twins::write(&project.join("src"));
    let task = format!(
        "id = \"twins\"\nlanguage = \"c\"\n[source]\npath = \"src\"\n[commands]\n\
         build = '{} \"$OUT\"/harness main.c'\npov = '\"$OUT/$HARNESS\" \"$POV\"'\n\
         test = 'test \"$(\"$OUT\"/harness)\" = 120'\n[builds.address]\nKIND = \"address\"\n",
        twins::COMPILE
    );
    fs::write(project.join("task.toml"), task).expect("a task");
    let settings = format!(
        "[crs]\nenabled = true\nwatch = \"100ms\"\nprojects = {:?}\n{more}",
        patchwright.scratch("projects").display().to_string()
    );
    fs::write(patchwright.scratch("crs.toml"), settings).expect("settings");
    patchwright
        .with("PATCHWRIGHT_LIMITS__ROBUST", "1s")
        .with("PATCHWRIGHT_LIMITS__EXECUTIONS", "1")
        .with("PATCHWRIGHT_LIMITS__SAME", "1s")
        .with("PATCHWRIGHT_MODEL__API_KEY", "sk-any")
        .with("PATCHWRIGHT_MODEL__NAME", "scripted")
        .with("PATCHWRIGHT_MODEL__RETRIES__COUNT", "0")
}

pub(super) fn start(patchwright: &Patchwright, workers: &str) -> Daemon {
    let settings = patchwright.scratch("crs.toml").display().to_string();
    let arguments = ["--workers", workers, "--config", &settings];
    Daemon::start(patchwright, &arguments).expect("the daemon starts")
}

pub(super) fn pov(id: &str, input: &str) -> Value {
    json!({
        "project_name": "twins",
        "blobs": [{ "harness_name": "harness", "sanitizer_name": "address", "blob_data": encode(input.as_bytes()) }],
        "pov_id": id,
        "sarif_report": null,
        "type": "full",
    })
}

pub(super) fn post(daemon: &Daemon, path: &str, body: &Value) -> Answer {
    daemon.ask(&Request::new("POST", path).body("application/json", body.to_string()))
}

/// Asks for a PoV until its patch has come this far.
pub(super) fn wait_for(daemon: &Daemon, id: &str, status: &str) -> Value {
    let mut told = Value::Null;
    wait(daemon, || {
        told = daemon.get(&format!("/v1/patch/{id}/")).json();
        told["status"] == status
    });
    told
}

/// Waits until something has come to pass.
pub(super) fn wait(daemon: &Daemon, mut come: impl FnMut() -> bool) {
    let since = Instant::now();
    while !come() {
        let status = daemon.get("/status/").json();
        assert!(since.elapsed() < PATIENCE, "{status} {}", daemon.told());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Answers for the crash on the left; whoever asks about the other one waits.
pub(super) fn model_of_the_left() -> ScriptedModel {
    let model = ScriptedModel::answering(|asked| {
        let messages = asked.messages();
        let right = messages.iter().any(|(_, text)| text.contains(" in right "));
        let answered = messages.iter().any(|(role, _)| role == "assistant");
        let said = if answered {
            twins::BOTH
        } else {
            twins::QUERIES
        };
        if right {
            Said::After(PATIENCE, Box::new(said.into()))
        } else {
            said.into()
        }
    });
    model.expect("a model")
}

#[test]
fn a_patch_closes_every_pov_that_it_stops() {
    let model = model_of_the_left();
    let patchwright = patchwright("").with("PATCHWRIGHT_MODEL__BASE_URL", &model.base_url());
    let daemon = start(&patchwright, "1");
    for (id, input) in [(LEFT, "left9"), (RIGHT, "rite9")] {
        let answer = post(&daemon, "/v1/patch/", &pov(id, input));
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let left = wait_for(&daemon, LEFT, "succeeded");
    let right = wait_for(&daemon, RIGHT, "succeeded");
    assert_eq!(left["patch_diff"], right["patch_diff"]);
    let diff = decode(left["patch_diff"].as_str().expect("a diff")).expect("base64");
    let diff = String::from_utf8(diff).expect("text");
    assert!(diff.contains("+  return size > 4 ? 4 : size;"), "{diff}");
}

#[test]
fn a_patch_of_a_file_that_is_no_utf8_keeps_its_bytes() {
    let model = model_of_the_left();
    let patchwright = patchwright("").with("PATCHWRIGHT_MODEL__BASE_URL", &model.base_url());
    let main = patchwright.scratch("projects/twins/src/main.c");
    let code = fs::read_to_string(&main).expect("the program");
    let place = "size_of(const char *text) {";
    let (before, after) = code.split_once(place).expect("a function");
    let marked: &[u8] = b"size_of(const char *text) { /* Gr\xf6\xdfe */";
    let bytes = [before.as_bytes(), marked, after.as_bytes()].concat();
    fs::write(&main, bytes).expect("the program");
    let daemon = start(&patchwright, "1");
    assert_eq!(post(&daemon, "/v1/patch/", &pov(LEFT, "left9")).status, 200);
    let found = wait_for(&daemon, LEFT, "succeeded");
    let diff = decode(found["patch_diff"].as_str().expect("a diff")).expect("base64");
    // The same bytes over both interfaces, and they apply.
    let task = &daemon.get("/api/v1/tasks").json()["tasks"][0]["id"];
    let path = format!("/api/v1/tasks/{}/patch", task.as_str().expect("an id"));
    let answer = daemon.get(&path);
    assert_eq!(answer.body, diff, "{}", answer.text());
    let kind = answer.header("content-type");
    assert_eq!(kind, Some("text/x-diff; charset=iso-8859-1"));
    fs::write(patchwright.scratch("found.diff"), &diff).expect("the diff");
    let applied = std::process::Command::new("git")
        .args(["apply", "../../../found.diff"])
        .current_dir(main.parent().expect("a folder"))
        .output()
        .expect("git runs");
    assert!(applied.status.success(), "{applied:?}");
    let fixed = fs::read(&main).expect("the program");
    let has = |words: &[u8]| fixed.windows(words.len()).any(|part| part == words);
    assert!(has(marked) && has(b"return size > 4 ? 4 : size;"));
}

#[test]
fn requests_that_do_not_fit_are_refused_by_key() {
    let patchwright = patchwright("");
    let daemon = start(&patchwright, "0");
    let refused = |path: &str, body: &Value, key: &str| {
        let answer = post(&daemon, path, body);
        assert_eq!(answer.status, 400, "{}", answer.text());
        let told = answer.json();
        assert!(told["message"].is_string(), "{told}");
        assert!(key.is_empty() || told["fields"][key].is_string(), "{told}");
    };
    let with = |key: &str, value: Value| {
        let mut body = pov(LEFT, "left9");
        body[key] = value;
        body
    };
    refused("/v1/patch/", &json!([]), "");
    refused("/v1/patch/", &with("pov_id", json!("../up")), "pov_id");
    refused(
        "/v1/patch/",
        &with("project_name", json!("nobody")),
        "project_name",
    );
    refused("/v1/patch/", &with("type", json!("half")), "");
    refused("/v1/task/", &json!({ "message_id": 1 }), "");
    let task = json!({ "message_id": LEFT, "message_time": 1, "tasks": [] });
    assert_eq!(post(&daemon, "/v1/task/", &task).status, 202);
    let sarif = json!({ "message_id": LEFT, "message_time": 1, "broadcasts": [
        { "metadata": {}, "sarif": { "runs": [] }, "sarif_id": LEFT, "task_id": RIGHT }] });
    refused("/v1/sarif/", &sarif, "broadcasts[0].task_id");

    assert_eq!(post(&daemon, "/v1/patch/", &pov(LEFT, "left9")).status, 200);
    assert_eq!(post(&daemon, "/v1/patch/", &pov(LEFT, "left9")).status, 200);
    refused("/v1/patch/", &pov(LEFT, "left8"), "pov_id");
    assert_eq!(
        daemon.get(&format!("/v1/patch/{LEFT}/")).json()["status"],
        "waiting"
    );
    assert_eq!(daemon.get(&format!("/v1/patch/{RIGHT}/")).status, 404);
    let gone = daemon.ask(&Request::new("DELETE", &format!("/v1/task/{RIGHT}/")));
    assert_eq!(gone.status, 404);
}

#[test]
fn keys_are_names_and_tokens() {
    let patchwright = patchwright("");
    let create = |name: &str, role: &str| {
        let made = patchwright.run(&["token", "create", name, "--role", role]);
        made.expect("patchwright runs").stdout.trim().to_owned()
    };
    let (token, eyes) = (create("the-crs", "submit"), create("eyes", "review"));
    let daemon = start(&patchwright, "0");
    let status = |key: &str, token: &str| {
        let basic = format!("Basic {}", encode(format!("{key}:{token}").as_bytes()));
        let request = Request::get("/status/").with("Authorization", &basic);
        daemon.ask(&request).status
    };
    assert_eq!(status("the-crs", &token), 200);
    assert_eq!(status("another", &token), 401);
    assert_eq!(status("the-crs", "wrong"), 401);
    assert_eq!(status("eyes", &eyes), 403);
    let answer = daemon.get("/status/");
    assert_eq!(answer.status, 401);
    let asked = answer.header("www-authenticate").unwrap_or_default();
    assert!(asked.starts_with("Basic"), "{asked}");
}
