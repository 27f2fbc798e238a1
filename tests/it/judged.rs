//! The ladder on known patches: right ones, which it must accept, and wrong ones
//! that silence the PoV, which it must refuse.
//!
//! `tests/judge/CASE` holds the patches, and the task where it is no example
//! and no fixture. The wrong ones of `tests/judge/attacks` mean to deceive: they hide the defect from
//! whoever judges. Cases of one program may share a folder: `tests/judge/PROGRAM`
//! then holds a task and a folder of patches for each. `make judge-bench` takes
//! all cases (or those that are named in `PATCHWRIGHT_JUDGE`) and needs the
//! network to fetch them; otherwise only the fixture is looked at, and one rung
//! on one example.

use crate::scene::Told;
use patchwright_config::Sources;
use patchwright_tests::command::Patchwright;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fmt, fs};

/// The share of wrong patches that must be refused, or of attacks left in doubt, in percent.
const HELD_BACK: usize = 90;
/// The folder of the cases whose wrong patches mean to deceive.
const ATTACKS: &str = "attacks/";
/// The time of the rungs that take as long as they may, unless the environment
/// says otherwise: for the fixture, and for real programs.
const BUDGETS: [(&str, &str, &str); 2] = [
    ("PATCHWRIGHT_LIMITS__ROBUST", "6s", "15s"),
    ("PATCHWRIGHT_LIMITS__SAME", "8s", "40s"),
];
/// The variable that names the cases.
const CASES: &str = "PATCHWRIGHT_JUDGE";

/// A patch, and whether it is right.
struct Known {
    right: bool,
    file: PathBuf,
}

/// The verdict on one patch.
struct Row {
    case: String,
    patch: String,
    right: bool,
    /// The rung that refused it.
    refused: Option<String>,
    /// The rungs that could not be climbed.
    open: Vec<String>,
    reason: String,
    seconds: f64,
}

impl Row {
    /// Tells whether it is kept from `verified` by a rung that the right patches of its case hold; of
    /// real defects only a refusal counts.
    fn is_held_back(&self, rows: &[Self]) -> bool {
        let rights = rows.iter().filter(|row| row.right && row.case == self.case);
        let in_doubt = || {
            let mut open = self.open.iter();
            open.any(|rung| rights.clone().all(|right| !right.open.contains(rung)))
        };
        self.refused.is_some() || self.case.starts_with(ATTACKS) && in_doubt()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.right { "right" } else { "wrong" };
        let outcome = match (&self.refused, self.open.as_slice()) {
            (Some(rung), _) => format!("refused by {rung}"),
            (None, []) => "every rung holds".to_owned(),
            (None, open) => {
                format!("open: {}", open.join(", "))
            }
        };
        let mut reason: String = self.reason.chars().take(110).collect();
        reason.retain(|c| c != '\n');
        write!(
            f,
            "{:20} {kind:5} {:18} {outcome:26} {:6.1} s  {reason}",
            self.case, self.patch, self.seconds
        )
    }
}

/// A Patchwright with the budgets of a fixture, or of real programs.
fn patchwright(sources: &Sources) -> Patchwright {
    let asked = sources.variables.contains_key(CASES);
    let mut patchwright = Patchwright::new()
        .expect("patchwright builds")
        .with("PATCHWRIGHT_LIMITS__EXECUTIONS", "1");
    for (name, fixture, real) in BUDGETS {
        let usual = if asked { real } else { fixture };
        let own = sources.variables.get(name).map_or(usual, String::as_str);
        patchwright = patchwright.with(name, own);
    }
    patchwright
}

/// The cases that were asked for.
fn cases(sources: &Sources) -> Vec<String> {
    let asked = sources.variables.get(CASES);
    let Some(asked) = asked.filter(|text| !text.is_empty()) else {
        return vec!["records".to_owned()];
    };
    let mut names: Vec<String> = asked.split_whitespace().map(str::to_owned).collect();
    if names == ["all"] {
        names = cases_in("");
    }
    names
}

/// The cases in a folder of `tests/judge`, by their paths from there.
fn cases_in(parent: &str) -> Vec<String> {
    let entries = fs::read_dir(folder("tests/judge").join(parent)).expect("a folder of cases");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .flat_map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            let name = Path::new(parent).join(&*name).display().to_string();
            if path.join("right").is_dir() {
                vec![name]
            } else {
                cases_in(&name)
            }
        })
        .collect();
    names.sort();
    names
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn task_of(case: &str) -> PathBuf {
    ["tests/judge", "examples", "tests/fixtures/programs"]
        .map(|parent| folder(parent).join(case))
        .into_iter()
        .flat_map(|path| [path.join("task.toml"), path.with_extension("toml")])
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("there is no task {case}"))
}

