//! From edits to changes: all or nothing.

mod conflict;
mod outcome;
mod report;

use crate::guard::{LARGEST_DIFF, MOST_EDITS, MOST_FILES};
use crate::plan::Plan;
use crate::{Background, Edit, Guard, Patch, Placement, PlacementKind, Prepared, Refusal, Rule};
use conflict::{find_conflicts, refusal_of};
use outcome::{Outcome, outcome_of};
use patchwright_source::{Tree, TreePath};
use report::finish;
use std::collections::BTreeMap;

/// Finds the place of every edit and makes the changes, or says of every edit
/// that cannot be taken why. `knows` tells whether a name is known in the tree
/// or its headers.
pub fn prepare(
    tree: &Tree,
    patch: &Patch,
    guard: &Guard,
    knows: &dyn Fn(&str) -> bool,
) -> Result<Prepared, Vec<Refusal>> {
    let background = Background {
        knows,
        attempts: &[],
    };
    prepare_after(tree, patch, guard, &background)
}

/// Does the same for a writer who has tried before, and says so where an edit
/// quotes an earlier attempt.
pub fn prepare_after(
    tree: &Tree,
    patch: &Patch,
    guard: &Guard,
    background: &Background<'_>,
) -> Result<Prepared, Vec<Refusal>> {
    if patch.edits.is_empty() {
        let reason = "there is no edit in the patch";
        return Err(vec![Refusal::new(Rule::Incomplete, reason)]);
    }
    let count = patch.edits.len();
    if count > MOST_EDITS {
        let reason =
            format!("the patch has {count} edits, more than the {MOST_EDITS} that are taken");
        return Err(vec![Refusal::new(Rule::TooLarge, reason)]);
    }
    let mut plan = Plan::make(tree, &patch.edits, guard, background);
    find_conflicts(&mut plan, &patch.edits);
    if plan.refusals.is_empty() {
        assemble(plan, &patch.edits)
    } else {
        plan.refusals.sort_by_key(|refusal| refusal.edit);
        Err(plan.refusals)
    }
}

/// Reads a unified diff that somebody else made, by the same rules; its files need not be UTF-8.
pub fn read_diff_bytes(
    tree: &Tree,
    diff: &[u8],
    guard: &Guard,
    knows: &dyn Fn(&str) -> bool,
) -> Result<Prepared, Vec<Refusal>> {
    prepare(tree, &Patch::from_diff(diff), guard, knows)
}

fn assemble(plan: Plan<'_>, edits: &[Edit]) -> Result<Prepared, Vec<Refusal>> {
    let guard = plan.paths.guard;
    let mut outcomes: BTreeMap<TreePath, Outcome> = BTreeMap::new();
    let mut refusals = Vec::new();
    for (path, file) in &plan.files {
        let outcome = outcome_of(file, &[]);
        let number = file.pieces.first().map_or(0, |piece| piece.edit);
        if outcome.splices.is_empty() {
            let reason = "the edits leave the file as it is".to_owned();
            refusals.push(refusal_of(edits, number, Rule::NoChange, reason));
        }
        let name = plan.renamed.get(path).map_or(path, |(_, to)| to);
        if let Err(Refusal { rule, reason, .. }) = guard.check_content(name, &outcome.bytes) {
            refusals.push(refusal_of(edits, number, rule, reason));
        }
        refusals.extend(
            broken_by_alignment(&plan, path, &outcome)
                .map(|(number, reason)| refusal_of(edits, number, Rule::NotFound, reason)),
        );
        outcomes.insert(path.clone(), outcome);
    }
    let count = outcomes.len() + plan.created.len() + plan.deleted.len() + plan.renamed.len();
    if count > MOST_FILES {
        let reason = format!("the patch touches {count} files, more than {MOST_FILES}");
        refusals.push(Refusal::new(Rule::TooLarge, reason));
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let prepared = finish(plan, outcomes);
    let bytes = prepared.diff_bytes.len();
    if bytes > LARGEST_DIFF {
        let reason = format!(
            "the diff has {bytes} bytes, more than the {LARGEST_DIFF} that are taken; change less"
        );
        return Err(vec![Refusal::new(Rule::TooLarge, reason)]);
    }
    Ok(prepared)
}

/// An edit whose original does not stand where it was placed as it is quoted,
/// and without which a file would have fewer new syntax errors.
fn broken_by_alignment(
    plan: &Plan<'_>,
    path: &TreePath,
    outcome: &Outcome,
) -> Option<(usize, String)> {
    let errors = outcome.syntax.as_ref()?;
    let first = errors.first()?;
    let is_aligned =
        |place: &&Placement| place.how == PlacementKind::Similar && place.file == *path;
    let aligned: Vec<&Placement> = plan.placements.iter().filter(is_aligned).collect();
    let place = aligned.first()?;
    let edits: Vec<usize> = aligned.iter().map(|place| place.edit).collect();
    let without = outcome_of(plan.files.get(path)?, &edits).syntax;
    if without.is_some_and(|others| others.len() >= errors.len()) {
        return None;
    }
    let reason = format!(
        "the original does not stand in the file as it is quoted; where most of it stands, at \
         lines {}-{}, the result has a syntax error at its line {}: {}",
        place.lines.0, place.lines.1, first.line, first.what
    );
    Some((place.edit, reason))
}
