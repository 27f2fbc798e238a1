//! Edits of lines: each is found, carried out and noted.

use super::find::find;
use super::line_edit::{LineEdit, line_edit_of};
use super::{Piece, Plan, check, plan_of, text};
use crate::merge::merge;
use crate::pristine::{Pristine, key};
use crate::refusal::refuse;
use crate::script::{changes, is_elision};
use crate::splice::Splice;
use crate::{Edit, Refusal, Rule};
use patchwright_source::{Language, TreePath};

impl Plan<'_> {
    /// Places an edit of lines.
    pub(super) fn replace(&mut self, number: usize, edit: &Edit) -> Result<(), Refusal> {
        if let Edit::Hunk(hunk) = edit
            && hunk.old.is_empty()
        {
            return self.insert(number, edit);
        }
        let path = self.path_of(edit, true)?;
        let plan = plan_of(&mut self.files, &self.paths, &path)?;
        let file = &plan.pristine;
        let wanted = line_edit_of(edit, file)?;
        check_sides(file, &wanted)?;
        let found = find(file, &wanted, self.background, &mut self.searches)?;
        let place = &found.place;
        let range = place.range.clone();
        if check::stands_already(file, place, &found.reading, &wanted) {
            let at = range.start + 1;
            let reason = format!("what the edit adds stands around line {at} already");
            return refuse(Rule::AlreadyApplied, reason);
        }
        let merged = merge(file, place, &found.reading.old, &found.new, wanted.hunk)
            .map_err(|obstacle| check::blocked(file, place, obstacle))?;
        let terminated = check::termination(file, &wanted, place);
        let new = text::encode(file, range.clone(), &merged, wanted.raw)?;
        if terminated.is_none() && check::is_unchanged(file, place, &merged, &new) {
            let reason =
                "the replacement is what stands there; send a change or leave the edit out";
            return refuse(Rule::NoChange, reason);
        }
        let repeated = check::repeated_behind(file, place, &merged);
        self.warnings.extend(repeated.map(|count| {
            format!(
                "{path}: the last {count} lines of edit {number} stand again right behind it; \
                 is the replacement longer than the original?"
            )
        }));
        plan.terminated = terminated.or(plan.terminated);
        plan.pieces.push(Piece {
            edit: number,
            splice: Splice::new(range.clone(), new),
            shares_context: wanted.hunk,
        });
        self.place(number, &path, (range.start, range.end), place.kind);
        Ok(())
    }

    /// The file of an edit. `verified`: its content will be compared.
    pub(super) fn path_of(&self, edit: &Edit, verified: bool) -> Result<TreePath, Refusal> {
        match self.renamed_from(edit.file()) {
            Some(path) => Ok(path),
            None => self.paths.existing(edit.file(), verified),
        }
    }
}

/// Refuses an edit that changes nothing, or whose new lines leave lines out.
fn check_sides(file: &Pristine, wanted: &LineEdit<'_>) -> Result<(), Refusal> {
    if wanted.old == wanted.new && wanted.open.is_none_or(|(old, new)| old == new) {
        return refuse(Rule::NoChange, "both sides of the edit are the same");
    }
    elision(file, wanted).map_or(Ok(()), |line| {
        let reason = format!(
            "the new lines leave lines out (`{line}`); write every line, or quote fewer of \
             the old ones"
        );
        refuse(Rule::Incomplete, reason)
    })
}

/// A new line that stands for lines which its writer left out: what the edit
/// would put there is not known.
fn elision(file: &Pristine, wanted: &LineEdit<'_>) -> Option<String> {
    let python = file.language == Some(Language::Python);
    let stands = |line: &String| {
        let code = python && line.trim() == "...";
        is_elision(line) && !code && file.with_key(key(line)).is_empty()
    };
    let changes = changes(&wanted.old, &wanted.new);
    let mut added = changes.iter().flat_map(|change| change.new);
    Some(added.find(|line| stands(line))?.trim().to_owned())
}
