//! Edits that fit several places alike: the one place where the result parses
//! is taken, once all other edits of the file have theirs.

use super::draft::Draft;
use super::{FilePlan, Plan, Undecided};
use crate::splice::{carry_out, join_neighbours, reduce};
use crate::syntax::{Checked, new_errors};
use patchwright_source::TreePath;

/// Edits with more places than this are not decided.
const MOST_PLACES: usize = 8;

impl Plan<'_> {
    /// Decides what syntax can decide, and refuses the rest.
    pub(super) fn decide_equals(&mut self) {
        let undecided = std::mem::take(&mut self.undecided);
        let alone =
            |path: &TreePath| undecided.iter().filter(|other| other.path == *path).count() == 1;
        let alone: Vec<bool> = undecided.iter().map(|edit| alone(&edit.path)).collect();
        for (edit, alone) in undecided.into_iter().zip(alone) {
            let Undecided {
                path,
                mut drafts,
                refusal,
            } = edit;
            let file = self.files.get(&path).filter(|_| alone);
            match file.and_then(|file| only_one_that_parses(file, &drafts)) {
                Some(index) => {
                    let draft = drafts.swap_remove(index);
                    self.warnings.push(format!(
                        "{path}: edit {} fits {} places; only at line {} does the result parse",
                        draft.piece.edit,
                        drafts.len() + 1,
                        draft.piece.splice.old.start + 1
                    ));
                    self.note(&path, draft);
                }
                None => self.refusals.push(refusal),
            }
        }
    }
}

/// Returns the only draft that leaves the file without new syntax errors.
fn only_one_that_parses(file: &FilePlan, drafts: &[Draft]) -> Option<usize> {
    if drafts.len() > MOST_PLACES {
        return None;
    }
    let mut fitting = drafts
        .iter()
        .enumerate()
        .filter(|(_, draft)| parses(file, draft));
    let (index, _) = fitting.next()?;
    fitting.next().is_none().then_some(index)
}

/// Returns true when a file with its other edits and this one has no new syntax error.
fn parses(file: &FilePlan, draft: &Draft) -> bool {
    let text = &file.pristine.text;
    let others = file.pieces.iter().map(|piece| &piece.splice);
    let mut splices: Vec<_> = others
        .chain([&draft.piece.splice])
        .flat_map(|splice| reduce(text, splice))
        .collect();
    splices.sort_by_key(|splice| (splice.old.start, splice.old.end));
    let overlap = splices.windows(2).any(|pair| match pair {
        [a, b] => b.old.start < a.old.end,
        _ => false,
    });
    if overlap {
        return false;
    }
    let splices = join_neighbours(splices);
    let bytes = carry_out(text, &splices);
    let checked = new_errors(&file.pristine, &splices, &bytes);
    matches!(checked, Checked::Errors(errors) if errors.is_empty())
}
