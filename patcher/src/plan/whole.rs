//! Edits of whole files: created, deleted, renamed. What it deliberately does
//! not do: look at single lines.

use super::{Creation, Plan, text};
use crate::guard::Denied;
use crate::{Edit, PlacementKind, Rule};

impl Plan<'_> {
    pub(super) fn create(&mut self, number: usize, edit: &Edit) -> Result<(), Denied> {
        let Edit::Create {
            file,
            text,
            latin1,
            unterminated,
        } = edit
        else {
            return Ok(());
        };
        let path = self.paths.fresh(file)?;
        let bytes = text::new_file(&path, text, *latin1, *unterminated)?;
        if self.paths.is_taken(&path) {
            let same = self
                .paths
                .tree
                .read(&path)
                .is_ok_and(|old| old.bytes() == bytes);
            return Err(if same {
                (
                    Rule::AlreadyApplied,
                    format!("{path} is there already, with this content"),
                )
            } else {
                (
                    Rule::Exists,
                    format!("{path} is there already; change it with <edit>"),
                )
            });
        }
        self.paths.guard.check_content(&path, &bytes)?;
        if let Some(other) = self.created.get(&path) {
            let reason = format!("edit {} creates {path} as well", other.edit);
            return Err((Rule::Overlap, reason));
        }
        self.place(
            number,
            &path,
            (0, bytes.split_inclusive(|byte| *byte == b'\n').count()),
            PlacementKind::Created,
        );
        self.created.insert(
            path,
            Creation {
                edit: number,
                bytes,
            },
        );
        Ok(())
    }

    pub(super) fn delete(
        &mut self,
        number: usize,
        file: &str,
        original: Option<&str>,
    ) -> Result<(), Denied> {
        let path = self.paths.existing(file, original.is_some())?;
        let pristine = self.load(&path)?;
        if let Some(original) = original {
            let text = pristine.text.decode(pristine.text.bytes());
            if !crate::pristine::same_but_space(&text, original) {
                let reason = "the file is to go, but its content is not what the edit says; \
                              to remove lines send <edit> with an empty <replacement>";
                return Err((Rule::NotFound, reason.to_owned()));
            }
        }
        if let Some(other) = self.deleted.insert(path.clone(), number) {
            let reason = format!("edit {other} deletes {path} already");
            return Err((Rule::Overlap, reason));
        }
        self.place(number, &path, (0, pristine.count()), PlacementKind::Deleted);
        Ok(())
    }

    pub(super) fn rename(&mut self, number: usize, from: &str, to: &str) -> Result<(), Denied> {
        if to.is_empty() {
            return Err((Rule::Incomplete, "the new name is missing".to_owned()));
        }
        let old = self.paths.existing(from, false)?;
        let pristine = self.load(&old)?;
        let new = self.paths.fresh(to)?;
        if old == new {
            return Err((Rule::NoChange, format!("{old} has this name already")));
        }
        if self.paths.is_taken(&new) {
            return Err((Rule::Exists, format!("{new} is there already")));
        }
        let taken = self
            .renamed
            .iter()
            .find(|(a, (_, b))| **a == old || *b == new);
        if let Some((_, (other, _))) = taken {
            let reason = format!("edit {other} renames to or from the same name");
            return Err((Rule::Overlap, reason));
        }
        self.place(number, &old, (0, pristine.count()), PlacementKind::Renamed);
        self.renamed.insert(old, (number, new));
        Ok(())
    }
}
