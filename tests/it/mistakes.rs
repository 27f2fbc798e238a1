//! Mistakes of a person at the command line: each error says what happened, where,
//! and what to do. Mistakes of models are tested elsewhere.

use crate::scene::Scene;
use patchwright_tests::model::ScriptedModel;
use std::fs;
use std::os::unix::fs::symlink;

/// Runs a command with a text on standard input, and checks its exit status
/// and words of what it says.
#[track_caller]
fn check(scene: &Scene, arguments: &[&str], input: &str, expected: (i32, &[&str])) {
    let (code, words) = expected;
    let finished = scene.fed(arguments, input);
    assert_eq!(finished.code, Some(code), "{arguments:?}: {finished:#?}");
    let told = format!("{}{}", finished.stdout, finished.stderr);
    for word in words {
        assert!(told.contains(word), "{arguments:?}: {word:?} in {told}");
    }
}

#[test]
fn logs_without_a_report_are_told() {
    let scene = Scene::new();
    let tail = "    #1 0x2 in main /src/a.c:40\n==7==ABORTING\n";
    let place = "in standard input, of 45 bytes: give all that the program printed";
    let crash: &[&str] = &["crash"];
    check(&scene, crash, tail, (1, &["no crash report", place]));
    check(&scene, crash, " \n", (1, &["standard input is empty"]));
    let gone = ["the log gone.log cannot be read", "No such file"];
    check(&scene, &["crash", "gone.log"], "", (2, &gone));
}

#[test]
fn tasks_that_are_not_there_are_told() {
    let scene = Scene::new();
    let expected: &[&str] = &["no task file at gone", "name a folder with a task.toml"];
    check(&scene, &["run", "gone"], "", (2, expected));
    let finished = scene.fed(&["run", "gone"], "");
    assert!(!finished.stdout.contains("rounds"), "{finished:#?}");
    let settings = ["run", "records", "--model", "m", "--base-url"];
    let keyless = [&settings[..], &["https://api.openai.com/v1"]].concat();
    let scene = scene.with("PATCHWRIGHT_MODEL__API_KEY", "");
    check(
        &scene,
        &keyless,
        "",
        (2, &["needs a key", "OPENAI_API_KEY"]),
    );
}

#[test]
fn a_dry_run_wants_no_command() {
    let scene = Scene::new();
    fs::create_dir_all(scene.path("src")).unwrap();
    let task = "id = \"t\"\nlanguage = \"c\"\n[source]\npath = \"src\"\n";
    let scene = scene.write("task.toml", task);
    let needed: &[&str] = &["commands.build", "mode = \"dry-run\""];
    check(&scene, &["run", "records"], "", (2, needed));
    let proposing = ["run", "records", "--dry-run"];
    check(&scene, &proposing, "", (2, &["no model is configured"]));
}

#[test]
fn patches_that_are_none_are_told_before_anything_is_built() {
    let scene = Scene::new();
    let judge = ["judge", "records", "--patch", "records/task.toml"];
    let expected: &[&str] = &["invalid_task: --patch: records/task.toml changes nothing"];
    check(&scene, &judge, "", (2, expected));
    let apply = ["apply", "--repo", "records/src", "gone.txt"];
    let expected: &[&str] = &["the reply gone.txt cannot be read"];
    check(&scene, &apply, "", (2, expected));
}

#[test]
fn a_patch_that_is_there_already_is_told() {
    let scene = Scene::new();
    let diff = "--- a/records.c\n+++ b/records.c\n@@ -26,3 +26,4 @@\n   if (!equals || equals == line) return -1;\n   size_t name = (size_t)(equals - line);\n+  if (name > NAME_LIMIT) return -1;\n   if (read_number(equals + 1, length - name - 1, &value)) return -1;\n";
    std::fs::write(scene.patchwright.scratch("fix.diff"), diff).unwrap();
    let apply = ["apply", "--repo", "records/src", "fix.diff", "--write"];
    check(&scene, &apply, "", (0, &[]));
    check(
        &scene,
        &apply,
        "",
        (1, &["the tree has this patch already"]),
    );
}

#[test]
fn questions_that_are_none_are_told() {
    let scene = Scene::new();
    let retrieve = |query| ["retrieve", "--repo", "records/src", query];
    for (query, code, words) in [
        ("symbol", 2, "write KIND:QUERY"),
        ("symbl:f", 2, "the kinds are symbol"),
        ("symbol:no_such_name", 0, "nothing found"),
    ] {
        check(&scene, &retrieve(query), "", (code, &[words]));
    }
    let missing = ["context", "--repo", "records/src", "gone.log"];
    check(&scene, &missing, "", (2, &["gone.log"]));
    let context = ["context", "--repo", "records/src"];
    check(&scene, &context, "\n", (2, &["the request is empty"]));
    let expected: &[&str] = &["no setting begins with \"modle\""];
    check(&scene, &["config", "modle"], "", (2, expected));
}

