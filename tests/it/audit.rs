//! An old fix, judged by the PoV of its task or by the input that came with it.

use crate::backport::{commit, history};
use crate::init::project;
use crate::scene::Scene;
use crate::upstream::{CHECK, LINE, git};
use std::fs;
use std::path::PathBuf;

#[test]
fn an_old_fix_is_judged_and_its_later_repairs_are_named() {
    let scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    let fix = history(&scene);
    let folder = scene.path("src");
    let fixed = fs::read_to_string(folder.join("records.c")).unwrap();
    let partial = fixed.replace(CHECK, "  if (name > 1000) return -1;\n");
    git(&folder, &["checkout", "--quiet", "--detach", "main~1"]);
    commit(&folder, &partial, "refuse long names in a way");
    let first = git(&folder, &["rev-parse", "HEAD"]);
    commit(
        &folder,
        &format!("/* Records. */\n{partial}"),
        "say what it is",
    );
    commit(
        &folder,
        &format!("/* Records. */\n{fixed}"),
        "refuse the other long names",
    );
    let named = format!("document\n\nFixes: {}\n", &first[..12]);
    commit(&folder, &format!("/* Records of text. */\n{fixed}"), &named);

    let told = scene.json(&["audit", &first, "--task", "records"]);
    assert_eq!(told.report["answer"], "incomplete", "{told:#?}");
    assert_eq!(told.finished.code, Some(1));
    let later = told.report["later"].as_array().unwrap().iter();
    let later: Vec<String> = later
        .map(|one| {
            format!(
                "{} {} {} {}",
                one["subject"], one["functions"], one["names_it"], one["repairs"]
            )
        })
        .collect();
    assert_eq!(
        later,
        [
            "\"refuse the other long names\" [\"read_line\"] false true",
            "\"document\" [] true false"
        ]
    );

    let told = scene.json(&["audit", &fix, "--task", "records", "--until", "main"]);
    assert_eq!(told.report["answer"], "held", "{told:#?}");
    assert_eq!(told.finished.code, Some(0));
    // The tree before this one does not crash.
    let told = scene.json(&["audit", "HEAD", "--task", "records"]);
    assert_eq!(told.report["answer"], "undecided", "{told:#?}");
    assert_eq!(told.finished.code, Some(6));
}

/// Makes the project with a commit that repairs it and brings the crashing input as a test, one that
/// brings nothing, one that goes back, and one that repairs it again and quotes the input.
fn history_with_inputs(scene: &Scene) -> PathBuf {
    let folder = project(scene);
    let flawed = fs::read_to_string(folder.join("records.c")).unwrap();
    git(&folder, &["init", "--quiet"]);
    commit(&folder, &flawed, "begin");
    fs::create_dir(folder.join("tests")).unwrap();
    fs::write(folder.join("tests/short.txt"), "a=1\n").unwrap();
    let pov = scene.path("pov/long-name.txt");
    fs::copy(pov, folder.join("tests/long-name.txt")).unwrap();
    let fixed = flawed.replace(LINE, &format!("{LINE}{CHECK}"));
    commit(&folder, &fixed, "refuse long names");
    let documented = format!("/* Records. */\n{fixed}");
    commit(&folder, &documented, "say what it is");
    commit(&folder, &flawed, "go back");
    let input = fs::read_to_string(scene.path("pov/long-name.txt")).unwrap();
    let quoting = format!("refuse long names again\n\n```\n{input}\n```\n");
    commit(&folder, &fixed, &quoting);
    folder
}

#[test]
fn a_commit_is_judged_by_the_input_that_it_brings() {
    let scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    let folder = history_with_inputs(&scene);
    let told = scene.json(&["audit", "HEAD~3", "--repo", "project"]);
    assert_eq!(told.report["answer"], "held", "{told:#?}");
    assert_eq!(told.report["povs"][0], "long-name.txt", "{told:#?}");
    assert_eq!(told.report["task"], "project", "{told:#?}");
    assert_eq!(git(&folder, &["status", "--porcelain"]), "");

    // A task without a PoV, and one whose PoV does not crash, get that of the commit.
    let task = fs::read_to_string(scene.path("task.toml")).unwrap();
    let task = task.replace("path = \"src\"", "path = \"../project\"");
    let without = task.replace("[[pov]]\nfile = \"pov/long-name.txt\"\n", "[extra]\n");
    let (without, _) = without.split_once("[extra]").unwrap();
    let silent = task.replace("pov/long-name.txt", "corpus/two.txt");
    for (task, fix, pov) in [
        (without, "HEAD", "quoted.txt"),
        (&silent, "HEAD~3", "long-name.txt"),
    ] {
        fs::write(scene.path("task.toml"), task).unwrap();
        let told = scene.json(&["audit", fix, "--task", "records"]);
        assert_eq!(told.report["answer"], "held", "{told:#?}");
        assert_eq!(told.report["povs"][0], pov, "{told:#?}");
    }
    fs::write(scene.path("task.toml"), without).unwrap();
    // Another PoV goes before that of the commit.
    let told = scene.json(&[
        "audit",
        "HEAD~3",
        "--task",
        "records",
        "--pov",
        "records/corpus/two.txt",
    ]);
    assert_eq!(told.report["answer"], "undecided", "{told:#?}");
    assert_eq!(told.report["povs"][0], "two.txt", "{told:#?}");
    for (arguments, words) in [
        (
            ["audit", "HEAD~2", "--task", "records"],
            "the task has none, and the commit brings no input",
        ),
        (
            ["audit", "HEAD", "--repo", "nowhere"],
            "--repo: no file below nowhere is C, C++ or Java",
        ),
        (
            ["audit", "HEAD", "--pov", "nothing.txt"],
            "patchwright: --pov: nothing.txt cannot be opened",
        ),
        (
            ["audit", "HEAD~2", "--repo", "project"],
            "brings no input; name one with --pov FILE",
        ),
        (
            ["audit", "HEAD", "--repo", "records"],
            "is in no git repository",
        ),
    ] {
        let told = scene.plain(&arguments);
        assert_eq!(told.code, Some(2), "{told:#?}");
        assert!(told.stderr.contains(words), "{words}: {told:#?}");
    }
}
