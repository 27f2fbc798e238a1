//! `patchwright oss-crs` in a double of the framework: its folders, environment,
//! builder and runner.

mod framework;

use super::twins;
use crate::scene::{KEY, files};
use framework::{Framework, Habits};
use patchwright_tests::command::{Finished, Patchwright};
use patchwright_tests::model::ScriptedModel;
use serde_json::Value;
use std::fs;

const JSON: &[&str] = &["--format", "json"];

fn patchwright(framework: &Framework, model: &ScriptedModel) -> Patchwright {
    let mut patchwright = Patchwright::new()
        .expect("patchwright builds")
        .with("PATCHWRIGHT_LIMITS__ROBUST", "1s")
        .with("PATCHWRIGHT_LIMITS__EXECUTIONS", "1")
        .with("PATCHWRIGHT_LIMITS__SAME", "1s")
        .with("PATCHWRIGHT_MODEL__RETRIES__COUNT", "0")
        .with(
            "OSS_CRS_LLM_API_URL",
            model.base_url().trim_end_matches("/v1"),
        )
        .with("OSS_CRS_LLM_API_KEY", KEY);
    for (name, value) in framework.environment() {
        patchwright = patchwright.with(name, &value);
    }
    patchwright
}

fn run(patchwright: &Patchwright, framework: &Framework, more: &[&str]) -> (Finished, Value) {
    let sidecars = framework.sidecars();
    let mut arguments = vec!["oss-crs", "--model", "scripted"];
    arguments.extend(["--builder", &sidecars, "--runner", &sidecars]);
    arguments.extend(more);
    let finished = patchwright.run(&arguments).expect("patchwright runs");
    let summary = serde_json::from_str(&finished.stdout).unwrap_or_default();
    (finished, summary)
}

#[test]
fn the_smallest_set_of_patches_is_submitted() {
    let framework = Framework::start(Habits::default());
    framework.forward("reports/triage.md", "the size is never compared");
    framework.forward("patches/earlier.diff", "--- a/an-earlier-patch\n");
    let model = ScriptedModel::start([
        twins::QUERIES,
        twins::LEFT_ONLY,
        twins::QUERIES,
        twins::BOTH,
    ]);
    let model = model.expect("a model");
    let patchwright = patchwright(&framework, &model);
    let (finished, summary) = run(&patchwright, &framework, JSON);
    assert_eq!(finished.code, Some(0), "{finished:#?}");
    let runs = summary["runs"].as_array().expect("runs");
    let endings: Vec<_> = runs.iter().map(|run| run["ending"].clone()).collect();
    // What a program does inside cannot be seen over the sidecars.
    assert_eq!(endings, ["plausible", "plausible"], "{finished:#?}");
    assert_eq!(summary["runs"][0]["stops"], serde_json::json!(["a", "b"]));
    assert_eq!(
        summary["runs"][1]["stops"],
        serde_json::json!(["a", "b", "c"])
    );
    assert_eq!(summary["povs"][3]["crashes"], false);
    // The second patch stops what the first one does, so it goes alone.
    let submitted = framework.submitted();
    assert_eq!(submitted.len(), 1, "{finished:#?}");
    assert!(submitted[0].contains("+  return size > 4 ? 4 : size;"));
    assert_eq!(framework.reports(), 2, "{finished:#?}");
    let first = model.requests()[0].body.to_string();
    for forwarded in ["the size is never compared", "an-earlier-patch"] {
        assert!(first.contains(forwarded), "{forwarded} in {first}");
    }
    assert!(
        model
            .requests()
            .iter()
            .all(|asked| asked.header("authorization").is_some())
    );
    for file in files(&patchwright.folder().join("state")) {
        let bytes = fs::read(&file).expect("a file");
        let found = bytes
            .windows(KEY.len())
            .any(|window| window == KEY.as_bytes());
        assert!(!found, "the key is in {}", file.display());
    }
}

#[test]
fn a_patch_that_stops_other_crashes_saves_their_runs() {
    // This runner knows no unpatched build, and this project has no tests.
    let framework = Framework::start(Habits {
        numbered_only: true,
        no_tests: true,
        forgets_once: true,
    });
    let model = ScriptedModel::start([twins::QUERIES, twins::BOTH]).expect("a model");
    let patchwright = patchwright(&framework, &model);
    let (finished, summary) = run(
        &patchwright,
        &framework,
        &["--at-once", "--out", "out", "--format", "json"],
    );
    assert_eq!(finished.code, Some(0), "{finished:#?}");
    let runs = summary["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 1, "{finished:#?}");
    let report = fs::read_to_string(
        patchwright
            .scratch("out")
            .join(task(runs))
            .join("report.json"),
    );
    let report: Value = serde_json::from_str(&report.expect("a report")).expect("a report");
    // No tests are not tests that pass.
    let rungs = report["best"]["rungs"].as_array().expect("rungs");
    let tested = rungs.iter().find(|rung| rung["name"] == "tested");
    assert!(
        tested.expect("the rung")["holds"].is_null(),
        "{finished:#?}"
    );
    assert_eq!(framework.submitted().len(), 1);
}

/// The name of the task of the first run, which its folder has.
fn task(runs: &[Value]) -> String {
    let run = runs[0]["run"].as_str().expect("a run");
    run.splitn(4, '-').take(3).collect::<Vec<_>>().join("-")
}

#[test]
fn missing_parts_of_the_framework_are_named() {
    let framework = Framework::start(Habits::default());
    let model = ScriptedModel::start(Vec::<String>::new()).expect("a model");
    let outside = Patchwright::new().expect("patchwright builds");
    let finished = outside.run(&["oss-crs"]).expect("patchwright runs");
    assert_eq!(finished.code, Some(2), "{finished:#?}");
    assert!(finished.stderr.contains("OSS_CRS_NAME is not set"));

    let patchwright = patchwright(&framework, &model).with("OSS_CRS_TARGET_HARNESS", "other");
    let (finished, summary) = run(&patchwright, &framework, JSON);
    assert_eq!(finished.code, Some(2), "{finished:#?}");
    let detail = summary["runs"][0]["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("harness \"other\""), "{finished:#?}");

    framework.remove_povs();
    let patchwright = patchwright.with("OSS_CRS_TARGET_HARNESS", "harness");
    let (finished, _) = run(&patchwright, &framework, &[]);
    assert_eq!(finished.code, Some(4), "{finished:#?}");
    assert!(
        finished.stdout.contains("nothing to repair"),
        "{finished:#?}"
    );
    assert!(framework.submitted().is_empty());
}

#[test]
fn the_manifest_names_what_is_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = fs::read_to_string(root.join("oss-crs/crs.yaml")).expect("the manifest");
    for key in [
        "name: patchwright",
        "- bug-fixing",
        "supported_target:",
        "required_llms:",
        "target_build_phase:",
        "target_dependent: false",
    ] {
        assert!(manifest.contains(key), "{key} is missing");
    }
    let named = manifest.lines().filter_map(|line| {
        let line = line.trim();
        line.strip_prefix("dockerfile: ")
            .or(line.strip_prefix("hcl: "))
    });
    let named: Vec<&str> = named.collect();
    assert!(named.len() >= 3, "{named:?}");
    for file in named {
        assert!(root.join(file).is_file(), "{file} is missing");
    }
}
