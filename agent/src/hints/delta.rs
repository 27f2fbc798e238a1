//! The change that introduced a bug: its hunks in the order of interest. Those
//! that meet the crash stack come first.

use crate::record::CrashFrame;
use patchwright_source::{DiffHunk, FileDiff, HunkHeader, NO_FILE, Role, Side};
use std::fmt::Write;

/// Characters of hunks that are shown; the rest is counted.
const SHOWN: usize = 15_000;
/// Hunks that frames are made of, when nothing else is known.
const FRAMES: usize = 8;

/// One hunk with the file it belongs to.
struct Hunk<'a> {
    file: &'a FileDiff,
    body: &'a DiffHunk,
    /// The text behind the second `@@`: usually the enclosing function.
    around: String,
    /// First and last line after the change.
    lines: (u32, u32),
}

/// A diff with the hunks first that meet these frames; at most as much as can
/// be shown. What is no unified diff is given back as it is.
pub fn ordered(diff: &str, frames: &[CrashFrame]) -> String {
    let files = FileDiff::read(diff).unwrap_or_default();
    let mut hunks = hunks(&files);
    if hunks.is_empty() {
        return diff.to_owned();
    }
    hunks.sort_by_key(|hunk| distance(hunk, frames));
    let mut text = String::new();
    let mut file = None;
    let mut left_out = 0;
    for one in &hunks {
        let shown = written(one.body);
        if text.len() + shown.len() > SHOWN && !text.is_empty() {
            left_out += 1;
            continue;
        }
        let before = file.replace(one.file);
        if before.is_none_or(|before| !std::ptr::eq(before, one.file)) {
            text.push_str(&header(one.file));
        }
        text.push_str(&shown);
    }
    if left_out > 0 {
        let _ = writeln!(text, "[{left_out} more hunks left out]");
    }
    text
}

/// The lines `---` and `+++` of a file.
fn header(file: &FileDiff) -> String {
    let named = |side: &str, path: &Option<String>| match path {
        Some(path) => format!("{side}/{path}"),
        None => NO_FILE.to_owned(),
    };
    let (old, new) = (named("a", &file.old), named("b", &file.new));
    format!("--- {old}\n+++ {new}\n")
}

/// A hunk as it stands in its diff.
fn written(hunk: &DiffHunk) -> String {
    let mut text = format!("{}\n", hunk.header);
    for line in &hunk.lines {
        let sign = match line.side {
            Side::Both => ' ',
            Side::Old => '-',
            Side::New => '+',
        };
        let _ = writeln!(text, "{sign}{}", line.text);
    }
    text
}

/// The places of a diff's first hunks, for a task of which nothing else is known.
pub fn frames(diff: &str) -> Vec<CrashFrame> {
    let files = FileDiff::read(diff).unwrap_or_default();
    let hunks = hunks(&files).into_iter().take(FRAMES).enumerate();
    hunks
        .map(|(depth, hunk)| CrashFrame {
            function: String::new(),
            file: Some(hunk.file.path().to_owned()),
            line: Some(hunk.lines.0 + (hunk.lines.1 - hunk.lines.0) / 2),
            role: Role::Crash,
            depth: depth as u32,
        })
        .collect()
}

/// Returns the distance of a hunk from the stack: it holds a frame's line, it is in a
/// frame's function, in a frame's file, or elsewhere; then how deep that is.
fn distance(hunk: &Hunk<'_>, frames: &[CrashFrame]) -> (u32, u32) {
    let of = |frame: &CrashFrame| {
        let file = frame.file.as_deref();
        let same_file = file.is_some_and(|file| same(file, hunk.file.path()));
        let lines = hunk.lines.0..=hunk.lines.1;
        let held = frame.line.is_some_and(|line| lines.contains(&line));
        let named = !frame.function.is_empty()
            && words(&hunk.around).any(|word| word == short(&frame.function));
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

/// Returns the hunks of all files, with what their headers say.
fn hunks(files: &[FileDiff]) -> Vec<Hunk<'_>> {
    let mut hunks = Vec::new();
    for file in files {
        for hunk in &file.hunks {
            let HunkHeader { ranges, heading } = HunkHeader::read(&hunk.header);
            let (first, count) = ranges.map_or((hunk.old_start, 1), |ranges| ranges.new);
            hunks.push(Hunk {
                file,
                body: hunk,
                around: heading.unwrap_or_default(),
                lines: (first, first.saturating_add(count.saturating_sub(1))),
            });
        }
    }
    hunks
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
