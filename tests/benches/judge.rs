//! Benchmark of verdicts: judges patches that are known to be right or wrong, and tells
//! how many of each are verified, refused or left open, and by which rung.
//!
//! `cargo bench -p patchwright-tests --bench judge --profile dev -- SET [CASE..] [PATCH..] [OPTION..]`
//!
//! A set is a folder of `CASE/task.toml` and `CASE/patches/{right,wrong}-N.diff`. Each
//! verdict is one line of `target/judge-bench/SET.jsonl`, with what was run and the load
//! of the machine; its report and logs lie in `target/judge-bench/SET/CASE/PATCH`. A
//! second call continues from there, and judges a patch anew when its line was removed.
//! Words after the set choose cases and patches by name. Options:
//!
//! - `--sample=N` takes N right and N wrong patches of each case, always the same ones,
//!   one of each case after the other, in the order in which the cases are named
//! - `--seconds=N` begins no patch after that time
//! - `--results=NAME` instead of the name of the set
//!
//! Any other option is one of `patchwright judge`, as in `--model=NAME`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::format_push_string,
    reason = "a benchmark stops at the first surprise and prints what it measured"
)]

use patchwright_tests::command::Patchwright;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The rungs that come after *tested*, whose time is ours to spend.
const AFTER_TESTED: [&str; 3] = ["robust", "same elsewhere", "reviewed"];

fn main() {
    let (options, words): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|word| word.starts_with("--"));
    let (set, chosen) = words.split_first().unwrap();
    let set = fs::canonicalize(set).unwrap();
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/judge-bench");
    fs::create_dir_all(&results).unwrap();
    let name = option(&options, "--results=")
        .unwrap_or_else(|| set.file_name().unwrap().to_string_lossy().into_owned());
    let file = results.join(format!("{name}.jsonl"));
    let bench = Bench::new(&results, &name, &options);
    let known = recorded(&file);
    let started = Instant::now();
    let most = option(&options, "--seconds=").map_or(Duration::MAX, |most| {
        Duration::from_secs(most.parse().unwrap())
    });
    let mut patches = patches(&set, chosen);
    if let Some(most) = option(&options, "--sample=") {
        patches = sample(patches, chosen, most.parse().unwrap());
    }
    for patch in patches {
        if known.iter().any(|row| patch.is(row)) {
            continue;
        }
        if started.elapsed() > most {
            println!("the time is used up: call again to continue");
            break;
        }
        let row = bench.judged(&patch);
        println!("{}", line(&row));
        // Nothing was judged: a later call tries again.
        if row["ending"] == "infra_error" {
            continue;
        }
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&file)
            .unwrap();
        writeln!(file, "{row}").unwrap();
    }
    print!("{}", table(&recorded(&file)));
}

/// Returns the value of an option of this benchmark.
fn option(options: &[String], name: &str) -> Option<String> {
    let mut values = options.iter().filter_map(|word| word.strip_prefix(name));
    values.next().map(ToOwned::to_owned)
}

/// A patch of a set.
struct Known {
    task: PathBuf,
    file: PathBuf,
    case: String,
    patch: String,
}

impl Known {
    fn is(&self, row: &Value) -> bool {
        row["case"] == *self.case && row["patch"] == *self.patch
    }
}

/// Returns the patches of a set that were chosen; all where none was.
fn patches(set: &Path, chosen: &[String]) -> Vec<Known> {
    let cases: Vec<PathBuf> = folders(set);
    let (patches, names): (Vec<_>, Vec<_>) = chosen
        .iter()
        .partition(|word| word.starts_with("right-") || word.starts_with("wrong-"));
    let mut found = Vec::new();
    for task in cases.iter().filter(|case| case.join("task.toml").is_file()) {
        let case = task.file_name().unwrap().to_string_lossy().into_owned();
        for file in folders(&task.join("patches")) {
            let patch = file.file_stem().unwrap().to_string_lossy().into_owned();
            let wanted = (names.is_empty() || names.iter().any(|name| **name == case))
                && (patches.is_empty() || patches.iter().any(|name| **name == patch));
            if wanted && file.extension().is_some_and(|end| end == "diff") {
                let (task, case) = (task.clone(), case.clone());
                found.push(Known {
                    task,
                    file,
                    case,
                    patch,
                });
            }
        }
    }
    found
}

