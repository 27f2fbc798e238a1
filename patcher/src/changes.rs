//! Result of a patch: new bytes, deletions, renames, and their facts.

pub use patchwright_source::{Changes, Touched};
use patchwright_source::{SyntaxError, TreePath};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The way in which the place of an edit was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlacementKind {
    /// As written, where it was said to be.
    Exact,
    /// As written, at most three lines away.
    Shifted,
    /// At the place that was named or at most three lines away, but for whitespace.
    Whitespace,
    /// Elsewhere in the file, and nowhere else.
    Moved,
    /// Not as written, but nothing else can be meant.
    Similar,
    /// A new file.
    Created,
    /// A file that goes.
    Deleted,
    /// A file that gets another name.
    Renamed,
}

impl fmt::Display for PlacementKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The place of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The edit, counted from 1.
    pub edit: usize,
    /// The file of the pristine tree (of the new one if it was created).
    pub file: TreePath,
    /// The old lines, first and last. An insertion has the line it follows
    /// twice; a whole file its first and last line.
    pub lines: (u32, u32),
    /// The way in which the place was found.
    pub how: PlacementKind,
}

/// A patch that can be applied, and what is known about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    /// The changes of the tree.
    pub changes: Changes,
    /// The unified diff for reading. Where a file is no UTF-8 its bytes stand
    /// here as the characters of the same number; [`Prepared::diff_bytes`] is
    /// what applies.
    pub diff: String,
    /// The unified diff as `git apply` and `patch -p1` take it.
    pub diff_bytes: Vec<u8>,
    /// The place of each edit, in the order of the edits.
    pub placements: Vec<Placement>,
    /// Warnings for the writer of the patch; no reason to refuse.
    pub warnings: Vec<String>,
    /// The same for patches that differ in whitespace or in the order of their
    /// edits only.
    pub normal_form: String,
    /// Syntax errors that the touched files did not have before, by file.
    pub syntax_errors: Vec<(TreePath, SyntaxError)>,
    /// The touched lines by file, sorted by path.
    pub touched: Vec<Touched>,
}
