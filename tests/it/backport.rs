//! A fix that is carried to other branches, and proved on each.

use crate::scene::{Scene, Told};
use crate::upstream::{CHECK, LINE, git};
use patchwright_tests::model::ScriptedModel;
use serde_json::Value;
use std::fs;
use std::path::Path;

const NUMBER: &str = "&value)) return -1;\n";
const BUFFER: &str = "malloc(NAME_LIMIT + 1)";
/// A program that ends by itself, without a report, on all but short inputs.
const SILENT: &str = "#include <stdio.h>\n#include <stdlib.h>\nint main(int count, char **arguments) {\n\
  FILE *file = count > 1 ? fopen(arguments[1], \"rb\") : NULL;\n  char text[40];\n\
  if (file && fread(text, 1, sizeof text, file) == sizeof text) abort();\n  return 0;\n}\n";
const MESSAGE: &str = "records: refuse long names\n\nThey overflow their buffer.\n---\n\nReported-by: Eve <e@example.org>\n";

pub(crate) fn commit(folder: &Path, code: &str, message: &str) {
    fs::write(folder.join("records.c"), code).unwrap();
    git(folder, &["add", "-A"]);
    git(
        folder,
        &["commit", "--quiet", "--cleanup=verbatim", "-m", message],
    );
}

/// Gives the source of the scene a history. Returns the commit with the fix.
///
/// - `stable-1` has code from before the flaw, and other code where the fix goes,
/// - `sound` has the lines that the fix changes, and a buffer that is large enough,
/// - `stable-2` has the flaw, and other names in all lines around the fix, which names one of them,
/// - `stable-3` has the flaw, and another line beside the fix,
/// - `stable-4` has the flaw at other lines, and takes commits over with `cherry-pick -x`,
/// - `stable-5` has the fix,
/// - `stable-6` has the flaw in a function that stands elsewhere in the file.
pub(crate) fn history(scene: &Scene) -> String {
    let folder = scene.path("src");
    let flawed = fs::read_to_string(folder.join("records.c")).unwrap();
    let renamed = flawed
        .replace(
            "size_t name = (size_t)(equals - line)",
            "size_t size = (size_t)(mark - text)",
        )
        .replace("equals - line", "mark - text")
        .replace("length - name - 1", "length - size - 1")
        .replace("copy_name(line, name)", "copy_name(text, size)")
        .replace("equals", "mark")
        .replace("read_line(const char *line", "read_line(const char *text")
        .replace("mark == line", "mark == text")
        .replace("memchr(line,", "memchr(text,");
    let fixed = flawed.replace(LINE, &format!("{LINE}{CHECK}"));
    git(&folder, &["init", "--quiet"]);
    commit(
        &folder,
        &renamed.replace(BUFFER, "malloc(length + 1)"),
        "begin",
    );
    git(&folder, &["branch", "stable-1"]);
    commit(&folder, &renamed, "give names a buffer");
    git(&folder, &["branch", "stable-2"]);
    commit(&folder, &flawed, "name the parts of a line");
    for branch in ["stable-3", "stable-4", "stable-5", "stable-6", "sound"] {
        git(&folder, &["branch", branch]);
    }
    fs::write(folder.join("NEWS"), "Long names are refused.\n").unwrap();
    commit(&folder, &fixed, MESSAGE);
    let fix = git(&folder, &["rev-parse", "HEAD"]);
    let on = |branch: &str, code: &str, message: &str| {
        git(&folder, &["checkout", "--quiet", branch]);
        commit(&folder, code, message);
    };
    on(
        "stable-3",
        &flawed.replace(NUMBER, "&value) != 0) return -1;\n"),
        "compare the number",
    );
    on(
        "stable-4",
        &format!("/* Records. */\n\n{flawed}"),
        "say what it is\n\n(cherry picked from commit 0123456789)",
    );
    on(
        "stable-5",
        &fixed,
        &format!("{MESSAGE}\n(cherry picked from commit {fix})"),
    );
    on("stable-6", &with_the_flaw_below(&flawed), "sort");
    on(
        "sound",
        &flawed.replace(BUFFER, "malloc(length + 1)"),
        "make room",
    );
    git(&folder, &["checkout", "--quiet", "main"]);
    fix
}

