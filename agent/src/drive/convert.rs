//! Between the plain structs of the libraries, which do not know each other.

use crate::record::{Crash, CrashFrame};
use patchwright_crash::feedback::{LineMap, LineOrigin};
use patchwright_crash::{CrashReport, FrameOrigin, ReportInWords, Stack, read_leading, read_words};
use patchwright_patcher::Prepared;
use patchwright_retrieval::Request;
use patchwright_source::{Changes, Role, Tree, TreePath};
use patchwright_verdict::AttemptFacts;
use std::cell::LazyCell;
use std::collections::BTreeMap;

/// Frames of one stack that are of use for finding code.
const FRAMES: usize = 24;
/// Quoted lines of code that are looked for, and the length from which on one is distinctive.
const CODE_LINES: usize = 3;
const CODE_LENGTH: usize = 14;

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

/// Returns the request for a text that people wrote: a crash report with the words beside it,
/// or words alone.
pub fn request_of(text: &str, budget: usize) -> Request {
    let report = read_leading(text);
    let words = read_words(text).unwrap_or_default();
    Request {
        frames: report.as_ref().map(frames_of).unwrap_or_default(),
        named: named_in(&words),
        quoted: quoted_in(&words),
        text: report.map_or(text.to_owned(), |report| words.text + &report.purified),
        budget,
    }
}

/// The functions and places that a reporter names, in the form of frames.
fn named_in(words: &ReportInWords) -> Vec<CrashFrame> {
    let frame = |function: &str, file: Option<String>, line| CrashFrame {
        function: function.to_owned(),
        file,
        line,
        role: Role::Crash,
        depth: 0,
    };
    let names = words.functions.iter().chain(&words.names);
    let names = names.map(|name| frame(name, None, None));
    let places = words.files.iter().filter(|place| place.line.is_some());
    let places = places.map(|place| frame("", Some(place.file.clone()), place.line));
    names.chain(places).collect()
}

/// Some quoted lines of code, and the options in the form in which programs compare them.
fn quoted_in(words: &ReportInWords) -> Vec<String> {
    let is_code = |line: &&str| line.len() >= CODE_LENGTH && line.contains(['(', '=', ';', '[']);
    let lines = words.quoted.iter().flat_map(|text| text.lines());
    let lines = lines.map(str::trim).filter(is_code).take(CODE_LINES);
    let arguments = words.commands.iter().flat_map(|command| &command.arguments);
    let keys = arguments.filter(|word| !word.starts_with('-'));
    let keys = keys.filter_map(|word| Some(word.split_once('=')?.0));
    let options = words.options.iter().map(String::as_str).chain(keys);
    let names = options.map(|name| name.trim_start_matches('-'));
    // Shorter ones are anywhere.
    let names = names
        .filter(|name| name.len() > 3)
        .map(|name| format!("\"{name}"));
    lines.map(str::to_owned).chain(names).collect()
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
    Crash {
        frames: frames_of(&report),
        text: report.purified,
        kind: report.kind,
        summary: report.summary,
    }
}

/// Returns the one file that a path from a source root means: `org/a/B.java` is
/// `src/main/java/org/a/B.java`.
fn below_a_source_root(path: &str, files: &[TreePath]) -> Option<TreePath> {
    let only = TreePath::only_below_a_folder(files, path);
    only.filter(|_| path.contains('/')).cloned()
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
            LineMap::of_change(tree, changes, changes.pristine_name(&path))
        });
        if let Some(map) = map {
            frame.line = Some(match map.origin(line) {
                LineOrigin::Same(line) | LineOrigin::Replaced(line, _) => line,
                LineOrigin::InsertedAfter(line) => line.max(1),
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
        changes: prepared.changes,
        diff: prepared.diff,
        applies: Ok(()),
        parses: if errors.is_empty() {
            Ok(())
        } else {
            Err(errors.join("\n"))
        },
        touched: prepared.touched,
        ..AttemptFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::{frames_of, request_of, to_pristine_lines};
    use crate::record::{Crash, CrashFrame};
    use patchwright_source::Changes;
    use patchwright_source::{Role, Tree, TreePath};

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
            role: Role::Crash,
            depth: 0,
        };
        let mut crash = Crash {
            text: String::new(),
            frames: vec![frame(5), frame(2), frame(1)],
            ..Crash::default()
        };
        to_pristine_lines(&mut crash, &changes, &tree);
        let lines: Vec<_> = crash.frames.iter().filter_map(|frame| frame.line).collect();
        assert_eq!(lines, [3, 1, 1]);
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
        let frames = frames_of(&patchwright_crash::parse(log).unwrap());
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
        let frames = frames_of(&patchwright_crash::parse(log).unwrap());
        let mut crash: Vec<_> = frames
            .iter()
            .filter(|frame| matches!(frame.role, Role::Crash | Role::Cause))
            .collect();
        crash.sort_by_key(|frame| frame.depth);
        assert!(crash[0].function.ends_with("Inner.read"), "{frames:?}");
    }

    #[test]
    fn a_reporter_is_heard_beside_the_log() {
        let words = "Overflow in `fold_hyphens` (fold.c:12)\n\n$ ./fit --layers=2 a.txt\n";
        let log = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x5020000d4cd3 at pc 0x1 bp 0x2 sp 0x3\n    #0 0x1 in line_fits /src/line.c:90:7\n";
        let request = request_of(&format!("{words}{log}"), 0);
        assert_eq!(request.frames.len(), 1, "{request:?}");
        assert_eq!(request.named[0].function, "fold_hyphens");
        assert_eq!(request.named[1].line, Some(12));
        assert_eq!(request.quoted, ["\"layers"]);
        assert!(request.text.starts_with("Overflow in"), "{}", request.text);
        assert!(
            request.text.contains("heap-buffer-overflow"),
            "{}",
            request.text
        );
        let alone = request_of(words, 0);
        assert!(alone.frames.is_empty() && alone.text == words, "{alone:?}");
    }
}
