//! The review page: who may see and decide what, what a page may run and load, how
//! large it is, and the attempt that follows a rejection.

mod accessible;
mod browser;
mod seed;
mod webhook;

use crate::scene::{GOOD, QUERIES, STILL_CRASHES, Scene};
use patchwright_tests::daemon::Daemon;
use patchwright_tests::http::{Answer, Request};
use patchwright_tests::model::ScriptedModel;
use patchwright_tests::postgres::Postgres;
use seed::Seeded;
use serde_json::Value;

/// Bytes that a browser may be sent for the first view of a run.
const FIRST_VIEW: usize = 100_000;

fn token(scene: &Scene, name: &str, role: &str) -> String {
    let made = scene.plain(&["token", "create", name, "--role", role]);
    assert_eq!(made.code, Some(0), "{made:?}");
    made.stdout.trim().to_owned()
}

fn form(path: &str, body: &str) -> Request {
    Request::new("POST", path).body("application/x-www-form-urlencoded", body)
}

fn with(token: &str, request: Request) -> Request {
    request.with("cookie", &format!("patchwright_review={token}"))
}

/// A dry run with one candidate.
fn proposed(scene: &Scene) -> String {
    let model = ScriptedModel::start([GOOD]).unwrap();
    scene.run(&model, &["--dry-run"]).run().to_owned()
}

pub(crate) fn decisions(scene: &Scene) -> Vec<Value> {
    let told = scene.plain(&["decisions", "--format", "json"]);
    serde_json::from_str(&told.stdout).unwrap_or_else(|error| panic!("{error}: {told:#?}"))
}

fn idle(scene: &Scene) -> Daemon {
    Daemon::start(&scene.patchwright, &["--workers", "0"]).unwrap()
}

/// A candidate, a daemon, and the tokens of a reviewer and of a submitter.
struct Reviewed {
    scene: Scene,
    run: String,
    tokens: [String; 2],
    daemon: Daemon,
}

impl Reviewed {
    fn new() -> Self {
        let scene = Scene::new();
        let run = proposed(&scene);
        let tokens = [
            token(&scene, "eye", "review"),
            token(&scene, "ci", "submit"),
        ];
        let daemon = idle(&scene);
        Self {
            scene,
            run,
            tokens,
            daemon,
        }
    }

    fn form(&self, action: &str, body: &str) -> Request {
        form(
            &format!("/review/runs/{}/attempts/1/{action}", self.run),
            body,
        )
    }

    fn post(&self, token: &str, action: &str, body: &str) -> u16 {
        let request = own(with(token, self.form(action, body)));
        self.daemon.ask(&request).status
    }
}

/// A request as a page of the server itself makes it.
fn own(request: Request) -> Request {
    request.with("sec-fetch-site", "same-origin")
}

#[test]
fn another_site_and_nobody_change_nothing() {
    let reviewed = Reviewed::new();
    let [eye, _] = &reviewed.tokens;
    let refused = reviewed.daemon.get("/review");
    let to = refused.header("location");
    assert_eq!((refused.status, to), (303, Some("/review/sign-in")));
    let approve = || reviewed.form("approve", "");
    let sign_in = |token: &str| form("/review/sign-in", &format!("token={token}"));
    for (request, status) in [
        (approve(), 403),
        (own(approve()), 401),
        (with(eye, approve()), 403),
        (
            with(eye, approve()).with("origin", "https://evil.example"),
            403,
        ),
        (with(eye, approve()).with("origin", "null"), 403),
        (
            with(eye, approve()).with("sec-fetch-site", "cross-site"),
            403,
        ),
        (with("patchwright_nobody", own(approve())), 401),
        (sign_in(eye).with("origin", "https://evil.example"), 403),
        (own(sign_in("patchwright_nobody")), 401),
    ] {
        assert_eq!(reviewed.daemon.ask(&request).status, status, "{request:?}");
    }
    assert_eq!(decisions(&reviewed.scene), Vec::<Value>::new());
    // Signing in gives the cookie that pages are read with.
    let signed = reviewed.daemon.ask(&own(sign_in(eye)));
    let cookie = signed.header("set-cookie").unwrap_or_default();
    assert!(cookie.contains("HttpOnly; SameSite=Lax"), "{cookie}");
    let list = reviewed.daemon.ask(&with(eye, Request::get("/review")));
    assert_eq!(list.status, 200);
}

