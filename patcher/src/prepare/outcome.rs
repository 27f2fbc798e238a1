//! Outcome of a patch for each file: its new bytes, and its part of the normal form.

use crate::normal;
use crate::plan::{FilePlan, Plan};
use crate::splice::{Splice, carry_out, join_neighbours, reduce};
use crate::syntax::new_errors;
use patchwright_source::{SyntaxError, Text, TreePath};
use std::collections::BTreeMap;

/// One file after the patch.
pub(super) struct Outcome {
    pub(super) splices: Vec<Splice>,
    pub(super) bytes: Vec<u8>,
    /// The syntax errors that are new; `None` where these cannot be told.
    pub(super) syntax: Option<Vec<SyntaxError>>,
}

/// Carries the pieces of a file out, but for those of some edits.
pub(super) fn outcome_of(file: &FilePlan, without: &[usize]) -> Outcome {
    let text = &file.pristine.text;
    let pieces = file.pieces.iter();
    let pieces = pieces.filter(|piece| !without.contains(&piece.edit));
    let mut joined = join_neighbours(pieces.map(|piece| piece.splice.clone()).collect());
    settle_end(text, file.terminated, &mut joined);
    let splices = joined.iter().flat_map(|splice| reduce(text, splice));
    let splices = join_neighbours(splices.collect());
    let bytes = carry_out(text, 0..text.line_count(), &splices);
    let syntax = new_errors(&file.pristine, &splices, &bytes);
    Outcome {
        splices,
        bytes,
        syntax,
    }
}

/// The file ends as it did, with or without a line end, unless a diff asks for
/// the other.
fn settle_end(text: &Text, terminated: Option<bool>, splices: &mut [Splice]) {
    let count = text.line_count();
    let was = text.ends_with_newline() || count == 0;
    let Some(last) = splices.last_mut().filter(|splice| splice.old.end == count) else {
        return;
    };
    let shall = terminated.unwrap_or(was);
    if !was && last.old.is_empty() && !last.new.is_empty() {
        let end = last.new.first().map_or(&b"\n"[..], |line| {
            if line.ends_with(b"\r\n") {
                b"\r\n"
            } else {
                b"\n"
            }
        });
        let mut line = text.raw_line(count).unwrap_or_default().to_vec();
        line.extend_from_slice(end);
        last.new.insert(0, line);
        last.old.start = count.saturating_sub(1);
    }
    if !shall && last.new.is_empty() && last.old.start > 0 {
        last.old.start -= 1;
        let line = text.raw_line(last.old.start + 1).unwrap_or_default();
        last.new.push(line.to_vec());
    }
    if !shall && let Some(line) = last.new.last_mut() {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        *line = bare.strip_suffix(b"\r").unwrap_or(bare).to_vec();
        // A blank line without its end is no line at all.
        if line.is_empty() {
            last.new.pop();
        }
    }
}

/// Returns the normal form of a patch.
pub(super) fn normal_form(plan: &Plan<'_>, outcomes: &BTreeMap<TreePath, Outcome>) -> String {
    let deleted = plan.deleted.keys().map(|path| format!("delete {path}\n"));
    let renamed = plan.renamed.iter();
    let renamed = renamed.map(|(from, (_, to))| format!("rename {from} to {to}\n"));
    let created = plan.created.iter();
    let created = created.map(|(path, (_, bytes))| normal::of_created(path, bytes));
    let edited = outcomes.iter().filter_map(|(path, outcome)| {
        normal::of_edited(&plan.files.get(path)?.pristine, &outcome.bytes)
    });
    deleted
        .chain(renamed)
        .chain(created)
        .chain(edited)
        .collect()
}
