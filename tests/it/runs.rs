//! Runs that are named, listed and written to folders: `runs`, the last run
//! without a name, and `--out` that replaces nobody's result.

use crate::scene::{GOOD, Scene, Told};
use patchwright_tests::model::ScriptedModel;
use serde_json::Value;

fn proposed(scene: &Scene, more: &[&str]) -> Told {
    let model = ScriptedModel::start([GOOD]).unwrap();
    let mut arguments = vec!["--dry-run"];
    arguments.extend(more);
    scene.run(&model, &arguments)
}

fn id(told: &Told) -> &str {
    told.report["run"].as_str().unwrap()
}

#[test]
fn runs_are_listed_and_the_last_one_needs_no_name() {
    let scene = Scene::new();
    let empty = scene.plain(&["show"]);
    assert_eq!(empty.code, Some(2), "{empty:#?}");
    assert!(empty.stderr.contains("there is no run in"), "{empty:#?}");

    let (first, second) = (proposed(&scene, &[]), proposed(&scene, &[]));
    let listed = scene.plain(&["runs"]).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    for (line, told) in lines.iter().zip([&second, &first]) {
        assert!(
            line.ends_with(id(told)) && line.contains(" proposed "),
            "{listed}"
        );
    }
    let all = scene.plain(&["runs", "--format", "json"]).stdout;
    let all: Value = serde_json::from_str(&all).unwrap();
    assert_eq!(all[1]["run"], first.report["run"], "{all:#}");
    assert_eq!(all[0]["attempts"], 1);
    for (flags, expected) in [
        (["--task", "record"], 2),
        (["--task", "nothing"], 0),
        (["--ending", "verified"], 0),
        (["--ending", "proposed"], 2),
        (["--limit", "1"], 1),
    ] {
        let listed = scene.plain(&["runs", flags[0], flags[1]]).stdout;
        assert_eq!(listed.lines().count(), expected, "{flags:?}: {listed}");
    }
    // Without a name, by the word, by the task.
    for arguments in [&["show"][..], &["show", "latest"], &["show", "records"]] {
        let shown = scene.json(arguments);
        assert_eq!(shown.finished.code, Some(0));
        assert_eq!(shown.report["run"], second.report["run"], "{arguments:?}");
    }
    let diff = scene.plain(&["export", "--format", "diff"]);
    assert!(diff.stdout.contains("+  if (name > NAME_LIMIT) return -1;"));
}

#[test]
fn a_folder_of_results_is_replaced_only_by_force() {
    let scene = Scene::new();
    let first = proposed(&scene, &["--out", "out"]);
    let refused = scene.plain(&["replay", id(&first), "--out", "out"]);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    let words = format!("out holds the result of run {}", id(&first));
    assert!(refused.stderr.contains(&words), "{refused:#?}");
    let report = || std::fs::read_to_string(scene.patchwright.scratch("out/report.json")).unwrap();
    assert!(report().contains(id(&first)));
    let replaced = scene.json(&["replay", id(&first), "--out", "out", "--force"]);
    replaced.expect("proposed", 0, "");
    assert!(report().contains(id(&replaced)));
    let refused = scene.plain(&["export", id(&first), "--out", "out"]);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
}
