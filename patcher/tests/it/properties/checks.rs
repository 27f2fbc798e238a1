//! The cases and the checks, for the property tests and for the soak.

#[path = "checks/copied.rs"]
mod copied;

pub(crate) use copied::{check_copied, check_twice, copied, twice};

use patchwright_patcher::{Edit, Guard, Hunk, Patch, Prepared, prepare, read_diff_bytes, reply};
use patchwright_source::Tree;
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

/// A tree with one file, `src/a.c`.
fn tree_with(bytes: &[u8]) -> (TempDir, Tree) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/a.c"), bytes).unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    (folder, tree)
}

fn guard() -> Guard {
    Guard::new(&[]).unwrap()
}

/// The new bytes of `src/a.c`.
fn new_bytes(prepared: &Prepared) -> &[u8] {
    let (path, bytes) = prepared.changes.files.iter().next().unwrap();
    assert_eq!(path.as_str(), "src/a.c");
    bytes
}

/// The diff must turn one file into the other and back, by somebody else's
/// hands and by ours.
fn check_diff(tree: &Tree, old: &[u8], prepared: &Prepared) {
    let new = new_bytes(prepared);
    let start = prepared
        .diff_bytes
        .windows(4)
        .position(|window| window == b"--- ")
        .unwrap();
    let diff = diffy::Patch::from_bytes(&prepared.diff_bytes[start..]).unwrap();
    let there =
        diffy::apply_bytes(old, &diff).unwrap_or_else(|error| panic!("{error} {}", prepared.diff));
    assert_eq!(there, new);
    let back = diffy::apply_bytes(new, &diff.reverse())
        .unwrap_or_else(|error| panic!("{error} {}", prepared.diff));
    assert_eq!(back, old);
    // Lines that differ in their line end alone cannot be told apart again.
    if old.contains(&b'\r') {
        return;
    }
    let again = read_diff_bytes(tree, &prepared.diff_bytes, &guard(), &|_| true).unwrap();
    assert_eq!(
        String::from_utf8_lossy(new_bytes(&again)),
        String::from_utf8_lossy(new),
        "{}",
        prepared.diff
    );
    assert_eq!(again.changes.files.len(), 1);
    assert_eq!(again.normal_form, prepared.normal_form);
}

/// Pieces of replies, thrown together.
const PIECES: [&str; 44] = [
    "<patch>",
    "</patch>",
    "<edit file=\"src/a.c\" lines=\"2-3\">",
    "</edit>",
    "<original>",
    "</original>",
    "<replacement>",
    "</replacement>",
    "<insert file='src/a.c' after=1>",
    "</insert>",
    "<create file=src/b.c>",
    "</create>",
    "<delete file=\"src/a.c\"/>",
    "<rename from=\"src/a.c\" to=\"src/c.c\"/>",
    "<explanation>",
    "</explanation>",
    "<analysis>",
    "</analysis>",
    "<queries>",
    "</queries>",
    "<symbol>f</symbol>",
    "<more query=\"1\"/>",
    "<probe file=\"src/a.c\" line=\"2\">x</probe>",
    "<think>",
    "</think>",
    "<![CDATA[",
    "]]>",
    "```c",
    "```",
    "`",
    "<!--",
    "-->",
    "int one;",
    "int two;",
    "    int three;",
    "2: int two;",
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
    "--- a/src/a.c\n+++ b/src/a.c",
    "@@ -1,2 +1,2 @@",
    "-int two;",
    "+int 2;",
    "&lt;",
];

pub(crate) fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => "[ -~\u{e9}\u{20ac}\n]{0,12}",
    ];
    let gap = proptest::sample::select(&["\n", "\n", " ", "", "\r\n"][..]);
    proptest::collection::vec((piece, gap), 0..40)
        .prop_map(|parts| parts.into_iter().map(|(piece, gap)| piece + gap).collect())
}

pub(crate) fn check_soup(text: &str, cut_off: bool) {
    let old = b"int one;\nint two;\n    int three;\nint four;\n";
    let (_folder, tree) = tree_with(old);
    let _ = read_diff_bytes(&tree, text.as_bytes(), &guard(), &|_| true);
    let Some(patch) = reply::read(text, cut_off).patch else {
        return;
    };
    assert!(!patch.edits.is_empty());
    if let Ok(prepared) = prepare(&tree, &patch, &guard(), &|_| true) {
        assert!(!prepared.diff.is_empty());
        assert_eq!(prepared.diff.as_bytes(), prepared.diff_bytes);
    }
}

/// Any lines: bytes that are no UTF-8, both line ends, no last line end.
pub(crate) fn arbitrary_file() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        proptest::sample::select(&["", "}", "\tx;", "    x;", "x;", "\t\ty;"][..])
            .prop_map(|line| line.as_bytes().to_vec()),
        proptest::collection::vec(1_u8..=255, 0..8)
            .prop_map(|bytes| bytes.into_iter().filter(|byte| *byte != b'\n').collect()),
    ];
    let lines = proptest::collection::vec((line, any::<bool>()), 1..30);
    (lines, any::<bool>()).prop_map(|(lines, terminated)| {
        let mut bytes: Vec<u8> = lines
            .into_iter()
            .flat_map(|(line, crlf)| {
                [
                    line,
                    if crlf {
                        b"\r\n".to_vec()
                    } else {
                        b"\n".to_vec()
                    },
                ]
                .concat()
            })
            .collect();
        if !terminated {
            bytes.pop();
        }
        bytes
    })
}

/// Edits by place: start, length and new lines.
pub(crate) fn rewrite() -> impl Strategy<Value = Vec<(usize, usize, Vec<String>)>> {
    let new = proptest::collection::vec("[ -~]{0,10}", 0..4);
    proptest::collection::vec((0_usize..30, 0_usize..4, new), 1..4)
}

/// Exact hunks at right places: accepted unless they overlap or change nothing.
pub(crate) fn check_rewritten(bytes: &[u8], edits: &[(usize, usize, Vec<String>)]) {
    let (_folder, tree) = tree_with(bytes);
    let path = tree.files().remove(0);
    let text = tree.read(&path).unwrap();
    let count = text.line_count();
    let edits: Vec<Edit> = edits
        .iter()
        .map(|(start, length, new)| {
            let start = start % (count + 1);
            let end = (start + length).min(count);
            let old: Vec<String> = (start..end)
                .map(|at| text.line(at + 1).unwrap().into_owned())
                .collect();
            let first = if old.is_empty() { start } else { start + 1 };
            Edit::Hunk(Hunk {
                file: "src/a.c".to_owned(),
                start: u32::try_from(first).ok(),
                old,
                new: new.clone(),
                ..Hunk::default()
            })
        })
        .collect();
    let patch = Patch {
        explanation: None,
        edits,
    };
    if let Ok(prepared) = prepare(&tree, &patch, &guard(), &|_| true) {
        check_diff(&tree, bytes, &prepared);
    }
}
