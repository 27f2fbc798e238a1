//! Changes of a tree: new bytes, deletions and renames, and the lines they touch.

use crate::{TreePath, digest};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A patch as contents, always against the pristine tree. The three maps
/// together describe the new tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// New bytes by path: of edited files, of created ones, and, under the new
    /// name, of files that were renamed and edited.
    pub files: BTreeMap<TreePath, Vec<u8>>,
    /// Deleted files. The old names of renamed files are not among them.
    pub deleted: BTreeSet<TreePath>,
    /// Old name to new name.
    pub renamed: BTreeMap<TreePath, TreePath>,
}

/// The lines that a patch touches in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// The file's name in the pristine tree (in the new one if created).
    pub path: TreePath,
    /// Ranges of removed lines, first and last, as the pristine file counts; an
    /// insertion names the line that it follows as `(line, line)`.
    pub old: Vec<(u32, u32)>,
    /// Ranges of added lines, first and last, as the new file counts.
    pub new: Vec<(u32, u32)>,
}

impl Touched {
    /// Tells whether the patch wrote a line of the new file.
    pub fn wrote(&self, line: u32) -> bool {
        let mut ranges = self.new.iter();
        ranges.any(|(first, last)| (*first..=*last).contains(&line))
    }
}

impl Changes {
    /// Tells whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.deleted.is_empty() && self.renamed.is_empty()
    }

    /// Returns the new bytes of a file, given by its name in the pristine tree.
    pub fn new_content(&self, pristine: &TreePath) -> Option<&[u8]> {
        self.files.get(self.new_name(pristine)).map(Vec::as_slice)
    }

    /// Returns the name that a file of the pristine tree has in the new one.
    pub fn new_name<'a>(&'a self, pristine: &'a TreePath) -> &'a TreePath {
        self.renamed.get(pristine).unwrap_or(pristine)
    }

    /// Returns the name that a file of the new tree has in the pristine one.
    pub fn pristine_name<'a>(&'a self, new: &'a TreePath) -> &'a TreePath {
        let mut renamed = self.renamed.iter();
        let found = renamed.find(|(_, to)| *to == new);
        found.map_or(new, |(from, _)| from)
    }

    /// Returns a digest of exactly this content.
    pub fn digest(&self) -> String {
        let files = self.files.iter();
        let files = files.flat_map(|(path, bytes)| [&b"file"[..], path.as_str().as_bytes(), bytes]);
        let deleted = self.deleted.iter();
        let deleted = deleted.flat_map(|path| ["deleted", path.as_str()].map(str::as_bytes));
        let renamed = self.renamed.iter();
        let renamed = renamed.flat_map(|(from, to)| ["renamed", from.as_str(), to.as_str()]);
        digest(files.chain(deleted).chain(renamed.map(str::as_bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::Changes;
    use crate::TreePath;

    fn changes(path: &str, bytes: &[u8]) -> Changes {
        Changes {
            files: [(TreePath::new(path).unwrap(), bytes.to_vec())].into(),
            ..Changes::default()
        }
    }

    #[test]
    fn the_digest_tells_content_and_place_apart() {
        let one = changes("a.c", b"x");
        assert_eq!(one.digest(), changes("a.c", b"x").digest());
        for other in [
            changes("a.c", b"y"),
            changes("a.", b"cx"),
            Changes::default(),
        ] {
            assert_ne!(one.digest(), other.digest());
        }
    }
    #[test]
    fn renamed_files_are_found_by_both_names() {
        let path = |text| TreePath::new(text).unwrap();
        let changes = Changes {
            files: [(path("b.c"), b"new".to_vec())].into(),
            deleted: [path("gone.c")].into(),
            renamed: [(path("a.c"), path("b.c")), (path("x.c"), path("y.c"))].into(),
        };
        assert_eq!(changes.new_content(&path("a.c")), Some(&b"new"[..]));
        assert_eq!(changes.new_content(&path("x.c")), None);
        assert_eq!(changes.pristine_name(&path("b.c")), &path("a.c"));
        assert_eq!(changes.pristine_name(&path("other.c")), &path("other.c"));
        let moved = Changes {
            renamed: [(path("a.c"), path("c.c"))].into(),
            ..changes.clone()
        };
        assert_ne!(changes.digest(), moved.digest());
    }
}
