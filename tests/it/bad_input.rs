//! Errors in a task, the settings or the endpoint: messages that say how to fix
//! them, and the right exit code, before anything is spent.

use crate::scene::{GOOD, QUERIES, STILL_CRASHES, Scene};
use patchwright_tests::model::{Answer, Misbehaviour, ScriptedModel};
use std::fs;

#[test]
fn an_error_in_a_task_names_its_place() {
    for (from, to, words) in [
        ("[commands]", "[commands", vec!["task.toml", "line 9"]),
        (
            "language = \"c\"",
            "langage = \"c\"",
            vec!["task.toml", "line 3", "Did you mean `language`?"],
        ),
        (
            "title =",
            "[limits]\nattmepts = 3\ntitle =",
            vec!["task.toml", "attmepts", "Did you mean `attempts`?"],
        ),
        ("language = \"c\"\n", "", vec!["task.toml", "language"]),
        (
            "language = \"c\"",
            "language = 7",
            vec!["task.toml", "line 3"],
        ),
        (
            "path = \"src\"",
            "path = \"nowhere\"",
            vec!["source.path", "nowhere"],
        ),
        (
            "path = \"src\"",
            "path = \"empty\"",
            vec!["source.path", "is empty"],
        ),
        (
            "pov/long-name.txt",
            "pov/gone.txt",
            vec!["pov[0].file", "gone.txt"],
        ),
        (
            "build = \"address\"",
            "build = \"memory\"",
            vec!["[builds.memory]"],
        ),
        ("build = 'make", "# build = 'make", vec!["commands.build"]),
        ("corpus/*", "corpse/*", vec!["inputs.harmless"]),
        (
            "[inputs]",
            "[limits]\nrobust = \"soon\"\n[inputs]",
            vec!["limits.robust", "soon"],
        ),
    ] {
        let scene = Scene::new().edit("task.toml", from, to);
        fs::create_dir(scene.path("empty")).unwrap();
        let model = ScriptedModel::start([GOOD]).unwrap();
        let told = scene.run(&model, &[]);
        for words in words {
            told.expect("invalid_task", 2, words);
        }
        assert!(model.requests().is_empty(), "{to}");
    }
    let scene = Scene::new();
    scene
        .json(&["run", "nowhere"])
        .expect("invalid_task", 2, "nowhere");
    let told = scene.plain(&["run", "nowhere"]);
    assert!(told.stdout.starts_with("invalid_task: "), "{told:#?}");
    assert!(
        !told.stdout.contains("\nrun "),
        "no run began, so none is named: {told:#?}"
    );
}

#[test]
fn without_a_model_nothing_is_replayed() {
    let scene = Scene::new();
    let told = scene.json(&["run", "records"]);
    told.expect("invalid_task", 2, "--model NAME");
    told.expect("invalid_task", 2, "PATCHWRIGHT_MODEL__API_KEY");
    assert!(!told.finished.stderr.contains("RECORDED"));
    let scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    let told = scene.json(&["run", "records", "--model", "gpt-none"]);
    told.expect("invalid_task", 2, "PATCHWRIGHT_MODEL__API_KEY");
}

#[test]
fn a_fault_of_the_endpoint_is_reported() {
    use Misbehaviour as M;
    for (misbehaviour, calls, words) in [
        (M::Unauthorized, 1, "PATCHWRIGHT_MODEL__API_KEY"),
        (M::EchoedKey, 1, "[key]"),
        (M::Forbidden, 1, "403"),
        (M::UnknownModel, 1, "model.name"),
        (
            M::ServerError,
            2,
            "500 the endpoint has an error of its own",
        ),
        (M::Html, 1, "web page"),
        (M::HalfStream, 2, "broke off in the middle"),
        (M::BrokenStream, 2, "broke"),
        (M::EmptyBody, 2, "empty answer"),
        (M::BrokenEvent, 2, "not JSON"),
    ] {
        let scene = Scene::new();
        let model = ScriptedModel::start([misbehaviour, misbehaviour]).unwrap();
        let told = scene.run(&model, &["--dry-run"]);
        told.expect("infra_error", 5, words);
        assert_eq!(model.requests().len(), calls, "{misbehaviour:?}");
    }
    let gone = ScriptedModel::start([GOOD]).unwrap().base_url();
    let scene = Scene::new();
    let arguments = [
        "run",
        "records",
        "--dry-run",
        "--model",
        "scripted",
        "--base-url",
        &gone,
    ];
    scene
        .json(&arguments)
        .expect("infra_error", 5, "nothing listens at");
}

