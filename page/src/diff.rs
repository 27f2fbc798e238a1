//! Unified diff as data: files, hunks and numbered lines.

/// The changes of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileDiff {
    /// The path before; `None` for a new file.
    pub(crate) old: Option<String>,
    /// The path after; `None` for a deleted file.
    pub(crate) new: Option<String>,
    /// The changed parts, in order.
    pub(crate) hunks: Vec<Hunk>,
}

/// A changed part of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The first line before, counted from 1.
    pub(crate) old_start: u32,
    /// Its lines.
    pub(crate) lines: Vec<DiffLine>,
}

/// The side of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// It is on both sides.
    Both,
    /// It was removed.
    Old,
    /// It was added.
    New,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffLine {
    /// Its side.
    pub(crate) side: Side,
    /// Its number before; 0 where it was not there.
    pub(crate) old: u32,
    /// Its number after; 0 where it is not there.
    pub(crate) new: u32,
    /// Its text.
    pub(crate) text: String,
}

impl FileDiff {
    /// The path that a reader knows the file by.
    pub(crate) fn path(&self) -> &str {
        let path = self.new.as_deref().or(self.old.as_deref());
        path.unwrap_or("(no name)")
    }

    /// Counts added and removed lines.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let all = || self.hunks.iter().flat_map(|hunk| &hunk.lines);
        let of = |side| all().filter(|line| line.side == side).count();
        (of(Side::New), of(Side::Old))
    }
}

impl Hunk {
    /// Returns the first line behind the hunk on the old side.
    pub(crate) fn old_end(&self) -> u32 {
        let there = self.lines.iter().filter(|line| line.side != Side::New);
        self.old_start + u32::try_from(there.count()).unwrap_or(u32::MAX)
    }
}

/// Reads a diff. The counts of a hunk's head say where it ends, so that no line of
/// the code is taken for a head.
pub(crate) fn read(diff: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    let mut left = (0_u32, 0_u32);
    let mut at = (0_u32, 0_u32);
    for line in diff.lines() {
        let Some(file) = files.last_mut().filter(|_| left != (0, 0)) else {
            head(&mut files, line, (&mut left, &mut at));
            continue;
        };
        let (side, text) = match line.split_at_checked(1) {
            Some(("+", text)) => (Side::New, text),
            Some(("-", text)) => (Side::Old, text),
            Some((" ", text)) => (Side::Both, text),
            Some(("\\", _)) => continue,
            _ => (Side::Both, line),
        };
        let (old, new) = (side != Side::New, side != Side::Old);
        if let Some(hunk) = file.hunks.last_mut() {
            hunk.lines.push(DiffLine {
                side,
                old: if old { at.0 } else { 0 },
                new: if new { at.1 } else { 0 },
                text: text.to_owned(),
            });
        }
        at = (at.0 + u32::from(old), at.1 + u32::from(new));
        left = (
            left.0.saturating_sub(u32::from(old)),
            left.1.saturating_sub(u32::from(new)),
        );
    }
    files
}

/// Reads a line outside of a hunk.
fn head(files: &mut Vec<FileDiff>, line: &str, (left, at): (&mut (u32, u32), &mut (u32, u32))) {
    if let Some(path) = line.strip_prefix("--- ") {
        files.push(FileDiff {
            old: named(path, "a/"),
            ..FileDiff::default()
        });
    } else if let (Some(path), Some(file)) = (line.strip_prefix("+++ "), files.last_mut()) {
        file.new = named(path, "b/");
    } else if let (Some(((old, olds), (new, news))), Some(file)) = (ranges(line), files.last_mut())
    {
        *left = (olds, news);
        *at = (old, new);
        file.hunks.push(Hunk {
            old_start: old,
            lines: Vec::new(),
        });
    }
}

fn named(path: &str, prefix: &str) -> Option<String> {
    let path = path.split('\t').next().unwrap_or_default();
    let path = path.strip_prefix(prefix).unwrap_or(path);
    (path != "/dev/null").then(|| path.to_owned())
}

type Span = (u32, u32);

/// Reads `@@ -1,2 +3,4 @@`.
fn ranges(line: &str) -> Option<(Span, Span)> {
    let inner = line.strip_prefix("@@ -")?;
    let (inner, _) = inner.split_once(" @@")?;
    let (old, new) = inner.split_once(" +")?;
    let span = |text: &str| -> Option<Span> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    Some((span(old)?, span(new)?))
}

#[cfg(test)]
mod tests {
    use super::{Side, read};

    #[test]
    fn lines_are_numbered_on_both_sides() {
        let diff = "--- a/x.c\n+++ b/x.c\n@@ -3,3 +3,4 @@ int f(void)\n a\n-b\n+B\n+C\n d\n@@ -9 +10 @@\n-x\n+y\n\
                    --- /dev/null\n+++ b/new.c\n@@ -0,0 +1,2 @@\n+--- a/not a head\n++++ nor this\n";
        let files = read(diff);
        assert_eq!(files.len(), 2);
        let numbers: Vec<_> = files[0].hunks[0]
            .lines
            .iter()
            .map(|line| (line.side, line.old, line.new))
            .collect();
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
        assert_eq!(files[0].counts(), (3, 2));
        assert_eq!(files[0].hunks[0].old_end(), 6);
        assert_eq!((files[1].old.as_deref(), files[1].path()), (None, "new.c"));
        assert_eq!(files[1].hunks[0].lines[0].text, "--- a/not a head");
    }

    #[test]
    fn whatever_is_no_diff_has_no_files() {
        for text in ["", "hello", "@@ -1 +1 @@\n+x", "+++ b/x\n@@ -x +1 @@"] {
            assert!(read(text).is_empty(), "{text:?}");
        }
    }
}
