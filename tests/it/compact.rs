//! Compaction: a conversation that nears the model's window is summarised and
//! continues.

use crate::scene::{GOOD, Scene};
use patchwright_tests::model::{Answer, Asked, Misbehaviour, ScriptedModel};

/// Three good queries after many words.
fn wordy() -> String {
    let words = "The length is checked by the caller, or so it seems. ".repeat(150);
    format!(
        "<analysis>{words}</analysis><queries><symbol>copy_name</symbol><callers>copy_name</callers><file>records.h</file></queries>"
    )
}

/// A crash report from a fuzzer.
const CRASH: &str = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000020
WRITE of size 35 at 0x602000000020 thread T0
    #1 0x55 in copy_name /build/src/records.c:8
";

fn scene() -> Scene {
    let report = "[crash]\nreport = \"crash.log\"\n[inputs]";
    let scene = Scene::new().write("crash.log", CRASH);
    scene.edit("task.toml", "[inputs]", report)
}

fn says(asked: &Asked, words: &str) -> bool {
    asked
        .messages()
        .iter()
        .any(|(_, text)| text.contains(words))
}

const IN_SHORT: &str = "What happened so far, in short";
const QUESTION: &str = "told in short before it goes on";

#[test]
fn a_history_that_nears_the_window_is_told_in_short() {
    let scene = scene()
        .with("PATCHWRIGHT_MODEL__CONTEXT_WINDOW", "18000")
        .with("PATCHWRIGHT_MODEL__MAX_OUTPUT_TOKENS", "2000");
    let model = ScriptedModel::answering(|asked| {
        if says(asked, QUESTION) {
            return "<analysis>THE NAME IS TOO LONG</analysis><queries><symbol>copy_name</symbol></queries>".into();
        }
        if says(asked, IN_SHORT) {
            return GOOD.into();
        }
        wordy().into()
    })
    .unwrap();
    let told = scene.run(&model, &["--dry-run", "--out", "out"]);
    told.expect("proposed", 0, "");
    let asked = model.requests();
    let question = asked
        .iter()
        .position(|asked| says(asked, QUESTION))
        .unwrap();
    assert!(question >= 2, "only when it is needed");
    for pair in asked[..question].windows(2) {
        let (before, after) = (pair[0].messages(), pair[1].messages());
        assert!(after.starts_with(&before), "the history is only added to");
    }
    let last = asked.last().unwrap();
    assert_eq!(asked.len(), question + 2);
    assert_eq!(last.messages().len(), 2);
    assert_eq!(
        last.messages()[0],
        asked[0].messages()[0],
        "the instructions stay"
    );
    for words in [
        "heap-buffer-overflow",
        "THE NAME IS TOO LONG",
        "memcpy(name, text, length);",
        &format!("# Round {question}"),
    ] {
        assert!(last.last().contains(words), "{words:?}: {}", last.last());
    }
}

#[test]
fn a_window_smaller_than_was_said_is_noticed_too() {
    let scene = scene();
    let model = ScriptedModel::answering(|asked| {
        if asked.messages().len() > 4 {
            return Answer::from(Misbehaviour::ContextLength);
        }
        if says(asked, IN_SHORT) {
            return GOOD.into();
        }
        wordy().into()
    })
    .unwrap();
    let told = scene.run(&model, &["--dry-run"]);
    told.expect("proposed", 0, "");
    let last = model.requests().pop().unwrap();
    assert!(
        last.last().contains("heap-buffer-overflow"),
        "{}",
        last.last()
    );
}
