//! Metrics of a context, the same for every system.

use super::cases::{Case, Place};
use super::world::World;
use patchwright_source::TreePath;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Describes what a system returned.
pub(super) struct Outcome {
    pub(super) symbols: Vec<String>,
    /// The lines shown of each file.
    pub(super) shown: Vec<(TreePath, Vec<(u32, u32)>)>,
    pub(super) tokens: usize,
    pub(super) milliseconds: f64,
    pub(super) intent: Option<String>,
}

/// One case's figures.
pub(super) struct Score {
    pub(super) group: &'static str,
    pub(super) half: String,
    pub(super) recall: f64,
    /// Not a number where no release repaired the bug.
    pub(super) fix_lines: f64,
    pub(super) wrong_files: f64,
    /// Precision and recall of files in one.
    pub(super) f1: f64,
    pub(super) efficiency: f64,
    pub(super) tokens: usize,
    pub(super) milliseconds: f64,
    pub(super) intent_right: Option<bool>,
    pub(super) missing: Vec<String>,
}

impl Score {
    pub(super) fn of(case: &Case, hunks: &Hunks, outcome: &Outcome) -> Self {
        let missing: Vec<String> = case
            .functions
            .iter()
            .filter(|function| !outcome.symbols.iter().any(|have| is_named(have, function)))
            .cloned()
            .collect();
        let wanted: BTreeSet<TreePath> = case
            .files
            .iter()
            .map(|path| TreePath::new(path).unwrap())
            .collect();
        let found: BTreeSet<TreePath> =
            outcome.shown.iter().map(|(path, _)| path.clone()).collect();
        let right = found.intersection(&wanted).count() as f64;
        let recall = 1.0 - missing.len() as f64 / case.functions.len() as f64;
        Self {
            group: if case.is_crash { "crash" } else { "request" },
            half: case.half.clone(),
            recall,
            fix_lines: fix_lines(hunks, outcome),
            wrong_files: 1.0 - right / found.len().max(1) as f64,
            f1: 2.0 * right / (found.len() + wanted.len()).max(1) as f64,
            efficiency: recall / (outcome.tokens.max(1) as f64 / 1000.0),
            tokens: outcome.tokens,
            milliseconds: outcome.milliseconds,
            intent_right: case
                .intent
                .as_ref()
                .and_then(|wanted| outcome.intent.as_ref().map(|intent| intent == wanted)),
            missing,
        }
    }
}

/// Returns whether a name with its scope ends in the wanted one: `a.b.C.m` is `C.m`.
pub(super) fn is_named(have: &str, wanted: &str) -> bool {
    let parts = |name: &str| -> Vec<String> {
        name.split(['.', ':', '$'])
            .filter(|part| !part.is_empty())
            .map(|part| part.trim_end_matches("()").to_owned())
            .collect()
    };
    let (have, wanted) = (parts(have), parts(wanted));
    have.len() >= wanted.len() && have[have.len() - wanted.len()..] == wanted[..]
}

/// Lines that the real fix changes, inside the functions that it changes.
pub(super) type Hunks = Vec<(TreePath, (u32, u32))>;

/// Returns the hunks of the real fix; none where no release repaired the bug.
pub(super) fn hunks(world: &World, case: &Case, place: &Place) -> Hunks {
    if let Some(lines) = &case.lines {
        return lines.clone();
    }
    let mut hunks = Hunks::new();
    let Some(repaired) = &place.repaired else {
        return hunks;
    };
    for path in case.files.iter().map(|path| TreePath::new(path).unwrap()) {
        let Some(new) = find_repaired(repaired, path.as_str()) else {
            continue;
        };
        let (old, new) = (
            world.text(&path),
            String::from_utf8_lossy(&new).into_owned(),
        );
        let diff = similar::TextDiff::from_lines(&old, &new);
        for operation in diff.ops() {
            if operation.tag() == similar::DiffTag::Equal {
                continue;
            }
            let range = operation.old_range();
            let first = (range.start as u32 + u32::from(!range.is_empty())).max(1);
            let last = (range.end as u32).max(first);
            let inside = world.engine.function_at(&path, first).unwrap();
            let counts = inside.is_some_and(|name| {
                case.functions
                    .iter()
                    .any(|one| is_named(one, &name) || name.ends_with("operator()"))
            });
            if counts {
                hunks.push((path.clone(), (first, last)));
            }
        }
    }
    hunks
}

/// The share of the hunks whose lines are in the returned text.
fn fix_lines(hunks: &Hunks, outcome: &Outcome) -> f64 {
    if hunks.is_empty() {
        return f64::NAN;
    }
    let shown = hunks
        .iter()
        .filter(|(path, lines)| is_shown(outcome, path, *lines));
    shown.count() as f64 / hunks.len() as f64
}

fn is_shown(outcome: &Outcome, path: &TreePath, (first, last): (u32, u32)) -> bool {
    outcome
        .shown
        .iter()
        .filter(|(shown, _)| shown == path)
        .flat_map(|(_, ranges)| ranges)
        .any(|(from, to)| *from <= first && last <= *to)
}

/// The same file in the repaired tree, whose folder may carry another version.
fn find_repaired(root: &Path, path: &str) -> Option<Vec<u8>> {
    if let Ok(bytes) = std::fs::read(root.join(path)) {
        return Some(bytes);
    }
    let (_, tail) = path.split_once('/')?;
    let folders = std::fs::read_dir(root).ok()?;
    let mut found: Vec<PathBuf> = folders
        .flatten()
        .map(|entry| entry.path().join(tail))
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    std::fs::read(found.last()?).ok()
}
