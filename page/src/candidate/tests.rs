//! Tests of the candidate's page, with a hostile report.

use super::candidate;
use crate::run::run;
use crate::view::{CandidateView, DiffStyle, RunView, Viewer};
use patchwright_agent::report::Report;
use patchwright_store::reviews::{Heading, ListedTask};
use serde_json::json;

const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\u{1b}[31m";

fn report() -> Report {
    let rung = |name: &str, holds: Option<bool>, reason: &str| {
        json!({"name": name, "holds": holds, "reason": reason, "seconds": 1.5, "log": "ab12", "counts": {HOSTILE: 3},
               "doubts": [{"what": HOSTILE, "input": "cafe", "change": "1 byte", "before": HOSTILE, "after": "ok"}]})
    };
    let diff = format!(
        "--- a/<b>.c\n+++ b/<b>.c\n@@ -10,2 +10,2 @@\n a();\n-if (n > 1) x(\"{HOSTILE}\");\n+if (n > 2) x(\"{HOSTILE}\");\n"
    );
    let attempt = json!({"number": 1, "lane": 1, "diff": diff, "explanation": HOSTILE, "rungs": [
        rung("builds", Some(true), "built"), rung("silent", Some(false), &format!("{HOSTILE}\nmore <i>"))],
        "p_right": 0.25, "test": {"diff": diff, "holds": true, "strong": true, "script": true, "reason": HOSTILE}});
    let report = json!({"schema": 1, "run": "run-1", "task": HOSTILE, "ending": "no_patch", "detail": HOSTILE,
        "baseline": [{"name": HOSTILE, "good": true, "text": HOSTILE, "log": "ab12"}],
        "crash": {"kind": HOSTILE, "summary": HOSTILE, "function": HOSTILE, "file": HOSTILE, "line": 3},
        "best": attempt, "attempts": [attempt], "rounds": 2,
        "cost": {"usd": 0.5, "tokens_in": 1, "tokens_out": 2, "calls": 3},
        "seconds": {"total": 9.0, "model": 1.0, "commands": 2.0}, "answers": HOSTILE});
    serde_json::from_value(report).unwrap()
}

fn view(style: DiffStyle) -> CandidateView {
    let row = ListedTask {
        id: "run-1".to_owned(),
        task: HOSTILE.to_owned(),
        begun: 1,
        state: "done".to_owned(),
        ending: "no_patch".to_owned(),
        created: "2030-01-01T00:00:00.000Z".to_owned(),
        ended: None,
        attempts: None,
        usd: None,
        seconds: None,
        p_right: None,
        decisions: 0,
    };
    let run = RunView {
        viewer: Viewer {
            name: HOSTILE.to_owned(),
            decides: true,
            starts: true,
            signed_in: true,
        },
        row,
        title: Some(HOSTILE.to_owned()),
        report: report(),
        attempts_limit: 5,
        story: vec![Heading {
            number: 7,
            time: "2030-01-01T00:00:00.000Z".to_owned(),
            lane: 1,
            step: 1,
            kind: "outcome".to_owned(),
            name: HOSTILE.to_owned(),
            summary: HOSTILE.to_owned(),
        }],
        earlier: 6,
        stages: vec![(HOSTILE.to_owned(), 2.0, 0.1)],
        cancelable: true,
        decisions: Vec::new(),
        follows: Some(("run-0".to_owned(), 2, HOSTILE.to_owned())),
    };
    CandidateView {
        run,
        number: 1,
        style,
        source: true,
        inputs: vec![("cafe".to_owned(), HOSTILE.to_owned())],
    }
}

/// Takes away what the page itself may hold.
fn expect_harmless(page: &str) {
    let own = "<script src=\"/review/script.js\" defer></script>";
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert!(page.contains(own), "{page}");
    for never in [
        "\u{202e}",
        "\u{1b}",
        " style=",
        "<style",
        "onerror",
        "javascript:",
        "http://",
        "https://",
    ] {
        assert!(
            !page.replace("http://www.w3.org", "").contains(never),
            "{never:?}: {page}"
        );
    }
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;<span class=\"hid\">U+202E</span>")
    );
}

#[test]
fn nothing_of_a_hostile_candidate_runs_or_hides() {
    for style in [DiffStyle::Split, DiffStyle::Unified] {
        expect_harmless(&candidate(&view(style)).unwrap().unwrap());
    }
    expect_harmless(&run(&view(DiffStyle::Split).run).unwrap());
    let none = CandidateView {
        number: 2,
        ..view(DiffStyle::Split)
    };
    assert_eq!(candidate(&none).unwrap(), None);
}

#[test]
fn a_candidate_says_first_why_it_was_refused() {
    let page = candidate(&view(DiffStyle::Split)).unwrap().unwrap();
    let place = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}: {page}"));
    assert!(place("Refused: silent") < place("Change"));
    for part in [
        "must not crash it any more",
        "<details class=\"lazy\" data-load=\"/review/runs/run-1/logs/ab12\" open>",
        "data-load=\"/review/runs/run-1/logs/ab12\"",
        "file=%3Cb%3E.c&amp;from=1&amp;to=9&amp;shift=0&amp;view=split",
        "action=\"/review/runs/run-1/attempts/1/contest\"",
        "if (n &gt; <b>2</b>)",
    ] {
        place(part);
    }
}

#[test]
fn roles_decide_which_buttons_there_are() {
    let mut seen = view(DiffStyle::Unified);
    seen.run.viewer.starts = false;
    let page = candidate(&seen).unwrap().unwrap();
    assert!(
        page.contains("/approve")
            && !page.contains("/evaluate")
            && !page.contains("name=\"revise\"")
    );
    seen.run.viewer.decides = false;
    let page = candidate(&seen).unwrap().unwrap();
    assert!(
        !page.contains("/approve") && !page.contains("/contest\""),
        "{page}"
    );
}

#[test]
fn a_live_run_keeps_room_for_what_comes() {
    let mut seen = view(DiffStyle::Split).run;
    seen.row.state = "running".to_owned();
    seen.row.ending = String::new();
    let page = run(&seen).unwrap();
    assert_eq!(page.matches("not made yet").count(), 4);
    assert!(page.contains("data-events=\"/review/runs/run-1/events?after=7\""));
    assert!(page.contains("/review/runs/run-1/cancel"));
    assert!(page.contains("6 earlier events"));
}
