//! Places a patch in the pristine tree, or says why it has no place.

use super::{Drive, Parts};
use crate::journal::Result;
use crate::record::{Located, LocatedPatch, Outcome, StepId};
use crate::repair::Run;
use patchwright_patcher::{Background, Guard, Patch, Prepared, Refusal};
use patchwright_retrieval::Query;
use patchwright_source::{FileDiff, Language, Side, Touched, Tree, TreePath, regex};
use serde_json::json;
use std::collections::BTreeSet;

/// Lines before and after a touched one that a reviewer is shown.
const AROUND: u32 = 30;
/// The most definitions of what a patch calls that are shown.
const CALLED: usize = 4;

impl Drive {
    /// Places the patch of a lane, which knows of no attempts but its own.
    pub(super) async fn locate(&self, id: StepId, patch: Patch, run: &Run) -> Result<Outcome> {
        let own = run.attempts().iter().filter(|made| made.lane == id.lane);
        let attempts: Vec<_> = own.map(|made| (made.number, made.diff.clone())).collect();
        let summary = format!("placing a patch of {} edits", patch.edits.len());
        let body = json!({ "patch": patch });
        self.intend(id, "locate", summary, body).await?;
        let located = match prepare(&self.parts, (&patch, &self.parts.guard), &attempts).await {
            Ok(prepared) => {
                let around = surroundings(&self.parts.tree, &prepared.touched);
                Located::Placed(LocatedPatch {
                    latin1: prepared.diff.as_bytes() != prepared.diff_bytes,
                    surroundings: around + &called(&self.parts, &prepared.diff).await,
                    diff: prepared.diff,
                    normal_form: prepared.normal_form,
                    warnings: prepared.warnings,
                })
            }
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
        let ranges = widened(&file.old).into_iter();
        text.extend(ranges.map(|range| numbered(&file.path, &code, range)));
    }
    text
}

/// Returns the definitions of what the added lines call, in the same form: what a check of the patch
/// decides stands there.
pub(super) async fn called(parts: &Parts, diff: &str) -> String {
    let Ok(engine) = parts.engine.get(&[]).await else {
        return String::new();
    };
    let files = FileDiff::read(diff).unwrap_or_default();
    let definitions = names_called(&files).into_iter().filter_map(|name| {
        let query = Query::Symbol {
            name: name.to_owned(),
        };
        let mut found = engine.answer(&query).snippets.into_iter();
        // Where there is none, what only holds the word is answered.
        let defines = |symbol: &String| symbol.rsplit(['.', ':']).next() == Some(name);
        let definition = found.find(|snippet| snippet.symbols.iter().any(defines))?;
        let code = parts.tree.read(&definition.path).ok()?;
        let (first, last) = (definition.start_line, definition.end_line);
        let range = (first, last.min(first.saturating_add(AROUND)));
        let code = String::from_utf8_lossy(code.bytes());
        Some(numbered(&definition.path, &code, range))
    });
    definitions.take(CALLED).collect()
}

/// Returns the names that stand before an opening bracket in added lines.
fn names_called(files: &[FileDiff]) -> BTreeSet<&str> {
    let added = files.iter().flat_map(|file| file.lines(Side::New));
    let call = regex!(r"([A-Za-z_]\w*)\s*\(");
    let names = added.flat_map(|line| call.captures_iter(&line.text).map(|found| found.extract()));
    names.map(|(_, [name])| name).collect()
}

/// Returns lines of a file with their numbers, below its name.
fn numbered(path: &TreePath, code: &str, (first, last): (u32, u32)) -> String {
    let count = (last - first) as usize + 1;
    let lines = code.lines().skip(first as usize - 1).take(count);
    let lines = (first..).zip(lines);
    let lines = lines.map(|(number, line)| format!("{number}: {line}\n"));
    format!("{path}:{first}\n{}", lines.collect::<String>())
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
    use super::{names_called, surroundings};
    use patchwright_source::{FileDiff, Touched, Tree, TreePath};

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

    #[test]
    fn what_added_lines_call_is_named() {
        let diff = "--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n-  take(b);\n+  if (escapes(next(b))) return;\n   keep(b);\n";
        let files = FileDiff::read(diff).unwrap();
        let names: Vec<&str> = names_called(&files).into_iter().collect();
        assert_eq!(names, ["escapes", "if", "next"]);
    }
}
