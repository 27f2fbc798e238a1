//! Another attempt because of a rejection or a review, from the command line.

use crate::crs::served::Served;
use crate::review::decisions;
use crate::scene::{GOOD, QUERIES, STILL_CRASHES, Scene};
use axum::Router;
use axum::routing::get;
use patchwright_tests::model::ScriptedModel;
use serde_json::json;

#[test]
fn a_rejection_on_the_command_line_is_the_issue_of_the_next_attempt() {
    let scene = Scene::new();
    let model = ScriptedModel::start([QUERIES, STILL_CRASHES, GOOD, GOOD]).unwrap();
    let first = scene.run(&model, &[]);
    first.expect("verified", 0, "attempt 2");
    let endpoint = model.base_url();
    let flags = ["--model", "scripted", "--base-url", &endpoint];
    let refused =
        scene.plain(&[&["revise", first.run(), "1", "--reason", " "][..], &flags].concat());
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    let arguments = [
        "revise",
        first.run(),
        "1",
        "--reason",
        "it only hides <the> crash",
    ];
    let second = scene.json(&[&arguments[..], &flags].concat());
    second.expect("verified", 0, "attempt 2 holds every rung");
    let asked = model.requests();
    let prompt = asked.last().unwrap().body["messages"].to_string();
    for part in [
        "A maintainer rejected an earlier patch",
        "it only hides <the> crash",
        "NAME_LIMIT + 2",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    let reason = &second.rung(1, "reviewed")["reason"];
    assert!(
        reason
            .as_str()
            .unwrap()
            .contains("rejected it: it only hides"),
        "{reason}"
    );
    let told = decisions(&scene);
    assert_eq!(
        (&told[0]["kind"], &told[1]["kind"]),
        (&"reject".into(), &"revise".into())
    );
    assert_eq!(told[1]["follow_up"], second.run());
}

#[test]
fn a_review_by_mail_is_the_issue_and_each_of_its_points_is_answered() {
    let scene = Scene::new();
    let model = ScriptedModel::start([QUERIES, STILL_CRASHES, GOOD, GOOD]).unwrap();
    let first = scene.run(&model, &[]);
    let diff = first.report["attempts"][0]["diff"].as_str().unwrap();
    let line = diff.lines().find(|line| line.contains("NAME_LIMIT + 2"));
    let line = line.unwrap();
    let mail = format!(
        "From: Ann <ann@example.org>\nSubject: [PATCH] records: check it\nMessage-ID: <7@example.org>\n\nOn Monday, Bob wrote:\n> {line}\n\nThat is still one byte too many.\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let [review, answer] = ["review.eml", "answer.txt"].map(|name| folder.path().join(name));
    std::fs::write(&review, mail).unwrap();
    let endpoint = model.base_url();
    let [from, to] = [&review, &answer].map(|path| path.to_str().unwrap());
    let second = scene.json(&[
        "reply",
        first.run(),
        "1",
        "--from",
        from,
        "--answer",
        to,
        "--model",
        "scripted",
        "--base-url",
        &endpoint,
    ]);
    second.expect("verified", 0, "attempt 2 holds every rung");
    let asked = model.requests();
    let prompt = asked.last().unwrap().body["messages"].to_string();
    assert!(
        prompt.contains("That is still one byte too many"),
        "{prompt}"
    );
    let answer = std::fs::read_to_string(&answer).unwrap();
    for part in [
        "To: ann@example.org\nSubject: Re: [PATCH] records: check it\nIn-Reply-To: <7@example.org>\n",
        "\n> That is still one byte too many.\n\nChanged: none of these lines is in the new patch.\n",
        "\n--- a/",
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let mail = scene.plain(&["export", second.run(), "--format", "mbox"]);
    for part in [
        "\nSubject: [PATCH v2] ",
        "\nv2 answers the review of v1:\n",
        "  That is still one byte too many.\n",
    ] {
        assert!(mail.stdout.contains(part), "{part}: {mail:#?}");
    }
    // Neither an answer of before nor a review without a remark costs an attempt.
    let again = scene.plain(&["reply", first.run(), "--from", from, "--answer", to]);
    assert!(again.stderr.contains("is there already"), "{again:#?}");
    std::fs::write(&review, "Hi,\n").unwrap();
    let refused = scene.plain(&["reply", first.run(), "--from", from]);
    assert_eq!(
        (again.code, refused.code),
        (Some(2), Some(2)),
        "{refused:#?}"
    );
}

/// A forge with a pull request of Bob's, and what Ann and he say of it; `hunk` ends with the line
/// that Ann does not like.
fn forge(hunk: &str) -> Served {
    let by = |who: &str, at: &str, body: &str, hunk: &str| {
        let user = json!({ "login": who });
        json!([{ "user": user, "created_at": at, "body": body, "diff_hunk": hunk }])
    };
    let issue = json!({ "title": "records: check it", "user": { "login": "bob" } });
    let answers = [
        ("issues/9", issue),
        (
            "issues/9/comments",
            by("bob", "2026-01-01", "I opened this one myself.", ""),
        ),
        (
            "pulls/9/comments",
            by("ann", "2026-01-03", "That is one byte too many.", hunk),
        ),
        (
            "pulls/9/reviews",
            by("ann", "2026-01-02", "Please add a test, too.", ""),
        ),
    ];
    let router = answers
        .into_iter()
        .fold(Router::new(), |router, (path, value)| {
            let answer = get(move || async move { axum::Json(value) });
            router.route(&format!("/api/v3/repos/o/records/{path}"), answer)
        });
    Served::start(router)
}

#[test]
fn comments_to_a_pull_request_are_a_review() {
    let scene = Scene::new();
    let model = ScriptedModel::start([QUERIES, STILL_CRASHES, GOOD, GOOD]).unwrap();
    let first = scene.run(&model, &[]);
    let diff = first.report["attempts"][0]["diff"].as_str().unwrap();
    let line = diff.lines().find(|line| line.contains("NAME_LIMIT + 2"));
    let forge = forge(&format!(
        "@@ -25,6 +25,7 @@\n   int value;\n{}",
        line.unwrap()
    ));
    let endpoint = model.base_url();
    let address = format!("{}/o/records/pull/9/files", forge.url());
    let reply = ["reply", first.run(), "1", "--from", &address];
    let inside = "intake.private_hosts=[\"127.0.0.1\"]";
    let flags = [
        "--model",
        "scripted",
        "--base-url",
        &endpoint,
        "--set",
        inside,
    ];
    let second = scene.json(&[&reply[..], &flags].concat());
    second.expect("verified", 0, "attempt 2 holds every rung");
    let asked = model.requests();
    let prompt = asked.last().unwrap().body["messages"].to_string();
    assert!(prompt.contains("1. Please add a test, too."), "{prompt}");
    assert!(prompt.contains("That is one byte too many."), "{prompt}");
    assert!(!prompt.contains("I opened this one"), "{prompt}");
    let answer = std::fs::read_to_string(scene.patchwright.scratch("answer.txt")).unwrap();
    let point =
        "> That is one byte too many.\n\nChanged: none of these lines is in the new patch.\n";
    assert!(answer.contains(point), "{answer}");
    let outside = scene.plain(&[
        "reply",
        first.run(),
        "--from",
        &address,
        "--answer",
        "other.txt",
    ]);
    assert_eq!(outside.code, Some(5), "{outside:#?}");
    assert!(outside.stderr.contains("cannot be read"), "{outside:#?}");
}
