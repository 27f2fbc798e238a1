//! Old lines that become new lines, and the file that results.

use patchwright_source::{DiffOp, Text, difference};
use std::ops::Range;

/// Beyond this many lines a replaced range is not compared line by line.
pub(crate) const COMPARE_LIMIT: usize = 5_000;

/// A range of old lines (from 0) and what stands there instead, each line with
/// its line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) old: Range<usize>,
    pub(crate) new: Vec<Vec<u8>>,
}

impl Splice {
    pub(crate) fn new(old: Range<usize>, new: Vec<Vec<u8>>) -> Self {
        Self { old, new }
    }

    /// Returns by how many lines the file grows.
    pub(crate) fn growth(&self) -> isize {
        self.new.len().cast_signed() - self.old.len().cast_signed()
    }
}

/// Reduces a splice to the lines that differ.
pub(crate) fn reduce(text: &Text, splice: &Splice) -> Vec<Splice> {
    let old = splice.old.clone();
    let old: Vec<&[u8]> = old.filter_map(|line| text.raw_line(line + 1)).collect();
    let new: Vec<&[u8]> = splice.new.iter().map(Vec::as_slice).collect();
    if old.len() + new.len() > COMPARE_LIMIT {
        return if old == new {
            Vec::new()
        } else {
            vec![splice.clone()]
        };
    }
    let mut parts = Vec::new();
    for op in difference(&old, &new) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (gone, come) = (op.old_range(), op.new_range());
        let base = splice.old.start;
        let new = splice.new.get(come).unwrap_or_default().to_vec();
        parts.push(Splice::new(base + gone.start..base + gone.end, new));
    }
    join_neighbours(parts)
}

/// Joins splices that touch, so that each is apart from the next.
pub(crate) fn join_neighbours(parts: Vec<Splice>) -> Vec<Splice> {
    let mut joined: Vec<Splice> = Vec::new();
    for part in parts {
        match joined.last_mut() {
            Some(last) if last.old.end == part.old.start => {
                last.old.end = part.old.end;
                last.new.extend(part.new);
            }
            _ => joined.push(part),
        }
    }
    joined
}

/// A part of a file, its old bytes with every splice (in order) carried out.
pub(crate) fn carry_out(text: &Text, lines: Range<usize>, splices: &[Splice]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = lines.start;
    for splice in splices {
        out.extend_from_slice(bytes_of(text, at..splice.old.start));
        out.append(&mut splice.new.concat());
        at = splice.old.end;
    }
    out.extend_from_slice(bytes_of(text, at..lines.end));
    out
}

/// The bytes of some lines.
pub(crate) fn bytes_of(text: &Text, lines: Range<usize>) -> &[u8] {
    let bytes = text.bytes();
    let start = |line: usize| text.line_start(line + 1).unwrap_or(bytes.len());
    bytes
        .get(start(lines.start)..start(lines.end))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Splice, carry_out, reduce};
    use patchwright_source::Text;

    #[test]
    fn reduces_and_carries_out() {
        let text = Text::new(b"a\nb\nc\nd\n".to_vec());
        let lines = |lines: &[&str]| lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        let splice = Splice {
            old: 0..4,
            new: lines(&["a\n", "B\n", "c\n", "x\n", "d\n"]),
        };
        let parts = reduce(&text, &splice);
        assert_eq!(
            parts,
            [
                Splice {
                    old: 1..2,
                    new: lines(&["B\n"])
                },
                Splice {
                    old: 3..3,
                    new: lines(&["x\n"])
                }
            ]
        );
        assert_eq!(carry_out(&text, 0..4, &parts), b"a\nB\nc\nx\nd\n");
    }
}
