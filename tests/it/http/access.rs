//! Access to the daemon: tokens, rate limits, and the answers to refused callers.

use super::{TASKS, handing_in, idle, records, refused, started, task, uploading};
use patchwright_tests::command::Patchwright;
use patchwright_tests::daemon::Daemon;
use patchwright_tests::http::{Answer, Request};
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

fn token(patchwright: &Patchwright, arguments: &[&str]) -> String {
    let mut all = vec!["token", "create"];
    all.extend(arguments);
    let made = patchwright.run(&all).unwrap();
    assert_eq!(made.code, Some(0), "{made:?}");
    made.stdout.trim().to_owned()
}

fn with(token: &str, request: Request) -> Request {
    request.with("authorization", &format!("Bearer {token}"))
}

#[test]
fn roles_and_the_end_of_a_token_hold() {
    let patchwright = Patchwright::new().unwrap();
    let submit = token(&patchwright, &["ci"]);
    let review = token(&patchwright, &["eye", "--role", "review"]);
    let admin = token(
        &patchwright,
        &["root", "--role", "admin", "--expires", "90d"],
    );
    let short = token(&patchwright, &["short", "--expires", "1ms"]);
    let daemon = Daemon::start(&patchwright, &["--workers", "0"]).unwrap();
    let ask = |token: &str, request: Request| daemon.ask(&with(token, request)).status;
    let pause = || Request::new("POST", "/api/v1/queue/pause");
    let cancel = || Request::new("POST", "/api/v1/tasks/a/cancel");
    for (token, expected) in [
        (&submit, [201, 200, 403, 202]),
        (&review, [403, 200, 403, 403]),
        (&admin, [200, 200, 200, 409]),
    ] {
        let found = [
            ask(token, handing_in(&task("a"))),
            ask(token, Request::get(TASKS)),
            ask(token, pause()),
            ask(token, cancel()),
        ];
        assert_eq!(found, expected);
    }
    for wrong in [
        Request::get(TASKS),
        with(&short, Request::get(TASKS)),
        with("patchwright_nobody", Request::get(TASKS)),
        Request::get(TASKS).with("authorization", "Basic cm9vdDpyb290"),
        Request::get(TASKS).with("authorization", "Bearer"),
    ] {
        let answer = daemon.ask(&wrong);
        refused(&answer, 401, "token");
        assert!(answer.header("www-authenticate").is_some());
    }
    assert_eq!(daemon.get("/healthz").status, 200);
    // A token that is revoked while the daemon runs stops working soon.
    let revoked = patchwright.run(&["token", "revoke", "ci"]).unwrap();
    assert_eq!(revoked.code, Some(0), "{revoked:?}");
    while ask(&submit, Request::get(TASKS)) == 200 {
        thread::sleep(Duration::from_millis(50));
    }
    let listed = patchwright.run(&["token", "list"]).unwrap().stdout;
    for secret in [&submit, &review, &admin, &short] {
        assert!(!listed.contains(secret.as_str()) && !daemon.told().contains(secret.as_str()));
    }
    assert!(
        listed.contains("revoked") && listed.contains("expired"),
        "{listed}"
    );
}

#[test]
fn others_cannot_connect_before_there_is_a_token() {
    let patchwright = Patchwright::new().unwrap();
    let open = ["serve", "--workers", "0", "--set", "http.listen=0.0.0.0:0"];
    let refused = patchwright.run(&open).unwrap();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("patchwright token create"),
        "{refused:?}"
    );
}

#[test]
fn a_daemon_that_others_reach_makes_its_first_token() {
    let patchwright = Patchwright::new().unwrap();
    let file = patchwright.scratch("first-token").display().to_string();
    let setting = format!("http.first_token={file}");
    let open = [
        "--workers",
        "0",
        "--set",
        "http.listen=0.0.0.0:0",
        "--set",
        &setting,
    ];
    let daemon = Daemon::start(&patchwright, &open).unwrap();
    let secret = std::fs::read_to_string(&file).unwrap();
    let mode = std::fs::metadata(&file).unwrap().permissions();
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777,
        0o600
    );
    assert!(!daemon.told().contains(secret.trim()), "{}", daemon.told());
    assert_eq!(daemon.ask(&Request::get(TASKS)).status, 401);
    let authorization = format!("Bearer {}", secret.trim());
    let known = Request::get(TASKS).with("authorization", &authorization);
    assert_eq!(daemon.ask(&known).status, 200);
    drop(daemon);
    // Whoever has a token keeps it.
    let _daemon = Daemon::start(&patchwright, &open).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), secret);
}

