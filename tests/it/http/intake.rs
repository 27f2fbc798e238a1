//! Intake of tasks over HTTP: archives and files that must be refused, sources
//! that may be named, and a store that accepts nothing.

use super::{TASKS, handing_in, idle, packed, records, refused, started, task, uploading};
use patchwright_tests::http::Request;
use serde_json::json;

/// An upload of a task whose source is this archive.
fn with_archive(archive: Vec<u8>, sha256: Option<&str>) -> Request {
    let mut task = task("a");
    task["source"] = json!({"archive": "src.tar", "sha256": sha256});
    uploading(&[
        ("task".to_owned(), task.to_string().into_bytes()),
        ("src.tar".to_owned(), archive),
    ])
}

/// One entry of a tar archive, as the oldest format has it.
fn entry(name: &str, kind: u8, link: &str) -> Vec<u8> {
    let mut header = vec![0; 512];
    let mut put =
        |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    for (at, text) in [
        (100, "0000644\0"),
        (108, "0000000\0"),
        (116, "0000000\0"),
        (124, "00000000000\0"),
        (136, "00000000000\0"),
    ] {
        put(at, text);
    }
    put(148, "        ");
    put(157, link);
    header[156] = kind;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    header
}

#[test]
fn archives_that_want_out_are_refused() {
    let (patchwright, daemon) = started(&["intake.entries=1000", "intake.unpacked_mb=4"]);
    let many: Vec<u8> = (0..1001)
        .flat_map(|at| entry(&format!("f{at}"), b'0', ""))
        .collect();
    let zeros = patchwright.scratch("zeros");
    std::fs::write(&zeros, vec![0; 8 << 20]).unwrap();
    for (archive, words) in [
        (entry("../out", b'0', ""), "a path that climbs"),
        (entry("/etc/out", b'0', ""), "an absolute path"),
        (entry("a", b'2', "/etc/passwd"), "a link that leads out"),
        (entry("a", b'1', "../../etc/passwd"), "a path that climbs"),
        (entry("sda", b'4', ""), "a device node"),
        (entry("null", b'3', ""), "a device node"),
        (entry("pipe", b'6', ""), "a named pipe"),
        (many, "more than 1000 entries"),
        (
            packed(zeros.parent().unwrap(), "zeros"),
            "more than 4194304 bytes",
        ),
        (b"no archive".to_vec(), "no tar archive"),
        (b"PK\x03\x04zip".to_vec(), "zip file"),
    ] {
        refused(&daemon.ask(&with_archive(archive, None)), 422, words);
    }
    let wrong = with_archive(entry("a", b'0', ""), Some(&"0".repeat(64)));
    refused(&daemon.ask(&wrong), 422, "source.sha256: the archive has");
    assert_eq!(daemon.get("/api/v1/queue").json()["queued"], 0);
    let left = std::fs::read_dir(patchwright.folder().join("cache/patchwright/uploads"));
    assert_eq!(left.unwrap().count(), 0, "uploads are left behind");
}

#[test]
fn uploads_that_are_wrong_are_refused() {
    let (_patchwright, daemon) = started(&["intake.files=3"]);
    let good = task("a").to_string().into_bytes();
    let part = |name: &str, content: &[u8]| (name.to_owned(), content.to_vec());
    for (parts, status, words) in [
        (vec![], 422, "task: is missing"),
        (
            vec![part("task", &good), part("task", &good)],
            422,
            "comes twice",
        ),
        (vec![part("task", b"{")], 400, "EOF"),
        (
            vec![part("task", &good), part("../x", b"")],
            422,
            "does not climb",
        ),
        (
            vec![part("task", &good), part("/etc/x", b"")],
            422,
            "does not climb",
        ),
        (
            vec![part("task", &good), part("a/./b", b"")],
            422,
            "not written plainly",
        ),
        (
            vec![part("task", &good), part("a", b""), part("a", b"")],
            422,
            "comes twice",
        ),
        (
            vec![part("task", &good), part("a", b""), part("a/b", b"")],
            422,
            "beside the others",
        ),
        (
            vec![
                part("a", b""),
                part("b", b""),
                part("c", b""),
                part("d", b""),
            ],
            413,
            "at most 3 files",
        ),
    ] {
        refused(&daemon.ask(&uploading(&parts)), status, words);
    }
    assert_eq!(daemon.get("/api/v1/queue").json()["queued"], 0);
}

