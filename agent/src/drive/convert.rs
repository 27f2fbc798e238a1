//! Between the plain structs of the libraries, which do not know each other.

use crate::repair::{Crash, CrashFrame};
use patchwright_evaluator::crash::{CrashReport, Place};
use patchwright_evaluator::feedback::{LineMap, Origin};
use patchwright_evaluator::{AttemptFacts, Changes, Touched};
use patchwright_patcher::Prepared;
use patchwright_retrieval::{Frame, Role};
use patchwright_source::{Tree, TreePath};
use std::cell::LazyCell;
use std::collections::BTreeMap;

/// Frames of one stack that are of use for finding code.
const FRAMES: usize = 24;

/// A frame as retrieval wants it.
pub(super) fn frame_for_retrieval(frame: &CrashFrame) -> Frame {
    let role = match frame.role.as_str() {
        "freed" => Role::Freed,
        "allocated" => Role::Allocated,
        "stored" => Role::Stored,
        "created" => Role::Created,
        _ => Role::Crash,
    };
    Frame {
        function: frame.function.clone(),
        file: frame.file.clone(),
        line: frame.line,
        role,
        depth: frame.depth,
    }
}

/// A crash as a lane wants it: the report without what changes from run to
/// run, its paths those of the tree, and the frames that may lie in it.
pub fn crash_from_report(mut report: CrashReport, tree: &Tree) -> Crash {
    let files = LazyCell::new(|| tree.files());
    report.rebase(&|path| {
        tree.rebase(path)
            .or_else(|| below_a_source_root(path, &files))
            .map(|path| path.to_string())
    });
    let frames = report.stacks.iter().flat_map(|stack| {
        let role = stack.role.name();
        stack
            .frames
            .iter()
            .take(FRAMES)
            .enumerate()
            .filter(|(_, frame)| frame.place() != Place::Runtime)
            .map(move |(depth, frame)| CrashFrame {
                function: frame.function.clone(),
                file: frame.file.clone(),
                line: frame.line,
                role: role.to_owned(),
                depth: depth as u32,
            })
    });
    Crash {
        frames: frames.collect(),
        text: report.purified,
    }
}

/// The one file that a path from a source root means: `org/a/B.java` is
/// `src/main/java/org/a/B.java`.
fn below_a_source_root(path: &str, files: &[TreePath]) -> Option<TreePath> {
    let ending = format!("/{path}");
    let mut fitting = files.iter().filter(|file| file.as_str().ends_with(&ending));
    match (fitting.next(), fitting.next()) {
        (Some(only), None) if path.contains('/') => Some(only.clone()),
        _ => None,
    }
}

/// Turns the lines of a patched tree into those of the pristine one, which is
/// what retrieval shows.
pub(super) fn to_pristine_lines(crash: &mut Crash, changes: &Changes, tree: &Tree) {
    let mut maps: BTreeMap<String, Option<LineMap>> = BTreeMap::new();
    for frame in &mut crash.frames {
        let (Some(file), Some(line)) = (&frame.file, frame.line) else {
            continue;
        };
        let map = maps.entry(file.clone()).or_insert_with(|| {
            let path = TreePath::new(file).ok()?;
            let patched = changes.files.get(&path)?;
            let pristine = tree.read(&path).ok()?;
            Some(LineMap::between(
                &String::from_utf8_lossy(pristine.bytes()),
                &String::from_utf8_lossy(patched),
            ))
        });
        if let Some(map) = map {
            frame.line = Some(match map.origin(line) {
                Origin::Same(line) | Origin::Replaced(line, _) => line,
                Origin::InsertedAfter(line) => line.max(1),
            });
        }
    }
}

/// A placed patch as the evaluator wants it.
pub fn facts(prepared: Prepared) -> AttemptFacts {
    let errors: Vec<String> = prepared
        .syntax_errors
        .iter()
        .map(|(path, error)| format!("{path}:{}: {}", error.line, error.what))
        .collect();
    AttemptFacts {
        changes: Changes {
            files: prepared.changes.files,
            deleted: prepared.changes.deleted,
            renamed: prepared.changes.renamed,
        },
        diff: prepared.diff,
        applies: Ok(()),
        parses: if errors.is_empty() {
            Ok(())
        } else {
            Err(errors.join("\n"))
        },
        touched: prepared
            .touched
            .into_iter()
            .map(|touched| Touched {
                path: touched.path.to_string(),
                old: touched.old,
                new: touched.new,
                functions: Vec::new(),
            })
            .collect(),
        found: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::to_pristine_lines;
    use crate::repair::{Crash, CrashFrame};
    use patchwright_evaluator::Changes;
    use patchwright_source::{Tree, TreePath};

    #[test]
    fn a_class_is_found_below_its_source_root() {
        let files: Vec<TreePath> = ["src/main/java/org/a/B.java", "x/C.java", "y/C.java"]
            .map(|path| TreePath::new(path).unwrap())
            .to_vec();
        let found = |path| super::below_a_source_root(path, &files).map(|path| path.to_string());
        assert_eq!(
            found("org/a/B.java").as_deref(),
            Some("src/main/java/org/a/B.java")
        );
        for path in ["B.java", "C.java", "org/a/C.java"] {
            assert_eq!(found(path), None, "{path}");
        }
    }

    #[test]
    fn frames_of_a_patched_tree_name_pristine_lines() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), "1\n2\n3\n4\n").unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let changes = Changes {
            files: [(
                TreePath::new("a.c").unwrap(),
                b"1\nnew\nnew\n2\n3\n4\n".to_vec(),
            )]
            .into(),
            ..Changes::default()
        };
        let frame = |line| CrashFrame {
            function: "f".into(),
            file: Some("a.c".into()),
            line: Some(line),
            role: "crash".into(),
            depth: 0,
        };
        let mut crash = Crash {
            text: String::new(),
            frames: vec![frame(5), frame(2), frame(1)],
        };
        to_pristine_lines(&mut crash, &changes, &tree);
        let lines: Vec<_> = crash.frames.iter().filter_map(|frame| frame.line).collect();
        assert_eq!(lines, [3, 1, 1]);
    }
}
