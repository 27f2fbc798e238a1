//! Edits of lines: each is found, drafted and noted.

use super::Plan;
use super::draft::{Draft, draft};
use super::find::find;
use super::line_edit::{LineEdit, line_edit_of};
use crate::pristine::{Pristine, key};
use crate::script::{changes, is_elision};
use crate::{Edit, Refusal, Rule};
use patchwright_source::{Language, TreePath};
use std::rc::Rc;

impl Plan<'_> {
    /// Places an edit of lines.
    pub(super) fn replace(&mut self, number: usize, edit: &Edit) -> Result<(), Refusal> {
        if let Edit::Hunk(hunk) = edit
            && hunk.old.is_empty()
        {
            return self.insert(number, edit);
        }
        let path = self.path_of(edit, true)?;
        let background = self.background;
        let searches = Rc::clone(&self.searches);
        let file = &self.file(&path)?.pristine;
        let wanted = line_edit_of(number, edit, file)?;
        if wanted.changes_nothing() {
            return Err(Refusal::new(
                Rule::NoChange,
                "both sides of the edit are the same",
            ));
        }
        if let Some(line) = elision(file, &wanted) {
            let reason = format!(
                "the new lines leave lines out (`{line}`); write every line, or quote fewer of \
                 the old ones"
            );
            return Err(Refusal::new(Rule::Incomplete, reason));
        }
        let found = find(file, &wanted, background, &searches)?;
        let draft = draft(file, &wanted, &found)?;
        self.note(&path, draft);
        Ok(())
    }

    /// Notes an edit whose place is certain.
    fn note(&mut self, path: &TreePath, draft: Draft) {
        let number = draft.piece.edit;
        let range = (draft.piece.splice.old.start, draft.piece.splice.old.end);
        if let Some(count) = draft.repeated {
            self.warnings.push(format!(
                "{path}: the last {count} lines of edit {number} stand again right behind it; \
                 is the replacement longer than the original?"
            ));
        }
        self.place(number, path, range, draft.kind);
        if let Some(plan) = self.files.get_mut(path) {
            plan.terminated = draft.terminated.or(plan.terminated);
            plan.pieces.push(draft.piece);
        }
    }

    /// The file of an edit. `verified`: its content will be compared.
    pub(super) fn path_of(&mut self, edit: &Edit, verified: bool) -> Result<TreePath, Refusal> {
        match self.renamed_from(edit.file()) {
            Some(path) => Ok(path),
            None => Ok(self.paths.existing(edit.file(), verified)?),
        }
    }
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
