//! Pauses: when no model can answer, a run waits up to its limit, and is resumed
//! later when that is not enough.

use crate::scene::{GOOD, QUERIES, Scene, events};
use patchwright_tests::model::{Answer, Misbehaviour, ScriptedModel};

/// Each call of the scene is made twice before it is given up.
const LIMITED: Misbehaviour = Misbehaviour::TooManyRequests;

fn scene() -> Scene {
    Scene::new().with("PATCHWRIGHT_MODEL__RETRIES__PAUSE", "1s")
}

#[test]
fn a_run_waits_and_goes_on_by_itself() {
    let scene = scene();
    let answers = [
        QUERIES.into(),
        LIMITED.into(),
        LIMITED.into(),
        Answer::from(GOOD),
    ];
    let model = ScriptedModel::start(answers).unwrap();
    let told = scene.run(&model, &["--dry-run", "--set", "limits.wall=10m"]);
    told.expect("proposed", 0, "");
    let asked = model.requests();
    assert_eq!(asked.len(), 4);
    assert_eq!(asked[1].body, asked[3].body, "the same is asked again");
    for words in ["paused until 20", "429 too many calls"] {
        assert!(told.finished.stderr.contains(words), "{told:#?}");
    }
    let journal = scene.plain(&["show", told.run(), "--journal", "--format", "json"]);
    let journal = events(&journal.stdout);
    let waits = journal.iter().filter(|event| event["name"] == "wait");
    assert_eq!(waits.count(), 2, "before and after");
    let waited = journal
        .iter()
        .find(|event| event["name"] == "wait" && event["kind"] == "outcome");
    assert_eq!(waited.unwrap()["body"]["seconds"], 0.0, "it is no work");
}

#[test]
fn a_run_that_would_wait_too_long_is_left_and_resumed() {
    let scene = scene();
    let answers = [
        QUERIES.into(),
        LIMITED.into(),
        LIMITED.into(),
        Answer::from(GOOD),
    ];
    let model = ScriptedModel::start(answers).unwrap();
    let told = scene.run(
        &model,
        &["--dry-run", "--out", "out", "--set", "limits.pause=0s"],
    );
    told.expect("paused", 75, "go on with: patchwright resume");
    assert_eq!(model.requests().len(), 3);
    assert_eq!(told.report["rounds"], 1, "what was done is told");

    let resumed = scene.json(&["resume", "out", "--set", "limits.pause=1m"]);
    resumed.expect("proposed", 0, "");
    assert_eq!(resumed.run(), told.run());
    assert_eq!(
        model.requests().len(),
        4,
        "nothing on record is asked again"
    );
}

#[test]
fn a_long_wish_to_wait_and_an_empty_account_pause_the_run() {
    for (misbehaviour, words) in [
        (Misbehaviour::TooManyRequestsLongWait, "retry_after_limit"),
        (Misbehaviour::QuotaExhausted, "billing"),
    ] {
        let scene = scene();
        let model = ScriptedModel::start([misbehaviour]).unwrap();
        let told = scene.run(&model, &["--dry-run", "--set", "limits.pause=10m"]);
        told.expect("paused", 75, words);
        assert_eq!(model.requests().len(), 1, "{misbehaviour:?}");
    }
}

#[test]
fn another_model_answers_while_one_is_limited() {
    let scene = scene();
    let other = ScriptedModel::start([GOOD]).unwrap();
    let fallbacks = format!(
        "model.fallbacks=[{{ name = \"other\", base_url = \"{}\" }}]",
        other.base_url()
    );
    let model = ScriptedModel::start([Misbehaviour::QuotaExhausted]).unwrap();
    let told = scene.run(&model, &["--dry-run", "--set", &fallbacks]);
    told.expect("proposed", 0, "");
    assert_eq!(other.requests().len(), 1);
    let answers = "live from scripted; answered by other";
    assert_eq!(told.report["answers"], answers);
}
