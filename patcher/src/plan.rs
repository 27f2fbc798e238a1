//! Plan of a patch: each edit judged by itself, with its file, its lines and
//! what comes instead. [`crate::prepare`] decides whether they go together.

mod check;
mod elsewhere;
mod find;
mod line_edit;
mod replace;
mod text;
mod whole;

use crate::merge::Line;
use crate::paths::Paths;
use crate::pristine::{Pristine, line_number, says_something};
use crate::refusal::refuse;
use crate::splice::Splice;
use crate::{Background, Edit, Guard, Placement, PlacementKind, Refusal, Rule};
use patchwright_source::{Tree, TreePath};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Similarity is looked for this often in one patch: it takes time, and a patch
/// with more edits that are not found is a bad one.
const MOST_SEARCHES: usize = 30;

/// A replaced range and the edit that asked for it.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) edit: usize,
    pub(crate) splice: Splice,
    /// True when the range may share unchanged lines with another one, as the
    /// hunks of a diff do.
    pub(crate) shares_context: bool,
}

/// Changes of the lines of one file.
#[derive(Debug)]
pub(crate) struct FilePlan {
    pub(crate) pristine: Pristine,
    pub(crate) pieces: Vec<Piece>,
    /// True when the new file shall end with a line end, where a diff says so.
    pub(crate) terminated: Option<bool>,
}

/// All edits of a patch, each with its place or its refusal.
pub(crate) struct Plan<'a> {
    pub(crate) paths: Paths<'a>,
    pub(crate) background: &'a Background<'a>,
    /// Number of edits that may still be looked for by similarity.
    searches: usize,
    pub(crate) files: BTreeMap<TreePath, FilePlan>,
    /// The new files, each with its edit and its bytes.
    pub(crate) created: BTreeMap<TreePath, (usize, Vec<u8>)>,
    pub(crate) deleted: BTreeMap<TreePath, usize>,
    pub(crate) renamed: BTreeMap<TreePath, (usize, TreePath)>,
    pub(crate) placements: Vec<Placement>,
    pub(crate) refusals: Vec<Refusal>,
    pub(crate) warnings: Vec<String>,
    /// True when the tree was looked through for lines of an edit.
    looked_elsewhere: bool,
}

impl<'a> Plan<'a> {
    /// Judges every edit.
    pub(crate) fn make(
        tree: &'a Tree,
        edits: &[Edit],
        guard: &'a Guard,
        background: &'a Background<'a>,
    ) -> Self {
        let mut plan = Self {
            paths: Paths::new(tree, guard),
            background,
            searches: MOST_SEARCHES,
            files: BTreeMap::new(),
            created: BTreeMap::new(),
            deleted: BTreeMap::new(),
            renamed: BTreeMap::new(),
            placements: Vec::new(),
            refusals: Vec::new(),
            warnings: Vec::new(),
            looked_elsewhere: false,
        };
        // Other edits may name a file by the name that it gets.
        let mut numbered: Vec<(usize, &Edit)> = (1..).zip(edits).collect();
        numbered.sort_by_key(|(_, edit)| !matches!(edit, Edit::Rename { .. }));
        for (number, edit) in numbered {
            plan.take(number, edit);
        }
        if !plan.placements.is_empty() {
            plan.drop_unchanged();
            plan.drop_forbidden_deletions(edits);
        }
        plan.placements.sort_by_key(|placement| placement.edit);
        plan.refusals.sort_by_key(|refusal| refusal.edit);
        plan
    }

    /// Leaves out the edits that change nothing, if others do.
    fn drop_unchanged(&mut self) {
        let unchanged = self.refusals.extract_if(.., |refusal| match refusal.rule {
            Rule::NoChange => true,
            Rule::AlreadyApplied => stands_in_place(refusal),
            _ => false,
        });
        self.warnings.extend(unchanged.map(|refusal| {
            let (number, file) = (refusal.edit, refusal.file);
            format!("{file}: edit {number} changes nothing and was left out")
        }));
    }

    /// Leaves out the deletions of files that no patch may touch, if other edits are
    /// taken. A working tree loses such files when it is built or cleaned, and its diff
    /// then deletes them. Nothing is gained by it: the file stays, and everything is
    /// built and tested with it.
    fn drop_forbidden_deletions(&mut self, edits: &[Edit]) {
        let is_deletion = |number: usize| {
            let edit = number.checked_sub(1).and_then(|index| edits.get(index));
            matches!(edit, Some(Edit::Delete { .. }))
        };
        let deletions = self.refusals.extract_if(.., |refusal| {
            use Rule::{BuildFile, Harness, Protected, Test};
            let forbidden = matches!(refusal.rule, BuildFile | Test | Protected | Harness);
            forbidden && is_deletion(refusal.edit)
        });
        self.warnings.extend(deletions.map(|refusal| {
            let (number, file, reason) = (refusal.edit, refusal.file, refusal.reason);
            format!("{file}: edit {number} deletes it and was left out, the file stays: {reason}")
        }));
    }

