//! The verbs that talk to a daemon, and those that look after its database,
//! through the real command line.

use crate::scene::{GOOD, QUERIES, Scene};
use patchwright_tests::command::Finished;
use patchwright_tests::daemon::Daemon;
use patchwright_tests::model::{Answer, ScriptedModel};
use patchwright_tests::postgres::Postgres;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::time::{Duration, Instant};

/// The limit of waiting before a test fails. No test measures time by it.
const PATIENCE: Duration = Duration::from_mins(2);

/// A daemon that answers `ci` alone, and the token of `ci`.
fn daemon(scene: &Scene, more: &[&str]) -> (Daemon, String) {
    let made = scene.plain(&["token", "create", "ci", "--expires", "1d"]);
    let token = made.stdout.trim().to_owned();
    assert!(token.len() > 30, "{made:?}");
    let daemon = Daemon::start(&scene.patchwright, more).expect("the daemon starts");
    (daemon, token)
}

/// A client of a daemon, on the same machine.
struct Client<'a> {
    scene: &'a Scene,
    server: String,
    token: String,
}

impl Client<'_> {
    fn run(&self, arguments: &[&str]) -> Finished {
        let server = format!("client.server={}", self.server);
        let token = format!("client.token={}", self.token);
        let more = ["--set", &server, "--set", &token];
        self.scene.plain(&[arguments, &more].concat())
    }

    fn told(&self, arguments: &[&str]) -> String {
        let finished = self.run(arguments);
        assert_eq!(finished.code, Some(0), "{finished:#?}");
        finished.stdout
    }
}

