//! A process whose run was claimed by another stops at once, and what it runs
//! with it: not only when it has something to write.

use crate::scene::{GOOD, Scene};
use patchwright_tests::model::ScriptedModel;
use std::fs;
use std::io::{BufRead, BufReader};

/// Tells whether a process with this word among its arguments runs.
fn runs(word: &str) -> bool {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).contains(word))
}

#[test]
fn the_command_of_a_superseded_process_dies() {
    let mark = format!("2{}.25", std::process::id());
    let slow =
        format!("test = 'if [ -e \"$TASK\"/slow ]; then sleep {mark}; fi; \"$OUT\"/harness'");
    let scene = Scene::new()
        .edit("task.toml", "test = '\"$OUT\"/harness'", &slow)
        .write("slow", "");
    let model = ScriptedModel::answering(|_| GOOD.into()).unwrap();
    let mut old = scene.start(&model, &["--out", "out"]);
    let sleeps = format!("sleep\0{mark}");
    while !runs(&sleeps) {
        assert!(
            old.try_wait().unwrap().is_none(),
            "it did not come to its tests"
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    fs::remove_file(scene.path("slow")).unwrap();
    let told = scene.json(&["resume", "out"]);
    told.expect("verified", 0, "");

    // It would sleep for hours; the claim alone ends it.
    let lines = BufReader::new(old.stderr.take().unwrap()).lines();
    let said: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(old.wait().unwrap().code(), Some(5), "{said:?}");
    assert!(
        said.iter()
            .any(|line| line.contains("was claimed by somebody else")),
        "{said:?}"
    );
    assert!(!runs(&sleeps), "its command still runs");
}