    fn take(&mut self, number: usize, edit: &Edit) {
        if let Err(refusal) = self.judge(number, edit) {
            let mut refusal = edit.refused(number, refusal);
            self.look_elsewhere(edit, &mut refusal);
            self.refusals.push(refusal);
        }
    }

    fn judge(&mut self, number: usize, edit: &Edit) -> Result<(), Refusal> {
        match edit {
            Edit::Replace { .. } | Edit::Hunk(_) => self.replace(number, edit),
            Edit::Insert { .. } => self.insert(number, edit),
            Edit::Create {
                file,
                text,
                latin1,
                unterminated,
            } => {
                let path = self.paths.fresh(file)?;
                let bytes = text::new_file(&path, text, *latin1, *unterminated)?;
                self.create(number, path, bytes)
            }
            Edit::Delete { file, original } => self.delete(number, file, original.as_deref()),
            Edit::Rename { from, to } => self.rename(number, from, to),
            Edit::Unsupported { what, rule, .. } => refuse(*rule, what),
        }
    }

    /// The old name of a file that this patch renames to `given`.
    pub(crate) fn renamed_from(&self, given: &str) -> Option<TreePath> {
        let given = TreePath::new(given).ok()?;
        let mut renamed = self.renamed.iter();
        let (from, _) = renamed.find(|(_, (_, to))| *to == given)?;
        Some(from.clone())
    }

    /// Places an insertion, or a hunk that only adds and has no context.
    fn insert(&mut self, number: usize, edit: &Edit) -> Result<(), Refusal> {
        let is_insert = matches!(edit, Edit::Insert { .. });
        let after = edit
            .lines()
            .and_then(|(after, _)| usize::try_from(after).ok());
        let Some(after) = after else {
            let reason = if is_insert {
                "the insertion does not say after which line; send after=\"N\""
            } else {
                "the hunk quotes no line of the file, and its header does not name the line that \
                 the new ones follow; quote the lines before and behind them"
            };
            return refuse(Rule::Incomplete, reason);
        };
        if matches!(edit, Edit::Insert { text, .. } if text.is_empty()) {
            return refuse(Rule::Incomplete, "there is nothing to insert");
        }
        let path = self.path_of(edit, false)?;
        let plan = plan_of(&mut self.files, &self.paths, &path)?;
        let file = &plan.pristine;
        let count = file.count();
        if after > count {
            let reason = format!("line {after} does not exist; the file has {count} lines");
            return refuse(Rule::NotFound, reason);
        }
        let (lines, raw) = match edit {
            Edit::Insert { text, .. } => (text::inserted(file, after, text), false),
            Edit::Hunk(hunk) => line_edit::hunk_lines(file, hunk),
            _ => return Ok(()),
        };
        if is_insert && says_something(lines.iter()) && file.fits(after, &lines) {
            let reason = format!("these lines stand at line {} already", after + 1);
            return refuse(Rule::AlreadyApplied, reason);
        }
        let lines: Vec<Line> = lines.into_iter().map(Line::New).collect();
        let new = text::encode(file, after..after, &lines, raw)?;
        plan.pieces.push(Piece {
            edit: number,
            splice: Splice::new(after..after, new),
            shares_context: false,
        });
        let range = (after.saturating_sub(1), after.max(1));
        self.place(number, &path, range, PlacementKind::Exact);
        Ok(())
    }

    /// Notes where an edit went; the range counts from 0, its end excluded.
    pub(crate) fn place(
        &mut self,
        edit: usize,
        file: &TreePath,
        range: (usize, usize),
        how: PlacementKind,
    ) {
        let last = range.1.saturating_sub(1).max(range.0);
        self.placements.push(Placement {
            edit,
            file: file.clone(),
            lines: (line_number(range.0), line_number(last)),
            how,
        });
    }
}

/// The plan of an existing file; read and judged when first asked for.
fn plan_of<'p>(
    files: &'p mut BTreeMap<TreePath, FilePlan>,
    paths: &Paths<'_>,
    path: &TreePath,
) -> Result<&'p mut FilePlan, Refusal> {
    let entry = match files.entry(path.clone()) {
        Entry::Occupied(known) => return Ok(known.into_mut()),
        Entry::Vacant(entry) => entry,
    };
    Ok(entry.insert(FilePlan {
        pristine: paths.load(path)?,
        pieces: Vec::new(),
        terminated: None,
    }))
}

/// Returns true when the new lines of a refused edit stand where it names them.
fn stands_in_place(refusal: &Refusal) -> bool {
    let near = |at: &u32| {
        let line = refusal.lines.map(|(first, _)| first);
        line.is_some_and(|line| line.abs_diff(*at) as usize <= crate::locate::NEAR)
    };
    refusal.candidates.iter().any(near)
}
