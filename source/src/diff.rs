//! Unified diffs: their headers, and the numbered lines of those whose counts are right.

use crate::Pattern;

/// Day behind the name of a file in the header of a diff.
static TIME: Pattern = Pattern::new(" [0-9]{4}-[0-9]{2}-[0-9]{2}");

/// Name of a file that is not there, in a diff.
pub const NO_FILE: &str = "/dev/null";

/// The changes of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// The path before; `None` for a new file.
    pub old: Option<String>,
    /// The path after; `None` for a deleted file.
    pub new: Option<String>,
    /// The changed parts, in order.
    pub hunks: Vec<DiffHunk>,
}

/// A changed part of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiffHunk {
    /// The line `@@ .. @@` above it, with what encloses it.
    pub header: String,
    /// The first line before, counted from 1; of no lines the one before them.
    pub old_start: u32,
    pub lines: Vec<DiffLine>,
}

/// The side of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// It is on both sides.
    Both,
    /// It was removed.
    Old,
    /// It was added.
    New,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    pub side: Side,
    /// Its number before; 0 where it was not there.
    pub old: u32,
    /// Its number after; 0 where it is not there.
    pub new: u32,
    pub text: String,
}

impl Side {
    /// The character in front of its lines.
    pub fn mark(self) -> char {
        match self {
            Self::Both => ' ',
            Self::Old => '-',
            Self::New => '+',
        }
    }
}

impl DiffLine {
    /// Returns its number after, or before where it was removed.
    pub fn number(&self) -> u32 {
        match self.side {
            Side::Old => self.old,
            Side::Both | Side::New => self.new,
        }
    }
}

impl DiffHunk {
    /// Counts its lines before.
    pub fn old_count(&self) -> u32 {
        let there = self.lines.iter().filter(|line| line.side != Side::New);
        u32::try_from(there.count()).unwrap_or(u32::MAX)
    }
}

impl FileDiff {
    /// Returns the path that a reader knows the file by.
    pub fn path(&self) -> &str {
        let path = self.new.as_deref().or(self.old.as_deref());
        path.unwrap_or("(no name)")
    }

    /// Returns the lines of one side, over all hunks.
    pub fn lines(&self, side: Side) -> impl Iterator<Item = &DiffLine> {
        let lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.filter(move |line| line.side == side)
    }

    /// Reads a diff; none where one of its headers cannot be read, because the lines below it
    /// would not be seen.
    ///
    /// The counts in the headers of hunks tell where these end, so that a removed line that
    /// looks like the header of a file is not taken for one.
    pub fn read(diff: &str) -> Option<Vec<Self>> {
        let mut files: Vec<Self> = Vec::new();
        let mut old_path = None;
        let mut left = (0, 0);
        let mut at = (0, 0);
        for line in diff.lines() {
            if left != (0, 0) {
                let hunk = files.last_mut()?.hunks.last_mut()?;
                hunk.lines.extend(read_line(line, &mut left, &mut at));
            } else if let Some(path) = line.strip_prefix("--- ") {
                old_path = bare_name(path, "a/");
            } else if let Some(path) = line.strip_prefix("+++ ") {
                files.push(Self {
                    old: old_path.take(),
                    new: bare_name(path, "b/"),
                    hunks: Vec::new(),
                });
            } else if line.starts_with("@@") {
                let ranges = HunkHeader::read(line).ranges?;
                left = (ranges.old.1, ranges.new.1);
                at = (ranges.old.0, ranges.new.0);
                files.last_mut()?.hunks.push(DiffHunk {
                    header: line.to_owned(),
                    old_start: ranges.old.0,
                    lines: Vec::new(),
                });
            }
        }
        Some(files)
    }
}

/// Reads a line of a hunk; none for the mark of a line without an end.
fn read_line(line: &str, left: &mut (u32, u32), at: &mut (u32, u32)) -> Option<DiffLine> {
    let (side, text) = match line.split_at_checked(1) {
        Some(("+", text)) => (Side::New, text),
        Some(("-", text)) => (Side::Old, text),
        Some((" ", text)) => (Side::Both, text),
        Some(("\\", _)) => return None,
        _ => (Side::Both, line),
    };
    let (old, new) = (side != Side::New, side != Side::Old);
    let read = DiffLine {
        side,
        old: if old { at.0 } else { 0 },
        new: if new { at.1 } else { 0 },
        text: text.to_owned(),
    };
    let (old, new) = (u32::from(old), u32::from(new));
    *at = (at.0.saturating_add(old), at.1.saturating_add(new));
    *left = (left.0.saturating_sub(old), left.1.saturating_sub(new));
    Some(read)
}

fn bare_name(header: &str, prefix: &str) -> Option<String> {
    let name = name_in(header);
    let bare = name.strip_prefix(prefix).unwrap_or(&name);
    (bare != NO_FILE).then(|| bare.to_owned())
}

