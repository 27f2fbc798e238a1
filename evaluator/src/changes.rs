//! What a patch does to a tree: new bytes, deletions, renames.

use patchwright_source::TreePath;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The changed files of an attempt, always against the pristine tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Files that get new content, created where they do not exist.
    pub files: BTreeMap<TreePath, Vec<u8>>,
    /// Files that go away.
    pub deleted: BTreeSet<TreePath>,
    /// Files that move, from the old path to the new; content changes after the move stand under the new path in `files`.
    pub renamed: BTreeMap<TreePath, TreePath>,
}

impl Changes {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.deleted.is_empty() && self.renamed.is_empty()
    }

    /// A name for exactly this content.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut part = |tag: u8, bytes: &[u8]| {
            hash.update([tag]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        for (path, bytes) in &self.files {
            part(1, path.as_str().as_bytes());
            part(2, bytes);
        }
        for path in &self.deleted {
            part(3, path.as_str().as_bytes());
        }
        for (from, to) in &self.renamed {
            part(4, from.as_str().as_bytes());
            part(5, to.as_str().as_bytes());
        }
        format!("{:x}", hash.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::Changes;
    use patchwright_source::TreePath;

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
}
