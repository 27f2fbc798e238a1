//! A crash as a run keeps it: what changes from run to run is gone, paths are those of the tree.

use crate::crash::{CrashReport, FrameOrigin, Stack};
use patchwright_record::{Crash, CrashFrame};
use patchwright_source::{Role, Tree, TreePath};
use std::cell::LazyCell;

/// Frames of one stack that are of use for finding code.
const FRAMES: usize = 24;

/// The frames of a report that may lie in a tree, with the stack each is from.
/// The exception that caused another comes before it: that is where things
/// went wrong. Of several causes the last is the first.
pub fn frames_of(report: &CrashReport) -> Vec<CrashFrame> {
    let length = |stack: &Stack| stack.frames.len().min(FRAMES);
    let causes = || {
        let stacks = report.stacks.iter();
        stacks.filter(|stack| stack.role == Role::Cause)
    };
    let mut below: usize = causes().map(length).sum();
    let all = below;
    let mut frames = Vec::new();
    for stack in &report.stacks {
        let from = match stack.role {
            Role::Crash => all,
            Role::Cause => {
                below -= length(stack);
                below
            }
            _ => 0,
        };
        let kept = stack.frames.iter().take(FRAMES).enumerate();
        let kept = kept.filter(|(_, frame)| FrameOrigin::of(frame) != FrameOrigin::Runtime);
        frames.extend(kept.map(|(depth, frame)| CrashFrame {
            function: frame.function.clone(),
            file: frame.file.clone(),
            line: frame.line,
            role: stack.role,
            depth: u32::try_from(from + depth).unwrap_or(u32::MAX),
        }));
    }
    frames
}

/// Returns the report with the paths of a tree in place of those of the machine that it is from.
pub fn rebased(mut report: CrashReport, tree: &Tree) -> CrashReport {
    let files = LazyCell::new(|| tree.files());
    report.rebase(&|path| {
        tree.rebase(path)
            .or_else(|| below_a_source_root(path, &files))
            .map(|path| path.to_string())
    });
    report
}

impl From<CrashReport> for Crash {
    fn from(report: CrashReport) -> Self {
        Self {
            frames: frames_of(&report),
            text: report.purified,
            kind: report.kind,
            summary: report.summary,
        }
    }
}

/// Returns the one file that a path from a source root means: `org/a/B.java` is
/// `src/main/java/org/a/B.java`.
fn below_a_source_root(path: &str, files: &[TreePath]) -> Option<TreePath> {
    let only = TreePath::only_below_a_folder(files, path);
    only.filter(|_| path.contains('/')).cloned()
}

#[cfg(test)]
mod tests {
    use super::frames_of;
    use patchwright_source::{Role, TreePath};

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
    fn keeps_the_roles_of_a_report() {
        let log = "\
==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x1 bp 0x2 sp 0x3
READ of size 8 at 0x602000000010 thread T0
    #0 0x4f in use /src/a.c:9
    #1 0x50 in main /src/m.c:3

freed by thread T0 here:
    #0 0x51 in free (/lib/x+0x1)
    #1 0x52 in drop /src/b.c:7
";
        let frames = frames_of(&crate::crash::parse(log).unwrap());
        let first = frames.first().unwrap();
        assert_eq!((first.function.as_str(), first.line), ("use", Some(9)));
        let freed: Vec<&str> = frames
            .iter()
            .filter(|frame| frame.role == Role::Freed)
            .map(|frame| frame.function.as_str())
            .collect();
        // What the run time does itself is no place to look.
        assert_eq!(freed, ["drop"]);
    }

    #[test]
    fn a_cause_comes_before_what_it_led_to() {
        let log = "\
== Java Exception: com.code_intelligence.jazzer.api.FuzzerSecurityIssueLow: Stack overflow
\tat a.Outer.run(Outer.java:1)
Caused by: java.lang.StackOverflowError
\tat a.Inner.read(Inner.java:5)
";
        let frames = frames_of(&crate::crash::parse(log).unwrap());
        let mut crash: Vec<_> = frames
            .iter()
            .filter(|frame| matches!(frame.role, Role::Crash | Role::Cause))
            .collect();
        crash.sort_by_key(|frame| frame.depth);
        assert!(crash[0].function.ends_with("Inner.read"), "{frames:?}");
    }
}
