//! Guides: the commands that they print work as they stand.

use crate::scene::{GOOD, QUERIES, Scene, files};
use patchwright_tests::command::binary;
use patchwright_tests::daemon::Daemon;
use patchwright_tests::model::{Answer, ScriptedModel};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Builds the fixture program as the guide's project is built.
const MAKEFILE: &str = "$(OUT)/harness: records.c harness.c
\tgcc -g -O1 -fno-inline -fsanitize=address -fno-omit-frame-pointer -I . -o $@ harness.c records.c
";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the shell block of a guide that holds these words.
fn block(guide: &str, words: &str) -> String {
    let text = fs::read_to_string(repository().join(guide)).expect("a guide");
    let blocks = text.split("```sh\n").skip(1);
    let mut blocks = blocks.filter_map(|rest| rest.split("```").next());
    let found = blocks.find(|block| block.contains(words));
    found
        .unwrap_or_else(|| panic!("{guide} has no shell block with {words:?}"))
        .to_owned()
}

/// A folder that holds what the guide speaks of: `project/` and `crash-1.bin`.
fn project(scene: &Scene) -> PathBuf {
    let folder = scene.patchwright.scratch("guide");
    let project = folder.join("project");
    fs::create_dir_all(&project).unwrap();
    let sources = files(&scene.path("src"));
    let harness = scene.path("harness.c");
    for file in sources.iter().chain([&harness]) {
        fs::copy(file, project.join(file.file_name().unwrap())).unwrap();
    }
    fs::write(project.join("Makefile"), MAKEFILE).unwrap();
    fs::copy(scene.path("pov/long-name.txt"), folder.join("crash-1.bin")).unwrap();
    folder
}

/// Runs a block as a user would: `patchwright` is in the path, and the client
/// knows the daemon.
fn shell(scene: &Scene, folder: &Path, server: &str, block: &str) -> Output {
    let like = scene.patchwright.command(&["--version"]).unwrap();
    let bin = binary().unwrap().parent().unwrap().display().to_string();
    let block = block.replace("localhost:8484", server);
    let mut command = Command::new("sh");
    command.args(["-eu", "-c", &block]).current_dir(folder);
    command
        .env_clear()
        .env("PATCHWRIGHT_CLIENT__SERVER", format!("http://{server}"))
        .env("PATCHWRIGHT_LIMITS__ROBUST", "1s")
        .env("PATCHWRIGHT_LIMITS__SAME", "3s");
    for (name, value) in like.get_envs() {
        let value = value.unwrap_or_default();
        if name == "PATH" {
            let path = value.to_str().unwrap();
            command.env(name, format!("{bin}:{path}"));
        } else {
            command.env(name, value);
        }
    }
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn tasks_are_handed_to_the_daemon_as_printed() {
    let scene = Scene::new();
    let folder = project(&scene);
    let model = ScriptedModel::start([QUERIES, GOOD].map(Answer::from)).unwrap();
    let endpoint = format!("model.base_url={}", model.base_url());
    let arguments = [
        "--workers",
        "1",
        "--set",
        &endpoint,
        "--set",
        "model.name=scripted",
    ];
    let daemon = Daemon::start(&scene.patchwright, &arguments).unwrap();
    let address = daemon.address().to_string();

    let printed = block("docs/daemon.md", "patchwright submit png-7");
    let told = said(&shell(&scene, &folder, &address, &printed));
    assert!(told.contains("png-7 queued"), "{told}");
    assert!(told.contains(" outcome climb "), "{told}");
    assert!(
        told.ends_with("done: plausible\n"),
        "there are no tests: {told}"
    );

    let printed = block(
        "docs/daemon.md",
        "curl -s \"localhost:8484/api/v1/tasks?priority=5\"",
    );
    let told = said(&shell(&scene, &folder, &address, &printed));
    let told: Value = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}"));
    assert_eq!(told["id"], "png-8", "{told}");
}

/// The blocks of the skill in their order, for a crash that a person has and a patch that an agent
/// wrote.
#[test]
fn the_skill_for_agents_finds_a_crash_and_proves_a_patch() {
    let scene = Scene::new();
    let folder = project(&scene);
    let report = "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x1 bp 0x2 sp 0x3\nWRITE of size 9 at 0x1 thread T0\n    #0 0x4 in copy_name records.c:8:3\n";
    fs::write(folder.join("crash.log"), report).unwrap();
    let patch = repository().join("tests/judge/records/right/limit.diff");
    fs::copy(patch, folder.join("fix.diff")).unwrap();
    let run = |words| {
        let block = block("skills/patchwright/SKILL.md", words);
        shell(&scene, &folder, "localhost:1", &block)
    };
    let told = said(&run("patchwright crash"));
    assert!(told.contains("heap-buffer-overflow"), "{told}");
    assert!(told.contains("static char *copy_name("), "{told}");
    let told = said(&run("patchwright init"));
    assert!(folder.join("task.toml").is_file(), "{told}");
    let judged = run("patchwright judge");
    let told = String::from_utf8_lossy(&judged.stdout);
    assert!(told.contains("silent          true"), "{told}");
    assert_eq!(judged.status.code(), Some(6), "{told}");

    let servers = fs::read_to_string(repository().join("skills/patchwright/.mcp.json")).unwrap();
    let servers: Value = serde_json::from_str(&servers).unwrap();
    let words = servers["mcpServers"]["patchwright"]["args"].as_array();
    let words: Vec<&str> = words.unwrap().iter().filter_map(Value::as_str).collect();
    let mut started = scene.patchwright.command(&words).unwrap();
    started.current_dir(&folder).stdin(Stdio::null());
    // It waits for a client, and there is none.
    let ended = started.output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(told.contains("initialize"), "{told}");
}