#[test]
fn a_task_names_only_what_it_may() {
    let (patchwright, daemon) = idle();
    let tree = patchwright.scratch("tree");
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(tree.join("a.c"), "int x;").unwrap();
    for (source, words) in [
        (json!({"path": "/etc"}), "source.path"),
        (json!({"path": tree}), "intake.folders"),
        (
            json!({"git": "http://169.254.169.254/latest", "revision": "x"}),
            "source.git",
        ),
        (
            json!({"git": "https://evil.example/x", "revision": "x"}),
            "intake.hosts",
        ),
        (json!({"git": "file:///etc", "revision": "x"}), "source.git"),
        (
            json!({"archive": "http://127.0.0.1/x.tar", "sha256": "0"}),
            "source.archive",
        ),
        (
            json!({"archive": "https://u:p@github.com/x.tar", "sha256": "0"}),
            "user name",
        ),
        (
            json!({"archive": "missing.tar", "sha256": "0"}),
            "was not sent along",
        ),
        (json!({"fetch": "curl http://metadata"}), "network_commands"),
        (
            json!({"git": "https://github.com/a/b"}),
            "source.revision: is needed",
        ),
        (json!({}), "exactly one of"),
    ] {
        let mut task = task("a");
        task["source"] = source;
        let answer = daemon.ask(&handing_in(&task));
        let problem = answer.json();
        assert_eq!(answer.status, 422, "{problem}");
        assert!(
            problem["detail"].as_str().unwrap().contains(words),
            "{words}: {problem}"
        );
    }
    let mut open = task("open");
    open["source"] = json!({"path": tree});
    let folders = format!("intake.folders=[{:?}]", patchwright.scratch(""));
    let daemon = patchwright_tests::daemon::Daemon::start(
        &patchwright,
        &["--workers", "0", "--set", &folders],
    )
    .unwrap();
    assert_eq!(daemon.ask(&handing_in(&open)).status, 201);
}

#[test]
fn one_id_is_one_task() {
    let (_patchwright, daemon) = idle();
    let upload = records("twice");
    for status in [201, 200, 200] {
        let answer = daemon.ask(&uploading(&upload));
        assert_eq!(answer.status, status, "{}", answer.text());
        assert_eq!(answer.header("location"), Some("/api/v1/tasks/twice"));
        assert_eq!(answer.json()["state"], "queued");
    }
    // Another file under the same name is another task.
    let mut other = records("twice");
    other[4].1.extend(b"more");
    refused(
        &daemon.ask(&uploading(&other)),
        409,
        "another task with the id",
    );
    refused(
        &daemon.ask(&handing_in(&task("twice"))),
        409,
        "another task with the id",
    );
    assert_eq!(daemon.get("/api/v1/queue").json()["queued"], 1);
}

#[test]
fn tasks_are_listed_by_filter_and_page() {
    let (_patchwright, daemon) = idle();
    for number in 0..7 {
        let path = format!(
            "{TASKS}?priority={number}&group={}",
            if number % 2 == 0 { "even" } else { "odd" }
        );
        let request = Request::new("POST", &path).body(
            "application/json",
            task(&format!("task-{number}")).to_string(),
        );
        assert_eq!(daemon.ask(&request).status, 201);
    }
    assert_eq!(
        daemon
            .ask(&Request::new("POST", "/api/v1/tasks/task-3/cancel"))
            .status,
        202
    );
    refused(
        &daemon.ask(&Request::new("POST", "/api/v1/tasks/task-3/cancel")),
        409,
        "had ended already",
    );
    let ids = |query: &str| -> Vec<String> {
        let listed = daemon.get(&format!("{TASKS}?{query}")).json();
        let tasks = listed["tasks"].as_array().cloned().unwrap_or_default();
        tasks
            .iter()
            .map(|task| task["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids("group=odd"), ["task-5", "task-3", "task-1"]);
    assert_eq!(ids("state=canceled"), ["task-3"]);
    assert_eq!(ids("text=TASK-6"), ["task-6"]);
    assert_eq!(ids("origin=cli"), Vec::<String>::new());
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = daemon.get(&format!("{TASKS}?limit=3{cursor}")).json();
        pages.push(page["tasks"].as_array().unwrap().len());
        match page["next"].as_i64() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(pages, [3, 3, 1]);
}

#[test]
fn a_path_is_not_told() {
    let (patchwright, daemon) = idle();
    let mut upload = records("paths");
    upload[0].1 = String::from_utf8(upload[0].1.clone())
        .unwrap()
        .replace("corpus/*", "corpus/none*")
        .into_bytes();
    let answer = daemon.ask(&uploading(&upload));
    refused(&answer, 422, "inputs.harmless: no file matches");
    assert!(
        !answer
            .text()
            .contains(&patchwright.folder().display().to_string())
    );
}

#[test]
fn a_tree_that_is_too_deep_is_refused() {
    let (patchwright, daemon) = idle();
    let mut folder = patchwright.scratch("deep");
    for _ in 0..300 {
        folder.push("d");
    }
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("main.c"), "int main;").unwrap();
    let mut parts = records("deep");
    parts[1].1 = packed(&patchwright.scratch(""), "deep");
    refused(&daemon.ask(&uploading(&parts)), 422, "256 folders");
}