/// The function with the flaw at the end of the file.
fn with_the_flaw_below(flawed: &str) -> String {
    let (head, rest) = flawed.split_once("static int read_line").unwrap();
    let (body, rest) = rest.split_once("\n}\n").unwrap();
    let head = format!("{head}static int read_line(const char *, size_t, struct record **);\n");
    format!("{head}{rest}\nstatic int read_line{body}\n}}\n")
}

fn branch<'a>(report: &'a Value, name: &str) -> &'a Value {
    let branches = report["branches"].as_array().unwrap();
    let mut branches = branches.iter();
    branches.find(|branch| branch["name"] == name).unwrap()
}

fn text<'a>(branch: &'a Value, key: &str) -> &'a str {
    branch[key]
        .as_str()
        .unwrap_or_else(|| panic!("no {key} in {branch:#}"))
}

fn backport(scene: &Scene, fix: &str, onto: &[&str]) -> Told {
    let arguments = [
        "backport", fix, "--task", "records", "--out", "out", "--onto",
    ];
    scene.json(&[&arguments[..], onto].concat())
}

#[test]
fn a_branch_that_does_not_crash_is_told_why() {
    let scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    let fix = history(&scene);
    let told = backport(&scene, &fix, &["stable-1", "sound", "stable-5"]);
    let report = &told.report;
    assert_eq!(told.finished.code, Some(1), "{told:#?}");
    assert_eq!(report["fix"]["left_out"], serde_json::json!(["NEWS"]));
    for (name, affected, words) in [
        ("stable-1", "no", "(\"name the parts of a line\", Ada, "),
        ("sound", "unknown", "it has the lines that the fix changes"),
        ("stable-5", "no", "it has the fix: "),
    ] {
        let branch = branch(report, name);
        assert_eq!(branch["affected"], affected, "{branch:#}");
        assert!(text(branch, "evidence").contains(words), "{branch:#}");
        assert_eq!(branch["run"], Value::Null, "{branch:#}");
    }
}

/// The branch lacks a commit, and the name that the fix uses.
fn expect_reasons(rewritten: &Value) {
    let missing = rewritten["missing"][0].as_str().unwrap();
    assert!(missing.contains("name the parts of a line"));
    let detail = text(rewritten, "detail");
    for words in ["records.c:27+ [patched line 28]", "undeclared"] {
        assert!(detail.contains(words), "{detail}");
    }
}

#[test]
fn a_branch_that_crashes_gets_the_fix_that_holds_there() {
    // The project has read its own lines where they are merged, and nobody those that are placed.
    let scene = Scene::new()
        .with("PATCHWRIGHT_MODEL__API_KEY", "")
        .with("PATCHWRIGHT_CRITIC__CALLS", "1");
    let fix = history(&scene);
    let folder = scene.path("src");
    let before = git(&folder, &["for-each-ref"]);
    let told = backport(
        &scene,
        &fix,
        &["stable-2", "stable-3", "stable-4", "stable-6"],
    );
    let report = &told.report;
    expect_reasons(branch(report, "stable-2"));
    assert_eq!(
        git(&folder, &["for-each-ref"]),
        before,
        "the repository is only read"
    );
    for (name, carried, ending) in [
        ("stable-2", "resolved", "no_patch"),
        ("stable-3", "resolved", "plausible"),
        ("stable-4", "merged", "verified"),
        ("stable-6", "located", "plausible"),
    ] {
        let branch = branch(report, name);
        assert_eq!(branch["affected"], "yes", "{branch:#}");
        assert_eq!(branch["carried"], carried, "{branch:#}");
        assert_eq!(branch["ending"], ending, "{branch:#}");
        assert_eq!(branch["unchanged"], true, "{branch:#}");
    }
    for name in ["stable-3", "stable-4"] {
        let agreement = &branch(report, name)["agreement"];
        assert!(agreement["inputs"].as_u64() > Some(0), "{report:#}");
        assert_eq!(agreement["alike"], agreement["inputs"], "{report:#}");
    }
    let trailers = "Reported-by: Eve <e@example.org>\n(cherry picked from commit";
    for (name, words) in [
        ("stable-3", format!("[ Upstream commit {fix} ]")),
        ("stable-4", format!("{trailers} {fix})")),
    ] {
        let mail = text(branch(report, name), "mail");
        let mail = scene.patchwright.scratch(mail).display().to_string();
        git(&folder, &["checkout", "--quiet", name]);
        git(&folder, &["am", "--quiet", &mail]);
        let shown = git(&folder, &["show", "--format=%an%n%B"]);
        for words in [
            &words,
            "Ada\nrecords: refuse long names",
            &format!("+{CHECK}"),
        ] {
            assert!(shown.contains(words), "{words} is missing in {shown}");
        }
    }
}

