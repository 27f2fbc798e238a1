//! Raw diffs of language models with the verdict of a reader: each comes out as
//! it was read.
//!
//! `tests/fixtures/raw_diffs/README.md` describes them.

use flate2::read::GzDecoder;
use patchwright_patcher::{Guard, read_diff_bytes};
use patchwright_source::Tree;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use tempfile::TempDir;

/// Digits of a hash that are kept.
const DIGITS: usize = 16;

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/raw_diffs")
}

/// The folders of the bugs, sorted.
pub(crate) fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).unwrap();
    let mut cases: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    cases
}

/// Lays out the files of a bug as they were.
pub(crate) fn unpack(case: &Path) -> TempDir {
    let target = tempfile::tempdir().unwrap();
    let mut folders = vec![case.join("tree")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(case.join("tree")).unwrap();
            let file = target.path().join(name.with_extension(""));
            let mut bytes = Vec::new();
            GzDecoder::new(fs::File::open(&path).unwrap())
                .read_to_end(&mut bytes)
                .unwrap();
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
    }
    target
}

fn hash(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>();
    digits[..DIGITS].to_owned()
}

/// The first four columns of a diff: what comes of it.
fn outcome(tree: &Tree, name: &str, diff: &[u8]) -> String {
    let guard = Guard::new(&[]).unwrap();
    match read_diff_bytes(tree, diff, &guard, &|_| true) {
        Ok(prepared) => {
            let places = prepared.placements.iter().map(|place| {
                let (first, last) = place.lines;
                format!("{}@{first}-{last}", place.how)
            });
            let places = places.collect::<Vec<_>>().join(" ");
            format!("{name}\ttaken\t{places}\t{}", hash(&prepared.diff_bytes))
        }
        Err(refusals) => {
            let rules = refusals
                .iter()
                .map(|refusal| format!("{}:{}", refusal.edit, refusal.rule));
            let rules = rules.collect::<Vec<_>>().join(" ");
            format!("{name}\trefused\t{rules}\t-")
        }
    }
}

fn outcomes(case: &Path) -> Vec<String> {
    let unpacked = unpack(case);
    let tree = Tree::open(unpacked.path()).unwrap();
    let mut diffs: Vec<PathBuf> = fs::read_dir(case)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "diff"))
        .collect();
    diffs.sort();
    let part = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    diffs
        .iter()
        .map(|path| {
            let name = format!(
                "{}/{}",
                case.file_name().unwrap().to_string_lossy(),
                part(path)
            );
            outcome(&tree, &name, &fs::read(path).unwrap())
        })
        .collect()
}

#[test]
fn every_raw_diff_comes_out_as_it_was_read() {
    let text = fs::read_to_string(folder().join("verdicts.tsv")).unwrap();
    let mut read: BTreeMap<&str, &str> = text
        .lines()
        .map(|line| {
            let (outcome, verdict) = line.rsplit_once('\t').unwrap();
            assert!(!verdict.is_empty(), "{line}");
            (outcome, verdict)
        })
        .collect();
    assert_eq!(read.len(), 448);
    let waiting = Mutex::new(cases());
    let found = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = { waiting.lock().unwrap().pop() } {
                    let of_case = outcomes(&case);
                    found.lock().unwrap().extend(of_case);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    let unread = found
        .into_iter()
        .filter(|outcome| read.remove(outcome.as_str()).is_none());
    let unread: Vec<String> = unread.collect();
    assert!(
        unread.is_empty(),
        "nobody has read these:\n{}",
        unread.join("\n")
    );
    assert!(read.is_empty(), "these are not there: {read:?}");
}

/// Diffs that lines of their own contradict: a removed line that was torn from its
/// neighbours, and a brace with code between its two places.
#[test]
fn what_its_own_lines_contradict_is_refused() {
    let contradicted = folder().with_file_name("raw_diffs_contradicted");
    for entry in fs::read_dir(contradicted).unwrap() {
        let path = entry.unwrap().path();
        let case = folder().join(path.file_stem().unwrap());
        let unpacked = unpack(&case);
        let tree = Tree::open(unpacked.path()).unwrap();
        let found = outcome(&tree, "it", &fs::read(&path).unwrap());
        assert_eq!(found, "it\trefused\t1:ambiguous\t-", "{}", path.display());
    }
}
