//! `patchwright send`: a mail by the real git send-email, and pull requests by the real gh, which
//! asks a forge of this test, and by a glab that notes how it is called.

use crate::crs::served::Served;
use crate::export::{git, proposed, repository};
use crate::scene::{GOOD, Scene, Told};
use axum::Router;
use axum::routing::post;
use patchwright_tests::command::search_path;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// Writes a program that a test calls.
fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A candidate in a repository of Ann's.
fn candidate(scene: &Scene) -> Told {
    let folder = repository(scene);
    git(&folder, &["config", "user.name", "Ann"]);
    git(&folder, &["config", "user.email", "ann@example.org"]);
    proposed(scene, &[GOOD])
}

/// A remote of the repository whose address leads by ssh to a bare repository of this test.
fn remote(scene: &Scene, address: &str) {
    let folder = scene.path("");
    let bare = scene.patchwright.scratch("bare.git");
    git(
        &folder,
        &["init", "--quiet", "--bare", bare.to_str().unwrap()],
    );
    git(&folder, &["remote", "add", "origin", address]);
    let receive = format!("exec git-receive-pack '{}'", bare.display());
    script(&scene.patchwright.scratch("ssh"), &receive);
}

/// A forge that opens each pull request and keeps what it was asked for.
fn forge(asked: &Arc<Mutex<Vec<Value>>>) -> Router {
    let asked = Arc::clone(asked);
    let answer = move |axum::Json(body): axum::Json<Value>| async move {
        let repository = json!({
            "id": "R", "name": "records", "owner": { "login": "ann" }, "viewerPermission": "WRITE",
            "defaultBranchRef": { "name": "main" }, "pullRequests": { "nodes": [] },
        });
        let opened = json!({ "pullRequest": { "id": "P", "url": "http://github.localhost/ann/records/pull/7" } });
        asked
            .lock()
            .unwrap()
            .push(body["variables"]["input"].clone());
        axum::Json(json!({ "data": { "repository": repository, "createPullRequest": opened } }))
    };
    Router::new().route("/graphql", post(answer))
}

#[test]
fn a_pull_request_is_a_draft_from_a_branch_that_was_pushed() {
    let asked = Arc::default();
    let forge = Served::start(forge(&asked));
    let scene = Scene::new();
    let ssh = scene.patchwright.scratch("ssh").display().to_string();
    let scene = scene
        .with("GIT_SSH_COMMAND", &ssh)
        .with("HTTP_PROXY", &forge.url())
        .with("GH_HOST", "github.localhost")
        .with("GH_TOKEN", "t");
    let told = candidate(&scene);
    remote(&scene, "git@github.localhost:ann/records.git");
    let unasked = scene.plain(&["send", told.run()]);
    assert_eq!(unasked.code, Some(2), "{unasked:#?}");
    for shown in [
        "+  if (name > NAME_LIMIT) return -1;",
        "This sends a branch to git@github.localhost:ann/records.git, and a draft pull request from it.",
        "nobody can be asked here",
    ] {
        assert!(unasked.stderr.contains(shown), "{shown}: {unasked:#?}");
    }
    assert!(asked.lock().unwrap().is_empty());
    let sent = scene.plain(&["send", told.run(), "--yes"]);
    assert_eq!(sent.code, Some(0), "{sent:#?}");
    assert!(sent.stdout.contains("records/pull/7"), "{sent:#?}");
    let input = asked.lock().unwrap().last().unwrap().clone();
    let branch = format!("patchwright/{}", told.run());
    assert_eq!(input["draft"], true, "{input}");
    assert_eq!(input["headRefName"], format!("ann:{branch}"));
    assert!(
        input["title"].as_str().unwrap().contains("records"),
        "{input}"
    );
    assert!(
        input["body"]
            .as_str()
            .unwrap()
            .contains("please read the diff")
    );
    let bare = scene.patchwright.scratch("bare.git");
    let author = git(&bare, &["log", "-1", "--format=%an <%ae>", &branch]);
    assert_eq!(author, "Ann <ann@example.org>");
    // A branch that is there already is not replaced.
    let again = scene.plain(&["send", told.run(), "--yes"]);
    assert_eq!(again.code, Some(5), "{again:#?}");
}

