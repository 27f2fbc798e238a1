//! Raw diffs of a folder, taken or refused: the figures of `docs/benchmarks.md`.
//!
//! `cargo bench -p patchwright-patcher --bench diffs -- FOLDER [--show CASE/NAME]..`
//! reads every `FOLDER/CASE/*.diff` against `FOLDER/CASE/tree` and prints one
//! line for each: the outcome, and the placements or the rules of the refusals.
//! `--show` prints the whole answer to the diffs whose name begins like this.
//!
//! With `--disturb COUNT [--seed N] [--seconds N] [--longest LINES]` it disturbs the
//! edits whose place is certain as models do, in all forms, and prints how many of
//! them land where. With `--undisturbed yes` it places these edits as they are.

#[path = "diffs/perturb.rs"]
#[expect(
    clippy::indexing_slicing,
    reason = "the same code is a test, where it may"
)]
mod perturb;

use patchwright_patcher::{Guard, Prepared, Refusal, read_diff_bytes};
use patchwright_source::Tree;
use perturb::Base;
use perturb::disturb::Dice;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The seed of the disturbances where none is named.
const SEED: u64 = 17;

/// Options of the command line.
struct Wanted {
    folder: PathBuf,
    shown: Vec<String>,
    /// Number of disturbed edits to place, and true where kinds of disturbance
    /// are drawn by their share.
    disturbed: Option<(usize, bool)>,
    /// True where the edits are placed as they are.
    undisturbed: bool,
    seed: u64,
    /// Time after which no more edits are disturbed.
    time: Duration,
    /// Edits of longer files are left out, in lines.
    longest: usize,
}

/// The sums over all diffs.
#[derive(Default)]
struct Sums {
    diffs: usize,
    taken: usize,
    by_placement: BTreeMap<String, usize>,
    by_rule: BTreeMap<String, usize>,
    slowest: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let Some(wanted) = arguments() else {
        writeln!(out, "diffs: no folder was named, nothing to read")?;
        return Ok(());
    };
    if let Some((count, by_share)) = wanted.disturbed {
        return disturb(&wanted, (count, by_share), &mut out);
    }
    let mut sums = Sums::default();
    for case in entries(&wanted.folder)? {
        if case.join("tree").is_dir() {
            read_case(&wanted, &case, &mut sums, &mut out)?;
        }
    }
    writeln!(out, "\n{} of {} taken", sums.taken, sums.diffs)?;
    for (name, count) in &sums.by_placement {
        writeln!(out, "  taken, least faithful placement {name}: {count}")?;
    }
    for (name, count) in &sums.by_rule {
        writeln!(out, "  refused, first rule {name}: {count}")?;
    }
    writeln!(out, "slowest: {:?}", sums.slowest)?;
    Ok(())
}

fn arguments() -> Option<Wanted> {
    let mut given = std::env::args().skip(1).filter(|word| word != "--bench");
    let mut wanted = Wanted {
        folder: PathBuf::from(given.next()?),
        shown: Vec::new(),
        disturbed: None,
        undisturbed: false,
        seed: SEED,
        time: Duration::MAX,
        longest: usize::MAX,
    };
    while let (Some(option), Some(value)) = (given.next(), given.next()) {
        match option.as_str() {
            "--show" => wanted.shown.push(value),
            "--longest" => wanted.longest = value.parse().ok()?,
            "--seconds" => wanted.time = Duration::from_secs(value.parse().ok()?),
            "--seed" => wanted.seed = value.parse().ok()?,
            "--undisturbed" => (wanted.undisturbed, wanted.disturbed) = (true, Some((0, true))),
            "--disturb" => wanted.disturbed = Some((value.parse().ok()?, true)),
            "--disturb-evenly" => wanted.disturbed = Some((value.parse().ok()?, false)),
            _ => return None,
        }
    }
    Some(wanted)
}

/// Places disturbed edits, and counts for each disturbance what came of them.
fn disturb(
    wanted: &Wanted,
    (count, by_share): (usize, bool),
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let bases: Vec<Base> = entries(&wanted.folder)?
        .iter()
        .filter_map(|case| Base::read(case, &case.join("tree")))
        .map(|base| base.up_to(wanted.longest))
        .filter(|base| !base.sketches.is_empty())
        .collect();
    let edits: usize = bases.iter().map(|base| base.sketches.len()).sum();
    writeln!(
        out,
        "{edits} edits whose place is certain, in {} trees",
        bases.len()
    )?;
    let mut table = Table::default();
    if wanted.undisturbed {
        for trial in bases.iter().flat_map(Base::undisturbed) {
            table.count(&trial, out)?;
        }
        return table.write(out);
    }
    let mut dice = Dice(wanted.seed);
    let started = Instant::now();
    while table.done < count && started.elapsed() < wanted.time {
        let base = dice.one_of(&bases);
        if let Some(trial) = base.and_then(|base| base.trial(&mut dice, by_share)) {
            table.count(&trial, out)?;
        }
    }
    table.write(out)
}

