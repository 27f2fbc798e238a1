//! Several lanes over several models: one budget, one winner, and a critic.

use crate::scene::{GOOD, STILL_CRASHES, Scene, Told};
use patchwright_tests::model::{Answer, Asked, ScriptedModel};
use std::time::Duration;

/// Longer than any test waits.
const NEVER: Duration = Duration::from_mins(20);

fn scene() -> Scene {
    Scene::new().edit(
        "task.toml",
        "language = \"c\"",
        "language = \"c\"\ncandidates = 3",
    )
}

/// Lanes 1 and 3 ask the first model, lane 2 the second.
fn run(scene: &Scene, (first, second): (&ScriptedModel, &ScriptedModel), more: &[&str]) -> Told {
    let lanes = format!(
        "model.lanes=[{{ name = \"second\", base_url = \"{}\", usd_per_million_in = 1000, usd_per_million_out = 1000 }}]",
        second.base_url()
    );
    let mut arguments = vec!["--set", &lanes];
    arguments.extend(more);
    scene.run(first, &arguments)
}

/// [`STILL_CRASHES`] with a bound of its own.
fn wrong(bytes: usize) -> String {
    STILL_CRASHES.replace("NAME_LIMIT + 2", &format!("NAME_LIMIT + {bytes}"))
}

#[test]
fn the_first_that_is_verified_ends_all_lanes() {
    let first = ScriptedModel::answering(|_| Answer::After(NEVER, Box::new(GOOD.into()))).unwrap();
    let second = ScriptedModel::start([GOOD]).unwrap();
    let told = run(&scene(), (&first, &second), &[]);
    told.expect("verified", 0, "attempt 1 holds every rung");
    assert_eq!(told.report["best"]["lane"], 2);
    assert_eq!(told.report["cost"]["calls"], 1);
    assert_eq!(second.requests()[0].body["model"], "second");
}

#[test]
fn lanes_share_attempts_and_money() {
    let mut bytes = 1;
    let mut author = move |_: &Asked| {
        bytes += 1;
        Answer::from(wrong(bytes))
    };
    let first = ScriptedModel::answering(move |asked| author(asked)).unwrap();
    let mut bytes = 10;
    let second = ScriptedModel::answering(move |_| {
        bytes += 1;
        wrong(bytes).into()
    })
    .unwrap();
    let scene = scene()
        .edit("task.toml", "[inputs]", "[limits]\nattempts = 2\n[inputs]")
        .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_IN", "1000")
        .with("PATCHWRIGHT_MODEL__USD_PER_MILLION_OUT", "1000")
        .with("PATCHWRIGHT_MODEL__MAX_OUTPUT_TOKENS", "1000");
    let told = run(&scene, (&first, &second), &["--set", "limits.usd=1000"]);
    told.expect("no_patch", 1, "none of 2 attempts");
    assert_eq!(told.report["attempts"].as_array().unwrap().len(), 2);

    // Three first calls at once need about three times what one may cost, so
    // the third finds too little left while the other two are still unanswered.
    let silent =
        || ScriptedModel::answering(|_| Answer::After(NEVER, Box::new(GOOD.into()))).unwrap();
    let told = run(
        &scene,
        (&silent(), &silent()),
        &["--dry-run", "--set", "limits.usd=25"],
    );
    let spent = told.report["cost"]["usd"].as_f64().unwrap();
    assert!(spent <= 25.0, "{told:#?}");
    told.expect("budget_exhausted", 3, "money: run limit of 25.0000 USD");
}

#[test]
fn among_equals_a_model_chooses() {
    let other = GOOD.replace("name > NAME_LIMIT", "name >= NAME_LIMIT + 1");
    let author = |asked: &Asked| {
        let last = asked.last();
        let Some((before, _)) = last.split_once("name >= NAME_LIMIT + 1") else {
            return Answer::from(GOOD);
        };
        let (_, number) = before.rsplit_once("# Candidate ").unwrap();
        let number = number.lines().next().unwrap();
        format!("It is the second. <best>{number}</best>").into()
    };
    let first = ScriptedModel::answering(author).unwrap();
    let second = ScriptedModel::answering(move |_| other.as_str().into()).unwrap();
    let told = run(&scene(), (&first, &second), &["--dry-run"]);
    told.expect("proposed", 0, "2 candidate");
    let best = told.report["best"]["diff"].as_str().unwrap();
    assert!(best.contains("name >= NAME_LIMIT + 1"), "{told:#?}");
    assert_eq!(told.report["cost"]["calls"], 4);
}