/// The name in a `---` or `+++` line: without quotes, time stamp or revision.
pub fn name_in(rest: &str) -> String {
    if let Some(quoted) = rest.trim_start().strip_prefix('"') {
        return unquote(quoted);
    }
    if let Some((name, _)) = rest.split_once('\t') {
        return name.trim().to_owned();
    }
    let rest = rest.trim();
    let rest = match rest.rsplit_once(" (") {
        Some((name, words)) if words.ends_with(')') && is_revision(words) => name,
        _ => rest,
    };
    without_time(rest).trim_end().to_owned()
}

fn is_revision(text: &str) -> bool {
    ["revision", "working copy", "nonexistent", "r"]
        .iter()
        .any(|word| text.starts_with(word))
}

/// Cuts ` 2024-05-01 12:00:00` off.
fn without_time(text: &str) -> &str {
    let time = TIME.find(text);
    time.and_then(|time| text.get(..time.start()))
        .unwrap_or(text)
}

/// Git's C-style quoting, up to the closing quote.
fn unquote(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => match rest.next() {
                Some(b'n') => bytes.push(b'\n'),
                Some(b't') => bytes.push(b'\t'),
                Some(digit @ b'0'..=b'3') => {
                    let mut value = u32::from(digit - b'0');
                    for _ in 0..2 {
                        if let Some(next) = rest.next_if(|next| (b'0'..=b'7').contains(next)) {
                            value = value * 8 + u32::from(next - b'0');
                        }
                    }
                    bytes.push(u8::try_from(value).unwrap_or(b'?'));
                }
                Some(other) => bytes.push(other),
                None => break,
            },
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Both names of a `diff --git` line, if it can be told where the first ends.
pub fn git_names(rest: &str) -> Option<(String, String)> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let end = quoted.find("\" ")?;
        let second = quoted.get(end + 2..)?;
        return Some((unquote(quoted), name_in(second)));
    }
    let half = rest.len() / 2;
    let (first, second) = (rest.get(..half)?, rest.get(half + 1..)?);
    let same =
        first.split_once('/').map(|(_, name)| name) == second.split_once('/').map(|(_, name)| name);
    if same && rest.get(half..=half) == Some(" ") {
        return Some((first.to_owned(), second.to_owned()));
    }
    let (first, second) = rest.split_once(' ')?;
    Some((first.to_owned(), second.to_owned()))
}

/// The name that both sides of a section mean: the new one, without the
/// prefixes of git.
pub fn common_name(old: &str, new: &str) -> String {
    let prefixes = [
        ("a/", "b/"),
        ("i/", "w/"),
        ("c/", "i/"),
        ("c/", "w/"),
        ("o/", "w/"),
    ];
    for (left, right) in prefixes {
        let bare_old = old.strip_prefix(left);
        let bare_new = new.strip_prefix(right);
        match (bare_old, bare_new) {
            (Some(_), Some(name)) => return name.to_owned(),
            (None, Some(name)) if old == NO_FILE && left == "a/" => return name.to_owned(),
            (Some(name), None) if new == NO_FILE && left == "a/" => return name.to_owned(),
            _ => {}
        }
    }
    let name = if new == NO_FILE { old } else { new };
    name.strip_suffix(".orig").unwrap_or(name).to_owned()
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HunkHeader {
    /// The lines of both sides.
    pub ranges: Option<HunkRanges>,
    /// The section that the hunk is in.
    pub heading: Option<String>,
}

/// The first line of a hunk and the number of its lines, on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HunkRanges {
    /// Those before.
    pub old: (u32, u32),
    /// Those after.
    pub new: (u32, u32),
}

impl HunkHeader {
    /// Reads `@@ -a,b +c,d @@ heading`; models also write `@@ heading` alone.
    pub fn read(line: &str) -> Self {
        let ranges = hunk_ranges(line);
        let rest = line.strip_prefix("@@").unwrap_or(line);
        let heading = match rest.split_once("@@") {
            Some((_, heading)) if ranges.is_some() => heading,
            Some((heading, "")) => heading,
            _ if ranges.is_none() => rest,
            _ => "",
        };
        let heading = heading.trim();
        let says = heading.chars().any(char::is_alphanumeric);
        Self {
            ranges,
            heading: says.then(|| heading.to_owned()),
        }
    }
}

fn hunk_ranges(line: &str) -> Option<HunkRanges> {
    let inner = line.strip_prefix("@@")?.trim_start();
    let mut words = inner.split_whitespace();
    Some(HunkRanges {
        old: range(words.next()?.strip_prefix('-')?)?,
        new: range(words.next()?.strip_prefix('+')?)?,
    })
}