fn known(case: &str) -> Vec<Known> {
    let mut found = Vec::new();
    for (right, name) in [(true, "right"), (false, "wrong")] {
        let entries = fs::read_dir(folder("tests/judge").join(case).join(name));
        for entry in entries.expect("patches") {
            let file = entry.expect("an entry").path();
            found.push(Known { right, file });
        }
    }
    found.sort_by(|a, b| (b.right, &a.file).cmp(&(a.right, &b.file)));
    found
}

/// Runs `patchwright judge` on a patch. The unpatched program is built once for
/// each task and cached.
fn told(patchwright: &Patchwright, case: &str, patch: &Path) -> Told {
    let (task, patch) = (task_of(case), patch.display().to_string());
    let task = task.display().to_string();
    let finished = patchwright
        .run(&["judge", &task, "--patch", &patch, "--format", "json"])
        .expect("patchwright runs");
    let report: Value = serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("{case}: {error}: {}", finished.stderr));
    let told = Told { finished, report };
    assert!(told.report["attempts"][0].is_object(), "{case}: {told:#?}");
    told
}

fn row(patchwright: &Patchwright, case: &str, patch: &Known) -> Row {
    let started = Instant::now();
    let told = told(patchwright, case, &patch.file);
    let attempt = &told.report["attempts"][0];
    let rungs = attempt["rungs"].as_array().expect("rungs");
    let named = |rung: &&Value| rung["name"].as_str().unwrap_or_default().to_owned();
    let first = rungs.iter().find(|rung| rung["holds"] != true);
    let refused = rungs.iter().find(|rung| rung["holds"] == false);
    Row {
        case: case.to_owned(),
        patch: patch
            .file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        right: patch.right,
        refused: refused.as_ref().map(named),
        open: rungs
            .iter()
            .filter(|rung| rung["holds"].is_null())
            .map(|rung| named(&rung))
            .collect(),
        reason: refused
            .or(first)
            .and_then(|rung| rung["reason"].as_str())
            .unwrap_or_default()
            .to_owned(),
        seconds: started.elapsed().as_secs_f64(),
    }
}

#[test]
fn right_patches_pass_and_wrong_ones_do_not() {
    let sources = Sources::from_process(None, Vec::new());
    let patchwright = patchwright(&sources);
    let mut rows = Vec::new();
    for case in cases(&sources) {
        for patch in known(&case) {
            let row = row(&patchwright, &case, &patch);
            println!("{row}");
            rows.push(row);
        }
    }
    judge(&rows);
}

/// The published fix of the NAPTR parser refuses short records, also where the
/// unpatched program reads past their end and finds other bytes of the answer.
#[test]
fn a_fix_may_refuse_what_is_malformed_as_the_pov_is() {
    let patchwright = Patchwright::new()
        .expect("patchwright builds")
        .with("PATCHWRIGHT_LIMITS__ROBUST", "1s")
        .with("PATCHWRIGHT_LIMITS__EXECUTIONS", "1")
        .with("PATCHWRIGHT_LIMITS__SAME", "30s");
    for (patch, holds) in [("right/upstream", true), ("wrong/ascii-only", false)] {
        let file = folder("tests/judge/cares-naptr").join(format!("{patch}.diff"));
        let told = told(&patchwright, "cares-naptr", &file);
        let rung = told.rung(1, "same elsewhere");
        assert_eq!(rung["holds"], holds, "{patch}: {rung:#}");
        let away = &rung["counts"]["mutants of given turned away"];
        assert!(away.as_u64() > Some(0), "{patch}: {rung:#}");
        let malformed = &rung["counts"]["malformed mutants turned away"];
        assert_eq!(malformed == away, holds, "{patch}: {rung:#}");
    }
}

fn judge(rows: &[Row]) {
    let of = |right: bool| rows.iter().filter(move |row| row.right == right);
    let (rights, wrongs) = (of(true).count(), of(false).count());
    let refused = of(false).filter(|row| row.refused.is_some()).count();
    let held_back = of(false).filter(|row| row.is_held_back(rows)).count();
    let whole = of(true)
        .filter(|row| row.refused.is_none() && row.open.is_empty())
        .count();
    let lost: Vec<String> = of(true)
        .filter(|row| row.refused.is_some())
        .map(ToString::to_string)
        .collect();
    println!(
        "wrong patches refused: {refused} of {wrongs}, with attacks in doubt: {held_back}; right ones refused: {} of {rights}, of which {whole} hold every rung",
        lost.len()
    );
    assert!(
        lost.is_empty(),
        "right patches are refused:\n{}",
        lost.join("\n")
    );
    let missed: Vec<String> = of(false)
        .filter(|row| !row.is_held_back(rows))
        .map(ToString::to_string)
        .collect();
    assert!(
        held_back * 100 >= wrongs * HELD_BACK,
        "only {held_back} of {wrongs} wrong patches are refused or in doubt:\n{}",
        missed.join("\n")
    );
}