#[test]
fn a_page_of_another_site_is_not_answered() {
    let (_patchwright, daemon) = idle();
    for (name, value) in [("host", "evil.example"), ("origin", "https://evil.example")] {
        refused(
            &daemon.ask(&handing_in(&task("a")).with(name, value)),
            403,
            "this machine",
        );
    }
    assert_eq!(daemon.ask(&handing_in(&task("a"))).status, 201);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of cases")]
fn errors_are_problem_documents() {
    let (_patchwright, daemon) = idle();
    let json = |text: &str| Request::new("POST", TASKS).body("application/json", text);
    for (request, status, words) in [
        (Request::get("/nothing"), 404, "there is no /nothing"),
        (Request::get("/api/v1/tasks/none"), 404, "no task \"none\""),
        (Request::get("/api/v1/tasks/a%2F..%2Fb"), 404, "no task"),
        (Request::get("/api/v1/tasks/%00"), 404, "no task"),
        (Request::get("/api/v1/tasks/%ff"), 404, "no text"),
        (Request::get("/api/v1/tasks/a/b/c"), 404, "there is no"),
        (Request::get("/api/v1/tasks/none/patch"), 404, "no task"),
        (Request::get("/api/v1/tasks/none/events"), 404, "no task"),
        (
            Request::new("DELETE", TASKS),
            405,
            "DELETE is not understood",
        ),
        (
            Request::new("POST", "/healthz"),
            405,
            "POST is not understood",
        ),
        (Request::get("/api/v1/tasks?limit=0"), 422, "limit"),
        (
            Request::get("/api/v1/tasks?limit=many"),
            422,
            "invalid digit",
        ),
        (
            Request::get("/api/v1/tasks?state=lost"),
            422,
            "unknown variant",
        ),
        (
            Request::get("/api/v1/tasks?text=%00"),
            422,
            "control characters",
        ),
        (
            Request::get("/api/v1/tasks?colour=red"),
            422,
            "unknown field",
        ),
        (Request::new("POST", TASKS), 415, "send application/json"),
        (
            Request::new("POST", TASKS).body("text/plain", "{}"),
            415,
            "not \"text/plain\"",
        ),
        (json("{"), 400, "EOF"),
        (json(""), 400, "EOF"),
        (json("[1]"), 422, "invalid"),
        (json("{\"id\": 7}"), 422, "expected a string"),
        (
            json("{\"id\": \"a\", \"colour\": 1}"),
            422,
            "unknown field `colour`",
        ),
        (handing_in(&task("../../etc")), 422, "id: must be 1 to 128"),
        (handing_in(&task("a b")), 422, "id:"),
        (handing_in(&task("-rf")), 422, "id:"),
        (
            Request::new("POST", "/api/v1/tasks?deadline=soon")
                .body("application/json", task("a").to_string()),
            422,
            "deadline",
        ),
        (
            Request::new("POST", "/api/v1/tasks?priority=high")
                .body("application/json", task("a").to_string()),
            422,
            "priority",
        ),
        (
            Request::new("POST", TASKS).body("multipart/form-data", "x"),
            400,
            "boundary",
        ),
        (
            Request::new("POST", TASKS).body("multipart/form-data; boundary=b", "--b\r\n"),
            400,
            "",
        ),
        (
            Request::new("POST", "/api/v1/tasks/none/cancel"),
            404,
            "no task",
        ),
    ] {
        refused(&daemon.ask(&request), status, words);
    }
    assert_eq!(daemon.get("/api/v1/queue").json()["queued"], 0);
}

#[test]
fn a_body_of_a_gigabyte_is_cut_off() {
    let (_patchwright, daemon) = started(&["http.upload_mb=1"]);
    let gigabyte = (1_u64 << 30).to_string();
    let announced = Request::new("POST", TASKS)
        .with("content-type", "application/json")
        .with("content-length", &gigabyte);
    refused(
        &Answer::read(&mut BufReader::new(
            announced.begin(daemon.address()).unwrap(),
        ))
        .unwrap(),
        413,
        "at most",
    );
    for kind in ["application/json", "multipart/form-data; boundary=b"] {
        // Nobody says how long it is, and it does not end.
        let request = Request::new("POST", TASKS)
            .with("content-type", kind)
            .with("transfer-encoding", "chunked");
        let mut stream = request.begin(daemon.address()).unwrap();
        let start = "--b\r\ncontent-disposition: form-data; name=\"x\"\r\n\r\n";
        let mut sent = 0;
        let mut piece = format!("{:x}\r\n{start}\r\n", start.len()).into_bytes();
        piece.extend(format!("{:x}\r\n{}\r\n", 1 << 16, "0".repeat(1 << 16)).into_bytes());
        while sent < 64 << 20 && stream.write_all(&piece).is_ok() {
            sent += piece.len();
        }
        assert!(sent < 64 << 20, "{kind}: {sent} bytes were taken");
    }
    assert_eq!(daemon.get("/healthz").status, 200);
}

#[test]
fn a_client_that_goes_away_harms_nobody() {
    let (_patchwright, daemon) = started(&["http.timeout=2s"]);
    for sent in ["", "{\"id\": \"half"] {
        let request = handing_in(&task("half")).with("content-length", "500");
        let mut stream = request.begin(daemon.address()).unwrap();
        stream.write_all(sent.as_bytes()).unwrap();
        drop(stream);
    }
    // One that stays and says nothing is told so.
    let silent = Request::new("POST", TASKS)
        .with("content-type", "application/json")
        .with("content-length", "500");
    let answer =
        Answer::read(&mut BufReader::new(silent.begin(daemon.address()).unwrap())).unwrap();
    refused(&answer, 408, "given up after 2 seconds");
    assert_eq!(daemon.get("/api/v1/queue").json()["queued"], 0);
}

#[test]
fn a_caller_has_a_rate_and_a_place() {
    let (_patchwright, daemon) = started(&["http.rate=5", "http.connections=4"]);
    let statuses: Vec<u16> = (0..12)
        .map(|_| daemon.get("/api/v1/queue").status)
        .collect();
    assert!(
        statuses.contains(&200) && statuses.contains(&429),
        "{statuses:?}"
    );
    let refusal = (0..50)
        .map(|_| daemon.get("/api/v1/queue"))
        .find(|answer| answer.status == 429);
    let refusal = refusal.expect("a refusal");
    refused(&refusal, 429, "5 requests a second");
    assert!(refusal.header("retry-after").is_some());
    // More connections than places wait, and are answered when one is free.
    let open: Vec<TcpStream> = (0..4)
        .map(|_| TcpStream::connect(daemon.address()).unwrap())
        .collect();
    let address = daemon.address();
    let waiting = thread::spawn(move || Request::get("/healthz").send(address).unwrap().status);
    drop(open);
    assert_eq!(waiting.join().unwrap(), 200);
}

#[test]
fn garbage_is_no_request() {
    let (_patchwright, daemon) = idle();
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01"[..],
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nhost: a\r\n\r\n",
        &b"A".repeat(200_000),
    ] {
        let mut stream = TcpStream::connect(daemon.address()).unwrap();
        let _ = stream.write_all(garbage);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 2"), "{garbage:?}");
    }
    assert_eq!(daemon.get("/healthz").status, 200);
}

