//! Inputs that the rung *robust* finds are PoVs from then on: the following
//! attempts are run on them at once, also after a kill.

use crate::scene::{GOOD, Scene};
use patchwright_tests::model::{Answer, Asked, ScriptedModel};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

/// A patch for names of the PoV's own length and longer ones only.
fn too_narrow(condition: &str) -> String {
    GOOD.replace("name > NAME_LIMIT", condition)
}

fn place(asked: &Asked) -> usize {
    let messages = asked.messages();
    messages
        .iter()
        .filter(|(role, _)| role == "assistant")
        .count()
}

fn kill_at_the_second_question(scene: &Scene, model: &ScriptedModel) {
    let endpoint = model.base_url();
    let arguments = [
        "run",
        "records",
        "--out",
        "out",
        "--model",
        "scripted",
        "--base-url",
        &endpoint,
    ];
    let mut command = scene.patchwright.command(&arguments).unwrap();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let asks = |line: &String| line.contains(".. asking the model");
    assert_eq!(
        lines
            .by_ref()
            .map_while(Result::ok)
            .filter(asks)
            .take(2)
            .count(),
        2
    );
    while model.requests().len() < 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_refuted_one_attempt_is_a_pov_for_the_next() {
    let scene = Scene::new();
    let replies = [
        too_narrow("name > 34"),
        too_narrow("name >= 35"),
        GOOD.to_owned(),
    ];
    let mut first = true;
    let model = ScriptedModel::answering(move |asked| {
        let reply = replies[place(asked)].as_str();
        if place(asked) == 1 && std::mem::take(&mut first) {
            // The process dies while it waits for this one.
            return Answer::After(Duration::from_mins(20), Box::new(reply.into()));
        }
        reply.into()
    })
    .unwrap();
    kill_at_the_second_question(&scene, &model);

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