#[test]
fn a_gitlab_is_asked_by_its_own_program() {
    let scene = Scene::new();
    let ssh = scene.patchwright.scratch("ssh").display().to_string();
    let programs = scene.patchwright.scratch("programs");
    fs::create_dir(&programs).unwrap();
    script(&programs.join("glab"), "printf '<%s>' \"$@\" \"$KEY\"");
    let path = format!("{}:{}", programs.display(), search_path());
    let scene = scene
        .with("GIT_SSH_COMMAND", &ssh)
        .with("PATH", &path)
        .with("KEY", "secret");
    let told = candidate(&scene);
    remote(&scene, "git@gitlab.example.org:group/sub/records.git");
    let sent = scene.plain(&["send", told.run(), "--ready", "--yes"]);
    assert_eq!(sent.code, Some(0), "{sent:#?}");
    let source = format!(
        "<--head><group/sub/records><--source-branch><patchwright/{}>",
        told.run()
    );
    for part in [
        "<mr><create><--yes><--description>",
        &source,
        "<--title><Repair records: ",
    ] {
        assert!(sent.stdout.contains(part), "{part}: {sent:#?}");
    }
    for part in ["--draft", "secret"] {
        assert!(!sent.stdout.contains(part), "{part}: {sent:#?}");
    }
}

#[test]
fn a_mail_goes_to_those_who_are_named_and_to_nobody_else() {
    let scene = Scene::new();
    let told = candidate(&scene);
    let [server, kept] = ["server", "sent.eml"].map(|name| scene.patchwright.scratch(name));
    script(
        &server,
        &format!(
            "printf 'for %s\\n' \"$@\" >'{0}'; cat >>'{0}'",
            kept.display()
        ),
    );
    git(
        &scene.path(""),
        &["config", "sendemail.smtpServer", server.to_str().unwrap()],
    );
    let arguments = [
        "send",
        told.run(),
        "--to",
        "list@example.org",
        "--in-reply-to",
        "7@example.org",
    ];
    let sent = scene.plain(
        &[
            &arguments[..],
            &["--reported-by", "Bob <bob@example.org>", "-y"],
        ]
        .concat(),
    );
    assert_eq!(sent.code, Some(0), "{sent:#?}");
    let mail = fs::read_to_string(&kept).unwrap();
    for line in [
        "for list@example.org\n",
        "From: Ann <ann@example.org>\n",
        "To: list@example.org\n",
        "In-Reply-To: <7@example.org>\n",
        "+  if (name > NAME_LIMIT) return -1;\n",
    ] {
        assert!(mail.contains(line), "{line}: {mail}");
    }
    assert!(!mail.contains("for bob@"), "{mail}");
    let nobody = scene.plain(&["send", told.run(), "--to", "list"]);
    assert_eq!(nobody.code, Some(2), "{nobody:#?}");
}

/// Runs a command on a terminal, where somebody types this.
fn typed(scene: &Scene, arguments: &[&str], answer: &str) -> (Option<i32>, String) {
    let inner = scene.patchwright.command(arguments).unwrap();
    let words = std::iter::once(inner.get_program()).chain(inner.get_args());
    let words: Vec<_> = words.map(|word| word.to_str().unwrap()).collect();
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &words.join(" "), "/dev/null"]);
    terminal.current_dir(inner.get_current_dir().unwrap());
    terminal
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    for (name, value) in inner.get_envs() {
        terminal.env(name, value.unwrap_or_default());
    }
    let mut terminal = terminal.spawn().unwrap();
    let mut keys = terminal.stdin.take().unwrap();
    writeln!(keys, "{answer}").unwrap();
    let ended = terminal.wait_with_output().unwrap();
    let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
    (ended.status.code(), shown)
}

#[test]
fn on_a_terminal_nothing_goes_without_a_yes() {
    let scene = Scene::new();
    let told = candidate(&scene);
    let [server, kept] = ["server", "sent.eml"].map(|name| scene.patchwright.scratch(name));
    script(&server, &format!("cat >'{}'", kept.display()));
    let server = ["config", "sendemail.smtpServer", server.to_str().unwrap()];
    git(&scene.path(""), &server);
    let send = ["send", told.run(), "--to", "list@example.org"];
    for (answer, code, is_sent) in [("", 1, false), ("no", 1, false), ("y", 0, true)] {
        let (ended, shown) = typed(&scene, &send, answer);
        assert_eq!(ended, Some(code), "{answer}: {shown}");
        assert!(shown.contains("Send it? [y/N]"), "{shown}");
        assert_eq!(kept.exists(), is_sent, "{answer}: {shown}");
    }
}

#[test]
fn a_patch_without_a_person_or_a_remote_is_not_sent() {
    let scene = Scene::new();
    repository(&scene);
    let told = proposed(&scene, &[GOOD]);
    let nameless = scene.plain(&["send", told.run(), "-y"]);
    assert_eq!(nameless.code, Some(2), "{nameless:#?}");
    assert!(nameless.stderr.contains("set user.name"), "{nameless:#?}");
    let nowhere = scene.plain(&[
        "send",
        told.run(),
        "-y",
        "--author",
        "Ann <ann@example.org>",
    ]);
    assert_eq!(nowhere.code, Some(2), "{nowhere:#?}");
    assert!(nowhere.stderr.contains("with --remote"), "{nowhere:#?}");
}