#[test]
fn a_token_has_a_quota_of_tasks_bytes_and_files() {
    let patchwright = Patchwright::new().unwrap();
    let [one, other] = ["one", "other"].map(|name| token(&patchwright, &[name]));
    let settings = [
        "intake.open_tasks=2",
        "intake.kept_mb=1",
        "intake.kept_files=9",
        "http.body_kb=2048",
    ];
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    let arguments: Vec<&str> = ["--workers", "0"].into_iter().chain(settings).collect();
    let daemon = Daemon::start(&patchwright, &arguments).unwrap();
    let ask = |token: &str, request: Request| daemon.ask(&with(token, request));
    for (id, status) in [("a", 201), ("b", 201), ("a", 200)] {
        assert_eq!(ask(&one, handing_in(&task(id))).status, status, "{id}");
    }
    refused(&ask(&one, handing_in(&task("c"))), 429, "intake.open_tasks");
    // What is known costs nothing, what has ended does not count, and each
    // token has a quota of its own.
    assert_eq!(ask(&one, handing_in(&task("b"))).status, 200);
    let cancel = Request::new("POST", "/api/v1/tasks/a/cancel");
    assert_eq!(ask(&one, cancel).status, 202);
    assert_eq!(ask(&one, handing_in(&task("c"))).status, 201);
    let mut large = task("large");
    large["title"] = "x".repeat(1 << 20).into();
    refused(&ask(&other, handing_in(&large)), 413, "intake.kept_mb");
    let mut parts = records("files");
    assert_eq!(ask(&other, uploading(&parts)).status, 201);
    // Seven files are kept by now; these three are new.
    let again = records("more");
    parts[0] = again[0].clone();
    for name in ["1", "2", "3"] {
        parts.push((format!("corpus/{name}"), name.into()));
    }
    refused(&ask(&other, uploading(&parts)), 413, "intake.kept_files");
    parts.pop();
    assert_eq!(ask(&other, uploading(&parts)).status, 201);
}

