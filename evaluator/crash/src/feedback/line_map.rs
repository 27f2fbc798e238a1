//! Line map: the lines of a patched file and those of the pristine one.

use patchwright_source::{Changes, DiffOp, Tree, TreePath, difference};
use std::ops::Range;

/// The origin of a line of the patched file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineOrigin {
    /// It is this line of the pristine file.
    Same(u32),
    /// It replaced these lines, first and last.
    Replaced(u32, u32),
    /// It was inserted after this line, 0 for the top of the file.
    InsertedAfter(u32),
}

/// The line map of one changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineMap {
    /// The differences, in order: the patched lines and the pristine ones, counted from zero.
    changes: Vec<(Range<usize>, Range<usize>)>,
}

impl LineMap {
    /// Maps a file that a patch gives new content, by its name in the pristine
    /// tree; none for a file without new content, and for a new one.
    pub fn of_change(tree: &Tree, changes: &Changes, pristine: &TreePath) -> Option<Self> {
        let patched = changes.new_content(pristine)?;
        let old = tree.read(pristine).ok()?;
        let text = String::from_utf8_lossy(old.bytes());
        Some(Self::between(&text, &String::from_utf8_lossy(patched)))
    }

    /// Compares a pristine text with the patched one.
    pub fn between(pristine: &str, patched: &str) -> Self {
        let old: Vec<&str> = pristine.lines().collect();
        let new: Vec<&str> = patched.lines().collect();
        let changes = difference(&old, &new)
            .into_iter()
            .filter_map(|op| match op {
                DiffOp::Equal { .. } => None,
                op => Some((op.new_range(), op.old_range())),
            })
            .collect();
        Self { changes }
    }

    /// Returns the origin of a patched line, counted from one.
    pub fn origin(&self, line: u32) -> LineOrigin {
        let at = line.saturating_sub(1) as usize;
        let mut changes = self.changes.iter().rev();
        match changes.find(|(patched, _)| patched.start <= at) {
            None => LineOrigin::Same(line),
            Some((patched, pristine)) if at >= patched.end => {
                let same = (line as usize + pristine.end).saturating_sub(patched.end);
                LineOrigin::Same(number(same))
            }
            Some((_, pristine)) if pristine.is_empty() => {
                LineOrigin::InsertedAfter(number(pristine.start))
            }
            Some((_, pristine)) => {
                LineOrigin::Replaced(number(pristine.start + 1), number(pristine.end))
            }
        }
    }

    /// Returns the patched line of a pristine line, both counted from one: the first of the
    /// lines that replaced it, or the one that follows.
    pub fn patched(&self, line: u32) -> u32 {
        let at = line.saturating_sub(1) as usize;
        let mut changes = self.changes.iter().rev();
        match changes.find(|(_, pristine)| pristine.start <= at) {
            None => line,
            Some((patched, pristine)) if at >= pristine.end => {
                number((line as usize + patched.end).saturating_sub(pristine.end))
            }
            Some((patched, pristine)) => {
                let inside = (at - pristine.start).min(patched.len().saturating_sub(1));
                number(patched.start + inside + 1)
            }
        }
    }

    /// Describes a patched line: `12`, `12 [patched line 15]`,
    /// `10-12 [patched line 14]`, `9+ [patched line 10]`.
    pub fn describe(&self, line: u32) -> String {
        match self.origin(line) {
            LineOrigin::Same(old) if old == line => line.to_string(),
            LineOrigin::Same(old) => format!("{old} [patched line {line}]"),
            LineOrigin::Replaced(a, b) if a == b => format!("{a} [patched line {line}]"),
            LineOrigin::Replaced(a, b) => format!("{a}-{b} [patched line {line}]"),
            LineOrigin::InsertedAfter(old) => format!("{old}+ [patched line {line}]"),
        }
    }
}

fn number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::LineMap;
    use proptest::prelude::*;

    #[test]
    fn maps_to_the_patched_file() {
        let map = LineMap::between("a\nb\nc\nd\ne\nf\n", "a\nnew\nb\nC1\nC2\nC3\ne\nf\n");
        let lines: Vec<u32> = (1..=6).map(|line| map.patched(line)).collect();
        assert_eq!(lines, [1, 3, 4, 5, 7, 8]);
        let map = LineMap::between("a\nb\nc\n", "a\nc\n");
        assert_eq!([map.patched(2), map.patched(3)], [2, 2]);
    }

    #[test]
    fn maps_to_the_pristine_file() {
        let old = "a\nb\nc\nd\ne\nf\n";
        let new = "a\nnew\nb\nC1\nC2\nC3\ne\nf\n";
        let map = LineMap::between(old, new);
        let described: Vec<String> = (1..=8).map(|line| map.describe(line)).collect();
        assert_eq!(
            described,
            [
                "1",
                "1+ [patched line 2]",
                "2 [patched line 3]",
                "3-4 [patched line 4]",
                "3-4 [patched line 5]",
                "3-4 [patched line 6]",
                "5 [patched line 7]",
                "6 [patched line 8]",
            ]
        );
        assert_eq!(LineMap::between(old, old).describe(5), "5");
        assert_eq!(
            LineMap::between("a\n", "x\na\n").describe(1),
            "0+ [patched line 1]"
        );
    }

    proptest! {
        #[test]
        fn equal_lines_stay_equal(old in "([abc]\n){0,12}", new in "([abc]\n){0,12}") {
            let map = LineMap::between(&old, &new);
            let old: Vec<&str> = old.lines().collect();
            for (index, line) in new.lines().enumerate() {
                let number = u32::try_from(index + 1).unwrap();
                if let super::LineOrigin::Same(same) = map.origin(number) {
                    prop_assert_eq!(old[same as usize - 1], line);
                }
            }
        }
    }
}
