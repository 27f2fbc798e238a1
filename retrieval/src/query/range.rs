//! Line ranges as people and models write them: `a-b`, `L1-L9`, `a:b`, `a–b`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Lines `first` to `last`, both included, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineRange {
    /// The first line.
    pub first: u32,
    /// The last line, never before the first.
    pub last: u32,
}

impl LineRange {
    /// Puts two line numbers in order; line 0 counts as line 1.
    pub fn new(a: u32, b: u32) -> Self {
        Self {
            first: a.min(b).max(1),
            last: a.max(b).max(1),
        }
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}

/// Splits `path:10-20` and its many variants. What does not look like line
/// numbers stays part of the path.
pub(super) fn split_path_and_lines(body: &str) -> (String, Vec<LineRange>) {
    let body = body.replace(" to ", "-");
    let tail_start = body
        .char_indices()
        .rev()
        .take_while(|(_, character)| is_of_tail(*character))
        .last()
        .map_or(body.len(), |(at, _)| at);
    let tail = body.get(tail_start..).unwrap_or_default();
    let Some(boundary) = tail.find(|c: char| c == ':' || c == '#' || c.is_whitespace()) else {
        return (body.trim().to_owned(), Vec::new());
    };
    let (end, lines) = tail.split_at(boundary);
    let path = format!("{}{end}", body.get(..tail_start).unwrap_or_default());
    let path = path
        .trim()
        .trim_end_matches("lines")
        .trim_end_matches("line");
    let path = path.trim_end_matches([':', '#', ',', ' ']).to_owned();
    (path, read_ranges(lines))
}

fn is_of_tail(character: char) -> bool {
    character.is_ascii_digit()
        || character.is_whitespace()
        || "Ll-\u{2013}\u{2014}:,;.#".contains(character)
}

fn read_ranges(lines: &str) -> Vec<LineRange> {
    let segments: Vec<Vec<u32>> = lines
        .split([',', ';'])
        .map(segment_numbers)
        .filter(|numbers| !numbers.is_empty())
        .collect();
    match segments.as_slice() {
        // `10,20` is the range of sed and git.
        [first, last] if first.len() == 1 && last.len() == 1 => range_of(&[
            first.first().copied().unwrap_or(1),
            last.first().copied().unwrap_or(1),
        ])
        .into_iter()
        .collect(),
        segments => segments
            .iter()
            .filter_map(|found| range_of(found))
            .collect(),
    }
}

/// What the digits of one segment say. A second number that is smaller and
/// stands behind a colon is a compiler's column, not a line.
fn segment_numbers(segment: &str) -> Vec<u32> {
    let found = numbers(segment);
    let segment = segment.trim_matches(|c: char| c == ':' || c == '#' || c.is_whitespace());
    match found.as_slice() {
        [line, column] if column < line && segment.contains(':') => vec![*line],
        _ => found,
    }
}

fn range_of(numbers: &[u32]) -> Option<LineRange> {
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    Some(LineRange::new(first, last))
}

fn numbers(text: &str) -> Vec<u32> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap_or(u32::MAX))
        .collect()
}
