//! The ladder before patches that are known: right ones, which it must let
//! pass, and wrong ones that silence the PoV, which it must refuse.
//!
//! `tests/judge/CASE` holds the patches, and the task where it is no example
//! and no fixture. Cases of one program may share a folder: `tests/judge/PROGRAM`
//! then holds a task and a folder of patches for each. `make judge-bench` takes all cases (or those that are named
//! in `PATCHWRIGHT_JUDGE`) and needs the network to fetch them; otherwise only
//! the fixture is looked at, and one rung on one example.

use patchwright::display::Display;
use patchwright::drive::{self, Parts};
use patchwright::settings::{self, Settings, Sources};
use patchwright::{task, wire};
use patchwright_evaluator::{AttemptFacts, Baseline, RungName, RungResult, Target, climb, confirm};
use patchwright_patcher::Patch;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The share of wrong patches that must be refused, in percent.
const REFUSED: usize = 90;
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

/// What became of one.
struct Row {
    case: String,
    patch: String,
    right: bool,
    /// The rung that refused it.
    refused: Option<RungName>,
    /// The rungs that could not be climbed.
    open: Vec<RungName>,
    reason: String,
    seconds: f64,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.right { "right" } else { "wrong" };
        let outcome = match (self.refused, self.open.as_slice()) {
            (Some(rung), _) => format!("refused by {rung}"),
            (None, []) => "every rung holds".to_owned(),
            (None, open) => {
                let names: Vec<_> = open.iter().map(ToString::to_string).collect();
                format!("open: {}", names.join(", "))
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

fn sources() -> Sources {
    let mut sources = Sources::from_process(None, Vec::new());
    let asked = sources.variables.contains_key(CASES);
    for (name, fixture, real) in BUDGETS {
        let value = if asked { real } else { fixture };
        let own = sources.variables.entry(name.to_owned());
        own.or_insert_with(|| value.to_owned());
    }
    sources
}

/// The cases that were asked for, and whether they were.
fn cases(sources: &Sources) -> (Vec<String>, bool) {
    let asked = sources.variables.get(CASES);
    let Some(asked) = asked.filter(|text| !text.is_empty()) else {
        return (vec!["records".to_owned()], false);
    };
    let mut names: Vec<String> = asked.split_whitespace().map(str::to_owned).collect();
    if names == ["all"] {
        names = cases_in("");
    }
    (names, true)
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

async fn parts(case: &str, settings: &Settings) -> Arc<Parts> {
    let task = task::read(&task_of(case)).unwrap_or_else(|problem| panic!("{case}: {problem}"));
    let models = wire::models(&wire::Answers::Nobody, settings).expect("nobody answers");
    wire::parts(&task, settings, models, Display::Silent)
        .await
        .unwrap_or_else(|ending| panic!("{case}: {ending:?}"))
}

fn facts(patch: &Path, parts: &Parts) -> AttemptFacts {
    let bytes = fs::read(patch).expect("a patch");
    let edits = Patch::from_diff(&bytes);
    let prepared = patchwright_patcher::prepare(&parts.tree, &edits, &parts.guard, &|_| true)
        .unwrap_or_else(|refusals| panic!("{}: {refusals:?}", patch.display()));
    drive::facts(prepared)
}

async fn row(case: &str, patch: &Known, parts: &Parts, baseline: &Baseline) -> Row {
    let started = Instant::now();
    let facts = facts(&patch.file, parts);
    let target = parts.target.as_deref().expect("a target");
    let climbed = ladder(target, baseline, &facts).await;
    let last = climbed.last().expect("a rung");
    Row {
        case: case.to_owned(),
        patch: patch
            .file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        right: patch.right,
        refused: (last.holds == Some(false)).then_some(last.name),
        open: climbed
            .iter()
            .filter(|rung| rung.holds.is_none())
            .map(|rung| rung.name)
            .collect(),
        reason: climbed
            .iter()
            .find(|rung| rung.holds != Some(true))
            .map(|rung| rung.reason.clone())
            .unwrap_or_default(),
        seconds: started.elapsed().as_secs_f64(),
    }
}

async fn ladder(target: &dyn Target, baseline: &Baseline, facts: &AttemptFacts) -> Vec<RungResult> {
    let mut climbed: Vec<RungResult> = Vec::new();
    for rung in RungName::ALL {
        let result = climb(target, baseline, facts, &climbed, rung).await;
        climbed.push(result.unwrap_or_else(|error| panic!("{rung}: {error}")));
        if climbed.last().is_some_and(|rung| rung.holds == Some(false)) {
            return climbed;
        }
    }
    let confirmed = confirm(target, baseline, facts)
        .await
        .expect("a clean build");
    if confirmed.holds == Some(false) {
        climbed.push(confirmed);
    }
    climbed
}

#[tokio::test]
async fn right_patches_pass_and_wrong_ones_do_not() {
    let sources = sources();
    let mut settings = settings::load(&sources).expect("settings").settings;
    let (cases, asked) = cases(&sources);
    let scratch = tempfile::tempdir().expect("a folder");
    if !asked {
        settings.cache.folder = scratch.path().to_path_buf();
    }
    let mut rows = Vec::new();
    for case in cases {
        let parts = parts(&case, &settings).await;
        let started = Instant::now();
        let target = parts.target.as_deref().expect("a target");
        let baseline = target.baseline().await;
        let baseline = baseline.unwrap_or_else(|error| panic!("{case}: {error}"));
        println!(
            "{case}: baseline in {:.1} s",
            started.elapsed().as_secs_f64()
        );
        for patch in known(&case) {
            let row = row(&case, &patch, &parts, &baseline).await;
            println!("{row}");
            rows.push(row);
        }
    }
    judge(&rows);
}

/// The published fix of the NAPTR parser refuses short records, also where the
/// unpatched program reads past their end and finds other bytes of the answer.
#[tokio::test]
async fn a_fix_may_refuse_what_is_malformed_as_the_pov_is() {
    let mut sources = sources();
    let limit = "PATCHWRIGHT_LIMITS__SAME".to_owned();
    sources.variables.insert(limit, "30s".to_owned());
    let mut settings = settings::load(&sources).expect("settings").settings;
    let scratch = tempfile::tempdir().expect("a folder");
    settings.cache.folder = scratch.path().to_path_buf();
    let parts = parts("cares-naptr", &settings).await;
    let target = parts.target.as_deref().expect("a target");
    let baseline = target.baseline().await.expect("a baseline");
    let counted = |rung: &RungResult, what: &str| rung.counts.get(what).copied().unwrap_or(0);
    for (patch, holds) in [
        ("right/upstream", Some(true)),
        ("wrong/ascii-only", Some(false)),
    ] {
        let file = folder("tests/judge/cares-naptr").join(format!("{patch}.diff"));
        let facts = facts(&file, &parts);
        let rung = climb(target, &baseline, &facts, &[], RungName::SameElsewhere).await;
        let rung = rung.expect("a rung");
        assert_eq!(rung.holds, holds, "{patch}: {rung:#?}");
        let away = counted(&rung, "mutants of given turned away");
        assert!(away > 0, "{patch}: {rung:#?}");
        let malformed = counted(&rung, "malformed mutants turned away");
        assert_eq!(malformed == away, holds == Some(true), "{patch}: {rung:#?}");
    }
}

fn judge(rows: &[Row]) {
    let of = |right: bool| rows.iter().filter(move |row| row.right == right);
    let (rights, wrongs) = (of(true).count(), of(false).count());
    let refused = of(false).filter(|row| row.refused.is_some()).count();
    let whole = of(true)
        .filter(|row| row.refused.is_none() && row.open.is_empty())
        .count();
    let lost: Vec<String> = of(true)
        .filter(|row| row.refused.is_some())
        .map(ToString::to_string)
        .collect();
    println!(
        "wrong patches refused: {refused} of {wrongs}; right ones refused: {} of {rights}, of which {whole} hold every rung",
        lost.len()
    );
    assert!(
        lost.is_empty(),
        "right patches are refused:\n{}",
        lost.join("\n")
    );
    let missed: Vec<String> = of(false)
        .filter(|row| row.refused.is_none())
        .map(ToString::to_string)
        .collect();
    assert!(
        refused * 100 >= wrongs * REFUSED,
        "only {refused} of {wrongs} wrong patches are refused:\n{}",
        missed.join("\n")
    );
}
