//! Inputs that the rung *robust* finds: they are PoVs of the following attempts,
//! also after a kill.

use crate::scene::{GOOD, Scene, kill_at_the_second_question};
use patchwright_tests::model::{Answer, ScriptedModel};
use std::fs;
use std::time::Duration;

/// A patch for names of the PoV's own length and longer ones only.
fn too_narrow(condition: &str) -> String {
    GOOD.replace("name > NAME_LIMIT", condition)
}

#[test]
fn an_input_that_refuted_an_attempt_is_a_pov_for_the_next() {
    let scene = Scene::new();
    let replies = [
        too_narrow("name > 34"),
        too_narrow("name >= 35"),
        GOOD.to_owned(),
    ];
    let mut first = true;
    let model = ScriptedModel::answering(move |asked| {
        let reply = replies[asked.replies()].as_str();
        if asked.replies() == 1 && std::mem::take(&mut first) {
            // The process dies while it waits for this one.
            return Answer::After(Duration::from_mins(20), Box::new(reply.into()));
        }
        reply.into()
    })
    .unwrap();
    kill_at_the_second_question(scene.start(&model, &["--out", "out"]), &model);

    let told = scene.json(&["resume", "out"]);
    told.expect("verified", 0, "attempt 3");
    assert_eq!(told.rung(1, "silent")["holds"], true);
    assert_eq!(told.rung(1, "robust")["holds"], false);
    let silent = told.rung(2, "silent");
    assert_eq!(silent["holds"], false, "{told:#?}");
    let reason = silent["reason"].as_str().unwrap();
    assert!(
        reason.contains("made from long-name.txt that refuted an earlier attempt"),
        "{reason}"
    );
    assert_eq!(told.rung(3, "silent")["counts"]["povs"], 2);
    let last = model.requests().pop().unwrap();
    assert!(
        last.last().contains("refutes this one too"),
        "{}",
        last.last()
    );

    let input = fs::read(scene.patchwright.scratch("out/found/attempt-1-robust-1")).unwrap();
    let name = input.split(|byte| *byte == b'=').next().unwrap();
    assert!(!input.is_empty() && name.len() < 64 * 1024);
    let report = fs::read_to_string(scene.patchwright.scratch("out/report.json")).unwrap();
    assert!(report.contains("found/attempt-1-robust-1"), "{report}");
}