#[test]
fn a_branch_that_does_otherwise_than_the_original_is_told_with_the_input() {
    let scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    let fix = history(&scene);
    let folder = scene.path("src");
    git(&folder, &["checkout", "--quiet", "stable-4"]);
    let code = fs::read_to_string(folder.join("records.c")).unwrap();
    let (from, to) = ("value = value;", "value = value == 2 ? 3 : value;");
    assert!(code.contains(from), "{code}");
    commit(&folder, &code.replace(from, to), "count in the old way");
    git(&folder, &["checkout", "--quiet", "main"]);
    let told = scene.plain(&[
        "backport", &fix, "--task", "records", "--out", "out", "--onto", "stable-4",
    ]);
    for words in [
        "does as the fixed original on ",
        "differs (out/stable-4.input): it does `exit status 0 harness: 12 bytes 2 records two: 3 one: 1",
        "the original `exit status 0 harness: 12 bytes 2 records two: 2 one: 1",
    ] {
        assert!(told.stdout.contains(words), "{words} in {told:#?}");
    }
    assert!(scene.patchwright.scratch("out/stable-4.input").is_file());
}

/// The harness of the task does not compile on the branch, whose own program reads the same input.
#[test]
fn a_branch_of_another_interface_is_tried_by_its_own_program() {
    let scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    let fix = history(&scene);
    let folder = scene.path("src");
    git(&folder, &["checkout", "--quiet", "main~1"]);
    let other = |from: &Path, to: &str| {
        let text = fs::read_to_string(from).unwrap();
        fs::write(
            folder.join(to),
            text.replace("records_read", "records_parse"),
        )
        .unwrap();
    };
    other(&folder.join("records.h"), "records.h");
    other(&scene.path("harness.c"), "main.c");
    let makefile =
        "all: records\nrecords: main.o records.o\n\t$(CC) $(CFLAGS) -o $@ main.o records.o\n";
    fs::write(folder.join("Makefile"), makefile).unwrap();
    let code = fs::read_to_string(folder.join("records.c")).unwrap();
    let code = code.replace("records_read", "records_parse");
    commit(&folder, &code, "parse records");
    git(&folder, &["branch", "stable-7"]);
    fs::write(folder.join("main.c"), SILENT).unwrap();
    commit(&folder, &code, "end in silence");
    git(&folder, &["branch", "stable-8"]);
    git(&folder, &["checkout", "--quiet", "main"]);
    let told = backport(&scene, &fix, &["stable-7", "stable-8"]);
    let found = branch(&told.report, "stable-7");
    assert_eq!(found["affected"], "yes", "{told:#?}");
    let evidence = text(found, "evidence");
    for words in [
        "the PoV crashes it by `",
        "/records \"$POV\"`, which was found there",
        "does not build",
    ] {
        assert!(evidence.contains(words), "{words}: {evidence}");
    }
    assert_eq!(found["carried"], "merged", "{found:#}");
    assert_eq!(found["ending"], "plausible", "{found:#}");
    let other = branch(&told.report, "stable-8");
    assert_eq!(other["affected"], "unknown", "{other:#}");
}