/// Returns `most` right and `most` wrong patches of each case, drawn without a choice of
/// ours: one of each case after the other, so that a part of them is balanced too.
fn sample(mut patches: Vec<Known>, order: &[String], most: usize) -> Vec<Known> {
    let place = |case: &str| order.iter().position(|name| name == case);
    patches.sort_by_key(|patch| digest(&format!("{}/{}", patch.case, patch.patch)));
    let mut taken: BTreeMap<(String, bool), usize> = BTreeMap::new();
    let mut drawn: Vec<(usize, Known)> = Vec::new();
    for patch in patches {
        let key = (patch.case.clone(), patch.patch.starts_with("right"));
        let round = taken.entry(key).or_default();
        drawn.push((*round, patch));
        *round += 1;
    }
    drawn.retain(|(round, _)| *round < most);
    drawn.sort_by_key(|(round, patch)| {
        let kind = patch.patch.starts_with("wrong");
        (*round, place(&patch.case), patch.case.clone(), kind)
    });
    drawn.into_iter().map(|(_, patch)| patch).collect()
}

/// Returns a number that depends on the text alone, the same on every machine (FNV-1a).
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns the entries of a folder, sorted.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn recorded(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The program under test, and where its reports go.
struct Bench {
    patchwright: Patchwright,
    reports: PathBuf,
    options: Vec<String>,
    commit: String,
}

impl Bench {
    fn new(results: &Path, name: &str, options: &[String]) -> Self {
        let own = ["--bench", "--sample=", "--seconds=", "--results="];
        let options: Vec<String> = options
            .iter()
            .filter(|word| !own.iter().any(|start| word.starts_with(start)))
            .cloned()
            .collect();
        let cache = results.join("cache").display().to_string();
        let patchwright = Patchwright::new()
            .unwrap()
            .with("PATCHWRIGHT_CACHE__FOLDER", &cache)
            .with("PATCHWRIGHT_CACHE__VERDICTS_MB", "0");
        Self {
            patchwright,
            reports: results.join(name),
            options,
            commit: commit(),
        }
    }

    fn judged(&self, patch: &Known) -> Value {
        let started = Instant::now();
        let load = load();
        let out = self.reports.join(&patch.case).join(&patch.patch);
        fs::create_dir_all(out.parent().unwrap()).unwrap();
        let mut command = self
            .patchwright
            .command(&["judge", "--format", "json", "--force"])
            .unwrap();
        command.arg(&patch.task).arg("--patch").arg(&patch.file);
        command.arg("--out").arg(&out).args(&self.options);
        if self.options.iter().any(|word| word.starts_with("--model")) {
            command.arg("--record").arg(out.with_extension("jsonl"));
            for limit in ["CHALLENGES", "CANDIDATES", "REGRESSION_TESTS"] {
                command.env_remove(format!("PATCHWRIGHT_LIMITS__{limit}"));
            }
            command.env_remove("PATCHWRIGHT_CRITIC__CALLS");
        }
        let finished = command.output().unwrap();
        let report: Value = serde_json::from_slice(&finished.stdout)
            .map_err(|error| {
                let problem = String::from_utf8_lossy(&finished.stderr);
                format!("{}: {error}: {problem}", patch.file.display())
            })
            .unwrap();
        let attempt = &report["attempts"][0];
        json!({
            "case": patch.case,
            "patch": patch.patch,
            "ending": report["ending"],
            "detail": report["detail"],
            "seconds": started.elapsed().as_secs_f64(),
            "commit": self.commit,
            "load": [load, self::load()],
            "options": self.options,
            "rungs": attempt["rungs"],
            "doubts": attempt["doubts"],
            "features": attempt["features"],
        })
    }
}

/// Returns the commit of the tree that the program was built from, with a `+` where files
/// differ from it.
fn commit() -> String {
    let arguments = ["describe", "--always", "--dirty=+", "--exclude=*"];
    let output = Command::new("git")
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
}

/// Returns the load of the machine over the last minute.
fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn is_right(row: &Value) -> bool {
    row["patch"].as_str().unwrap().starts_with("right")
}

/// Returns the seconds of the rungs after *tested*.
fn after_tested(row: &Value) -> f64 {
    let rungs = row["rungs"].as_array().into_iter().flatten();
    let ours = rungs.filter(|rung| AFTER_TESTED.iter().any(|name| rung["name"] == *name));
    ours.filter_map(|rung| rung["seconds"].as_f64()).sum()
}

/// Returns the rungs of a row that do not hold, each with its reason; the detail of the
/// ending where no rung was climbed.
fn not_held(row: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if !row["rungs"].is_array() {
        return vec![("no rung was climbed".to_owned(), text(&row["detail"]))];
    }
    let rungs = row["rungs"].as_array().into_iter().flatten();
    rungs
        .filter(|rung| rung["holds"] != true)
        .map(|rung| {
            let what = if rung["holds"] == false {
                "refuses"
            } else {
                "is open"
            };
            let name = format!("{} {what}", text(&rung["name"]));
            (name, text(&rung["reason"]))
        })
        .collect()
}

fn line(row: &Value) -> String {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let mut line = format!(
        "{:20} {:9} {:10} {:6.1} s, {:5.1} s after tested",
        text("case"),
        text("patch"),
        text("ending"),
        row["seconds"].as_f64().unwrap_or_default(),
        after_tested(row)
    );
    for (rung, reason) in not_held(row) {
        let reason: String = reason.chars().take(160).collect();
        line.push_str(&format!("\n    {rung}: {}", reason.replace('\n', " ")));
    }
    line
}

/// The counts of one case, of one kind of patch.
#[derive(Default)]
struct Counts {
    all: usize,
    verified: usize,
    refused: usize,
    open: usize,
}

impl Counts {
    fn add(&mut self, ending: &Value) {
        self.all += 1;
        match ending.as_str().unwrap_or_default() {
            "verified" => self.verified += 1,
            "no_patch" => self.refused += 1,
            _ => self.open += 1,
        }
    }

    fn columns(&self) -> String {
        format!(
            "{:4} {:8} {:7} {:4}",
            self.all, self.verified, self.refused, self.open
        )
    }

    fn share(&self, count: usize) -> String {
        format!(
            "{count} of {} ({} %)",
            self.all,
            count * 100 / self.all.max(1)
        )
    }
}

/// Renders the results by case, and their summary.
fn table(rows: &[Value]) -> String {
    let mut cases: BTreeMap<String, [Counts; 2]> = BTreeMap::new();
    let mut total = [Counts::default(), Counts::default()];
    let mut reasons: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let mut seconds: Vec<f64> = rows.iter().map(after_tested).collect();
    seconds.sort_by(f64::total_cmp);
    for row in rows {
        let case = row["case"].as_str().unwrap().to_owned();
        let kind = usize::from(!is_right(row));
        cases.entry(case).or_default()[kind].add(&row["ending"]);
        total[kind].add(&row["ending"]);
        for (rung, reason) in not_held(row) {
            let plain: String = reason
                .chars()
                .filter(|c| !c.is_ascii_digit())
                .take(90)
                .collect();
            let key = format!("{rung}: {}", plain.replace('\n', " "));
            let kind = if is_right(row) { "right" } else { "wrong" };
            *reasons.entry((key, kind)).or_default() += 1;
        }
    }
    let mut text = format!(
        "\n{:22} right verified refused open   wrong verified refused open\n",
        "case"
    );
    for (case, [right, wrong]) in &cases {
        text.push_str(&format!(
            "{case:22}  {}    {}\n",
            right.columns(),
            wrong.columns()
        ));
    }
    let [right, wrong] = &total;
    text.push_str(&format!(
        "\nright: verified {}, refused {}\nwrong: verified {}, refused {}\n",
        right.share(right.verified),
        right.share(right.refused),
        wrong.share(wrong.verified),
        wrong.share(wrong.refused)
    ));
    let at = |part: usize| {
        seconds
            .get(seconds.len() * part / 100)
            .copied()
            .unwrap_or_default()
    };
    text.push_str(&format!(
        "after tested: half within {:.0} s, nine of ten within {:.0} s\n\n",
        at(50),
        at(90)
    ));
    for ((reason, kind), count) in reasons {
        text.push_str(&format!("{count:4} {kind}  {reason}\n"));
    }
    text
}
