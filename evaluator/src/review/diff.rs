//! Unified diff: its files, hunks and lines.

/// The sign of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Kept,
    Added,
    Removed,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) sign: Sign,
    /// Its number: in the patched file, or in the pristine one where it was removed.
    pub(crate) number: u32,
    pub(crate) text: String,
}

/// The changes of one file, hunk by hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileDiff {
    pub(crate) path: String,
    pub(crate) hunks: Vec<Vec<Line>>,
}

impl FileDiff {
    /// Returns the lines with a sign, over all hunks.
    pub(crate) fn lines(&self, sign: Sign) -> impl Iterator<Item = &Line> {
        self.hunks
            .iter()
            .flatten()
            .filter(move |line| line.sign == sign)
    }
}

/// Reads a diff; none where one of its headers cannot be read, because the rules would
/// not see the lines below it.
///
/// The counts in the hunk headers determine the end of a hunk, so that a removed line that
/// looks like a file header is not taken for one.
pub(crate) fn read(diff: &str) -> Option<Vec<FileDiff>> {
    let mut files: Vec<FileDiff> = Vec::new();
    let mut old_path = "";
    let mut left = (0, 0);
    let mut numbers = (0, 0);
    for text in diff.lines() {
        if left != (0, 0) {
            let hunk = files.last_mut().and_then(|file| file.hunks.last_mut());
            hunk?.extend(line(text, &mut left, &mut numbers));
        } else if let Some(path) = text.strip_prefix("--- ") {
            old_path = plain(path)?;
        } else if let Some(path) = text.strip_prefix("+++ ") {
            let new_path = plain(path)?;
            let path = if new_path == "/dev/null" {
                old_path
            } else {
                new_path
            };
            files.push(FileDiff {
                path: path.to_owned(),
                hunks: Vec::new(),
            });
        } else if text.starts_with("@@") {
            let (old, new) = header(text)?;
            numbers = (old.0, new.0);
            left = (old.1, new.1);
            files.last_mut()?.hunks.push(Vec::new());
        }
    }
    Some(files)
}

fn line(text: &str, left: &mut (u32, u32), numbers: &mut (u32, u32)) -> Option<Line> {
    let (sign, rest) = match text.split_at_checked(1) {
        Some(("+", rest)) => (Sign::Added, rest),
        Some(("-", rest)) => (Sign::Removed, rest),
        Some((" ", rest)) => (Sign::Kept, rest),
        None => (Sign::Kept, ""),
        // "\ No newline at end of file"
        Some(_) => return None,
    };
    let number = if sign == Sign::Removed {
        numbers.0
    } else {
        numbers.1
    };
    if sign != Sign::Added {
        left.0 = left.0.saturating_sub(1);
        numbers.0 += 1;
    }
    if sign != Sign::Removed {
        left.1 = left.1.saturating_sub(1);
        numbers.1 += 1;
    }
    Some(Line {
        sign,
        number,
        text: rest.to_owned(),
    })
}

/// `@@ -1,4 +1,5 @@`: start and length on both sides.
fn header(text: &str) -> Option<((u32, u32), (u32, u32))> {
    let inside = text.strip_prefix("@@ -")?.split(" @@").next()?;
    let (old, new) = inside.split_once(" +")?;
    Some((range(old)?, range(new)?))
}

fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, length)) => Some((start.parse().ok()?, length.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// Returns the name in a file header; none where git quotes it.
fn plain(path: &str) -> Option<&str> {
    if path.starts_with('"') {
        return None;
    }
    let path = path.split('\t').next().unwrap_or(path).trim_end();
    let bare = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
    Some(bare.unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::{Sign, read};
    use proptest::prelude::*;

    #[test]
    fn reads_files_hunks_and_numbers() {
        let diff = "--- a/x.c\n+++ b/x.c\n@@ -3,3 +3,3 @@ int f\n a\n---- gone\n+++ came\n b\n@@ -9 +9 @@\n-c\n+d\n\\ No newline at end of file\n--- a/y.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-e\n";
        let files = read(diff).unwrap();
        assert_eq!(files.len(), 2);
        assert_eq!(files[1].path, "y.c");
        let removed: Vec<_> = files[0]
            .lines(Sign::Removed)
            .map(|line| (line.number, line.text.as_str()))
            .collect();
        assert_eq!(removed, [(4, "--- gone"), (9, "c")]);
        let added: Vec<_> = files[0]
            .lines(Sign::Added)
            .map(|line| (line.number, line.text.as_str()))
            .collect();
        assert_eq!(added, [(4, "++ came"), (9, "d")]);
    }

    #[test]
    fn a_header_that_cannot_be_read_is_told() {
        for diff in [
            "--- a/x.c\n+++ b/x.c\n@@ -1,x +1 @@\n-a\n+b\n",
            "--- \"a/\\001.c\"\n+++ \"b/\\001.c\"\n@@ -1 +1 @@\n-a\n+b\n",
            "@@ -1 +1 @@\n-a\n+b\n",
        ] {
            assert_eq!(read(diff), None, "{diff}");
        }
        assert_eq!(
            read("similarity index 100%\nrename from a\nrename to b\n"),
            Some(Vec::new())
        );
    }

    proptest! {
        #[test]
        fn never_fails(text in "([-+ @\\\\]{0,4}[-+ 0-9,@a/]{0,12}\n){0,20}") {
            read(&text);
        }
    }
}
