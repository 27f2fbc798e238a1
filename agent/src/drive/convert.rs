//! Between the plain structs of the libraries, which do not know each other.

use crate::repair::{Crash, CrashFrame};
use patchwright_evaluator::crash::{CrashReport, Place};
use patchwright_evaluator::{AttemptFacts, Changes, Touched};
use patchwright_patcher::Prepared;
use patchwright_retrieval::{Frame, Role};
use patchwright_source::Tree;

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
    report.rebase(&|path| tree.rebase(path).map(|path| path.to_string()));
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

/// A placed patch as the evaluator wants it.
pub(crate) fn facts(prepared: Prepared) -> AttemptFacts {
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
    }
}
