//! Places that may have the flaw that a fix repaired elsewhere.

use crate::scene::Scene;
use crate::upstream::{CHECK, LINE, git};
use serde_json::Value;
use std::fs;

/// Another reader of the scene's records, with other names, which does the same.
const OTHER: &str = "
int read_other(const char *text, size_t length) {
  if (length == 0) return -1;
  const char *mark = memchr(text, '=', length);
  if (mark == NULL || mark == text) return -1;
";

/// Gives the scene a second reader with the flaw, and a history in which the first one is fixed.
fn fixed(scene: &Scene) -> String {
    let folder = scene.path("src");
    let code = fs::read_to_string(folder.join("records.c")).unwrap();
    let from = code.find(LINE).unwrap();
    let rest = code[from..].split_inclusive("\n}\n").next().unwrap();
    let renamed = rest.replace("equals", "mark").replace("line", "text");
    fs::write(folder.join("other.c"), format!("{OTHER}{renamed}")).unwrap();
    git(&folder, &["init", "--quiet"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "--quiet", "-m", "begin"]);
    let fixed = code.replace(LINE, &format!("{LINE}{CHECK}"));
    fs::write(folder.join("records.c"), fixed).unwrap();
    git(&folder, &["commit", "--quiet", "-am", "refuse long names"]);
    git(&folder, &["rev-parse", "HEAD"])
}

fn places(report: &Value) -> Vec<String> {
    let candidates = report["candidates"].as_array().unwrap().iter();
    let places = candidates.map(|one| {
        let text = |key: &str| one[key].as_str().unwrap();
        format!("{} {}", text("path"), text("function"))
    });
    places.collect()
}

#[test]
fn a_commit_and_a_diff_have_the_place_without_the_check() {
    let scene = Scene::new();
    let commit = fixed(&scene);
    let tree = scene.path("src").display().to_string();
    let told = scene.json(&["siblings", &commit, "--repo", &tree]);
    assert_eq!(places(&told.report), ["other.c read_other"], "{told:#?}");
    let one = &told.report["candidates"][0];
    assert_eq!(
        (&one["called"], &one["input"]),
        (&Value::Bool(false), &Value::Null)
    );
    let text = scene.plain(&["siblings", "HEAD", "--repo", &tree]).stdout;
    for words in [
        "1 candidate; a flaw is only what an input crashes",
        "in read_other: ",
        "% of what the fix found at records.c:",
        "  checked before: 3: if (length == 0) return -1;",
        "  nothing in the tree calls it by name",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let diff = git(&scene.path("src"), &["show", "--format="]) + "\n";
    let file = scene.patchwright.scratch("fix.diff");
    fs::write(&file, diff).unwrap();
    // The tree before the fix, and the one after the other place was fixed too.
    git(&scene.path("src"), &["checkout", "--quiet", "HEAD~1"]);
    let file = file.display().to_string();
    let told = scene.json(&["siblings", &file, "--repo", &tree]);
    assert_eq!(places(&told.report), ["other.c read_other"], "{told:#?}");
    let other = scene.path("src").join("other.c");
    let code = fs::read_to_string(&other).unwrap();
    let line = code
        .lines()
        .find(|line| line.contains("size_t name"))
        .unwrap();
    fs::write(&other, code.replace(line, &format!("{line}\n{CHECK}"))).unwrap();
    let text = scene.plain(&["siblings", &file, "--repo", &tree]).stdout;
    assert_eq!(
        text,
        format!("no other place of the tree is like what {file} repairs\n")
    );
}

#[test]
fn what_is_no_fix_is_told() {
    let scene = Scene::new();
    fixed(&scene);
    let tree = scene.path("src").display().to_string();
    let file = scene.patchwright.scratch("empty.diff");
    fs::write(&file, "nothing\n").unwrap();
    for (fix, words) in [
        ("nothing", "nothing is no file with a diff, no commit of"),
        (
            &*file.display().to_string(),
            "has no change that can be read",
        ),
    ] {
        let told = scene.plain(&["siblings", fix, "--repo", &tree]);
        assert_eq!(told.code, Some(2), "{told:#?}");
        assert!(told.stderr.contains(words), "{told:#?}");
    }
}
