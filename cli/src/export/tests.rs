//! Mails and stories whose words come from anybody.

use super::{Exported, Signatures, Style, ending, mail, story};
use patchwright_agent::plan::Plan;
use patchwright_agent::repair::Run;
use patchwright_agent::report::{AttemptReport, CrashSummary, Report, RungReport};

const DIFF: &str = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-x\n+y\n";

fn held(name: &str) -> RungReport {
    RungReport {
        name: name.into(),
        holds: Some(true),
        reason: format!("it | {name}"),
        seconds: 1.0,
        log: Some("logs/x.log".into()),
        counts: [].into(),
        found: Vec::new(),
        doubts: Vec::new(),
    }
}

fn report(explanation: &str, diff: &str) -> Report {
    let attempt = AttemptReport {
        number: 1,
        lane: 1,
        diff: diff.into(),
        latin1: false,
        withdrawn: false,
        explanation: Some(explanation.into()),
        rungs: ["parses", "builds"].map(held).into(),
        warnings: Vec::new(),
        p_right: None,
        features: [].into(),
        test: None,
    };
    Report {
        best: Some(attempt.clone()),
        attempts: vec![attempt],
        ..Report::of(&Run::new(Plan::default()), "run-1", "task", "live")
    }
}

fn mailed(explanation: &str, diff: &str) -> String {
    mail_of(&report(explanation, diff))
}

fn mail_of(report: &Report) -> String {
    let best = report.best.clone().unwrap();
    let exported = Exported {
        title: Some("a\ntitle: ü"),
        report,
        attempt: &best,
        smallest: None,
        signatures: Signatures::default(),
        changed_by: None,
        style: Style::default(),
        version: 1,
        review: None,
        reproduction: None,
    };
    mail(&exported, "2026-01-02T03:04:05Z".parse().unwrap()).unwrap()
}

#[test]
fn a_mail_has_one_subject_one_patch_and_no_other_headers() {
    let text = mailed(
        "From: me@evil\n--- a/b\ndiff --git\nFrom here on\u{7}",
        DIFF,
    );
    let (headers, body) = text.split_once("\n\n").unwrap();
    assert!(
        headers.contains("\nSubject: [PATCH] Repair a title: ü\n"),
        "{headers}"
    );
    assert!(
        headers.contains("\nDate: Fri, 2 Jan 2026 03:04:05 +0000\n"),
        "{headers}"
    );
    assert!(headers.contains("8bit"));
    let (message, patch) = body.split_once("\n---\n").unwrap();
    for line in message.lines() {
        let begins = ["---", "diff ", "From "]
            .iter()
            .any(|mark| line.starts_with(mark));
        assert!(!begins, "{line:?}: {message}");
    }
    assert!(message.contains("here on\\u{7}"), "{message}");
    assert!(patch.contains("Written and checked by Patchwright"));
    assert!(patch.contains(DIFF));
}

#[test]
fn names_of_java_lose_their_package_and_evidence_is_wrapped() {
    let mut report = report("e", DIFF);
    report.crash = Some(CrashSummary {
        kind: "java.lang.NullPointerException".to_owned(),
        summary: "s".to_owned(),
        function: Some("org.acme.Fold$Parser.parse".to_owned()),
        file: Some("src/org/acme/Fold.java".to_owned()),
        line: Some(7),
        signature: None,
    });
    let best = report.best.as_mut().unwrap();
    best.rungs[1].reason = format!("{}end.", "word ".repeat(30));
    let mut asked = best.rungs[1].clone();
    asked.reason = "is it so?".to_owned();
    best.rungs.push(asked);
    let text = mail_of(&report);
    let subject = "Subject: [PATCH] a: fix NullPointerException in Fold.Parser.parse\n";
    assert!(text.contains(subject), "{text}");
    let evidence = text.lines().skip_while(|line| !line.starts_with("- "));
    let evidence: Vec<&str> = evidence.take(3).collect();
    assert!(evidence.iter().all(|line| line.len() <= 72), "{text}");
    assert!(evidence[1].starts_with("  word "), "{text}");
    assert!(evidence[2].ends_with(" end."), "{text}");
    assert!(text.contains(": is it so?\n"), "{text}");
}

