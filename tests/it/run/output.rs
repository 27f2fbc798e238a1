//! Output of a run: the shape of the report, the `--out` folder, plain lines, and a
//! task built from flags.

use crate::scene::{GOOD, STILL_CRASHES, Scene, Told, events, files};
use patchwright_tests::model::ScriptedModel;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Fails unless `value` has the shape of `like`: the same keys in objects, the
/// same type everywhere; an array has the shape of its first element.
fn shaped(value: &Value, like: &Value, at: &str) {
    match (value, like) {
        (Value::Object(fields), Value::Object(known)) => {
            let names: Vec<_> = fields.keys().collect();
            assert!(
                known.keys().all(|name| names.contains(&name)),
                "{at} has {names:?}"
            );
            for (name, inner) in known {
                shaped(&fields[name], inner, &format!("{at}.{name}"));
            }
        }
        (Value::Array(items), Value::Array(known)) => {
            for item in items {
                shaped(item, &known[0], &format!("{at}[]"));
            }
        }
        (_, Value::String(kind)) => {
            let found = match value {
                Value::Null => "null",
                Value::Bool(_) => "bool",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            let fits = kind.split('|').any(|kind| kind == found);
            assert!(fits, "{at} is {found}, not {kind}");
        }
        _ => panic!("{at} is {value}, not like {like}"),
    }
}

fn check_shape(told: &Told) {
    let attempt = serde_json::json!({
        "number": "number", "lane": "number", "diff": "string", "explanation": "string|null",
        "rungs": [{
            "name": "string", "holds": "bool|null", "reason": "string", "seconds": "number",
            "log": "string|null", "counts": "object",
        }],
    });
    let like = serde_json::json!({
        "schema": "number", "run": "string", "task": "string", "ending": "string",
        "detail": "string", "best": attempt, "attempts": [attempt], "rounds": "number",
        "cost": { "usd": "number", "tokens_in": "number", "tokens_out": "number", "calls": "number" },
        "seconds": { "total": "number", "model": "number", "commands": "number" },
    });
    shaped(&told.report, &like, "report");
    assert_eq!(told.report["schema"], 1);
    assert_eq!(told.report["task"], "records");
}

const LADDER: [&str; 8] = [
    "applies",
    "parses",
    "builds",
    "silent",
    "tested",
    "robust",
    "same elsewhere",
    "reviewed",
];

#[test]
fn the_report_and_the_output_folder_tell_everything() {
    let scene = Scene::new();
    let model = ScriptedModel::start([STILL_CRASHES, GOOD]).unwrap();
    let told = scene.run(&model, &["--out", "out"]);
    told.expect("verified", 0, "");
    check_shape(&told);
    let attempt = told.report["attempts"][1].clone();
    let rungs = attempt["rungs"].as_array().unwrap().iter();
    let names: Vec<_> = rungs.map(|rung| rung["name"].clone()).collect();
    assert_eq!(names, LADDER);
    assert_eq!(told.report["cost"]["calls"], 2);

    let out = scene.patchwright.scratch("out");
    let diff = fs::read_to_string(out.join("patch.diff")).unwrap();
    assert_eq!(told.report["best"]["diff"], diff.as_str());
    assert!(
        diff.contains("+  if (name > NAME_LIMIT) return -1;"),
        "{diff}"
    );
    check_logs(&out, &told);
    check_journal(
        &fs::read_to_string(out.join("journal.jsonl")).unwrap(),
        told.run(),
    );

    // The folder and the id are two names of one run.
    for name in ["out", told.run()] {
        let shown = scene.json(&["show", name]);
        assert_eq!(shown.report, told.report);
        assert_eq!(shown.finished.code, Some(0));
    }
    let journal = scene.plain(&["show", told.run(), "--journal"]);
    assert!(
        journal
            .stdout
            .contains("silent does not hold: long-name.txt still crashes"),
        "{}",
        journal.stdout
    );

    // A later run in the same folder leaves nothing of this one there.
    let model = ScriptedModel::start(["no", "no"]).unwrap();
    let told = scene.run(
        &model,
        &[
            "--out",
            "out",
            "--force",
            "--set",
            "limits.format_retries=1",
        ],
    );
    told.expect("budget_exhausted", 3, "format retries");
    let shown = scene.json(&["show", told.run()]);
    assert_eq!(shown.finished.code, Some(3), "show exits as the run did");
    assert!(!out.join("patch.diff").exists());
    let logs = files(&out.join("logs"));
    let baseline = |log: &std::path::PathBuf| log.to_string_lossy().contains("/baseline-");
    assert!(logs.len() >= 3 && logs.iter().all(baseline), "{logs:?}");
}

/// `report.json` is the report with each log as a file that is there.
fn check_logs(out: &Path, told: &Told) {
    let text = fs::read_to_string(out.join("report.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["run"], told.report["run"]);
    let mut logs = 0;
    for attempt in written["attempts"].as_array().unwrap() {
        for rung in attempt["rungs"].as_array().unwrap() {
            if let Some(log) = rung["log"].as_str() {
                assert!(out.join(log).is_file(), "{log}");
                logs += 1;
            }
        }
    }
    assert!(logs > 0);
    let silent = fs::read_to_string(out.join("logs/attempt-1-silent.log")).unwrap();
    assert!(silent.contains("heap-buffer-overflow"), "{silent}");
}

/// Every step has its intent and then its outcome, in one row of numbers.
fn check_journal(text: &str, run: &str) {
    let events = events(text);
    let mut open = Vec::new();
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event["number"], at + 1);
        assert_eq!(event["run"], run);
        assert!(!event["summary"].as_str().unwrap().is_empty(), "{event}");
        let step = (event["lane"].clone(), event["step"].clone());
        match event["kind"].as_str() {
            Some("intent") => open.push(step),
            Some("outcome") => assert_eq!(open.pop(), Some(step), "{event}"),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn people_read_the_report_on_stdout_and_plain_lines_on_stderr() {
    let scene = Scene::new();
    let model = ScriptedModel::start([GOOD]).unwrap();
    let endpoint = model.base_url();
    let arguments = [
        "run",
        "records",
        "--model",
        "scripted",
        "--base-url",
        &endpoint,
    ];
    let finished = scene.plain(&arguments);
    assert_eq!(finished.code, Some(0), "{finished:#?}");
    assert!(
        finished
            .stdout
            .starts_with("verified: attempt 1 holds every rung\n"),
        "{}",
        finished.stdout
    );
    for words in [
        "silent          true",
        "+  if (name > NAME_LIMIT) return -1;",
        "answers: live from scripted",
    ] {
        assert!(
            finished.stdout.contains(words),
            "{words:?} is missing in {}",
            finished.stdout
        );
    }
    for words in [
        "task records",
        "asking the model scripted",
        "ok build address: succeeds (",
        " crashes (2 of 2 runs): ",
        "tests: ",
        "attempt 1: silent",
        "left 4/5 attempts",
    ] {
        assert!(
            finished.stderr.contains(words),
            "{words:?} is missing in {}",
            finished.stderr
        );
        assert!(words.contains("task") || !finished.stdout.contains(words));
    }
    let moving = |character: char| character.is_control() && character != '\n';
    assert!(!finished.stderr.contains(moving), "{:?}", finished.stderr);
    // Whoever was cut off knows how to go on.
    let mut last = finished.stdout.lines().rev();
    let next = last.next().unwrap();
    let run = last.find_map(|line| line.strip_prefix("run ")).unwrap();
    assert!(
        next.contains(&format!("patchwright export {run}")),
        "{next}"
    );
    assert!(finished.stderr.contains(run), "{}", finished.stderr);
}

#[test]
fn a_task_can_be_put_together_from_flags() {
    let scene = Scene::new();
    let model = ScriptedModel::start([GOOD]).unwrap();
    let endpoint = model.base_url();
    let harness = scene.path("harness.c").display().to_string();
    // Only what lies beside the source is seen by the build, so the harness goes there.
    fs::copy(harness, scene.path("src/harness.c")).unwrap();
    let build =
        "gcc $CFLAGS -I\"$TREE\" -o \"$OUT\"/harness \"$TREE\"/harness.c \"$TREE\"/records.c";
    let told = scene.json(&[
        "run",
        "--repo",
        "records/src",
        "--sanitizer",
        "address",
        "--harmless",
        "records/corpus/*",
        "--title",
        "a name too long",
        "--protect",
        "records.h",
        "--build",
        build,
        "--pov",
        "records/pov/long-name.txt",
        "--pov",
        "\"$OUT\"/harness \"$POV\"",
        "--test",
        "\"$OUT\"/harness",
        "--model",
        "scripted",
        "--base-url",
        &endpoint,
    ]);
    assert!(told.rung(1, "silent")["holds"] == true, "{told:#?}");
    assert!(told.rung(1, "tested")["holds"] == true, "{told:#?}");
    assert!(told.report["task"].as_str().unwrap().starts_with("src-"));
    let asked = model.requests()[0].last();
    assert!(asked.contains("a name too long"), "{asked}");
    assert!(
        told.rung(1, "same elsewhere")["counts"]["inputs"] != 0,
        "{told:#?}"
    );

    for (arguments, words) in [
        (vec!["run", "--repo", "records/src"], "build"),
        (vec!["run", "--repo", "records/corpus"], "--language"),
        (vec!["run", "--language", "c"], "--repo"),
        (vec!["run"], "name a task folder"),
        (vec!["run", "records", "--repo", "records/src"], "not both"),
        (
            vec![
                "run",
                "--repo",
                "records/src",
                "--language",
                "c",
                "--build",
                "true",
                "--pov",
                "records/pov/long-name.txt",
            ],
            "--pov",
        ),
    ] {
        scene.json(&arguments).expect("invalid_task", 2, words);
    }
}
