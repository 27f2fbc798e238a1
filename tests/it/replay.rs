//! `patchwright replay`: a finished run is repeated offline, and its patches are
//! judged again.

use crate::scene::{GOOD, QUERIES, STILL_CRASHES, Scene, Told};
use patchwright_tests::model::ScriptedModel;
use serde_json::Value;

/// Returns what a replay must repeat: the ending, and each rung of each attempt.
fn verdicts(told: &Told) -> Vec<Value> {
    let mut verdicts = vec![
        told.report["ending"].clone(),
        told.report["best"]["number"].clone(),
    ];
    for attempt in told.report["attempts"].as_array().unwrap() {
        verdicts.push(attempt["diff"].clone());
        for rung in attempt["rungs"].as_array().unwrap() {
            verdicts.extend([rung["name"].clone(), rung["holds"].clone()]);
        }
    }
    verdicts
}

#[test]
fn a_finished_run_is_walked_again_without_its_model() {
    let scene = Scene::new();
    let model = ScriptedModel::start([QUERIES, STILL_CRASHES, GOOD]).unwrap();
    let told = scene.run(&model, &["--out", "out"]);
    told.expect("verified", 0, "");
    drop(model);

    let again = scene.json(&["replay", "out"]);
    again.expect("verified", 0, "");
    assert_eq!(verdicts(&again), verdicts(&told));
    assert_ne!(again.run(), told.run(), "a replay is a run of its own");
    assert_eq!(again.report["rounds"], 1);
    let said = &again.finished.stderr;
    assert!(
        said.contains("RECORDED") && said.contains(told.run()),
        "{said}"
    );
    assert_eq!(again.report["cost"]["usd"], 0.0);
}

#[test]
fn a_tree_that_changed_since_is_noticed() {
    let scene = Scene::new();
    let model = ScriptedModel::start([QUERIES, GOOD]).unwrap();
    let told = scene.run(&model, &["--dry-run"]);
    told.expect("proposed", 0, "");
    drop(model);
    let scene = scene.edit("src/records.h", "NAME_LIMIT 15", "NAME_LIMIT 16");
    let again = scene.json(&["replay", told.run()]);
    again.expect("infra_error", 5, "the journal has no answer to this prompt");
}