#[test]
fn a_task_is_handed_in_followed_shown_and_listed() {
    let scene = Scene::new().edit(
        "task.toml",
        "language = \"c\"",
        "language = \"c\"\nmode = \"dry-run\"",
    );
    let model = ScriptedModel::start([QUERIES, GOOD].map(Answer::from)).unwrap();
    let endpoint = format!("model.base_url={}", model.base_url());
    let settings = ["--set", &endpoint, "--set", "model.name=scripted"];
    let (daemon, token) = daemon(&scene, &[&["--workers", "1"], &settings[..]].concat());
    let client = Client {
        scene: &scene,
        server: format!("http://{}", daemon.address()),
        token,
    };
    // The source is sent, with its links.
    symlink("records.c", scene.path("src/linked.c")).unwrap();
    let told = client.told(&["submit", "records", "--priority", "3", "--group", "small"]);
    assert_eq!(told, "records queued\n");
    let followed = client.told(&["events", "records"]);
    assert!(followed.ends_with("done: proposed\n"), "{followed}");
    assert!(followed.contains(" outcome locate "), "{followed}");
    // The same task again is the same.
    assert_eq!(client.told(&["submit", "records"]), "records done\n");
    let listed = client.told(&["tasks", "--ending", "proposed", "--group", "small"]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
    assert!(listed.contains(" done ") && listed.contains(" records "));
    assert_eq!(client.told(&["tasks", "--status", "queued"]), "");
    let all: Value = serde_json::from_str(&client.told(&["tasks", "--format", "json"])).unwrap();
    assert_eq!(all["tasks"][0]["priority"], 3, "{all}");
    // Another machine has a store of its own.
    let elsewhere = scene.patchwright.scratch("elsewhere").display().to_string();
    let report = client.told(&["show", "records", "--state", &elsewhere, "--format", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["ending"], "proposed", "{report}");
    let journal = client.told(&["show", "records", "--journal", "--state", &elsewhere]);
    assert!(journal.contains(" outcome locate "), "{journal}");
    let export =
        |form: &str| client.run(&["export", "records", "--format", form, "--state", &elsewhere]);
    let diff = export("diff");
    assert_eq!(
        diff.stdout,
        report["best"]["diff"].as_str().unwrap(),
        "{diff:?}"
    );
    assert!(export("mbox").stdout.contains("\nSubject: [PATCH] "));
    let folder = export("folder");
    assert_eq!(folder.code, Some(2), "{folder:?}");
    assert!(folder.stderr.contains("--format"), "{folder:?}");
}

#[test]
fn a_task_is_canceled_and_who_has_no_token_is_refused() {
    let scene = Scene::new();
    let folders = scene.patchwright.scratch("").display().to_string();
    let folders = format!("intake.folders=[{folders:?}]");
    let (daemon, token) = daemon(&scene, &["--workers", "0", "--set", &folders]);
    let mut client = Client {
        scene: &scene,
        server: format!("http://{}", daemon.address()),
        token,
    };
    let words = |finished: &Finished, words: &str| {
        assert_ne!(finished.code, Some(0), "{finished:?}");
        assert!(finished.stderr.contains(words), "{finished:?}");
    };
    client.told(&["submit", "records", "--in-place"]);
    assert_eq!(client.told(&["cancel", "records"]), "records canceled\n");
    words(
        &client.run(&["cancel", "nobody"]),
        "there is no task \"nobody\"",
    );
    words(&client.run(&["submit", "nothing"]), "nothing");
    let listed = client.scene.plain(&["token", "list"]);
    assert!(listed.stdout.contains("ci"), "{listed:?}");
    assert!(!listed.stdout.contains(&client.token), "{listed:?}");
    let token = std::mem::replace(&mut client.token, "wrong".to_owned());
    words(&client.run(&["tasks"]), "401");
    client.token = token;
    let revoked = client.scene.plain(&["token", "revoke", "ci"]);
    assert_eq!(revoked.code, Some(0), "{revoked:?}");
    // A daemon looks at the tokens anew after a moment.
    let since = Instant::now();
    while client.run(&["tasks"]).code == Some(0) {
        assert!(since.elapsed() < PATIENCE);
    }
    words(&client.run(&["tasks"]), "401");
    client.server = "http://127.0.0.1:1".to_owned();
    words(&client.run(&["tasks"]), "no daemon answers at");
}

#[test]
fn a_sqlite_database_is_copied_while_it_is_used() {
    let scene = Scene::new();
    let (_daemon, _) = daemon(&scene, &["--workers", "0"]);
    assert_eq!(scene.plain(&["db", "migrate"]).code, Some(0));
    let copied = scene.plain(&["db", "backup", "copy.db"]);
    assert_eq!(copied.code, Some(0), "{copied:?}");
    let again = scene.plain(&["db", "backup", "copy.db"]);
    assert_ne!(again.code, Some(0), "{again:?}");
    // Put back elsewhere, it knows what the first knew.
    let state = scene.patchwright.scratch("restored");
    fs::create_dir(&state).unwrap();
    fs::rename(
        scene.patchwright.scratch("copy.db"),
        state.join("patchwright.db"),
    )
    .unwrap();
    let state = state.display().to_string();
    let listed = scene.plain(&["token", "list", "--state", &state]);
    assert!(listed.stdout.contains("ci"), "{listed:?}");
    let pruned = scene.plain(&["db", "prune"]);
    assert!(pruned.stdout.starts_with("forgot 0 tasks"), "{pruned:?}");
}

#[test]
fn a_postgresql_is_copied_and_nobody_sees_its_password() {
    const SECRET: &str = "nobody may read this";
    let url = Postgres::shared().database().unwrap();
    let scene = Scene::new();
    // It stands before the real one, and tells what it was given.
    let bin = scene.patchwright.scratch("bin");
    fs::create_dir(&bin).unwrap();
    let told = scene.patchwright.scratch("told").display().to_string();
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" >{told}.arguments\nprintf '%s' \"$PGPASSWORD\" >{told}.password\nPATH=${{PATH#*:}}\nexec pg_dump \"$@\"\n"
    );
    fs::write(bin.join("pg_dump"), script).unwrap();
    fs::set_permissions(bin.join("pg_dump"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let with = url.replacen("postgres@", "postgres:nobody%20may%20read%20this@", 1);
    let scene = scene
        .with("PATH", &path)
        .with("PATCHWRIGHT_DATABASE__URL", &with);
    assert_eq!(scene.plain(&["token", "create", "ci"]).code, Some(0));
    let copied = scene.plain(&["db", "backup", "copy.dump"]);
    assert_eq!(copied.code, Some(0), "{copied:?}");
    let arguments = fs::read_to_string(format!("{told}.arguments")).unwrap();
    assert!(!arguments.contains("nobody"), "{arguments}");
    assert_eq!(
        fs::read_to_string(format!("{told}.password")).unwrap(),
        SECRET
    );
    // Put back into another database, it knows what the first knew.
    let other = Postgres::shared().database().unwrap();
    let restored = Command::new("pg_restore")
        .args(["--no-owner", "--exit-on-error", "--dbname", &other])
        .arg(scene.patchwright.scratch("copy.dump"))
        .output()
        .unwrap();
    assert!(restored.status.success(), "{restored:?}");
    let database = format!("database.url={other}");
    let listed = scene.plain(&["token", "list", "--set", &database]);
    assert!(listed.stdout.contains("ci"), "{listed:?}");
    let nowhere = scene.plain(&["db", "backup", "no/such/folder/copy.dump"]);
    assert_ne!(nowhere.code, Some(0), "{nowhere:?}");
    assert!(!nowhere.stderr.contains("nobody"), "{nowhere:?}");
}
