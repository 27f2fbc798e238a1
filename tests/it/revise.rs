//! Another attempt because of a rejection or a review, from the command line.

use crate::review::decisions;
use crate::scene::{GOOD, QUERIES, STILL_CRASHES, Scene};
use patchwright_tests::model::ScriptedModel;

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