#[test]
fn roles_decide_who_may_do_what_and_the_journal_keeps_it() {
    let reviewed = Reviewed::new();
    let [eye, ci] = &reviewed.tokens;
    for (token, action, body, status) in [
        (eye, "evaluate", "", 403),
        (eye, "reject", "reason=wrong&revise=yes", 403),
        (eye, "reject", "reason=+", 422),
        (eye, "contest", "reason=x&input=nothing", 422),
        (eye, "reject", "reason=breaks+%3Cb%3E", 303),
        (eye, "approve", "", 303),
        (ci, "evaluate", "", 303),
    ] {
        assert_eq!(
            reviewed.post(token, action, body),
            status,
            "{action} {body}"
        );
    }
    let told = decisions(&reviewed.scene);
    let word = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let found: Vec<_> = told
        .iter()
        .map(|one| (word(one, "who"), word(one, "kind")))
        .collect();
    let expected = [("eye", "reject"), ("eye", "approve"), ("ci", "evaluate")];
    assert_eq!(
        found,
        expected.map(|(who, kind)| (who.to_owned(), kind.to_owned()))
    );
    assert_eq!(told[0]["reason"], "breaks <b>");
    let journal = reviewed
        .scene
        .plain(&["show", &reviewed.run, "--journal"])
        .stdout;
    assert!(
        journal.contains("eye rejected attempt 1: breaks <b>"),
        "{journal}"
    );
    let csv = reviewed.scene.plain(&["decisions"]).stdout;
    let line = |line: &str| line.contains(",reject,eye,breaks <b>,");
    assert!(csv.lines().any(line), "{csv}");
}

