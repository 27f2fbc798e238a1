//! Settings and their check through the command line: `config` and `check`.

use std::io::Write;

use patchwright_tests::{
    command::{Finished, Patchwright},
    model::ScriptedModel,
};
use serde_json::Value;

const KEY: &str = "sk-a-key-that-nobody-may-see";

fn patchwright() -> Patchwright {
    Patchwright::new().unwrap()
}

fn json(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", finished.stdout, finished.stderr))
}

#[test]
fn config_tells_every_value_and_where_it_came_from() {
    let patchwright = patchwright()
        .with("PATCHWRIGHT_MODEL__API_KEY", KEY)
        .with("PATCHWRIGHT_LIMITS__ATTEMPTS", "9");
    let folder = patchwright.folder().join("config/patchwright");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "[limits]\n\nwall = \"2h\"\n").unwrap();
    let given = patchwright.scratch("given.toml");
    std::fs::write(&given, "[model]\nname = \"m\"\n").unwrap();
    let given = given.display().to_string();
    let arguments = [
        "--config",
        &given,
        "--state",
        "/elsewhere",
        "config",
        "--format",
        "json",
    ];
    let finished = patchwright.run(&arguments).unwrap();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(!finished.stdout.contains(KEY) && !finished.stderr.contains(KEY));
    let entries = json(&finished);
    for (key, value, origin) in [
        ("limits.attempts", "9", "PATCHWRIGHT_LIMITS__ATTEMPTS"),
        ("limits.wall", "2h", "config.toml:3"),
        ("model.name", "m", "given.toml:2"),
        (
            "model.api_key",
            "set (hidden)",
            "PATCHWRIGHT_MODEL__API_KEY",
        ),
        ("store.folder", "/elsewhere", "--state"),
        ("limits.rounds", "24", "default"),
    ] {
        let mut all = entries.as_array().unwrap().iter();
        let entry = all.find(|entry| entry["key"] == key).unwrap();
        let found = match &entry["value"] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        assert_eq!(found, value, "{key}");
        let from = entry["origin"].as_str().unwrap();
        assert!(from.ends_with(origin), "{key}: {from}");
    }
}

#[test]
fn a_wrong_setting_stops_everything_and_names_the_right_one() {
    let file = patchwright().scratch("x.toml");
    for (arguments, words) in [
        (
            vec!["--set", "limits.attemps=3", "config"],
            "--set: unknown key \"limits.attemps\"; did you mean \"limits.attempts\"?",
        ),
        (vec!["--set", "limits.usd=lots", "check"], "limits.usd"),
        (
            vec!["--config", file.to_str().unwrap(), "config"],
            "x.toml\" cannot be read",
        ),
    ] {
        let finished = patchwright().run(&arguments).unwrap();
        assert_eq!(finished.code, Some(2), "{arguments:?}: {}", finished.stderr);
        assert!(
            finished.stderr.contains(words),
            "{arguments:?}: {}",
            finished.stderr
        );
        assert_eq!(finished.stdout, "");
    }
}

#[test]
fn the_schema_can_be_had_without_any_settings() {
    let finished = patchwright().run(&["config", "--schema"]).unwrap();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(json(&finished)["properties"]["model"].is_object());
}

/// The state and the detail of a finding.
fn finding(finished: &Finished, name: &str) -> (String, String) {
    let report = json(finished);
    let works = report["works"] == true;
    assert_eq!(finished.code, Some(if works { 0 } else { 5 }));
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no {name}: {findings:?}"));
    let text = |field: &str| found[field].as_str().unwrap().to_owned();
    (text("state"), text("detail"))
}

#[test]
fn check_reaches_the_model_without_asking_it() {
    let endpoint = ScriptedModel::start(["never given"]).unwrap();
    let base_url = endpoint.base_url();
    let check = |name: &str, base_url: &str| {
        let arguments = [
            "check",
            "--model",
            name,
            "--base-url",
            base_url,
            "--format",
            "json",
        ];
        let patchwright = patchwright().with("OPENAI_API_KEY", KEY);
        let finished = patchwright.run(&arguments).unwrap();
        assert!(!finished.stdout.contains(KEY) && !finished.stderr.contains(KEY));
        finding(&finished, "model")
    };
    let (state, detail) = check("scripted", &base_url);
    assert_eq!(state, "ok", "{detail}");
    let (state, detail) = check("nobody", &base_url);
    assert_eq!(state, "failed");
    assert!(detail.contains("it lists scripted"), "{detail}");
    assert!(endpoint.requests().is_empty(), "nothing was asked");
    drop(endpoint);
    let (state, detail) = check("scripted", &base_url);
    assert_eq!(state, "failed");
    assert!(detail.contains("nothing listens at"), "{detail}");
}

#[test]
fn check_tries_to_break_out_of_the_sandbox() {
    let run = |choice: &str| {
        let set = format!("sandbox.choice={choice}");
        let arguments = ["--set", &set, "check", "--format", "json"];
        patchwright().run(&arguments).unwrap()
    };
    let (state, detail) = finding(&run("none"), "sandbox");
    assert_eq!(state, "failed", "{detail}");
    for words in [
        "reads files",
        "writes outside",
        "network (TCP)",
        "network (UDP)",
    ] {
        assert!(detail.contains(words), "{words}: {detail}");
    }
    for choice in ["bubblewrap", "landlock"] {
        let (state, detail) = finding(&run(choice), "sandbox");
        assert!(!detail.contains("PROBED"), "{choice}: {detail}");
        if state != "ok" {
            let message = format!("SKIPPED: {choice} was not tried: {detail}");
            let _ = writeln!(std::io::stderr(), "{message}");
        }
    }
}