#[test]
fn long_names_lose_their_types_and_namespaces() {
    let mut report = report("e", DIFF);
    for (function, expected) in [
        ("fill(int)", "fill"),
        (
            "tap::Inlet::fill(std::vector<int>&) const",
            "tap::Inlet::fill",
        ),
        (
            "tap::inlets::of_iron::Catalogue::fill(int)::{lambda(int)#1}::operator()(int) const",
            "fill",
        ),
    ] {
        report.crash = Some(CrashSummary {
            kind: "heap-buffer-overflow".to_owned(),
            summary: "s".to_owned(),
            function: Some(function.to_owned()),
            file: None,
            line: None,
            signature: None,
        });
        let text = mail_of(&report);
        let subject = format!("[PATCH] a: fix heap-buffer-overflow in {expected}\n");
        assert!(text.contains(&subject), "{text}");
        // What compiles has been parsed.
        assert!(!text.contains("The syntax is right"), "{text}");
    }
}

#[test]
fn what_the_operator_is_told_stays_out_of_a_mail() {
    let mut report = report("e", DIFF);
    let best = report.best.as_mut().unwrap();
    best.rungs[0].reason = "61 inputs; no challenge was written: http://10.0.0.1 failed".into();
    best.rungs[0].name = "same elsewhere".into();
    let text = mail_of(&report);
    let line =
        "- Other inputs are treated as before: 61 inputs; no model wrote inputs\n  against it.\n";
    assert!(text.contains(line), "{text}");
    let rung = &mut report.best.as_mut().unwrap().rungs[0];
    rung.holds = None;
    rung.reason = "no rule objects; nobody has reviewed it: name a model with --model".into();
    let told =
        "not everything could be checked: same elsewhere (no rule objects; nobody has reviewed it)";
    assert_eq!(ending(&report), told);
}

#[test]
fn carriage_returns_travel_encoded() {
    let text = mailed("e", &DIFF.replace("+y\n", "+y=\r\n"));
    assert!(text.contains("Content-Transfer-Encoding: quoted-printable"));
    assert!(
        text.contains("+y=3D=0D\n") && !text.contains('\r'),
        "{text}"
    );
}

#[test]
fn a_story_keeps_foreign_words_in_their_place() {
    let report = report("```\n# HACKED", DIFF);
    let text = story(Some("# t\n*x*"), &report, &[]).unwrap();
    assert!(text.starts_with("# \\# t \\*x\\*\n"), "{text}");
    assert!(text.contains("````text\n```\n# HACKED\n````"), "{text}");
    assert!(
        text.contains("| builds | yes | it \\| builds ([log](logs/x.log)) | 1.0 |"),
        "{text}"
    );
}

#[test]
fn what_people_read_shows_hidden_characters() {
    let diff = "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-x\n+y // \u{202e}\u{1b}[8m\n";
    let report = report("fine\u{200b}\u{1b}[2J", diff);
    let told = story(Some("t\u{2066}"), &report, &[]).unwrap();
    assert!(
        !told.contains(['\u{202e}', '\u{1b}', '\u{200b}', '\u{2066}']),
        "{told}"
    );
    assert!(told.contains("+y // \\u{202e}\\u{1b}[8m"), "{told}");
    let mail = mailed("fine\u{202e}", diff);
    let (message, patch) = mail.split_once("\n---\n").unwrap();
    assert!(message.contains("fine\\u{202e}"), "{message}");
    // `git am` takes the patch as it is.
    assert!(patch.contains("y // \u{202e}\u{1b}[8m"), "{patch}");
}