fn criticised(critic: &ScriptedModel, answers: &[&str]) -> (Told, ScriptedModel) {
    let scene = Scene::new().with("PATCHWRIGHT_CRITIC__CALLS", "12");
    let model = ScriptedModel::start(answers.iter().copied()).unwrap();
    let address = format!("critic.base_url={}", critic.base_url());
    let told = scene.run(&model, &["--set", "critic.model=critic", "--set", &address]);
    (told, model)
}

#[test]
fn a_critic_sends_a_patch_back_and_agrees_to_the_next() {
    let critic = ScriptedModel::start([
        "<verdict>object</verdict><reason>NOTHING IS LEFT OF SHORT NAMES</reason>",
        "I see. <verdict>accept</verdict><reason>fine</reason>",
    ])
    .unwrap();
    let narrow = GOOD.replace("name > NAME_LIMIT", "name >= NAME_LIMIT + 1");
    let (told, model) = criticised(&critic, &[&narrow, GOOD]);
    told.expect("verified", 0, "attempt 2 holds every rung");
    assert!(told.rung(1, "reviewed")["holds"].is_null());
    let issue = model.requests()[1].last();
    assert!(issue.contains("NOTHING IS LEFT OF SHORT NAMES"), "{issue}");
    let question = critic.requests()[0].last();
    for words in [
        "name >= NAME_LIMIT + 1",
        "heap-buffer-overflow",
        "same elsewhere holds",
    ] {
        assert!(question.contains(words), "{words:?}: {question}");
    }
    assert_eq!(
        critic.requests()[0].header("authorization"),
        None,
        "the key is not for it"
    );
}

#[test]
fn the_model_reviews_its_own_patch_in_a_conversation_of_its_own() {
    let scene = Scene::new().with("PATCHWRIGHT_CRITIC__CALLS", "12");
    let accept = "<verdict>accept</verdict><reason>fine</reason>";
    let model = ScriptedModel::start([GOOD, accept]).unwrap();
    let told = scene.run(&model, &["--record", "recorded.jsonl"]);
    told.expect("verified", 0, "attempt 1 holds every rung");
    let asked = model.requests();
    let messages = asked[1].body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 1, "{messages:#?}");
    let own_words = "A name longer than NAME_LIMIT overflows";
    assert!(!asked[1].last().contains(own_words), "{messages:#?}");
    let reviewed = |told: &Told| {
        let reason = told.rung(1, "reviewed")["reason"].as_str().unwrap();
        reason.contains("the critic has no objection")
    };
    assert!(reviewed(&told));
    scene
        .json(&["replay", told.run()])
        .expect("verified", 0, "");

    // A transcript is replayed as it was written: with a critic, or without one.
    let replay = || scene.json(&["run", "records", "--replay", "recorded.jsonl"]);
    assert!(reviewed(replay().expect("verified", 0, "")));
    let file = scene.patchwright.scratch("recorded.jsonl");
    let recorded = std::fs::read_to_string(&file).unwrap();
    let first = recorded.lines().next().unwrap();
    std::fs::write(&file, first).unwrap();
    assert!(!reviewed(replay().expect("verified", 0, "")));
}

#[test]
fn a_critic_that_babbles_leaves_the_patch_plausible() {
    let critic = ScriptedModel::start(["Well.", "Who knows."]).unwrap();
    let (told, _) = criticised(&critic, &[GOOD]);
    told.expect("plausible", 6, "the critic could not be heard");
    assert!(told.rung(1, "reviewed")["holds"].is_null());
}
