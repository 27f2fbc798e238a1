//! The change that introduced a bug: its hunks in the order of interest. Those
//! that meet the crash stack come first.

use crate::record::CrashFrame;
use patchwright_source::{DiffHunk, FileDiff, HunkHeader, NO_FILE, Role, Side};
use std::fmt::Write as _;

/// Characters of hunks that are shown; the rest is counted.
const SHOWN: usize = 15_000;
/// Hunks that frames are made of, when nothing else is known.
const FRAMES: usize = 8;

/// A hunk, and the file that it changes.
type Hunk<'a> = (&'a FileDiff, &'a DiffHunk);

/// A diff with the hunks first that meet these frames; at most as much as can
/// be shown. What is no unified diff is given back as it is.
pub fn ordered(diff: &str, frames: &[CrashFrame]) -> String {
    let files = FileDiff::read(diff).unwrap_or_default();
    let mut hunks: Vec<Hunk<'_>> = hunks(&files).collect();
    if hunks.is_empty() {
        return diff.to_owned();
    }
    hunks.sort_by_key(|hunk| distance(*hunk, frames));
    let (mut text, mut named, mut left_out) = (String::new(), None, 0);
    for (file, hunk) in hunks {
        let lines = hunk.lines.iter();
        let lines = lines.map(|line| format!("{}{}\n", line.side.mark(), line.text));
        let body = format!("{}\n{}", hunk.header, lines.collect::<String>());
        if text.len() + body.len() > SHOWN && !text.is_empty() {
            left_out += 1;
            continue;
        }
        if !named.is_some_and(|named| std::ptr::eq(named, file)) {
            let name = |prefix: &str, name: &Option<String>| match name {
                Some(name) => format!("{prefix}/{name}"),
                None => NO_FILE.to_owned(),
            };
            let (old, new) = (name("a", &file.old), name("b", &file.new));
            let _ = writeln!(text, "--- {old}\n+++ {new}");
            named = Some(file);
        }
        text.push_str(&body);
    }
    if left_out > 0 {
        let _ = writeln!(text, "[{left_out} more hunks left out]");
    }
    text
}

/// The places of a diff's first hunks, for a task of which nothing else is known.
pub fn frames(diff: &str) -> Vec<CrashFrame> {
    let files = FileDiff::read(diff).unwrap_or_default();
    let hunks = hunks(&files).take(FRAMES).enumerate();
    hunks
        .map(|(depth, (file, hunk))| {
            let (first, last) = lines_after(hunk);
            CrashFrame {
                function: String::new(),
                file: Some(file.path().to_owned()),
                line: Some(first + (last - first) / 2),
                role: Role::Crash,
                depth: depth as u32,
            }
        })
        .collect()
}

fn hunks(files: &[FileDiff]) -> impl Iterator<Item = Hunk<'_>> {
    let files = files.iter();
    files.flat_map(|file| file.hunks.iter().map(move |hunk| (file, hunk)))
}

/// The first and the last line of a hunk after the change.
fn lines_after(hunk: &DiffHunk) -> (u32, u32) {
    let lines = hunk.lines.iter().filter(|line| line.side != Side::Old);
    let lines = lines.map(|line| line.new);
    let first = lines.clone().min().unwrap_or(hunk.old_start);
    (first, lines.max().unwrap_or(first))
}

/// Returns the distance of a hunk from the stack: it holds a frame's line, it is in a
/// frame's function, in a frame's file, or elsewhere; then how deep that is.
fn distance((changed, hunk): Hunk<'_>, frames: &[CrashFrame]) -> (u32, u32) {
    let around = HunkHeader::read(&hunk.header).heading.unwrap_or_default();
    let (first, last) = lines_after(hunk);
    let of = |frame: &CrashFrame| {
        let file = frame.file.as_deref();
        let same_file = file.is_some_and(|file| same(file, changed.path()));
        let held = frame
            .line
            .is_some_and(|line| (first..=last).contains(&line));
        let named =
            !frame.function.is_empty() && words(&around).any(|word| word == short(&frame.function));
        let kind = match (same_file, held, named) {
            (true, true, _) => 0,
            (_, _, true) => 1,
            (true, ..) => 2,
            _ => 3,
        };
        (kind, if kind < 3 { frame.depth } else { 0 })
    };
    frames.iter().map(of).min().unwrap_or((3, 0))
}