#[test]
fn a_model_carries_what_neither_way_does() {
    let patch = "<patch>\n<explanation>Long names are refused.</explanation>\n<edit file=\"records.c\">\n\
                 <original>  size_t size = (size_t)(mark - text);</original>\n\
                 <replacement>  size_t size = (size_t)(mark - text);\n  if (size > NAME_LIMIT) return -1;</replacement>\n\
                 </edit>\n</patch>";
    let model = ScriptedModel::start([patch]).unwrap();
    let scene = Scene::new();
    let fix = history(&scene);
    let endpoint = model.base_url();
    let told = scene.json(&[
        "backport",
        &fix,
        "--task",
        "records",
        "--model",
        "scripted",
        "--base-url",
        &endpoint,
        "--out",
        "out",
        "--onto",
        "stable-2",
    ]);
    let written = branch(&told.report, "stable-2");
    assert_eq!(written["carried"], "written", "{written:#}");
    assert_eq!(written["ending"], "verified", "{written:#}");
    assert_eq!(written["unchanged"], false, "{written:#}");
    let asked = model.requests()[0].last();
    for words in [
        "records: refuse long names",
        "if (name > NAME_LIMIT)",
        "name the parts of a line",
    ] {
        assert!(asked.contains(words), "{words} is missing in {asked}");
    }
    let mail = scene.patchwright.scratch(text(written, "mail"));
    let mail = fs::read_to_string(mail).unwrap();
    assert!(
        mail.contains("[ Backport: written anew for this branch"),
        "{mail}"
    );
}

#[test]
fn the_candidate_of_a_run_is_carried_too() {
    let scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    history(&scene);
    let folder = scene.path("src");
    git(&folder, &["checkout", "--quiet", "--detach", "main~1"]);
    let code = fs::read_to_string(folder.join("records.c")).unwrap();
    commit(
        &folder,
        &code.replace(LINE, &format!("{LINE}{CHECK}")),
        "fix",
    );
    let diff = git(&folder, &["show", "--format="]) + "\n";
    git(&folder, &["checkout", "--quiet", "HEAD~1"]);
    fs::write(scene.patchwright.scratch("a.diff"), diff).unwrap();
    let judged = scene.json(&["judge", "records", "--patch", "a.diff"]);
    let told = scene.json(&["siblings", judged.run()]);
    assert_eq!(told.finished.code, Some(0), "{told:#?}");

    let arguments = [
        "backport",
        judged.run(),
        "--out",
        "out",
        "--onto",
        "stable-4",
    ];
    let told = scene.json(&arguments);
    assert_eq!(told.finished.code, Some(0), "{told:#?}");
    let branch = branch(&told.report, "stable-4");
    assert_eq!(branch["ending"], "verified", "{branch:#}");
    assert_eq!(branch["unchanged"], true, "{branch:#}");
    let mail = scene.patchwright.scratch(text(branch, "mail"));
    git(&folder, &["checkout", "--quiet", "stable-4"]);
    git(&folder, &["am", "--quiet", &mail.display().to_string()]);
    assert!(git(&folder, &["show"]).contains(&format!("+{CHECK}")));
}

#[test]
fn what_cannot_be_carried_is_refused_before_anything_is_built() {
    let scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    let outside = scene.plain(&["backport", "HEAD", "--task", "records", "--onto", "main"]);
    assert_eq!(outside.code, Some(2), "{outside:#?}");
    assert!(
        outside.stderr.contains("--upstream REPOSITORY"),
        "{outside:#?}"
    );
    let fix = history(&scene);
    for (fix, onto, words) in [
        (fix.as_str(), "stable-9", "there is no commit stable-9"),
        ("nothing", "stable-1", "there is no commit nothing"),
        ("stable-1", "main", "stable-1 is the first commit"),
    ] {
        let told = scene.plain(&["backport", fix, "--task", "records", "--onto", onto]);
        assert_eq!(told.code, Some(2), "{told:#?}");
        assert!(
            told.stderr.contains(words),
            "{words} is missing in {told:#?}"
        );
    }
    let told = scene.plain(&["backport", &fix, "--onto", "stable-1"]);
    assert!(
        told.stderr.contains("a commit needs --task TASK"),
        "{told:#?}"
    );
}
