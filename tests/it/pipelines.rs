//! Pipelines: the steps of the GitHub action and of the GitLab job, run as the scripts that they
//! are, and the manifests for a cluster.

use crate::scene::{GOOD, QUERIES, Scene};
use patchwright_tests::command::binary;
use patchwright_tests::model::ScriptedModel;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A project with a crash that a fuzzing job found, and no PoV in its task.
fn project(scene: Scene) -> (Scene, PathBuf) {
    let text = fs::read_to_string(scene.path("task.toml")).unwrap();
    let (before, pov) = text.split_once("[[pov]]").unwrap();
    let (pov, after) = pov.split_once("[inputs]").unwrap();
    let keys = pov.replace("file = \"pov/long-name.txt\"", "");
    let scene = scene
        .write("task.toml", &format!("{before}\n[inputs]{after}"))
        .write("pov.toml", &keys);
    let crashes = scene.patchwright.scratch("crashes");
    fs::create_dir(&crashes).unwrap();
    fs::copy(scene.path("pov/long-name.txt"), crashes.join("crash-1")).unwrap();
    (scene, crashes)
}

/// Runs a script as the step of a pipeline: `patchwright` is in the path.
fn step(scene: &Scene, model: &ScriptedModel, script: &str, variables: &[(&str, &str)]) -> Output {
    let like = scene.patchwright.command(&["--version"]).unwrap();
    let bin = binary().unwrap().parent().unwrap().display().to_string();
    let mut command = Command::new("bash");
    command
        .args(["-e", "-c", script])
        .current_dir(scene.patchwright.scratch("."));
    command.env_clear();
    for (name, value) in like.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let path = like.get_envs().find(|(name, _)| *name == "PATH");
    let path = path.and_then(|(_, value)| value).unwrap_or_default();
    command
        .env("PATH", format!("{bin}:{}", path.to_string_lossy()))
        .env("PATCHWRIGHT_MODEL__NAME", "scripted")
        .env("PATCHWRIGHT_MODEL__BASE_URL", model.base_url())
        .envs(variables.iter().copied());
    command.output().unwrap()
}

/// The script of a step of the action.
fn script_of(name: &str) -> String {
    let text = fs::read_to_string(repository().join("action.yml")).unwrap();
    let (_, rest) = text.split_once(&format!("- name: {name}\n")).unwrap();
    let (_, rest) = rest.split_once("run: |\n").unwrap();
    let lines = rest.lines().take_while(|line| line.starts_with("        "));
    lines
        .map(|line| format!("{}\n", line.trim_start()))
        .collect()
}

#[test]
fn the_action_repairs_the_crashes_of_a_job() {
    let (scene, crashes) = project(Scene::new());
    let model = ScriptedModel::start([QUERIES, GOOD]).unwrap();
    let [results, output, summary] =
        ["results", "output", "summary"].map(|name| scene.patchwright.scratch(name));
    let repository = repository().display().to_string();
    let task = scene.path("");
    let text = |path: &Path| path.display().to_string();
    let variables = [
        ("ACTION", repository.as_str()),
        ("TASK", &text(&task)),
        ("CRASHES", &text(&crashes)),
        ("RESULTS", &text(&results)),
        ("PULL_REQUEST", "false"),
        ("GITHUB_OUTPUT", &text(&output)),
        ("GITHUB_STEP_SUMMARY", &text(&summary)),
    ];
    let ran = step(&scene, &model, &script_of("Repair"), &variables);
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{told}");
    let status = fs::read_to_string(&output).unwrap();
    assert!(
        ["status=0\n", "status=6\n"].contains(&status.as_str()),
        "{status}{told}"
    );
    let junit = fs::read_to_string(results.join("results.xml")).unwrap();
    assert!(junit.contains("crash-"), "{junit}");
    let mut repaired = fs::read_dir(&results)
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let repaired = repaired
        .find(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with("crash-")
        })
        .unwrap();
    let patch = fs::read_to_string(repaired.join("patch.diff")).unwrap();
    assert!(
        patch.contains("if (name > NAME_LIMIT) return -1;"),
        "{patch}"
    );
    for file in ["patch.sarif", "pull-request.md", "story.txt"] {
        assert!(repaired.join(file).is_file(), "{file}: {told}");
    }
    assert!(fs::read_to_string(summary).unwrap().contains("crash-"));
}

#[test]
fn a_job_without_crashes_or_with_a_wrong_task_says_so() {
    let (scene, crashes) = project(Scene::new());
    let model = ScriptedModel::start([GOOD]).unwrap();
    fs::remove_file(crashes.join("crash-1")).unwrap();
    let script = repository().join("scripts/repair-crashes.sh");
    let run = |task: &Path| {
        let words = [
            &script,
            &task.to_path_buf(),
            &crashes,
            &scene.patchwright.scratch("out"),
        ];
        let words: Vec<String> = words
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        step(&scene, &model, &words.join(" "), &[])
    };
    let nothing = run(&scene.path(""));
    assert!(nothing.status.success());
    assert!(String::from_utf8_lossy(&nothing.stdout).contains("nothing to do"));
    let wrong = run(&crashes);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("there is no"));
}

#[test]
fn the_manifests_of_a_cluster_fit_together() {
    let folder = repository().join("docs/kubernetes");
    let Ok(made) = Command::new("kubectl")
        .arg("kustomize")
        .arg(&folder)
        .output()
    else {
        eprintln!("##### SKIPPED: there is no kubectl to read the manifests");
        return;
    };
    let text = String::from_utf8_lossy(&made.stdout).into_owned();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    for kind in ["Deployment", "Service", "HorizontalPodAutoscaler", "Secret"] {
        assert!(text.contains(&format!("kind: {kind}\n")), "{kind}");
    }
    let metrics = fs::read_to_string(repository().join("daemon/src/telemetry.rs")).unwrap();
    assert!(
        text.contains("patchwright_queue_tasks") && metrics.contains("patchwright_queue_tasks")
    );
}

#[test]
fn the_bill_of_materials_names_every_crate_and_package() {
    let root = repository();
    let bill = |lock: &Path| {
        let mut script = Command::new("sh");
        let output = script
            .arg(root.join("scripts/sbom.sh"))
            .arg(lock)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    let lock = root.join("Cargo.lock");
    let text = bill(&lock);
    assert_eq!(text, bill(&lock), "the same input gives the same bytes");
    let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(read["bomFormat"], "CycloneDX");
    let components = read["components"].as_array().unwrap();
    let locked: toml::Table = fs::read_to_string(&lock).unwrap().parse().unwrap();
    let locked = locked["package"].as_array().unwrap();
    let of = |kind: &str| {
        let named = components.iter().filter(|part| {
            let url = part["purl"].as_str().unwrap();
            url.starts_with(&format!("pkg:{kind}/"))
        });
        named.collect::<Vec<_>>()
    };
    assert_eq!(of("cargo").len(), locked.len());
    for (part, package) in of("cargo").iter().zip(locked) {
        assert_eq!(part["name"].as_str(), package["name"].as_str());
        assert_eq!(part["version"].as_str(), package["version"].as_str());
        let hash = package.get("checksum").and_then(toml::Value::as_str);
        assert_eq!(part["hashes"][0]["content"].as_str(), hash);
    }
    let listed = Command::new("dpkg-query").args(["-W"]).output();
    let packages = listed.map_or(0, |output| {
        String::from_utf8_lossy(&output.stdout).lines().count()
    });
    assert_eq!(of("deb").len(), packages);
}