#[test]
fn no_page_frames_an_answer_or_calls_from_another_port() {
    let (_patchwright, daemon) = started(&["http.origins=[\"http://localhost:3000\"]"]);
    let page = daemon.get("/api/v1/docs/");
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(!page.text().contains("<script>"), "{}", page.text());
    for form in [
        "data-method=\"post\" data-path=\"/api/v1/tasks\"",
        "data-method=\"get\" data-path=\"/api/v1/tasks/{id}\"",
    ] {
        assert!(page.text().contains(form), "{form}: {}", page.text());
    }
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self';"), "{policy}");
    let api = daemon.get(TASKS);
    let policies = [policy, api.header("content-security-policy").unwrap()];
    for policy in policies {
        assert!(policy.contains("default-src 'none'"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    }
    for answer in [&page, &api] {
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
    }
    let host = daemon.address().to_string();
    for (id, origin, status) in [
        ("a", format!("http://{host}"), 201),
        ("b", "http://localhost:3000".to_owned(), 201),
        ("c", "http://localhost:5000".to_owned(), 403),
        ("d", format!("https://{host}"), 403),
    ] {
        let request = handing_in(&task(id)).with("host", &host);
        let answer = daemon.ask(&request.with("origin", &origin));
        assert_eq!(answer.status, status, "{origin} {}", answer.text());
    }
    let document = daemon.get("/api/v1/openapi.json").json();
    let security = document["security"].as_array().unwrap();
    assert!(security.contains(&serde_json::json!({})), "{security:?}");
}

#[test]
fn silent_connections_keep_nobody_out() {
    let (_patchwright, daemon) = started(&[
        "http.connections=2",
        "http.headers_timeout=2s",
        "http.health=127.0.0.1:0",
    ]);
    let told = daemon.told();
    let health = told.split_once("health at http://");
    let health = health.and_then(|(_, rest)| rest.lines().next()?.parse().ok());
    let health = health.unwrap_or_else(|| panic!("{told}"));
    let silent: Vec<TcpStream> = (0..2)
        .map(|_| TcpStream::connect(daemon.address()).unwrap())
        .collect();
    for (path, status) in [("/healthz", 200), ("/readyz", 200), (TASKS, 404)] {
        let answer = Request::get(path).send(health).unwrap();
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    // Their places are free again although they are still there.
    assert_eq!(daemon.get("/healthz").status, 200);
    drop(silent);
}
