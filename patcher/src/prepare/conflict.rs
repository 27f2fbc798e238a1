//! Edits that cannot go together: those of the same lines, and those of a file
//! that another edit takes away.

use crate::plan::{FilePlan, Piece, Plan};
use crate::splice::reduce;
use crate::{Edit, Refusal, Rule};

/// Edits that want the same lines, or a file that another edit takes away.
pub(super) fn find_conflicts(plan: &mut Plan<'_>, edits: &[Edit]) {
    let mut refusals = Vec::new();
    for (path, file) in &mut plan.files {
        if let Some(deletion) = plan.deleted.get(path) {
            refusals.extend(file.pieces.iter().map(|piece| {
                let reason = format!("edit {deletion} deletes {path}");
                refusal_of(edits, piece.edit, Rule::Overlap, reason)
            }));
            continue;
        }
        sort_pieces(file, &mut plan.warnings);
        refusals.extend(overlaps(file, edits));
    }
    for (path, deletion) in &plan.deleted {
        if let Some((rename, _)) = plan.renamed.get(path) {
            let reason = format!("edit {rename} renames {path}");
            refusals.push(refusal_of(edits, *deletion, Rule::Overlap, reason));
        }
    }
    for (path, (creation, _)) in &plan.created {
        if let Some((_, (rename, _))) = plan.renamed.iter().find(|(_, (_, to))| to == path) {
            let reason = format!("edit {rename} renames a file to {path}");
            refusals.push(refusal_of(edits, *creation, Rule::Overlap, reason));
        }
    }
    plan.refusals.extend(refusals);
}

/// Refuses an edit by its number; 0 stands for the patch as a whole.
pub(super) fn refusal_of(edits: &[Edit], number: usize, rule: Rule, reason: String) -> Refusal {
    let refusal = Refusal::new(rule, reason);
    let edit = number.checked_sub(1).and_then(|index| edits.get(index));
    match edit {
        Some(edit) => edit.refused(number, refusal),
        None => refusal,
    }
}

/// Puts the pieces of a file in order, repeated ones once.
pub(super) fn sort_pieces(file: &mut FilePlan, warnings: &mut Vec<String>) {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in std::mem::take(&mut file.pieces) {
        let twin = pieces
            .iter()
            .find(|other| other.splice == piece.splice && !piece.splice.old.is_empty());
        if let Some(twin) = twin {
            warnings.push(format!("edit {} repeats edit {}", piece.edit, twin.edit));
        } else if piece.shares_context {
            let mut parts = reduce(&file.pristine.text, &piece.splice);
            if parts.is_empty() && file.terminated.is_some() {
                parts.push(piece.splice);
            }
            let parts = parts.into_iter();
            pieces.extend(parts.map(|splice| Piece { splice, ..piece }));
        } else {
            pieces.push(piece);
        }
    }
    pieces.sort_by_key(|piece| (piece.splice.old.start, piece.splice.old.end, piece.edit));
    file.pieces = pieces;
}

/// Pieces that reach into the one before.
pub(super) fn overlaps(file: &FilePlan, edits: &[Edit]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut widest: Option<&Piece> = None;
    for piece in &file.pieces {
        if let Some(before) = widest
            && piece.splice.old.start < before.splice.old.end
        {
            let (other, old) = (before.edit, &before.splice.old);
            let (first, last) = (old.start + 1, old.end);
            let reason = format!(
                "it overlaps with edit {other}, which replaces lines {first}-{last}; join the two \
                 into one edit"
            );
            refusals.push(refusal_of(edits, piece.edit, Rule::Overlap, reason));
        }
        if widest.is_none_or(|before| piece.splice.old.end > before.splice.old.end) {
            widest = Some(piece);
        }
    }
    refusals
}
