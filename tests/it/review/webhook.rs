//! Decisions by reviews of a pull request and by comments to it.

use super::{Reviewed, decisions, proposed, token};
use crate::scene::Scene;
use patchwright_tests::daemon::Daemon;
use patchwright_tests::http::{Answer, Request};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// The word that the forge and the daemon alone know.
const SECRET: &str = "between us";

/// A daemon that hears `ann`, with a candidate.
fn heard() -> Reviewed {
    let scene = Scene::new();
    let run = proposed(&scene);
    let tokens = [
        token(&scene, "eye", "review"),
        token(&scene, "ci", "submit"),
    ];
    let secret = format!("webhook.secret={SECRET}");
    let words = ["--workers", "0", "--set", &secret, "--set"];
    let words = [&words[..], &["webhook.deciders=[\"ann\"]"]].concat();
    let daemon = Daemon::start(&scene.patchwright, &words).unwrap();
    Reviewed {
        scene,
        run,
        tokens,
        daemon,
    }
}

/// The signature of GitHub, by another program than ours.
fn signature(secret: &str, body: &str) -> String {
    let program = "import hmac,sys; print(hmac.new(sys.argv[1].encode(), sys.stdin.buffer.read(), 'sha256').hexdigest())";
    let mut python = Command::new("python3")
        .args(["-c", program, secret])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = python.stdin.take().unwrap();
    input.write_all(body.as_bytes()).unwrap();
    drop(input);
    let told = python.wait_with_output().unwrap();
    format!("sha256={}", String::from_utf8(told.stdout).unwrap().trim())
}

impl Reviewed {
    /// The text of the pull request, as it is exported.
    fn pull_request(&self) -> String {
        let told = self.scene.plain(&["export", &self.run, "--format", "pr"]);
        assert_eq!(told.code, Some(0), "{told:#?}");
        told.stdout
    }

    fn comment(&self, who: &str, text: &str) -> Value {
        json!({
            "action": "created",
            "comment": { "body": text, "user": { "login": who } },
            "issue": { "body": self.pull_request(), "pull_request": {} },
        })
    }

    fn send(&self, secret: &str, event: &Value) -> Answer {
        let body = event.to_string();
        let signed = signature(secret, &body);
        let request = Request::new("POST", "/review/webhook").body("application/json", body);
        self.daemon
            .ask(&request.with("x-hub-signature-256", &signed))
    }
}

#[test]
fn people_of_a_forge_decide_by_what_they_write_there() {
    let reviewed = heard();
    let comment = |who: &str, text: &str| reviewed.comment(who, text);
    let asked = json!({
        "action": "submitted",
        "review": {
            "body": "The limit is wrong.",
            "state": "changes_requested",
            "user": { "login": "ann" },
        },
        "pull_request": { "body": reviewed.pull_request() },
    });
    for (secret, event, status) in [
        ("guessed", comment("ann", "/patchwright approve"), 401),
        (SECRET, comment("eve", "/patchwright approve"), 403),
        (SECRET, comment("ann", "looks fine"), 200),
        (SECRET, comment("ann", "/patchwright reject"), 422),
        (SECRET, comment("ann", "/patchwright approve"), 200),
        (SECRET, asked, 200),
        (
            SECRET,
            comment("ann", "/patchwright revise Use the length."),
            200,
        ),
    ] {
        let told = reviewed.send(secret, &event);
        assert_eq!(told.status, status, "{event}: {told:?}");
    }
    let note = json!({
        "object_kind": "note",
        "user": { "username": "ann" },
        "object_attributes": { "note": "/patchwright reject slow", "action": "create" },
        "merge_request": { "description": reviewed.pull_request() },
    });
    for (secret, status) in [("guessed", 401), (SECRET, 200)] {
        let request = Request::new("POST", "/review/webhook");
        let request = request.body("application/json", note.to_string());
        let told = reviewed.daemon.ask(&request.with("x-gitlab-token", secret));
        assert_eq!(told.status, status, "{told:?}");
    }
    let told = decisions(&reviewed.scene);
    let word = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let found: Vec<_> = told
        .iter()
        .map(|one| (word(one, "who"), word(one, "kind"), word(one, "reason")))
        .collect();
    let expected = [
        ("approve", ""),
        ("reject", "The limit is wrong."),
        ("reject", "Use the length."),
        ("revise", "Use the length."),
        ("reject", "slow"),
    ];
    let expected = expected.map(|(kind, why)| ("ann".to_owned(), kind.to_owned(), why.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn a_daemon_without_a_secret_hears_no_forge() {
    let reviewed = Reviewed::new();
    let told = reviewed.send("", &reviewed.comment("ann", "/patchwright approve"));
    assert_eq!(told.status, 404, "{told:?}");
    assert_eq!(decisions(&reviewed.scene), Vec::<Value>::new());
}
