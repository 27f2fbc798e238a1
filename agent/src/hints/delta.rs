//! The change that introduced a bug: its hunks in the order of interest. Those
//! that meet the crash stack come first.

use crate::record::CrashFrame;
use patchwright_source::{HunkHeader, HunkRanges, NO_FILE, Role, name_in};

/// Characters of hunks that are shown; the rest is counted.
const SHOWN: usize = 15_000;
/// Hunks that frames are made of, when nothing else is known.
const FRAMES: usize = 8;

/// One hunk with the file it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk<'a> {
    /// The lines `---` and `+++` above it.
    header: Vec<&'a str>,
    /// The path after the change.
    path: String,
    /// The text behind the second `@@`: usually the enclosing function.
    around: String,
    /// First and last line after the change.
    lines: (u32, u32),
    text: Vec<&'a str>,
}

/// A diff with the hunks first that meet these frames; at most as much as can
/// be shown. What is no unified diff is given back as it is.
pub fn ordered(diff: &str, frames: &[CrashFrame]) -> String {
    let mut hunks = hunks(diff);
    if hunks.is_empty() {
        return diff.to_owned();
    }
    hunks.sort_by_key(|hunk| distance(hunk, frames));
    let mut text = String::new();
    let mut header: &[&str] = &[];
    let mut left_out = 0;
    for hunk in &hunks {
        let size: usize = hunk.text.iter().map(|line| line.len() + 1).sum();
        if text.len() + size > SHOWN && !text.is_empty() {
            left_out += 1;
            continue;
        }
        if hunk.header != header {
            hunk.header.iter().for_each(|line| add(&mut text, line));
            header = &hunk.header;
        }
        hunk.text.iter().for_each(|line| add(&mut text, line));
    }
    if left_out > 0 {
        add(&mut text, &format!("[{left_out} more hunks left out]"));
    }
    text
}

/// The places of a diff's first hunks, for a task of which nothing else is known.
pub fn frames(diff: &str) -> Vec<CrashFrame> {
    let hunks = hunks(diff);
    let hunks = hunks.iter().take(FRAMES).enumerate();
    hunks
        .map(|(depth, hunk)| CrashFrame {
            function: String::new(),
            file: Some(hunk.path.clone()),
            line: Some(hunk.lines.0 + (hunk.lines.1 - hunk.lines.0) / 2),
            role: Role::Crash,
            depth: depth as u32,
        })
        .collect()
}

fn add(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Returns the distance of a hunk from the stack: it holds a frame's line, it is in a
/// frame's function, in a frame's file, or elsewhere; then how deep that is.
fn distance(hunk: &Hunk<'_>, frames: &[CrashFrame]) -> (u32, u32) {
    let of = |frame: &CrashFrame| {
        let file = frame.file.as_deref();
        let same_file = file.is_some_and(|file| same(file, &hunk.path));
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

fn hunks(diff: &str) -> Vec<Hunk<'_>> {
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    let mut header = Vec::new();
    let mut path = String::new();
    // Lines of the open hunk that are still to come, before and after.
    let mut open = (0_u32, 0_u32);
    for line in diff.lines() {
        if open != (0, 0) || line.starts_with('\\') {
            if let Some(hunk) = hunks.last_mut() {
                hunk.text.push(line);
            }
            open = match line.as_bytes().first() {
                Some(b'-') => (open.0.saturating_sub(1), open.1),
                Some(b'+') => (open.0, open.1.saturating_sub(1)),
                Some(b'\\') => open,
                _ => (open.0.saturating_sub(1), open.1.saturating_sub(1)),
            };
        } else if let Some(name) = line.strip_prefix("--- ") {
            header = vec![line];
            path = bare_name(name);
        } else if let Some(name) = line.strip_prefix("+++ ") {
            header.push(line);
            if !name.starts_with(NO_FILE) {
                path = bare_name(name);
            }
        } else if let HunkHeader {
            ranges: Some(HunkRanges { old, new }),
            heading,
        } = HunkHeader::read(line)
        {
            open = (old.1, new.1);
            hunks.push(Hunk {
                header: header.clone(),
                path: path.clone(),
                around: heading.unwrap_or_default(),
                lines: (new.0, new.0.saturating_add(new.1.saturating_sub(1))),
                text: vec![line],
            });
        }
    }
    hunks
}

/// The path in `a/x.c` or `b/x.c`, without what a header has behind it.
fn bare_name(header: &str) -> String {
    let name = name_in(header);
    let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    bare.unwrap_or(&name).to_owned()
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
