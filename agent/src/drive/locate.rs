//! Places a patch in the pristine tree, or says why it has no place.

use super::{Drive, Parts};
use crate::journal::Result;
use crate::record::{Located, LocatedPatch, Outcome, StepId};
use crate::repair::Run;
use patchwright_patcher::{Background, Guard, Patch, Prepared, Refusal};
use patchwright_source::{Language, Touched, Tree};
use serde_json::json;
use std::fmt::Write;

/// Lines before and after a touched one that a reviewer is shown.
const AROUND: u32 = 30;

impl Drive {
    /// Places the patch of a lane, which knows of no attempts but its own.
    pub(super) async fn locate(&self, id: StepId, patch: Patch, run: &Run) -> Result<Outcome> {
        let own = run.attempts().iter().filter(|made| made.lane == id.lane);
        let attempts: Vec<_> = own.map(|made| (made.number, made.diff.clone())).collect();
        let summary = format!("placing a patch of {} edits", patch.edits.len());
        let body = json!({ "patch": patch });
        self.intend(id, "locate", summary, body).await?;
        let located = match prepare(&self.parts, (&patch, &self.parts.guard), &attempts).await {
            Ok(prepared) => Located::Placed(LocatedPatch {
                latin1: prepared.diff.as_bytes() != prepared.diff_bytes,
                diff: prepared.diff,
                normal_form: prepared.normal_form,
                warnings: prepared.warnings,
                surroundings: surroundings(&self.parts.tree, &prepared.touched),
            }),
            Err(refusals) => {
                let reasons = refusals.iter().map(ToString::to_string);
                let reasons = reasons.map(|reason| reason.trim_end().to_owned()).collect();
                Located::Refused { reasons }
            }
        };
        Ok(Outcome::Located(located))
    }
}

/// Places a patch; what names exist is asked of the index, when there is one. The
/// attempts before it decide only what a refusal says.
pub(super) async fn prepare(
    parts: &Parts,
    (patch, guard): (&Patch, &Guard),
    attempts: &[(u32, String)],
) -> Result<Prepared, Vec<Refusal>> {
    let engine = parts.engine.get(&[]).await.ok();
    let knows = |name: &str| {
        let engine = engine.as_ref();
        engine.is_none_or(|engine| engine.knows(name).unwrap_or(true))
    };
    let background = Background {
        knows: &knows,
        attempts,
    };
    patchwright_patcher::prepare_after(&parts.tree, patch, guard, &background)
}

/// Returns the lines around the touched ones, with their numbers, as they are without the
/// patch: the three lines of a diff do not show where a jump goes or what a check follows.
fn surroundings(tree: &Tree, touched: &[Touched]) -> String {
    let mut text = String::new();
    // What is no code (a list of ignored files, a change log) says nothing about the patch.
    let is_code = |file: &&Touched| Language::of_path(&file.path).is_some();
    for file in touched.iter().filter(is_code) {
        // A file that the patch creates has none.
        let Ok(found) = tree.read(&file.path) else {
            continue;
        };
        let code = String::from_utf8_lossy(found.bytes());
        for (first, last) in widened(&file.old) {
            let count = (last - first) as usize + 1;
            let lines = code.lines().skip(first as usize - 1).take(count);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}:{first}", file.path);
            for (number, line) in (first..).zip(lines) {
                let _ = writeln!(text, "{number}: {line}");
            }
        }
    }
    text
}

/// Ranges with the lines around them; those that meet are one.
fn widened(ranges: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut wide: Vec<(u32, u32)> = Vec::new();
    for (first, last) in ranges {
        let first = first.saturating_sub(AROUND).max(1);
        let last = last.saturating_add(AROUND);
        match wide.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => wide.push((first, last)),
        }
    }
    wide
}

#[cfg(test)]
mod tests {
    use super::surroundings;
    use patchwright_source::{Touched, Tree, TreePath};

    #[test]
    fn the_lines_around_a_patch_are_those_of_the_unpatched_tree() {
        let folder = tempfile::tempdir().unwrap();
        let code: String = (1..=200).map(|line| format!("line {line};\n")).collect();
        std::fs::write(folder.path().join("a.c"), code).unwrap();
        std::fs::write(folder.path().join(".gitignore"), "*.o\n").unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let touched = |path: &str, old: &[(u32, u32)]| Touched {
            path: TreePath::new(path).unwrap(),
            old: old.to_vec(),
            new: Vec::new(),
        };
        let text = surroundings(
            &tree,
            &[
                touched("a.c", &[(10, 10), (40, 41), (190, 190)]),
                touched("new.c", &[(0, 0)]),
                touched(".gitignore", &[(1, 1)]),
            ],
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(&lines[..2], ["a.c:1", "1: line 1;"]);
        assert_eq!(
            &lines[71..74],
            ["71: line 71;", "a.c:160", "160: line 160;"]
        );
        assert_eq!(
            (lines.len(), *lines.last().unwrap()),
            (114, "200: line 200;")
        );
    }
}