#[test]
fn a_reply_that_is_no_use_costs_a_format_retry_and_no_more() {
    use Misbehaviour as M;
    let scene = Scene::new().with("PATCHWRIGHT_LIMITS__FORMAT_RETRIES", "2");
    for misbehaviour in [
        M::WrongTags,
        M::EmptyText,
        M::OnlyThinking,
        M::ToolCall,
        M::Refusal,
        M::CutOff,
        M::InvalidUtf8,
        M::ControlCharacters,
        M::Megabyte,
    ] {
        let answers = [Answer::from(misbehaviour), GOOD.into()];
        let model = ScriptedModel::start(answers).unwrap();
        let told = scene.run(&model, &["--dry-run"]);
        told.expect("proposed", 0, "");
        assert_eq!(model.requests().len(), 2, "{misbehaviour:?}");
    }
}

#[test]
fn work_before_the_endpoint_failed_is_kept() {
    let scene = Scene::new();
    let answers = [
        Answer::from(QUERIES),
        Answer::from(STILL_CRASHES),
        Misbehaviour::Unauthorized.into(),
    ];
    let model = ScriptedModel::start(answers).unwrap();
    let told = scene.run(&model, &["--out", "out"]);
    told.expect("infra_error", 5, "PATCHWRIGHT_MODEL__API_KEY");
    assert_eq!(told.report["best"]["number"], 1);
    assert_eq!(told.report["rounds"], 1);
    let diff = fs::read_to_string(scene.patchwright.scratch("out/patch.diff")).unwrap();
    assert!(diff.contains("NAME_LIMIT + 2"), "{diff}");
}

#[test]
fn wrong_settings_and_unknown_runs_are_told() {
    let scene = Scene::new();
    for (arguments, words) in [
        (
            vec!["run", "records", "--set", "limits.attmepts=3"],
            "limits.attempts",
        ),
        (
            vec!["run", "records", "--set", "limits.attempts=many"],
            "limits.attempts",
        ),
        (
            vec!["run", "records", "--base-url", "nowhere"],
            "model.base_url",
        ),
        (vec!["run", "records", "--config", "gone.toml"], "gone.toml"),
        (
            vec!["show", "no-such-run"],
            "there is no run \"no-such-run\"",
        ),
        (
            vec!["resume", "no-such-run"],
            "there is no run \"no-such-run\"",
        ),
        (
            vec!["replay", "no-such-run"],
            "there is no run \"no-such-run\"",
        ),
        (
            vec!["judge", "records", "--patch", "gone.diff"],
            "gone.diff",
        ),
        (
            vec!["run", "records", "--replay", "gone.jsonl"],
            "gone.jsonl",
        ),
    ] {
        let finished = scene.plain(&arguments);
        assert_eq!(finished.code, Some(2), "{arguments:?}: {finished:#?}");
        let told = format!("{}{}", finished.stdout, finished.stderr);
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
}

#[test]
fn a_java_task_where_no_jdk_is_installed_is_told_before_any_question() {
    let scene = Scene::new()
        .edit("task.toml", "language = \"c\"", "language = \"java\"")
        .edit(
            "task.toml",
            "build = 'make",
            "build = '/opt/no-jdk/bin/javac",
        );
    let model = ScriptedModel::start([GOOD]).unwrap();
    let told = scene.run(&model, &[]);
    told.expect("invalid_task", 2, "/opt/no-jdk/bin/javac: not found");
    assert!(model.requests().is_empty());
}
