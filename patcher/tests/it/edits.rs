//! Replies of models, good, sloppy and malicious, through the patcher.
//!
//! Each folder of `tests/fixtures/edits` holds a tree (`input`), a reply
//! (`reply.md`) and what is to come of it: `expected.diff`, or in
//! `expected.json` the refusal. Every diff is also given to `git apply` and
//! `patch`, forth and back.

use patchwright_patcher::{Guard, Prepared, Refusal, prepare, read_diff_bytes, reply};
use patchwright_source::Tree;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The prefix of names that are known in the fixtures' trees.
const KNOWN: &str = "known_";

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/edits");
    let mut folders: Vec<PathBuf> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

fn read_json(path: &Path) -> Value {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).unwrap(),
        Err(_) => Value::Null,
    }
}

/// The patcher's answer; `None` when the reply holds no patch.
fn answer(folder: &Path, expected: &Value) -> Option<Result<Prepared, Vec<Refusal>>> {
    let tree = Tree::open(&folder.join("input")).unwrap();
    let given = fs::read(folder.join("reply.md")).unwrap();
    let protect: Vec<String> = expected["protect"]
        .as_array()
        .map(|list| {
            list.iter()
                .map(|path| path.as_str().unwrap().to_owned())
                .collect()
        })
        .unwrap_or_default();
    let guard = Guard::new(&protect).unwrap();
    let knows = |name: &str| name.starts_with(KNOWN);
    if expected["foreign"] == true {
        return Some(read_diff_bytes(&tree, &given, &guard, &knows));
    }
    let text = String::from_utf8(given).unwrap();
    let reply = reply::read(&text, expected["cut_off"] == true);
    if expected["reply_cut_off"] == true {
        assert!(reply.cut_off, "not seen as cut off");
    }
    let patch = reply.patch?;
    Some(prepare(&tree, &patch, &guard, &knows))
}

fn check_accepted(folder: &Path, expected: &Value, prepared: &Prepared) -> Result<(), String> {
    let diff = fs::read(folder.join("expected.diff"))
        .map_err(|_| format!("should be refused, but gave:\n{}", prepared.diff))?;
    if diff != prepared.diff_bytes {
        return Err(format!(
            "expected:\n{}\ngot:\n{}",
            String::from_utf8_lossy(&diff),
            prepared.diff
        ));
    }
    if let Some(how) = expected["how"].as_array() {
        let found: Vec<String> = prepared
            .placements
            .iter()
            .map(|place| place.how.to_string())
            .collect();
        if *how != found {
            return Err(format!("expected {how:?}, got {found:?}"));
        }
    }
    let counts = [
        ("warnings", prepared.warnings.len()),
        ("syntax_errors", prepared.syntax_errors.len()),
    ];
    for (name, count) in counts {
        let wanted = expected[name].as_u64().unwrap_or(0);
        if wanted != count as u64 {
            return Err(format!(
                "{count} {name}, expected {wanted}: {:?} {:?}",
                prepared.warnings, prepared.syntax_errors
            ));
        }
    }
    Ok(())
}

fn check_refused(expected: &Value, refusals: &[Refusal]) -> Result<(), String> {
    let shown: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    let wanted = &expected["refused"];
    let fits = refusals.iter().any(|refusal| {
        wanted["edit"] == refusal.edit
            && wanted["rule"] == refusal.rule.to_string()
            && (wanted["candidates"].is_null()
                || wanted["candidates"] == serde_json::json!(refusal.candidates))
            && wanted["says"]
                .as_str()
                .is_none_or(|words| refusal.to_string().contains(words))
    });
    if fits {
        Ok(())
    } else {
        Err(format!("expected {wanted}, got {}", shown.join("\n")))
    }
}

