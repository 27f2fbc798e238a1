//! `patchwright export` of a finished run as a folder, a diff, a mail and a branch;
//! and `evaluate` of a proposed candidate.

use crate::scene::{GOOD, QUERIES, STILL_CRASHES, Scene, Told};
use patchwright_tests::model::ScriptedModel;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args(["-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout).trim_end().to_owned()
}

/// A repository that holds the task; its source is a folder in it.
pub(crate) fn repository(scene: &Scene) -> std::path::PathBuf {
    let folder = scene.path("");
    git(&folder, &["init", "--quiet"]);
    git(
        &folder,
        &["commit", "--quiet", "--allow-empty", "-m", "begin"],
    );
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "add records"]);
    folder
}

pub(crate) fn proposed(scene: &Scene, answers: &[&str]) -> Told {
    let model = ScriptedModel::start(answers.iter().copied()).unwrap();
    let told = scene.run(&model, &["--dry-run", "--out", "out"]);
    told.expect("proposed", 0, "");
    told
}

#[test]
fn a_diff_and_a_mail_apply() {
    let scene = Scene::new().edit("task.toml", "title = \"", "title = \"Größe: ");
    let told = proposed(&scene, &[QUERIES, GOOD]);
    let diff = scene.plain(&["export", told.run(), "--format", "diff"]);
    assert_eq!(diff.stdout, told.report["best"]["diff"].as_str().unwrap());
    let mail = scene.patchwright.scratch("fix.mbox");
    let arguments = [
        "export", "out", "1", "--format", "mbox", "--out", "fix.mbox",
    ];
    assert_eq!(scene.plain(&arguments).code, Some(0));
    let folder = scene.path("src");
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "begin"]);
    git(&folder, &["am", "--quiet", mail.to_str().unwrap()]);
    let fixed = fs::read_to_string(folder.join("records.c")).unwrap();
    assert!(
        fixed.contains("if (name > NAME_LIMIT) return -1;"),
        "{fixed}"
    );
    let log = git(&folder, &["log", "-1", "--format=%s|%an|%b"]);
    assert!(log.starts_with("Repair Größe: records"), "{log}");
    assert!(log.contains("|Patchwright|"), "{log}");
    assert!(log.contains("Assisted-by: Patchwright"), "{log}");
    assert!(!log.contains("Written and checked"), "{log}");
    assert!(log.contains("overflows the buffer of copy_name"), "{log}");
}

#[test]
fn lines_that_end_in_carriage_returns_survive_a_mail() {
    let text = fs::read_to_string(Scene::new().path("src/records.c")).unwrap();
    let scene = Scene::new().write("src/records.c", &text.replace('\n', "\r\n"));
    proposed(&scene, &[GOOD]);
    let arguments = ["export", "out", "--format", "mbox", "--out", "fix.mbox"];
    assert_eq!(scene.plain(&arguments).code, Some(0));
    let mail = scene.patchwright.scratch("fix.mbox");
    let folder = scene.path("src");
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["config", "core.autocrlf", "false"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "-m", "begin"]);
    git(&folder, &["am", "--quiet", mail.to_str().unwrap()]);
    let fixed = fs::read_to_string(folder.join("records.c")).unwrap();
    assert!(
        fixed.contains("if (name > NAME_LIMIT) return -1;\r\n"),
        "{fixed:?}"
    );
}

