//! Report of a patch that can be applied: its changes, the lines it touches,
//! new syntax errors, names that exist nowhere.

use super::outcome::{Outcome, normal_form};
use crate::diff::{as_text, diff_of_splices};
use crate::plan::{FilePlan, Plan};
use crate::pristine::line_number;
use crate::splice::Splice;
use crate::{Prepared, Touched, names};
use patchwright_source::{Language, TreePath};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn finish(mut plan: Plan<'_>, mut outcomes: BTreeMap<TreePath, Outcome>) -> Prepared {
    let mut prepared = Prepared {
        placements: std::mem::take(&mut plan.placements),
        warnings: std::mem::take(&mut plan.warnings),
        normal_form: normal_form(&plan, &outcomes),
        ..Prepared::default()
    };
    let introduced = all_introduced(&plan, &outcomes);
    for (path, (_, bytes)) in std::mem::take(&mut plan.created) {
        look_at_new_file(&mut prepared, &path, bytes);
    }
    for (path, outcome) in &mut outcomes {
        look_at_edited_file(&mut prepared, &plan, &introduced, (path, outcome));
    }
    prepared.touched.sort_by(|a, b| a.path.cmp(&b.path));
    prepared.changes.deleted = plan.deleted.into_keys().collect();
    let renamed = plan.renamed.into_iter().map(|(from, (_, to))| (from, to));
    prepared.changes.renamed = renamed.collect();
    let known = |path: &TreePath| Some(outcomes.get(path)?.splices.as_slice());
    prepared.diff_bytes = diff_of_splices(plan.paths.tree, &prepared.changes, &known);
    (prepared.diff, _) = as_text(&prepared.diff_bytes);
    prepared
}

/// Every name that the patch brings with it.
fn all_introduced(plan: &Plan<'_>, outcomes: &BTreeMap<TreePath, Outcome>) -> BTreeSet<String> {
    let mut introduced = BTreeSet::new();
    for (path, outcome) in outcomes {
        if let Some(file) = plan.files.get(path) {
            let lines = new_text(file, outcome);
            introduced.extend(names::introduced(file.pristine.language, &lines));
        }
    }
    for (path, (_, bytes)) in &plan.created {
        let lines = created_lines(bytes);
        introduced.extend(names::introduced(Language::of_path(path), &lines));
        introduced.insert(path.file_name().to_owned());
    }
    introduced
}

fn look_at_edited_file(
    prepared: &mut Prepared,
    plan: &Plan<'_>,
    introduced: &BTreeSet<String>,
    (path, outcome): (&TreePath, &mut Outcome),
) {
    let Some(file) = plan.files.get(path) else {
        return;
    };
    let renamed = plan.renamed.get(path);
    let target = renamed.map_or(path, |(_, to)| to).clone();
    let lines = new_text(file, outcome);
    let tree = plan.paths.tree;
    let in_tree = |name: &str| {
        let beside = format!("{}/{name}", path.folder());
        [name, beside.trim_start_matches('/')].iter().any(|name| {
            name.contains('.') && TreePath::new(name).is_ok_and(|path| tree.has_file(&path))
        })
    };
    let knows =
        |name: &str| introduced.contains(name) || (plan.background.knows)(name) || in_tree(name);
    let unknown = names::unknown_names(&file.pristine, &lines, &knows);
    prepared.warnings.extend(unknown);
    match &mut outcome.syntax {
        Some(errors) => {
            let errors = errors.drain(..).map(|error| (target.clone(), error));
            prepared.syntax_errors.extend(errors);
        }
        None => prepared.warnings.push(format!(
            "{path}: too large or too many edits to check the syntax"
        )),
    }
    prepared.touched.push(touched(path, &outcome.splices));
    let bytes = std::mem::take(&mut outcome.bytes);
    prepared.changes.files.insert(target, bytes);
}

fn new_text(file: &FilePlan, outcome: &Outcome) -> Vec<String> {
    let lines = outcome.splices.iter().flat_map(|splice| &splice.new);
    lines
        .map(|line| file.pristine.text.decode(line).trim_end().to_owned())
        .collect()
}

fn created_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(str::to_owned).collect()
}

fn look_at_new_file(prepared: &mut Prepared, path: &TreePath, bytes: Vec<u8>) {
    if let Some(language) = Language::of(path, &bytes)
        && let Some(tree) = patchwright_source::parse(language, &bytes)
    {
        let errors = patchwright_source::syntax_errors(&tree, &bytes, 20);
        let errors = errors.into_iter().map(|error| (path.clone(), error));
        prepared.syntax_errors.extend(errors);
    }
    let count = u32::try_from(created_lines(&bytes).len()).unwrap_or(u32::MAX);
    prepared.touched.push(Touched {
        path: path.clone(),
        old: Vec::new(),
        new: (count > 0).then_some((1, count)).into_iter().collect(),
    });
    prepared.changes.files.insert(path.clone(), bytes);
}

/// The touched lines of a file.
fn touched(path: &TreePath, splices: &[Splice]) -> Touched {
    let mut touched = Touched {
        path: path.clone(),
        old: Vec::new(),
        new: Vec::new(),
    };
    let mut shift = 0_isize;
    for splice in splices {
        let (start, end) = (splice.old.start, splice.old.end);
        touched.old.push(if splice.old.is_empty() {
            // An insertion follows a line; 0 is the top.
            let before = start.checked_sub(1).map_or(0, line_number);
            (before, before)
        } else {
            (line_number(start), line_number(end - 1))
        });
        let new_start = start.saturating_add_signed(shift);
        if let Some(count) = splice.new.len().checked_sub(1) {
            let range = (line_number(new_start), line_number(new_start + count));
            touched.new.push(range);
        }
        shift += splice.growth();
    }
    touched
}
