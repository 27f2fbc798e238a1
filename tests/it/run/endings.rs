//! Every ending, reached through the real command line.

use crate::scene::{GOOD, QUERIES, STILL_CRASHES, Scene, Told};
use patchwright_tests::model::{Answer, ScriptedModel};
use std::io::{BufRead, BufReader, Read};
use std::process::Command;
use std::time::Duration;

/// Longer than any test waits.
const NEVER: Duration = Duration::from_mins(20);
/// The interval at which something is waited for.
const GLANCE: Duration = Duration::from_millis(10);

fn run(scene: &Scene, answers: &[&str]) -> (Told, usize) {
    let model = ScriptedModel::start(answers.iter().copied()).unwrap();
    let told = scene.run(&model, &[]);
    (told, model.requests().len())
}

/// Adds limits of the task.
fn limited(limits: &str) -> Scene {
    let scene = Scene::new();
    let task = std::fs::read_to_string(scene.path("task.toml")).unwrap();
    scene.write("task.toml", &format!("{task}\n[limits]\n{limits}\n"))
}

#[test]
fn without_tests_a_patch_is_plausible_at_most() {
    let scene = Scene::new().edit("task.toml", "test = '\"$OUT\"/harness'\n", "");
    let (told, _) = run(&scene, &[GOOD]);
    told.expect("plausible", 6, "tested");
    assert!(told.rung(1, "tested")["holds"].is_null());
    assert_eq!(told.rung(1, "silent")["holds"], true);
}

#[test]
fn attempts_used_up_end_without_a_patch() {
    let (told, calls) = run(&limited("attempts = 1"), &[STILL_CRASHES]);
    told.expect("no_patch", 1, "none of 1 attempts");
    assert_eq!(
        told.report["best"]["number"], 1,
        "the best is shown all the same"
    );
    assert_eq!(calls, 1);
}

#[test]
fn each_budget_is_named_when_it_is_used_up() {
    let nonsense = "I would rather talk about the weather.";
    for (limits, answers, words, calls) in [
        (
            "rounds = 1\nformat_retries = 0",
            vec![QUERIES, QUERIES],
            "rounds:",
            2,
        ),
        (
            "format_retries = 1",
            vec![nonsense, nonsense],
            "format retries:",
            2,
        ),
        ("tokens = 100", vec![], "tokens:", 0),
    ] {
        let (told, asked) = run(&limited(limits), &answers);
        told.expect("budget_exhausted", 3, words);
        assert_eq!(asked, calls, "{limits}");
    }
}

#[test]
fn the_clock_ends_a_run_and_what_was_done_is_kept() {
    let scene = limited("wall = \"8s\"");
    let answers = [
        Answer::from(STILL_CRASHES),
        Answer::After(NEVER, Box::new(GOOD.into())),
    ];
    let model = ScriptedModel::start(answers).unwrap();
    let told = scene.run(&model, &[]);
    told.expect("deadline", 3, "time limit");
}

#[test]
fn a_pov_that_does_not_crash_is_told_before_any_call() {
    let scene = Scene::new().write("pov/long-name.txt", "one=1\n");
    let (told, calls) = run(&scene, &[]);
    told.expect("not_reproducible", 4, "long-name.txt");
    assert_eq!(calls, 0);
}

#[test]
fn a_tree_that_does_not_build_is_told_with_its_log_before_any_call() {
    let scene = Scene::new().edit(
        "task.toml",
        "build = 'make",
        "build = 'echo the compiler has gone home >&2; exit 3; make",
    );
    let (told, calls) = run(&scene, &[]);
    told.expect("invalid_task", 2, "the compiler has gone home");
    assert_eq!(calls, 0);
}

#[test]
fn without_any_pov_a_patch_stays_unverified() {
    let scene = Scene::new();
    let task = std::fs::read_to_string(scene.path("task.toml")).unwrap();
    let (before, rest) = task.split_once("[[pov]]").unwrap();
    let (_, after) = rest.split_once("[inputs]").unwrap();
    let task = format!("{before}[crash]\nreport = \"crash.log\"\n[inputs]{after}");
    let scene = scene.write("task.toml", &task).write("crash.log", CRASH);
    let (told, calls) = run(&scene, &[GOOD]);
    told.expect("unverified", 6, "no PoV");
    assert_eq!(told.rung(1, "builds")["holds"], true);
    assert!(told.rung(1, "silent")["holds"].is_null());
    assert_eq!(calls, 1);
}

#[test]
fn a_run_that_is_stopped_can_go_on() {
    for signal in ["-INT", "-TERM"] {
        stop_and_go_on(signal);
    }
}