fn check(folder: &Path) -> Result<(), String> {
    let expected = read_json(&folder.join("expected.json"));
    match answer(folder, &expected) {
        None if expected["patch"] == false => Ok(()),
        None => Err("no patch was read".to_owned()),
        Some(_) if expected["patch"] == false => Err("a patch was read".to_owned()),
        Some(Ok(prepared)) => check_accepted(folder, &expected, &prepared),
        Some(Err(refusals)) => check_refused(&expected, &refusals),
    }
}

#[test]
fn every_fixture_comes_out_as_expected() {
    let folders = folders();
    assert!(folders.len() >= 120, "{} fixtures", folders.len());
    let failures: Vec<String> = folders
        .iter()
        .filter_map(|folder| {
            let name = folder.file_name()?.to_string_lossy().into_owned();
            check(folder).err().map(|error| format!("{name}: {error}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn a_third_are_traps() {
    let folders = folders();
    let traps = folders
        .iter()
        .filter(|folder| !folder.join("expected.diff").exists())
        .count();
    assert!(traps * 3 >= folders.len(), "{traps} of {}", folders.len());
}

/// Every file of a tree with its bytes, sorted.
fn snapshot(root: &Path) -> Vec<(String, Vec<u8>)> {
    let tree = Tree::open(root).unwrap();
    tree.files()
        .into_iter()
        .map(|path| (path.to_string(), tree.read(&path).unwrap().bytes().to_vec()))
        .collect()
}

fn copy(from: &Path, to: &Path) {
    for (path, bytes) in snapshot(from) {
        let target = to.join(path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, bytes).unwrap();
    }
}

/// The tree that the changes describe.
fn changed(before: &[(String, Vec<u8>)], prepared: &Prepared) -> Vec<(String, Vec<u8>)> {
    let changes = &prepared.changes;
    let mut after: std::collections::BTreeMap<String, Vec<u8>> = before.iter().cloned().collect();
    for (from, to) in &changes.renamed {
        let bytes = after.remove(from.as_str()).unwrap();
        after.insert(to.to_string(), bytes);
    }
    for (path, bytes) in &changes.files {
        after.insert(path.to_string(), bytes.clone());
    }
    for path in &changes.deleted {
        after.remove(path.as_str()).unwrap();
    }
    after.into_iter().collect()
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CEILING_DIRECTORIES", folder.parent()?)
        .output()
        .ok()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Some(if output.status.success() {
        String::new()
    } else {
        format!("{program}: {said}")
    })
}

#[test]
fn every_diff_applies_and_reverses() {
    let tools = [
        (
            "git",
            vec!["apply", "--whitespace=nowarn", "../p.diff"],
            vec!["apply", "-R", "--whitespace=nowarn", "../p.diff"],
        ),
        (
            "patch",
            vec!["-s", "-p1", "--no-backup-if-mismatch", "-i", "../p.diff"],
            vec![
                "-s",
                "-R",
                "-p1",
                "--no-backup-if-mismatch",
                "-i",
                "../p.diff",
            ],
        ),
    ];
    let mut failures = Vec::new();
    for folder in folders() {
        let expected = read_json(&folder.join("expected.json"));
        let Some(Ok(prepared)) = answer(&folder, &expected) else {
            continue;
        };
        let before = snapshot(&folder.join("input"));
        let after = changed(&before, &prepared);
        for (program, forth, back) in &tools {
            let scratch = tempfile::tempdir().unwrap();
            let tree = scratch.path().join("tree");
            fs::create_dir(&tree).unwrap();
            copy(&folder.join("input"), &tree);
            fs::write(scratch.path().join("p.diff"), &prepared.diff_bytes).unwrap();
            let Some(mut said) = run(program, forth, &tree) else {
                eprintln!("{program} is not there: skipped");
                continue;
            };
            if said.is_empty() && snapshot(&tree) != after {
                said = format!("{program} made another tree");
            }
            if said.is_empty() {
                said = run(program, back, &tree).unwrap_or_default();
                if said.is_empty() && snapshot(&tree) != before {
                    said = format!("{program} did not come back");
                }
            }
            if !said.is_empty() {
                failures.push(format!("{}: {said}", folder.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
