//! Crashes that the project has fixed already: the commit is found in its history and judged
//! as a patch, without a model.

use crate::scene::{GOOD, Scene, Told};
use patchwright_tests::model::ScriptedModel;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(crate) const LINE: &str = "  size_t name = (size_t)(equals - line);\n";
pub(crate) const CHECK: &str = "  if (name > NAME_LIMIT) return -1;\n";

/// Runs git as somebody of the project, and returns what it says.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=a@example.org"])
        .args(["-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{arguments:?}: {said}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// Gives the source of the scene a history: it begins without the bug, gets it in the third
/// commit and loses it in the seventh of eight. One commit in between does not build.
fn history(scene: &Scene) -> std::path::PathBuf {
    let folder = scene.path("src");
    let broken = fs::read_to_string(folder.join("records.c")).unwrap();
    let fixed = broken.replace(LINE, &format!("{LINE}{CHECK}"));
    let notes = fs::read_to_string(folder.join("records.h")).unwrap();
    git(&folder, &["init", "--quiet"]);
    let commits = [
        ("begin", &fixed, ""),
        ("note one", &fixed, "/* 1 */\n"),
        ("simplify the reader", &broken, "/* 1 */\n"),
        ("note two", &broken, "/* 2 */\n"),
        ("note three", &broken, "/* 3 */\n"),
        ("does not build", &broken, "#error not yet\n"),
        ("refuse long names", &fixed, "/* 3 */\n"),
        ("note four", &fixed, "/* 4 */\n"),
    ];
    for (subject, code, note) in commits {
        fs::write(folder.join("records.c"), code).unwrap();
        fs::write(folder.join("records.h"), format!("{notes}{note}")).unwrap();
        git(&folder, &["add", "-A"]);
        git(&folder, &["commit", "--quiet", "-m", subject]);
    }
    folder
}

fn run(scene: &Scene, more: &[&str]) -> (Told, usize, String) {
    let model = ScriptedModel::start([GOOD]).unwrap();
    let out = scene.patchwright.scratch("out");
    let out_name = out.display().to_string();
    let told = scene.run(&model, &[&["--out", &out_name, "--force"], more].concat());
    let diff = fs::read_to_string(out.join("patch.diff")).unwrap_or_default();
    (told, model.requests().len(), diff)
}

#[test]
fn a_clone_with_later_history_brings_its_own_fix() {
    let scene = Scene::new();
    let folder = history(&scene);
    git(&folder, &["checkout", "--quiet", "--detach", "main~3"]);
    let (told, asked, diff) = run(&scene, &["--bisect"]);
    told.expect("verified", 0, "already fixed by ");
    let fix = &told.report["fixed_by"];
    assert_eq!(fix["subject"], "refuse long names", "{told:#?}");
    // The commit before it does not build.
    assert_eq!((asked, &fix["among"]), (0, &2.into()), "{told:#?}");
    let introduced = &told.report["introduced_by"];
    assert_eq!(introduced["subject"], "simplify the reader", "{told:#?}");
    assert!(diff.contains(&format!("+{CHECK}")), "{diff}");
    let mail = scene.plain(&["export", "--format", "mbox"]).stdout;
    let mail = mail.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "Backport of ",
        "(\"refuse long names\", Ada, ",
        "The crash was introduced by ",
        "(\"simplify the reader\", Ada, ",
    ] {
        assert!(mail.contains(words), "{words} is missing in {mail}");
    }
}

#[test]
fn a_tree_without_history_is_compared_with_upstream() {
    let scene = Scene::new();
    let folder = history(&scene);
    let upstream = scene.patchwright.scratch("upstream");
    fs::rename(folder.join(".git"), &upstream).unwrap();
    let there = upstream.display().to_string();
    let broken = fs::read_to_string(folder.join("records.c")).unwrap();
    let broken = broken.replace(CHECK, "");
    // What the fix changes looks different here: it is no patch for this tree.
    let other = broken.replace(
        "size_t name = (size_t)(equals - line);",
        "size_t const name = equals - line + 0;",
    );
    for (code, ending, status) in [(&broken, "verified", 0), (&other, "no_patch", 1)] {
        fs::write(folder.join("records.c"), code).unwrap();
        let (told, asked, diff) = run(&scene, &["--upstream", &there]);
        told.expect(ending, status, "already fixed by ");
        assert_eq!(told.report["fixed_by"]["subject"], "refuse long names");
        assert_eq!(asked, 0, "{told:#?}");
        assert!(diff.contains(&format!("+{CHECK}")), "{diff}");
        let exported = scene.plain(&["export", "--format", "diff"]).stdout;
        assert!(exported.contains(&format!("+{CHECK}")), "{exported}");
    }
    fs::write(folder.join("records.c"), &broken).unwrap();
    // Not fixed at this revision: the model repairs it.
    let at = format!("{there}#main~4");
    let (told, asked, _) = run(&scene, &["--upstream", &at]);
    told.expect("verified", 0, "");
    assert!(!told.detail().contains("already fixed"), "{told:#?}");
    assert_eq!(asked, 1);
    assert!(told.finished.stderr.contains("it still crashes there"));
    let (told, ..) = run(&scene, &["--upstream", "/nowhere/at/all"]);
    told.expect("invalid_task", 2, "cannot be cloned");
}

#[test]
fn without_a_pov_later_commits_of_the_same_code_are_named() {
    let scene = Scene::new();
    let folder = history(&scene);
    git(&folder, &["checkout", "--quiet", "--detach", "main~3"]);
    let report = "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60 at pc 0x1 bp 0x1 sp 0x1\nWRITE of size 35 at 0x60 thread T0\n    #0 0x1 in copy_name /src/records/records.c:8:3\n    #1 0x2 in read_line /src/records/records.c:30:18\n";
    let log = scene.patchwright.scratch("crash.log");
    fs::write(&log, report).unwrap();
    let model = ScriptedModel::start([GOOD]).unwrap();
    let endpoint = model.base_url();
    let (tree, log) = (folder.display().to_string(), log.display().to_string());
    let told = scene.plain(&[
        "run",
        "--repo",
        &tree,
        "--crash",
        &log,
        "--build",
        "cc -c \"$TREE\"/records.c -o \"$OUT\"/records.o",
        "--model",
        "m",
        "--base-url",
        &endpoint,
    ]);
    let named = "history: a later commit touches this code: ";
    let named: Vec<&str> = told
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix(named))
        .collect();
    assert_eq!(named.len(), 1, "{told:#?}");
    assert!(
        named[0].contains("(\"refuse long names\", Ada, "),
        "{named:?}"
    );
}