fn stop_and_go_on(signal: &str) {
    let scene = Scene::new();
    let answers = [Answer::After(NEVER, Box::new(GOOD.into())), GOOD.into()];
    let model = ScriptedModel::start(answers).unwrap();
    let mut child = scene.start(&model, &["--format", "json"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains(".. asking the model")));
    while model.requests().is_empty() {
        std::thread::sleep(GLANCE);
    }
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args([signal, &id])
            .status()
            .unwrap()
            .success()
    );
    let mut stdout = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["ending"], "interrupted", "{report:#}");
    let run = report["run"].as_str().unwrap();
    let shown = scene.plain(&["show"]);
    assert_eq!(shown.code, Some(75), "{shown:#?}");
    let words = format!("run {run} has not ended");
    assert!(shown.stderr.contains(&words), "{shown:#?}");
    let listed = scene.plain(&["runs", "--unfinished"]).stdout;
    assert!(listed.contains("unfinished") && listed.contains(run));
    let told = scene.json(&["resume"]);
    told.expect("verified", 0, "");
    assert_eq!(told.report["run"], run);
    // The baseline stands; the question that was in flight is asked again.
    assert_eq!(model.requests().len(), 2);
    let nothing = scene.plain(&["resume"]);
    assert_eq!(nothing.code, Some(2), "{nothing:#?}");
    assert!(nothing.stderr.contains("no run without an ending"));
}

#[test]
fn money_stops_a_run_before_it_is_passed_and_needs_a_price() {
    let priced = |scene: Scene| {
        scene
            .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_IN", "1000")
            .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_OUT", "1000")
            .with("PATCHWRIGHT_MODEL__MAX_OUTPUT_TOKENS", "1000")
    };
    // A call of the first prompt costs a few dollars, two are more than the limit.
    let (told, calls) = run(&priced(limited("usd = 14.0")), &[QUERIES; 5]);
    told.expect("budget_exhausted", 3, "money: run limit of 14.0000 USD");
    let spent = told.report["cost"]["usd"].as_f64().unwrap();
    assert!(spent > 0.0 && spent <= 14.0, "{told:#?}");
    assert!((1..5).contains(&calls), "{calls} calls");
    assert_eq!(told.report["cost"]["calls"], calls);

    let (told, calls) = run(&limited("usd = 14.0"), &[QUERIES]);
    told.expect("invalid_task", 2, "model.usd_per_million_in");
    assert!(!told.finished.stderr.contains("building"), "{told:#?}");
    assert_eq!(calls, 0);

    let day = priced(Scene::new()).with("PATCHWRIGHT_LIMITS__USD_DAY", "0.01");
    let (told, calls) = run(&day, &[QUERIES]);
    told.expect("budget_exhausted", 3, "money: day limit of 0.0100 USD");
    assert_eq!(calls, 0);
}

/// A crash report from a fuzzer.
const CRASH: &str = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000020
WRITE of size 35 at 0x602000000020 thread T0
    #0 0x7f in memcpy (libasan.so.8+0x1)
    #1 0x55 in copy_name /build/src/records.c:8
    #2 0x55 in read_line /build/src/records.c:30
    #3 0x55 in records_read /build/src/records.c:43
";

#[test]
fn a_known_crash_ends_as_a_duplicate_before_anybody_is_asked() {
    let scene = Scene::new();
    let model = ScriptedModel::start([GOOD]).unwrap();
    let first = scene.run(&model, &[]);
    first.expect("verified", 0, "attempt 1 holds every rung");
    let signature = first.report["crash"]["signature"].as_str().unwrap();
    let list = |name: &str, text: &str| {
        let path = scene.patchwright.scratch(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let ours = list("known.txt", &format!("# ours\n{signature} # issue 12\n"));
    let silent = ScriptedModel::start([""; 0]).unwrap();
    for (known, name) in [
        ("runs", "duplicate of run "),
        (&ours, "duplicate of issue 12"),
    ] {
        let told = scene.run(&silent, &["--known", known]);
        told.expect("no_patch", 1, name);
        assert_eq!(silent.requests().len(), 0);
    }
    let told = scene.run(&silent, &["--known", "nowhere.txt"]);
    told.expect("invalid_task", 2, "nowhere.txt");
    let other = list("other.txt", "SEGV | elsewhere\n");
    let model = ScriptedModel::start([GOOD]).unwrap();
    let told = scene.run(&model, &["--known", &other]);
    told.expect("verified", 0, "attempt 1 holds every rung");
}
