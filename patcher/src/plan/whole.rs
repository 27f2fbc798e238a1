//! Edits of whole files: created, deleted, renamed. What it deliberately does
//! not do: look at single lines.

use super::Plan;
use crate::refusal::refuse;
use crate::{PlacementKind, Refusal, Rule};
use patchwright_source::TreePath;

impl Plan<'_> {
    pub(super) fn create(
        &mut self,
        number: usize,
        path: TreePath,
        bytes: Vec<u8>,
    ) -> Result<(), Refusal> {
        if self.paths.is_taken(&path) {
            let old = self.paths.tree.read(&path);
            let (rule, aside) = if old.is_ok_and(|old| old.bytes() == bytes) {
                (Rule::AlreadyApplied, ", with this content")
            } else {
                (Rule::Exists, "; change it with <edit>")
            };
            return refuse(rule, format!("{path} is there already{aside}"));
        }
        self.paths.guard.check_content(&path, &bytes)?;
        if let Some((other, _)) = self.created.get(&path) {
            let reason = format!("edit {other} creates {path} as well");
            return refuse(Rule::Overlap, reason);
        }
        let count = bytes.split_inclusive(|byte| *byte == b'\n').count();
        self.place(number, &path, (0, count), PlacementKind::Created);
        self.created.insert(path, (number, bytes));
        Ok(())
    }

    pub(super) fn delete(
        &mut self,
        number: usize,
        file: &str,
        original: Option<&str>,
    ) -> Result<(), Refusal> {
        let path = self.paths.existing(file, original.is_some())?;
        let pristine = self.paths.load(&path)?;
        if let Some(original) = original {
            let text = pristine.text.decode(pristine.text.bytes());
            if !crate::pristine::same_but_space(&text, original) {
                let reason = "the file is to go, but its content is not what the edit says; \
                              to remove lines send <edit> with an empty <replacement>";
                return refuse(Rule::NotFound, reason);
            }
        }
        if let Some(other) = self.deleted.insert(path.clone(), number) {
            let reason = format!("edit {other} deletes {path} already");
            return refuse(Rule::Overlap, reason);
        }
        self.place(number, &path, (0, pristine.count()), PlacementKind::Deleted);
        Ok(())
    }

    pub(super) fn rename(&mut self, number: usize, from: &str, to: &str) -> Result<(), Refusal> {
        if to.is_empty() {
            return refuse(Rule::Incomplete, "the new name is missing");
        }
        let old = self.paths.existing(from, false)?;
        let pristine = self.paths.load(&old)?;
        let new = self.paths.fresh(to)?;
        if old == new {
            return refuse(Rule::NoChange, format!("{old} has this name already"));
        }
        if self.paths.is_taken(&new) {
            return refuse(Rule::Exists, format!("{new} is there already"));
        }
        let mut renamed = self.renamed.iter();
        if let Some((_, (other, _))) = renamed.find(|(a, (_, b))| **a == old || *b == new) {
            let reason = format!("edit {other} renames to or from the same name");
            return refuse(Rule::Overlap, reason);
        }
        self.place(number, &old, (0, pristine.count()), PlacementKind::Renamed);
        self.renamed.insert(old, (number, new));
        Ok(())
    }
}