fn range(text: &str) -> Option<(u32, u32)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{FileDiff, HunkHeader, Side, common_name, git_names, name_in};
    use proptest::prelude::*;

    #[test]
    fn reads_names() {
        for (given, expected) in [
            ("a/src/a.c", "a/src/a.c"),
            ("a/src/a.c\t2024-01-01 10:00:00", "a/src/a.c"),
            ("src/a.c 2024-01-01 10:00:00.000 +0100", "src/a.c"),
            ("src/a b.c\t(revision 12)", "src/a b.c"),
            ("src/a.c (working copy)", "src/a.c"),
            ("src/a (1).c", "src/a (1).c"),
            ("\"a/gr\\303\\274n.c\"", "a/gr\u{fc}n.c"),
        ] {
            assert_eq!(name_in(given), expected, "{given}");
        }
        assert_eq!(
            git_names("a/x y.c b/x y.c"),
            Some(("a/x y.c".to_owned(), "b/x y.c".to_owned()))
        );
        for (old, new, expected) in [
            ("a/x.c", "b/x.c", "x.c"),
            ("a/x.c", "a/x.c", "a/x.c"),
            ("/dev/null", "b/x.c", "x.c"),
            ("a/x.c", "/dev/null", "x.c"),
            ("x.c.orig", "x.c", "x.c"),
        ] {
            assert_eq!(common_name(old, new), expected, "{old} {new}");
        }
    }

    #[test]
    fn reads_the_header_of_a_hunk() {
        for (given, ranges, heading) in [
            ("@@ -3,4 +3,5 @@ int f()", Some((3, 4, 5)), Some("int f()")),
            ("@@ -3 +3 @@", Some((3, 1, 1)), None),
            ("@@ -0,0 +1,9 @@", Some((0, 0, 9)), None),
            ("@@ int f(void) {", None, Some("int f(void) {")),
            ("@@ int f(void) @@", None, Some("int f(void)")),
            ("@@ ... @@", None, None),
            ("@@", None, None),
        ] {
            let header = HunkHeader::read(given);
            let found = header
                .ranges
                .map(|found| (found.old.0, found.old.1, found.new.1));
            let found = (found, header.heading.as_deref());
            assert_eq!(found, (ranges, heading), "{given}");
        }
    }

    #[test]
    fn lines_are_numbered_on_both_sides() {
        let diff = "--- a/x.c\n+++ b/x.c\n@@ -3,3 +3,4 @@ int f(void)\n a\n-b\n+B\n+C\n d\n@@ -9 +10 @@\n-x\n+y\n\
                    --- /dev/null\n+++ b/new.c\n@@ -0,0 +1,2 @@\n+--- a/not a head\n++++ nor this\n";
        let files = FileDiff::read(diff).unwrap();
        assert_eq!(files.len(), 2);
        let lines = files[0].hunks[0].lines.iter();
        let numbers: Vec<_> = lines.map(|line| (line.side, line.old, line.new)).collect();
        assert_eq!(
            numbers,
            [
                (Side::Both, 3, 3),
                (Side::Old, 4, 0),
                (Side::New, 0, 4),
                (Side::New, 0, 5),
                (Side::Both, 5, 6)
            ]
        );
        assert_eq!(files[0].lines(Side::New).count(), 3);
        assert_eq!(files[0].hunks[0].old_count(), 3);
        assert_eq!((files[1].old.as_deref(), files[1].path()), (None, "new.c"));
        assert_eq!(files[1].hunks[0].lines[0].text, "--- a/not a head");
    }

    #[test]
    fn lines_that_look_like_headers_are_lines() {
        let diff = "--- a/x.c\n+++ b/x.c\n@@ -3,3 +3,3 @@ int f\n a\n---- gone\n+++ came\n b\n@@ -9 +9 @@\n-c\n+d\n\\ No newline at end of file\n--- a/y.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-e\n";
        let files = FileDiff::read(diff).unwrap();
        assert_eq!(files.len(), 2);
        assert_eq!(files[1].path(), "y.c");
        let of = |side| -> Vec<_> {
            let lines = files[0].lines(side);
            lines
                .map(|line| (line.number(), line.text.as_str()))
                .collect()
        };
        assert_eq!(of(Side::Old), [(4, "--- gone"), (9, "c")]);
        assert_eq!(of(Side::New), [(4, "++ came"), (9, "d")]);
    }

    #[test]
    fn a_header_that_cannot_be_read_is_told() {
        for diff in [
            "--- a/x.c\n+++ b/x.c\n@@ -1,x +1 @@\n-a\n+b\n",
            "@@ -1 +1 @@\n-a\n+b\n",
            "+++ b/x\n@@ -x +1 @@",
        ] {
            assert_eq!(FileDiff::read(diff), None, "{diff}");
        }
        for diff in [
            "",
            "hello",
            "similarity index 100%\nrename from a\nrename to b\n",
        ] {
            assert_eq!(FileDiff::read(diff), Some(Vec::new()), "{diff}");
        }
    }

    proptest! {
        #[test]
        fn never_fails(text in "([-+ @\\\\]{0,4}[-+ 0-9,@a/]{0,12}\n){0,20}") {
            FileDiff::read(&text);
        }
    }
}