/// No answer may run, load or frame anything that is not the server's own.
fn expect_confined(answer: &Answer) {
    let policy = answer.header("content-security-policy").unwrap_or_default();
    for part in [
        "default-src 'none'",
        "script-src 'self';",
        "style-src 'self';",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
}

#[test]
fn every_page_is_confined_and_what_is_not_there_is_a_page() {
    let scene = Scene::new();
    let seeded = Seeded::hostile(&scene);
    let daemon = idle(&scene);
    let run = format!("/review/runs/{}", seeded.run);
    for (path, status) in [
        ("/review".to_owned(), 200),
        ("/review?text=%00%3Cscript%3E&state=%27".to_owned(), 200),
        ("/review/plots".to_owned(), 200),
        ("/review/decisions.json".to_owned(), 200),
        ("/review/style.css".to_owned(), 200),
        (run.clone(), 200),
        (format!("{run}/attempts/1"), 200),
        (format!("{run}/attempts/1?view=unified"), 200),
        (format!("{run}/attempts/9"), 404),
        (format!("{run}/logs/{}", seeded.log), 200),
        (format!("{run}/logs/{}", "0".repeat(64)), 404),
        (format!("{run}/logs/..%2F..%2Fetc%2Fpasswd"), 404),
        (format!("{run}/events/1"), 200),
        (format!("{run}/events/999"), 404),
        (format!("{run}/story?before=100"), 200),
        (
            format!("{run}/attempts/1/source?file=..%2F..%2Fetc%2Fpasswd&from=1&to=9"),
            404,
        ),
        ("/review/runs/nobody".to_owned(), 404),
        ("/review/sign-in".to_owned(), 200),
    ] {
        let answer = daemon.get(&path);
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        expect_confined(&answer);
        if !path.contains("style")
            && !path.contains("sign-in")
            && answer
                .header("content-type")
                .is_some_and(|kind| kind.contains("html"))
        {
            let own = "<script src=\"/review/script.js\" defer></script>";
            assert!(
                !answer.text().replace(own, "").contains("<script"),
                "{path}"
            );
            assert!(!answer.text().contains('\u{202e}'), "{path}");
        }
    }
}

#[test]
fn the_first_view_of_a_large_run_is_small_and_its_logs_come_later() {
    let scene = Scene::new();
    let seeded = Seeded::large(&scene);
    let daemon = idle(&scene);
    let run = format!("/review/runs/{}", seeded.run);
    let parts = [
        run.as_str(),
        "/review/style.css",
        "/review/script.js",
        "/review/icon.svg",
    ];
    let sizes: Vec<usize> = parts
        .iter()
        .map(|path| daemon.get(path).body.len())
        .collect();
    assert!(sizes.iter().sum::<usize>() < FIRST_VIEW, "{sizes:?}");
    let page = daemon.get(&run).text();
    assert_eq!(
        page.matches("data-row").count(),
        20,
        "every attempt has a row"
    );
    let log = daemon.get(&format!("{run}/logs/{}", seeded.log));
    assert!(
        log.text().contains("bytes left out") && log.body.len() < FIRST_VIEW,
        "{}",
        log.body.len()
    );
    let whole = daemon.get(&format!("{run}/logs/{}?whole=true", seeded.log));
    assert_eq!(whole.body.len(), seed::LOG);
    assert!(
        whole
            .header("content-disposition")
            .is_some_and(|kind| kind.starts_with("attachment"))
    );
}

#[test]
fn ten_thousand_tasks_are_paged_and_filtered_by_the_database() {
    let scene = Scene::new();
    seed::tasks(&scene, 10_000);
    let daemon = idle(&scene);
    let first = daemon.get("/review");
    let text = first.text();
    assert_eq!(text.matches("not begun").count(), 50);
    assert!(
        first.body.len() < FIRST_VIEW && text.contains("10000"),
        "{}",
        first.body.len()
    );
    let next = text
        .split_once("rel=\"next\" href=\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    let next = next.unwrap().0.replace("&amp;", "&");
    let second = daemon.get(&next).text();
    assert!(
        second.contains("task-09949<") && !second.contains("task-09950<"),
        "{second}"
    );
    let found = daemon.get("/review?text=TASK-077&state=queued").text();
    assert!(found.contains("task-07777<") && !found.contains("task-08001<"));
    assert!(
        daemon
            .get("/review?text=task%25")
            .text()
            .contains("Nothing matches")
    );
}

#[test]
fn the_button_starts_another_attempt_in_the_queue() {
    let scene = Scene::new();
    let model = ScriptedModel::start([GOOD, QUERIES, STILL_CRASHES]).unwrap();
    let run = scene.run(&model, &["--dry-run"]).run().to_owned();
    let endpoint = format!("model.base_url={}", model.base_url());
    let arguments = [
        "--workers",
        "1",
        "--set",
        "model.name=scripted",
        "--set",
        &endpoint,
    ];
    let daemon = Daemon::start(&scene.patchwright, &arguments).unwrap();
    let reject = form(
        &format!("/review/runs/{run}/attempts/1/reject"),
        "reason=too+strict&revise=yes",
    );
    let answer = daemon.ask(&reject.with("sec-fetch-site", "same-origin"));
    let to = answer.header("location").unwrap_or_default().to_owned();
    assert!(
        answer.status == 303 && to.starts_with("/review?text=records-"),
        "{}",
        answer.text()
    );
    for _ in 0..1200 {
        if model.requests().len() >= 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let prompts: Vec<String> = model
        .requests()
        .iter()
        .map(|asked| asked.body.to_string())
        .collect();
    assert!(prompts[1].contains("too strict"), "{}", prompts[1]);
    let told = decisions(&scene);
    assert_eq!(told.last().unwrap()["kind"], "revise");
}

#[test]
fn a_postgres_keeps_runs_and_decisions_as_well() {
    let url = Postgres::shared().database().unwrap();
    let scene = Scene::new().with("PATCHWRIGHT_DATABASE__URL", &url);
    let run = proposed(&scene);
    let daemon = idle(&scene);
    let approve = form(&format!("/review/runs/{run}/attempts/1/approve"), "");
    assert_eq!(daemon.ask(&own(approve)).status, 303);
    assert_eq!(decisions(&scene)[0]["kind"], "approve");
    for (path, words) in [
        ("/review?text=REC&state=done&ending=proposed", "1 decision"),
        ("/review?time=0&id=0", "Nothing matches"),
        ("/review/plots", " 1 plausible"),
        (
            &format!("/review/runs/{run}"),
            "this machine approved attempt 1",
        ),
    ] {
        let page = daemon.get(path);
        assert!(
            page.status == 200 && page.text().contains(words),
            "{path}: {}",
            page.text()
        );
    }
}

#[test]
fn a_dry_run_runs_nothing_of_the_project() {
    let scene = Scene::new();
    let trap = scene.patchwright.scratch("sprung");
    let script = format!("#!/bin/sh\ntouch {}\n", trap.display());
    let words = format!("$(shell touch {0})\nall:\n\ttouch {0}\n", trap.display());
    let scene = scene
        .write("src/Makefile", &words)
        .write("Makefile", &words)
        .write("src/configure", &script)
        .write(
            "src/CMakeLists.txt",
            &format!("execute_process(COMMAND touch {})\n", trap.display()),
        )
        .write(
            "src/build.gradle",
            &format!("\"touch {}\".execute()\n", trap.display()),
        );
    std::fs::create_dir_all(scene.path("src/.git/hooks")).unwrap();
    let config = format!(
        "[core]\n\tfsmonitor = {0}\n\thooksPath = hooks\n[filter \"x\"]\n\tclean = touch {0}\n",
        trap.display()
    );
    let scene = scene
        .write("src/.git/config", &config)
        .write("src/.git/HEAD", "ref: refs/heads/main\n");
    for hook in [
        "post-checkout",
        "post-index-change",
        "pre-commit",
        "fsmonitor-watchman",
    ] {
        let file = format!("src/.git/hooks/{hook}");
        std::fs::write(scene.path(&file), &script).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(scene.path(&file), executable).unwrap();
    }
    let run = proposed(&scene);
    assert!(!trap.exists(), "a dry run started something of the project");
    let daemon = idle(&scene);
    let page = daemon.get(&format!("/review/runs/{run}/attempts/1"));
    assert!(page.text().contains("nothing was run"), "{}", page.text());
    let around = format!("/review/runs/{run}/attempts/1/source?file=records.c&from=1&to=5");
    assert_eq!(daemon.get(&around).status, 200);
    assert!(!trap.exists(), "a page started something of the project");
}