#[test]
fn trees_that_cannot_be_read_are_told_with_their_path() {
    let scene = Scene::new();
    for verb in [&["index", "gone"][..], &["mcp", "--repo", "gone"]] {
        let finished = scene.fed(verb, "");
        assert!(finished.code > Some(0), "{finished:#?}");
        let told = "source folder \"gone\" cannot be opened: No such file";
        assert!(finished.stderr.contains(told), "{finished:#?}");
    }
    // What cannot be read is named and left out; the rest is there. A link that
    // leads nowhere is that for every user.
    symlink("nowhere", scene.path("src/dangling.c")).unwrap();
    check(&scene, &["index", "records/src"], "", (0, &["symbols;"]));
}

#[test]
fn a_daemon_that_is_not_there_is_told() {
    let scene = Scene::new();
    let server = ["--set", "client.server=http://127.0.0.1:1"];
    for verb in [&["tasks"][..], &["submit", "records"], &["events", "x"]] {
        let arguments = [verb, &server[..]].concat();
        let expected: &[&str] = &[
            "no daemon answers at http://127.0.0.1:1/",
            "`patchwright serve`",
        ];
        check(&scene, &arguments, "", (5, expected));
    }
    check(
        &scene,
        &["show", "gone"],
        "",
        (2, &["there is no run \"gone\"", "--out"]),
    );
}

#[test]
fn a_panic_of_go_is_no_undefined_behaviour() {
    let scene = Scene::new();
    let panic = "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/a/main.go:7 +0x1d\n";
    let told = scene.fed(&["crash", "-"], panic);
    assert_eq!(told.code, Some(0), "{told:#?}");
    for words in [
        "Go: crash: runtime error: index out of range [5] with length 3 in main.main /a/main.go:7",
        "crashes of Go are located and shown, but not repaired yet",
    ] {
        assert!(told.stdout.contains(words), "{told:#?}");
    }
    let bare = "runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'\n    #0 0x1 in f /src/a.c:3:4\n";
    let told = scene.fed(&["crash", "-"], bare);
    assert!(told.stdout.contains("signed-integer-overflow"), "{told:#?}");
}

#[test]
fn known_causes_of_a_failed_baseline_are_named() {
    // What a shell makes of "make -C $TREE" in double quotes.
    let emptied = Scene::new().edit(
        "task.toml",
        "build = 'make --no-print-directory -C \"$OUT\" -f",
        "build = 'make --no-print-directory -C  -f",
    );
    let model = ScriptedModel::start::<&str>([]).unwrap();
    let told = emptied.run(&model, &[]);
    told.expect("invalid_task", 2, "put the command into single quotes");
    assert!(
        told.detail()
            .contains("as run: build: make --no-print-directory -C  -f")
    );

    let no_input = Scene::new().edit("task.toml", "\"$OUT\"/harness \"$POV\"", "\"$OUT\"/harness");
    let told = no_input.run(&model, &[]);
    told.expect("not_reproducible", 4, "does not use $POV");

    let report = "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000031 at pc 0x1 bp 0x1 sp 0x1\nWRITE of size 9 at 0x602000000031 thread T0\n    #0 0x1 in copy_name /src/records.c:8:3\n    #1 0x2 in main /src/harness.c:20:3\n";
    let plain = Scene::new()
        .edit("task.toml", "-fsanitize=address ", "")
        .edit("task.toml", "[builds.address]", "[builds.plain]")
        .edit("task.toml", "build = \"address\"", "build = \"plain\"")
        .edit(
            "task.toml",
            "[inputs]",
            "[crash]\nreport = \"crash.log\"\n\n[inputs]",
        )
        .write("crash.log", report)
        // Short enough that no allocator notices it.
        .write("pov/long-name.txt", "seventeen_letters=1\n");
    let told = plain.run(&model, &[]);
    told.expect("not_reproducible", 4, "-fsanitize=address");
    assert!(model.requests().is_empty());
}

#[test]
fn failing_tests_are_told_before_any_call() {
    let scene = Scene::new().edit(
        "task.toml",
        "test = '\"$OUT\"/harness'",
        "test = 'echo ok 1 - a; echo not ok 2 - b; echo \"ERROR: LeakSanitizer: detected memory leaks\"; exit 1'",
    );
    let model = ScriptedModel::start(["no"]).unwrap();
    let told = scene.run(
        &model,
        &["--out", "out", "--set", "limits.format_retries=0"],
    );
    let words = [
        "tests: 1 passed, 1 failed: b (not held against a patch)",
        "| ERROR: LeakSanitizer: detected memory leaks",
        "likely cause: LeakSanitizer ends the tests",
    ];
    for words in words {
        assert!(told.finished.stderr.contains(words), "{words}: {told:#?}");
    }
    let out = scene.patchwright.scratch("out");
    let log = std::fs::read_to_string(out.join("logs/baseline-tests.log")).unwrap();
    assert!(log.contains("not ok 2 - b"));
    assert_eq!(told.report["baseline"][0]["name"], "build address");
}
