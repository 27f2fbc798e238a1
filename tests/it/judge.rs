//! `patchwright judge`: the ladder for a patch that somebody else wrote, without a
//! model.

use crate::scene::{Scene, Told};

const RIGHT: &str = "--- a/records.c
+++ b/records.c
@@ -25,6 +25,7 @@
   int value;
   if (!equals || equals == line) return -1;
   size_t name = (size_t)(equals - line);
+  if (name > NAME_LIMIT) return -1;
   if (read_number(equals + 1, length - name - 1, &value)) return -1;
   struct record *record = malloc(sizeof *record);
   record->name = copy_name(line, name);
";

fn judge(diff: &str) -> Told {
    let scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    std::fs::write(scene.patchwright.scratch("a.diff"), diff).unwrap();
    scene.json(&["judge", "records", "--patch", "a.diff"])
}

fn refuted_at(told: &Told, rung: &str, words: &str) {
    told.expect("no_patch", 1, "");
    let found = told.rung(1, rung);
    assert_eq!(found["holds"], false, "{told:#?}");
    let reason = found["reason"].as_str().unwrap();
    assert!(reason.contains(words), "{reason}");
}

#[test]
fn a_right_patch_gets_the_evidence_that_a_run_would_give_it() {
    let told = judge(RIGHT);
    told.expect("verified", 0, "attempt 1 holds every rung");
    assert_eq!(told.report["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(told.report["best"], told.report["attempts"][0]);
    assert_eq!(told.report["cost"]["calls"], 0);
    assert_eq!(told.report["answers"], "none");
    assert!(
        told.report["best"]["diff"]
            .as_str()
            .unwrap()
            .contains("+  if (name > NAME_LIMIT)")
    );
}

#[test]
fn the_result_is_written_before_the_workspaces_are_removed() {
    let scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    let broken = RIGHT.replace("NAME_LIMIT", "UNKNOWN");
    std::fs::write(scene.patchwright.scratch("a.diff"), broken).unwrap();
    let told = scene.json(&["judge", "records", "--patch", "a.diff", "--out", "out"]);
    refuted_at(&told, "builds", "");
    let changed = |path: std::path::PathBuf| {
        let about = std::fs::metadata(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        about.modified().unwrap()
    };
    let workspaces = scene
        .patchwright
        .folder()
        .join("cache/patchwright/workspaces");
    assert_eq!(std::fs::read_dir(&workspaces).unwrap().count(), 0);
    let report = changed(scene.patchwright.scratch("out/report.json"));
    assert!(
        report <= changed(workspaces),
        "the workspaces were removed first"
    );
}

/// Lists the rungs of the attempt that were answered from the cache.
fn known(told: &Told) -> Vec<String> {
    let rungs = told.report["attempts"][0]["rungs"].as_array().unwrap();
    let known = rungs
        .iter()
        .filter(|rung| rung["counts"]["from the cache"] == 1);
    known
        .map(|rung| rung["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_same_patch_is_judged_from_the_cache_and_looked_at_once_more() {
    let mut scene = Scene::new().with("PATCHWRIGHT_MODEL__API_KEY", "");
    std::fs::write(scene.patchwright.scratch("right.diff"), RIGHT).unwrap();
    let wrong = RIGHT.replace("name > NAME_LIMIT", "name > 1000");
    std::fs::write(scene.patchwright.scratch("wrong.diff"), wrong).unwrap();
    let judge = |scene: &Scene, patch: &str| scene.json(&["judge", "records", "--patch", patch]);
    let builds = |scene: &Scene| {
        let folder = scene.patchwright.folder().join("cache/patchwright/builds");
        std::fs::read_dir(folder).unwrap().count()
    };
    for (patch, ending, status, rungs) in [
        (
            "right.diff",
            "verified",
            0,
            &["builds", "silent", "tested"][..],
        ),
        ("wrong.diff", "no_patch", 1, &["builds", "silent"]),
    ] {
        let first = judge(&scene, patch);
        first.expect(ending, status, "");
        assert_eq!(known(&first), [""; 0]);
        let before = builds(&scene);
        let again = judge(&scene, patch);
        again.expect(ending, status, "");
        let known = known(&again);
        assert!(
            known.starts_with(&rungs.iter().map(ToString::to_string).collect::<Vec<_>>()),
            "{known:?}"
        );
        assert_eq!(builds(&scene), before, "nothing was built");
        let climbed = |told: &Told| {
            told.report["attempts"][0]["rungs"]
                .as_array()
                .unwrap()
                .len()
        };
        assert_eq!(climbed(&again), climbed(&first));
    }
    // Neither when nobody wants it nor when the task is another one.
    scene = scene.with("PATCHWRIGHT_CACHE__VERDICTS_MB", "0");
    assert_eq!(known(&judge(&scene, "wrong.diff")), [""; 0]);
    scene = scene.with("PATCHWRIGHT_CACHE__VERDICTS_MB", "64");
    assert_eq!(known(&judge(&scene, "wrong.diff")).len(), 2);
    scene = scene.write("notes", "another folder");
    assert_eq!(known(&judge(&scene, "wrong.diff")), [""; 0]);
}

#[test]
fn a_wrong_patch_is_refuted_at_its_rung() {
    let added = "+  if (name > NAME_LIMIT) return -1;";
    let silent = judge(&RIGHT.replace(added, "+  if (name > 1000) return -1;"));
    refuted_at(&silent, "silent", "still crashes");
    let tested = judge(&RIGHT.replace(added, "+  if (name >= NAME_LIMIT) return -1;"));
    refuted_at(&tested, "tested", "");
    let builds = judge(&RIGHT.replace(added, "+  if (name > NAME_LIMITS) return -1;"));
    refuted_at(&builds, "builds", "");
    let applies = judge(
        &RIGHT
            .replace("int value;", "long value;")
            .replace("size_t name", "int name"),
    );
    refuted_at(&applies, "applies", "records.c");
}

#[test]
fn a_file_that_is_no_patch_is_refused() {
    // A file without any change is a mistake of whoever named it.
    for diff in ["", "I fixed it.", "\u{0}\u{1}\u{2}"] {
        judge(diff).expect("invalid_task", 2, "--patch: a.diff changes nothing");
    }
    let climbing = "--- a/../../etc/passwd\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-x\n+y\n";
    refuted_at(&judge(climbing), "applies", "");
}

#[test]
fn a_build_that_fails_on_a_full_disk_says_nothing_of_the_patch() {
    let fill = "build = 'if grep -q \"name > NAME_LIMIT\" \"$TREE\"/records.c; then head -c 1G /dev/zero >\"$OUT\"/large || exit 1; fi; make";
    let scene = Scene::new().edit("task.toml", "build = 'make", fill);
    let patchwright = &scene.patchwright;
    std::fs::write(patchwright.scratch("a.diff"), RIGHT).unwrap();
    let cache = patchwright.folder().join("cache").display().to_string();
    let mounts = ["--size", "100000000", "--tmpfs", &cache];
    let judge = ["judge", "records", "--patch", "a.diff"];
    let mut command = patchwright.among(&mounts, &[], &judge).unwrap();
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(told.contains("infra_error"), "{told}");
    assert!(told.contains("the disk is full"), "{told}");
}

/// A patch that holds every other rung, but is not the one that its reader sees.
#[test]
fn a_patch_that_reads_otherwise_than_it_compiles_is_refused() {
    let check = "+  if (name > NAME_LIMIT) return -1;\n";
    for (instead, lines, words) in [
        (
            "+  if (name > NAME_LIMIT) return -1; /* \u{202e}\u{2066}too long\u{2069} */\n",
            7,
            "it brings \\u{202e}",
        ),
        (
            "+  size_t n\u{430}me = name;\n+  if (n\u{430}me > NAME_LIMIT) return -1;\n",
            8,
            "`n\\u{430}me` looks like `name`",
        ),
    ] {
        let diff = RIGHT.replace(check, instead);
        let diff = diff.replace("+25,7", &format!("+25,{lines}"));
        refuted_at(&judge(&diff), "reviewed", words);
    }
}