/// Outcomes of disturbed edits by disturbance and by form: right, refused, where they
/// say, wrong.
#[derive(Default)]
struct Table {
    rows: BTreeMap<&'static str, [usize; 4]>,
    done: usize,
}

impl Table {
    fn count(&mut self, trial: &perturb::Trial, out: &mut impl Write) -> io::Result<()> {
        self.done += 1;
        let mut print = |word: &str, after: &str| {
            let (names, text) = (&trial.names, &trial.text);
            writeln!(out, "{word} {names:?}\n{text}\n--- taken ---\n{after}")
        };
        let column = match &trial.outcome {
            perturb::Outcome::Right => 0,
            perturb::Outcome::Refused => {
                if trial.names == ["undisturbed"] {
                    print("REFUSED", "")?;
                }
                1
            }
            perturb::Outcome::Named => {
                print("NAMED", "where it says")?;
                2
            }
            perturb::Outcome::Wrong(diff) => {
                print("WRONG", diff)?;
                3
            }
        };
        for name in trial.names.iter().chain([&trial.form, &"all"]) {
            if let Some(cell) = self.rows.entry(name).or_default().get_mut(column) {
                *cell += 1;
            }
        }
        Ok(())
    }

    fn write(&self, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
        for (name, [right, refused, named, wrong]) in &self.rows {
            writeln!(
                out,
                "{name}\tright {right}\trefused {refused}\twhere it says {named}\twrong {wrong}"
            )?;
        }
        writeln!(out, "{} placed", self.done)?;
        Ok(())
    }
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn read_case(
    wanted: &Wanted,
    case: &Path,
    sums: &mut Sums,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let tree = Tree::open(&case.join("tree"))?;
    let guard = Guard::new(&[])?;
    for path in entries(case)? {
        if path.extension().is_none_or(|extension| extension != "diff") {
            continue;
        }
        let name = format!("{}/{}", name_of(case), name_of(&path));
        let diff = fs::read(&path)?;
        let started = Instant::now();
        let answer = read_diff_bytes(&tree, &diff, &guard, &|_| true);
        let spent = started.elapsed();
        sums.slowest = sums.slowest.max(spent);
        let line = sums.count(&answer);
        writeln!(out, "{name}\t{}ms\t{line}", spent.as_millis())?;
        if wanted
            .shown
            .iter()
            .any(|shown| name.starts_with(shown.as_str()))
        {
            show(&diff, &answer, out)?;
        }
    }
    Ok(())
}

impl Sums {
    /// Counts an answer and describes it in a line.
    fn count(&mut self, answer: &Result<Prepared, Vec<Refusal>>) -> String {
        self.diffs += 1;
        match answer {
            Ok(prepared) => {
                self.taken += 1;
                let how = prepared.placements.iter().map(|place| place.how);
                let least = how.max().map_or("none".to_owned(), |how| how.to_string());
                *self.by_placement.entry(least).or_default() += 1;
                let places: Vec<String> = prepared
                    .placements
                    .iter()
                    .map(|place| format!("{}@{}-{}", place.how, place.lines.0, place.lines.1))
                    .collect();
                format!(
                    "taken\t{}\t{}",
                    prepared.syntax_errors.len(),
                    places.join(" ")
                )
            }
            Err(refusals) => {
                let first = refusals
                    .first()
                    .map_or("none".to_owned(), |refusal| refusal.rule.to_string());
                *self.by_rule.entry(first).or_default() += 1;
                let rules: Vec<String> = refusals
                    .iter()
                    .map(|refusal| format!("{}:{}", refusal.edit, refusal.rule))
                    .collect();
                format!("refused\t{}", rules.join(" "))
            }
        }
    }
}

fn show(
    diff: &[u8],
    answer: &Result<Prepared, Vec<Refusal>>,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "--- given ---\n{}", String::from_utf8_lossy(diff))?;
    match answer {
        Ok(prepared) => {
            writeln!(out, "--- taken ---\n{}", prepared.diff)?;
            for warning in &prepared.warnings {
                writeln!(out, "warning: {warning}")?;
            }
            for (path, error) in &prepared.syntax_errors {
                writeln!(out, "syntax: {path}:{} {}", error.line, error.what)?;
            }
        }
        Err(refusals) => {
            for refusal in refusals {
                writeln!(out, "--- refused ---\n{refusal}")?;
            }
        }
    }
    writeln!(out)
}