#[test]
fn a_branch_is_made_without_touching_the_work_tree() {
    let scene = Scene::new();
    let folder = repository(&scene);
    let told = proposed(&scene, &[GOOD]);
    fs::write(folder.join("src/mine.txt"), "half done").unwrap();
    fs::write(folder.join("src/records.h"), "// changed by hand\n").unwrap();
    let state = || {
        let words: [&[&str]; 3] = [
            &["status", "--porcelain"],
            &["rev-parse", "HEAD"],
            &["diff"],
        ];
        words.map(|words| git(&folder, words))
    };
    let before = state();
    let made = scene.plain(&["export", told.run(), "--format", "branch"]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert_eq!(state(), before);
    let branch = format!("patchwright/{}", told.run());
    assert!(made.stdout.starts_with(&branch), "{made:#?}");
    let fixed = git(&folder, &["show", &format!("{branch}:src/records.c")]);
    assert!(
        fixed.contains("if (name > NAME_LIMIT) return -1;"),
        "{fixed}"
    );
    let changed = git(&folder, &["diff", "--stat", "HEAD", &branch]);
    assert!(
        changed.contains("1 file changed, 1 insertion(+)"),
        "{changed}"
    );

    let again = scene.plain(&["export", told.run(), "--format", "branch"]);
    assert_eq!(again.code, Some(5), "{again:#?}");
    assert!(again.stderr.contains("already exists"), "{again:#?}");
    let elsewhere = scene.patchwright.scratch("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let none = ["export", "out", "--format", "branch", "--repo", "elsewhere"];
    let none = scene.plain(&none);
    assert!(none.stderr.contains("not a git repository"), "{none:#?}");
}

#[test]
fn a_folder_tells_the_story() {
    let scene = Scene::new();
    let model = ScriptedModel::start([QUERIES, STILL_CRASHES, GOOD]).unwrap();
    let told = scene.run(&model, &[]);
    told.expect("verified", 0, "");
    let made = scene.plain(&["export", told.run(), "--out", "story"]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    let file =
        |name: &str| fs::read_to_string(scene.patchwright.scratch("story").join(name)).unwrap();
    let story = file("story.md");
    let mut at = 0;
    for words in [
        "# records: heap overflow on a long name",
        "**verified**: attempt 2 holds every rung",
        "## The patch",
        "+  if (name > NAME_LIMIT) return -1;",
        "| silent | yes |",
        "## What happened",
        "The name may be longer than its buffer.",
        "asks: symbol copy_name",
        "sends a patch: The buffer is too small by one.",
        "## The other candidates",
        "| silent | **no** |",
        "## What it cost",
        "3 model calls",
    ] {
        let found = story.get(at..).unwrap().find(words);
        at += found.unwrap_or_else(|| panic!("{words:?} is missing or too early: {story}"));
    }
    assert!(file("patch.diff").contains("NAME_LIMIT) return -1;"));
    let link = story
        .split("([log](")
        .nth(1)
        .unwrap()
        .split(')')
        .next()
        .unwrap();
    assert!(!file(link).is_empty(), "{link}");
    for name in ["report.json", "journal.jsonl"] {
        assert!(!file(name).is_empty());
    }
}

#[test]
fn a_proposed_candidate_is_evaluated_later() {
    let scene = Scene::new();
    let told = proposed(&scene, &[GOOD]);
    let evaluated = scene.json(&["evaluate", told.run(), "1", "--out", "evidence"]);
    evaluated.expect("verified", 0, "attempt 1 holds every rung");
    assert_ne!(evaluated.run(), told.run());
    assert_eq!(
        evaluated.report["best"]["diff"],
        told.report["best"]["diff"]
    );
    assert_eq!(evaluated.report["cost"]["calls"], 0);

    for (arguments, words) in [
        (
            vec!["evaluate", "out", "7"],
            "has no candidate 7; it has 1 to 1",
        ),
        (vec!["evaluate", "gone", "1"], "there is no run"),
        (
            vec!["export", "out", "3", "--format", "diff"],
            "has no candidate 3",
        ),
    ] {
        let finished = scene.plain(&arguments);
        assert_eq!(finished.code, Some(2), "{finished:#?}");
        assert!(finished.stderr.contains(words), "{finished:#?}");
    }
}

/// The second run has the same id and another task; the first keeps its own.
#[test]
fn a_changed_task_leaves_the_runs_before_as_they_were() {
    let scene = Scene::new();
    let run = |scene: &Scene| {
        let model = ScriptedModel::start([GOOD]).unwrap();
        scene.run(&model, &["--dry-run"])
    };
    let told = run(&scene);
    let scene = scene.edit("task.toml", "build = 'make ", "build = 'exit 1; make ");
    let changed = run(&scene);
    assert_ne!(changed.run(), told.run());

    let evaluated = scene.json(&["evaluate", told.run(), "1"]);
    evaluated.expect("verified", 0, "attempt 1 holds every rung");
    let evaluated = scene.json(&["evaluate", changed.run(), "1"]);
    evaluated.expect("invalid_task", 2, "");
}

const CRASH: &str = "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000031 at pc 0x1 bp 0x1 sp 0x1
WRITE of size 35 at 0x602000000031 thread T0
    #0 0x1 in copy_name /src/records/records.c:8:3
    #1 0x2 in main /src/harness.c:20:3
";

/// A proposed patch for a crash that the task brought along, in a repository.
fn proposed_for_a_crash() -> Scene {
    let scene = Scene::new()
        .edit(
            "task.toml",
            "[inputs]",
            "[crash]\nreport = \"crash.log\"\n\n[inputs]",
        )
        .write("crash.log", CRASH);
    repository(&scene);
    proposed(&scene, &[GOOD]);
    scene
}

#[test]
fn a_mail_names_the_crash_and_its_people() {
    let scene = proposed_for_a_crash();
    let arguments = [
        "export",
        "--format",
        "mbox",
        "--author",
        "Ada <ada@example.org>",
    ];
    let more = ["--signoff", "--reported-by", "Eve <eve@example.org>"];
    let told = scene.plain(&[&arguments[..], &more].concat());
    assert_eq!(told.code, Some(0), "{told:#?}");
    let (message, notes) = told.stdout.split_once("\n---\n").unwrap();
    for words in [
        "From: Ada <ada@example.org>",
        "Subject: [PATCH] records: fix heap-buffer-overflow in copy_name",
        "Reported-by: Eve <eve@example.org>",
        "Signed-off-by: Ada <ada@example.org>",
        "overflows the buffer of copy_name",
    ] {
        assert!(message.contains(words), "{words:?} is missing in {message}");
    }
    assert!(
        message
            .lines()
            .skip_while(|line| !line.is_empty())
            .all(|line| line.len() <= 72)
    );
    assert!(
        notes.contains("Written and checked by Patchwright: proposed"),
        "{notes}"
    );
    assert!(notes.contains("was last changed by"), "{notes}");
    assert!(notes.contains("(\"add records\", t)"), "{notes}");
    let refused = scene.plain(&["export", "--format", "mbox", "--author", "Ada"]);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
}

#[test]
fn a_mail_is_written_as_its_project_writes() {
    let scene = proposed_for_a_crash();
    let folder = scene.path("");
    for number in 0..3 {
        let code = fs::read_to_string(scene.path("src/records.c")).unwrap();
        let code = code.replace("malloc(NAME_LIMIT + 1);", "malloc(NAME_LIMIT + 1); //");
        fs::write(scene.path("src/records.c"), code).unwrap();
        let message = format!("rec: Note {number}\n\nFixes: 0123456789ab (\"x\")");
        git(&folder, &["commit", "--quiet", "-am", &message]);
    }
    git(&folder, &["config", "user.name", "Ada"]);
    git(&folder, &["config", "user.email", "ada@example.org"]);
    let told = scene.plain(&["export", "--format", "mbox"]);
    let (message, notes) = told.stdout.split_once("\n---\n").unwrap();
    for words in [
        "From: Ada <ada@example.org>\n",
        "Subject: [PATCH] rec: Fix heap-buffer-overflow in copy_name\n",
        "\nAssisted-by: Patchwright ",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
    assert!(!message.contains("Signed-off-by"), "{message}");
    for words in ["PoV", "rung", "lane", "$TASK", "candidate"] {
        assert!(!notes.contains(words), "{words}: {notes}");
    }
}

#[test]
fn a_finding_is_told_to_those_who_collect_them() {
    let scene = proposed_for_a_crash();
    let json = |format| -> serde_json::Value {
        let told = scene.plain(&["export", "--format", format]);
        serde_json::from_str(&told.stdout).unwrap_or_else(|error| panic!("{error}: {told:#?}"))
    };
    let sarif = json("sarif");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "heap-buffer-overflow", "{sarif:#}");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "records.c", "{sarif:#}");
    let fix = &result["fixes"][0]["artifactChanges"][0]["replacements"][0];
    let inserted = fix["insertedContent"]["text"].as_str().unwrap();
    assert!(
        inserted.contains("  if (name > NAME_LIMIT) return -1;\n"),
        "{fix:#}"
    );
    let vex = json("openvex");
    assert_eq!(vex["statements"][0]["status"], "affected", "{vex:#}");

    let quilt = scene.plain(&["export", "--format", "quilt"]).stdout;
    assert!(quilt.starts_with("Description: records: fix heap-buffer-overflow in copy_name\n"));
    let folder = scene.path("src");
    fs::write(scene.path("fix.patch"), &quilt).unwrap();
    git(&folder, &["apply", "--check", "../fix.patch"]);
    let request = scene.plain(&["export", "--format", "pr"]).stdout;
    assert!(request.contains("**How it was checked**"), "{request}");
}

#[test]
fn the_smallest_input_goes_with_the_patch() {
    let long = format!("first=1\n{}=2\nlast=3\n", "n".repeat(300));
    let scene = Scene::new()
        .with("PATCHWRIGHT_LIMITS__MINIMIZE", "60s")
        .write("pov/long-name.txt", &long);
    let model = ScriptedModel::start([GOOD]).unwrap();
    let out = scene.patchwright.scratch("out").display().to_string();
    let told = scene.run(&model, &["--out", &out]);
    told.expect("verified", 0, "");
    let report = fs::read_to_string(Path::new(&out).join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let smallest = &report["smallest"];
    assert_eq!(smallest["original"], long.len(), "{smallest:#}");
    assert_eq!(
        (&smallest["minimal"], &smallest["input"]),
        (&true.into(), &"pov.min".into())
    );
    let input = fs::read(Path::new(&out).join("pov.min")).unwrap();
    assert_eq!(smallest["bytes"], input.len());
    // A name that is too long, and its number.
    assert!(input.len() < 32 && input.contains(&b'='), "{input:?}");
    assert!(
        told.finished
            .stderr
            .contains("bytes of long-name.txt show the crash")
    );
    let mail = scene.plain(&["export", "--format", "mbox"]).stdout;
    let words = format!("The attached input of {} bytes", input.len());
    let (_, attached) = mail.split_once(&words).unwrap();
    let encoded: String = attached
        .lines()
        .skip_while(|line| !line.is_empty())
        .skip(1)
        .take_while(|line| !line.is_empty())
        .collect();
    let known = Command::new("base64")
        .arg("-w0")
        .arg(Path::new(&out).join("pov.min"))
        .output();
    assert_eq!(encoded.as_bytes(), known.unwrap().stdout, "{mail}");
    for format in ["pr", "folder"] {
        let told = scene.plain(&[
            "export",
            "--format",
            format,
            "--out",
            &format!("{out}-{format}"),
        ]);
        assert_eq!(told.code, Some(0), "{told:#?}");
    }
    let request = fs::read_to_string(format!("{out}-pr")).unwrap();
    assert!(request.contains(&encoded), "{request}");
    assert_eq!(fs::read(format!("{out}-folder/pov.min")).unwrap(), input);
}
