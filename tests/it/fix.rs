//! `patchwright fix`: from a tree and a crash to a mail, in one command.

use crate::init::project;
use crate::scene::{GOOD, Scene};
use patchwright_tests::model::ScriptedModel;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn scene() -> Scene {
    let scene = Scene::new();
    project(&scene);
    let pov = scene.patchwright.scratch("crash.txt");
    fs::copy(scene.path("pov/long-name.txt"), pov).unwrap();
    scene
}

const FIX: [&str; 4] = ["fix", "project", "--pov", "crash.txt"];

#[test]
fn a_crash_becomes_a_mail() {
    let scene = scene();
    let model = ScriptedModel::start([GOOD]).unwrap();
    let endpoint = model.base_url();
    let asked = ["--model", "scripted", "--base-url", &endpoint];
    let told = scene.plain(&[&FIX[..], &asked].concat());
    assert_eq!(told.code, Some(0), "{told:#?}");
    for line in [
        "task     patchwright-project/task.toml",
        "PoV      crashes here: AddressSanitizer: heap-buffer-overflow",
        "mail     patchwright-project/patch.mbox",
        "next     git am patchwright-project/patch.mbox",
    ] {
        assert!(told.stdout.contains(line), "{line}: {told:#?}");
    }
    let written = |name: &str| {
        let path = scene
            .patchwright
            .scratch(&format!("patchwright-project/{name}"));
        fs::read_to_string(path).unwrap()
    };
    assert!(written("patch.mbox").contains("+  if (name > NAME_LIMIT) return -1;"));
    assert!(written("result/report.json").contains("\"silent\""));
    // The commands of the mail show the crash in a fresh copy of the project.
    let mail = written("patch.mbox");
    let (_, commands) = mail.split_once("in the file `input`:\n\n").unwrap();
    let commands = commands.lines().take_while(|line| line.starts_with("  "));
    let commands: Vec<&str> = commands.collect();
    let folder = scene.patchwright.scratch("project");
    fs::copy(scene.path("pov/long-name.txt"), folder.join("input")).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", &commands.join("\n")]).current_dir(folder);
    let shown = shell.output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert!(
        shown.contains("heap-buffer-overflow"),
        "{commands:?}: {shown}"
    );
    let again = scene.plain(&[&FIX[..], &asked].concat());
    assert_eq!(again.code, Some(2), "{again:#?}");
    assert!(
        again.stderr.contains("replace it with --force"),
        "{again:#?}"
    );
}

#[test]
fn without_a_model_it_ends_after_the_diagnosis() {
    let scene = scene();
    let told = scene.plain(&FIX);
    assert_eq!(told.code, Some(2), "{told:#?}");
    for line in [
        "PoV      crashes here: AddressSanitizer: heap-buffer-overflow",
        "tests    6 tests pass, 0 fail",
        "stopped  no model is configured: name one with --model NAME",
        "then     patchwright run patchwright-project/task.toml",
    ] {
        assert!(told.stdout.contains(line), "{line}: {told:#?}");
    }
    let makefile = scene.patchwright.scratch("project/Makefile");
    let text = fs::read_to_string(&makefile).unwrap();
    fs::write(makefile, text.replace("check", "untried")).unwrap();
    let told = scene.plain(&[&FIX[..], &["--force"]].concat());
    assert!(
        told.stdout
            .contains("tests    no command for them works here"),
        "{told:#?}"
    );
}

#[test]
fn what_was_found_is_kept_when_it_is_stopped() {
    let scene = scene();
    let makefile = scene.patchwright.scratch("project/Makefile");
    let text = fs::read_to_string(&makefile).unwrap();
    fs::write(makefile, text.replace("\t./records\n", "\tsleep 600\n")).unwrap();
    let mut command = scene.patchwright.command(&FIX).unwrap();
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("tests: trying")));
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(sent.success());
    let left: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{left:?}");
    let told = "stopped: patchwright-project/task.toml holds what was found until then";
    assert!(left.iter().any(|line| line.contains(told)), "{left:?}");
    let task = scene.patchwright.scratch("patchwright-project/task.toml");
    let task = fs::read_to_string(task).unwrap();
    assert!(task.contains("crashes here: AddressSanitizer"), "{task}");
}

#[test]
fn an_endpoint_that_is_not_there_is_told_before_anything_is_built() {
    let scene = scene();
    let asked = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1"];
    let told = scene.plain(&[&FIX[..], &asked].concat());
    assert_eq!(told.code, Some(2), "{told:#?}");
    assert!(
        told.stderr.contains("the model does not answer"),
        "{told:#?}"
    );
    assert!(!scene.patchwright.scratch("patchwright-project").exists());
    for (arguments, reason) in [
        (vec!["fix", "project"], "--pov FILE"),
        (
            vec!["fix", "project", "--pov", "gone"],
            "--pov: gone cannot be opened",
        ),
        (
            vec!["fix", "nowhere", "--pov", "crash.txt"],
            "nowhere cannot be opened",
        ),
    ] {
        let told = scene.plain(&arguments);
        assert_eq!(told.code, Some(2), "{told:#?}");
        assert!(told.stderr.contains(reason), "{told:#?}");
        assert!(!told.stderr.contains("trying"), "{told:#?}");
    }
    let left = fs::read_dir(scene.patchwright.scratch(".")).unwrap();
    let mut left = left.map(|entry| entry.unwrap().file_name());
    assert!(left.all(|name| !name.to_string_lossy().starts_with("patchwright-")));
}

#[test]
fn a_crash_that_is_not_the_reported_one_is_not_taken() {
    let scene = scene();
    let report = "==7==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x7f at pc 0x1 bp 0x2 sp 0x3\nREAD of size 4 at 0x7f thread T0\n    #0 0x1 in count_fields /src/project/fields.c:40:3\n    #1 0x2 in split_line /src/project/fields.c:90:3\nSUMMARY: AddressSanitizer: stack-buffer-overflow\n";
    fs::write(scene.patchwright.scratch("crash.log"), report).unwrap();
    let told = scene.plain(&[&FIX[..], &["--crash", "crash.log"]].concat());
    assert_eq!(told.code, Some(1), "{told:#?}");
    let another = "another crash, not the reported one: AddressSanitizer: heap-buffer-overflow";
    assert!(told.stderr.contains(another), "{told:#?}");
    assert!(
        told.stdout.contains("stopped  no command was found"),
        "{told:#?}"
    );
}