/// Tells whether two paths can mean one file: one is the end of the other.
fn same(left: &str, right: &str) -> bool {
    let ends = |long: &str, end: &str| long == end || long.ends_with(&format!("/{end}"));
    ends(left, right) || ends(right, left)
}

/// `A::b(int)` and `a.b.C.b` are `b`.
fn short(function: &str) -> &str {
    let name = function.split('(').next().unwrap_or_default();
    name.rsplit([':', '.']).next().unwrap_or(name)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
}

#[cfg(test)]
mod tests {
    use super::{frames, ordered};
    use crate::record::CrashFrame;
    use patchwright_source::Role;
    use proptest::prelude::*;

    const DIFF: &str = "diff --git a/docs/x.md b/docs/x.md
--- a/docs/x.md
+++ b/docs/x.md
@@ -1 +1 @@
-old
+new
diff --git a/src/a.c b/src/a.c
--- a/src/a.c
+++ b/src/a.c
@@ -10,2 +10,3 @@ int far(void)
 x
+++y;
 z
@@ -40,1 +41,1 @@ int near(int a)
-  check();
+  skip();
";

    fn frame(function: &str, file: Option<&str>, line: Option<u32>) -> CrashFrame {
        CrashFrame {
            function: function.into(),
            file: file.map(Into::into),
            line,
            role: Role::Crash,
            depth: 0,
        }
    }

    fn order(frames: &[CrashFrame]) -> Vec<usize> {
        let text = ordered(DIFF, frames);
        let mut found: Vec<(usize, usize)> = ["+new", "+++y;", "skip"]
            .iter()
            .enumerate()
            .map(|(number, word)| (text.find(word).unwrap(), number))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, number)| number).collect()
    }

    #[test]
    fn hunks_that_meet_the_stack_come_first() {
        for (frames, expected) in [
            (vec![], vec![0, 1, 2]),
            (
                vec![frame("f", Some("/build/src/a.c"), Some(41))],
                vec![2, 1, 0],
            ),
            (vec![frame("N::near(int)", None, None)], vec![2, 0, 1]),
            (
                vec![frame("other", Some("src/a.c"), Some(900))],
                vec![1, 2, 0],
            ),
        ] {
            assert_eq!(order(&frames), expected, "{frames:?}");
        }
        let text = ordered(DIFF, &[frame("near", None, None)]);
        assert!(
            text.starts_with("--- a/src/a.c\n+++ b/src/a.c\n@@ -40,1"),
            "{text}"
        );
        assert_eq!(ordered("no diff\n", &[]), "no diff\n");
    }

    #[test]
    fn a_long_diff_is_cut_between_hunks() {
        let hunk = format!("@@ -1 +1 @@\n-{}\n+b\n", "x".repeat(4000));
        let text = ordered(&format!("--- a/a\n+++ b/a\n{}", hunk.repeat(9)), &[]);
        assert!(
            text.ends_with("[6 more hunks left out]\n"),
            "{}",
            text.len()
        );
    }

    #[test]
    fn places_are_told() {
        let places: Vec<_> = frames(DIFF)
            .into_iter()
            .map(|frame| (frame.file.unwrap(), frame.line.unwrap()))
            .collect();
        let expected = [("docs/x.md", 1), ("src/a.c", 11), ("src/a.c", 41)];
        assert_eq!(places, expected.map(|(file, line)| (file.to_owned(), line)));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "(@@ -[0-9]{1,11},?[0-9]{0,11} \\+[0-9]{1,10},?[0-9]{0,10} @@ f|--- a/b|\\+\\+\\+ b/b|[-+ \\\\]x|\n|\\PC){0,30}") {
            let _ = ordered(&text, &[frame("f", Some("b"), Some(1))]);
            let _ = frames(&text);
        }
    }
}
