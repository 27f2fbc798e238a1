//! The diff of changes whose edits are not known any more: old and new files
//! are compared.

use super::FileDiff;
use crate::Changes;
use crate::splice::{Splice, join_neighbours, reduce};
use patchwright_source::{Text, Tree, TreePath};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

/// The unified diff of changes against their pristine tree, as `git apply` and
/// `patch -p1` take it; sorted by path. A file that cannot be read counts as
/// empty.
pub fn diff(tree: &Tree, changes: &Changes) -> Vec<u8> {
    diff_of_splices(tree, changes, &|_| None)
}

/// Writes the diff of changes; where `known` has the splices of a pristine file, nothing is
/// compared.
pub(crate) fn diff_of_splices<'a>(
    tree: &Tree,
    changes: &Changes,
    known: &dyn Fn(&TreePath) -> Option<&'a [Splice]>,
) -> Vec<u8> {
    let is_target = |path: &TreePath| changes.renamed.values().any(|to| to == path);
    let written = changes.files.keys();
    let files: BTreeMap<&TreePath, Option<&TreePath>> = written
        .filter(|path| tree.has_file(path) || !is_target(path))
        .map(|path| (path, Some(path)))
        .chain(changes.deleted.iter().map(|path| (path, None)))
        .chain(changes.renamed.iter().map(|(from, to)| (from, Some(to))))
        .collect();
    let mut out = Vec::new();
    for (path, new) in files {
        let old = Some(path).filter(|path| new != Some(*path) || tree.has_file(path));
        let text = old.and_then(|path| tree.read(path).ok());
        let text = text.unwrap_or_else(|| Text::new(Vec::new()));
        let splices = match (known(path), new) {
            (Some(known), _) => known.to_vec(),
            (None, None) => replaced(&text, b""),
            (None, Some(new)) => {
                let bytes = changes.files.get(new);
                bytes.map_or_else(Vec::new, |bytes| replaced(&text, bytes))
            }
        };
        let mode = std::fs::metadata(tree.absolute(path));
        let file = FileDiff {
            old,
            text: &text,
            new,
            splices: &splices,
            executable: mode.is_ok_and(|data| data.permissions().mode() & 0o100 != 0),
        };
        file.write(&mut out);
    }
    out
}

/// Returns the differences between a text and its new bytes. Equal lines at both ends are
/// set aside first, so that a small change of a long file stays small.
fn replaced(old: &Text, new: &[u8]) -> Vec<Splice> {
    let new = Text::new(new.to_vec());
    let (before, after) = (lines(old), lines(&new));
    let pairs = before.iter().zip(&after);
    let head = pairs.take_while(|(left, right)| left == right).count();
    let most = before.len().min(after.len()) - head;
    let pairs = before.iter().rev().zip(after.iter().rev()).take(most);
    let tail = pairs.take_while(|(left, right)| left == right).count();
    let middle = after.get(head..after.len() - tail).unwrap_or_default();
    let middle = middle.iter().map(|line| line.to_vec()).collect();
    let whole = Splice::new(head..before.len() - tail, middle);
    join_neighbours(reduce(old, &whole))
}

fn lines(text: &Text) -> Vec<&[u8]> {
    (1..=text.line_count())
        .filter_map(|line| text.raw_line(line))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::diff;
    use crate::{Changes, Guard, read_diff_bytes};
    use patchwright_source::{Tree, TreePath};
    use proptest::prelude::*;

    fn path(name: &str) -> TreePath {
        TreePath::new(name).unwrap()
    }

    fn tree(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let tree = Tree::open(folder.path()).unwrap();
        (folder, tree)
    }

    #[test]
    fn the_diff_of_changes_gives_the_changes_again() {
        let (_folder, tree) = tree(&[
            ("edited.c", b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
            ("gone.c", b"int gone;\n"),
            ("old.c", b"a\nb\nc\nd\n"),
            ("open.c", b"no end"),
        ]);
        let changes = Changes {
            files: [
                (
                    path("edited.c"),
                    b"1\n2\nthree\n4\n5\n6\n7\n8\nnine\n".to_vec(),
                ),
                (path("made.c"), b"int made;\n".to_vec()),
                (path("new.c"), b"a\nB\nc\nd\n".to_vec()),
                (path("open.c"), b"an end\n".to_vec()),
            ]
            .into(),
            deleted: [path("gone.c")].into(),
            renamed: [(path("old.c"), path("new.c"))].into(),
        };
        let written = diff(&tree, &changes);
        let guard = Guard::new(&[]).unwrap();
        let read = read_diff_bytes(&tree, &written, &guard, &|_| true);
        let read = read.unwrap_or_else(|refusals| {
            panic!("{refusals:?}\n{}", String::from_utf8_lossy(&written))
        });
        assert_eq!(read.changes, changes);
        assert!(diff(&tree, &Changes::default()).is_empty());
    }

    /// Read without line ends, such a diff can as well mean that the first of
    /// two equal lines stays, which has a line end.
    #[test]
    fn a_file_that_ends_in_its_line_still_does_when_its_end_moves() {
        let (_folder, tree) = tree(&[("open.c", b"    x;\n\n\n    x;")]);
        let changes = Changes {
            files: [(path("open.c"), b"\n    x;".to_vec())].into(),
            ..Changes::default()
        };
        let written = diff(&tree, &changes);
        let guard = Guard::new(&[]).unwrap();
        let read = read_diff_bytes(&tree, &written, &guard, &|_| true).unwrap();
        assert_eq!(read.changes, changes);
    }

    #[test]
    fn a_small_change_of_a_long_file_stays_small() {
        let long: Vec<u8> = (0..20_000)
            .flat_map(|n| format!("{n}\n").into_bytes())
            .collect();
        let (_folder, tree) = tree(&[("long.c", &long)]);
        let text = String::from_utf8(long)
            .unwrap()
            .replace("\n9999\n", "\nchanged\n");
        let changes = Changes {
            files: [(path("long.c"), text.into_bytes())].into(),
            ..Changes::default()
        };
        let written = String::from_utf8(diff(&tree, &changes)).unwrap();
        assert!(written.contains("-9999\n+changed\n"), "{written}");
        assert!(written.len() < 300, "{written}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn applies_to_what_it_was_made_from(old in "([ab]{0,2}\n){0,12}[ab]?", new in "([ab]{0,2}\n){1,12}[ab]?") {
            prop_assume!(old != new && !new.is_empty() && !old.is_empty());
            let (_folder, tree) = tree(&[("f.txt", old.as_bytes())]);
            let changes = Changes {
                files: [(path("f.txt"), new.clone().into_bytes())].into(),
                ..Changes::default()
            };
            let written = diff(&tree, &changes);
            let applied = diffy_apply(&old, &written);
            prop_assert_eq!(applied, new, "{}", String::from_utf8_lossy(&written));
        }
    }

    fn diffy_apply(old: &str, diff: &[u8]) -> String {
        let text = std::str::from_utf8(diff).unwrap();
        let body = text.split_once('\n').map_or("", |(_, rest)| rest);
        let patch = diffy::Patch::from_str(body).unwrap();
        diffy::apply(old, &patch).unwrap()
    }
}
