//! A piece of code with its place: cut from a file, merged, and numbered for
//! the reader. It knows nothing of queries or of how the piece was found.

use patchwright_source::{Text, TreePath};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Longer lines are cut: generated and minified code has lines of megabytes,
/// and no edit is ever made by reading beyond this column.
const LONGEST_LINE: usize = 400;

/// The first and the last of some lines of a file.
pub(crate) type Lines = (u32, u32);

/// Describes how precise a hit is. The better one sorts first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The definition of exactly the name that was asked for.
    High,
    /// The definition of a name that holds the asked one.
    Medium,
    /// Text and whole files.
    Low,
}

/// Consecutive lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The number of the first line.
    pub start_line: u32,
    /// The lines without their endings.
    pub lines: Vec<String>,
}

impl Piece {
    /// The number of the last line.
    pub fn end_line(&self) -> u32 {
        self.start_line + (self.lines.len() as u32).saturating_sub(1)
    }
}

/// A piece of code with its path and line range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snippet {
    pub path: TreePath,
    /// The first line that it is about.
    pub start_line: u32,
    /// The last line that it is about; lines between may be left out.
    pub end_line: u32,
    /// The names defined in it, or the function around it.
    pub symbols: Vec<String>,
    /// The raw lines; what was left out is marked.
    pub text: String,
    /// One line about it for the reader, such as the function around it.
    pub note: Option<String>,
    /// True when these are single lines of interest whose gaps are not marked.
    pub sparse: bool,
    /// The lines that are really there.
    pub pieces: Vec<Piece>,
}

impl Snippet {
    /// Cuts line ranges out of a file. Ranges are clipped to the file, put in order and merged;
    /// gaps are filled where they are short and marked where they are not, unless the lines are
    /// sparse: single lines of interest. `None` when nothing remains.
    pub fn cut(path: &TreePath, text: &Text, ranges: &[Lines], sparse: bool) -> Option<Self> {
        let count = text.line_count() as u32;
        let clipped = ranges
            .iter()
            .map(|(first, last)| ((*first).max(1), (*last).min(count)))
            .filter(|(first, last)| first <= last)
            .collect();
        let pieces: Vec<Piece> = join(clipped, if sparse { TOUCHING } else { FILLED })
            .into_iter()
            .map(|(first, last)| Piece {
                start_line: first,
                lines: (first..=last).map(|number| line(text, number)).collect(),
            })
            .collect();
        Some(Self {
            path: path.clone(),
            start_line: pieces.first()?.start_line,
            end_line: pieces.last()?.end_line(),
            symbols: Vec::new(),
            text: write_pieces(&pieces, sparse, |_, line| line.to_owned()),
            note: None,
            sparse,
            pieces,
        })
    }

    /// The same with the names it is about.
    #[must_use]
    pub fn with_symbols(mut self, symbols: impl IntoIterator<Item = String>) -> Self {
        self.symbols = symbols.into_iter().collect();
        self
    }

    /// The same with a remark.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// `path:start-end`.
    pub fn place(&self) -> String {
        place(&self.path, self.start_line, self.end_line)
    }

    /// The lines with their numbers, as every reader gets them.
    pub fn numbered(&self) -> String {
        number_pieces(&self.pieces, self.sparse)
    }

    /// Returns how many lines are shown.
    pub fn line_count(&self) -> usize {
        self.pieces.iter().map(|piece| piece.lines.len()).sum()
    }

    /// Returns whether a line is shown.
    pub(crate) fn has_line(&self, line: u32) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|piece| (piece.start_line..=piece.end_line()).contains(&line))
    }

    /// The ranges that are shown.
    pub fn ranges(&self) -> Vec<Lines> {
        self.pieces
            .iter()
            .map(|piece| (piece.start_line, piece.end_line()))
            .collect()
    }
}

/// `path:start-end`, or `path:line` for one line.
pub(crate) fn place(path: &TreePath, first: u32, last: u32) -> String {
    if first == last {
        format!("{path}:{first}")
    } else {
        format!("{path}:{first}-{last}")
    }
}

/// Numbers lines in the one form that is stripped again from a reply:
/// right-aligned number, colon, one space, code; a blank line has no space.
pub(crate) fn number_pieces(pieces: &[Piece], sparse: bool) -> String {
    let width = pieces
        .last()
        .map_or(1, |piece| piece.end_line().to_string().len());
    write_pieces(pieces, sparse, |number, line| match line {
        "" => format!("{number:>width$}:"),
        line => format!("{number:>width$}: {line}"),
    })
}

/// Writes each line in some form, and what is left out between pieces unless they are sparse.
fn write_pieces(pieces: &[Piece], sparse: bool, form: impl Fn(u32, &str) -> String) -> String {
    let mut out = String::new();
    let mut shown_to = None;
    for piece in pieces {
        if let (Some(shown_to), false) = (shown_to, sparse) {
            let _ = writeln!(out, "{}", elision(shown_to + 1, piece.start_line - 1));
        }
        for (number, line) in (piece.start_line..).zip(&piece.lines) {
            let _ = writeln!(out, "{}", form(number, line));
        }
        shown_to = Some(piece.end_line());
    }
    out
}

fn elision(first: u32, last: u32) -> String {
    if first >= last {
        format!("[... line {first} not shown ...]")
    } else {
        format!("[... lines {first}-{last} not shown ...]")
    }
}

/// Gaps of fewer lines are filled: the mark of a gap costs a line too, and code
/// in one piece is read with less doubt.
const FILLED: u32 = 15;

/// Distance of ranges that overlap, touch or leave out a single line.
const TOUCHING: u32 = 2;

/// Sorts ranges and joins those that overlap or leave out a single line.
pub(crate) fn merge_ranges(ranges: Vec<Lines>) -> Vec<Lines> {
    join(ranges, TOUCHING)
}

/// Sorts ranges and joins those that are not further apart than some lines.
fn join(mut ranges: Vec<Lines>, apart: u32) -> Vec<Lines> {
    ranges.sort_unstable();
    let mut joined: Vec<Lines> = Vec::new();
    for (first, last) in ranges {
        match joined.last_mut() {
            Some(open) if first <= open.1.saturating_add(apart) => open.1 = open.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    joined
}

/// One line of a file, made safe to show: cut when very long.
pub(crate) fn line(text: &Text, number: u32) -> String {
    let raw = text.line(number as usize).unwrap_or_default();
    // No line has more characters than bytes, and few have too many.
    let is_long = raw.len() > LONGEST_LINE;
    let cut = is_long.then(|| raw.char_indices().nth(LONGEST_LINE));
    let Some((cut, _)) = cut.flatten() else {
        return raw.trim_end().to_owned();
    };
    let (shown, left) = raw.split_at(cut);
    format!("{shown} [... {} more characters]", left.chars().count())
}

/// Takes in the comment directly above a definition.
pub(crate) fn with_comment(text: &Text, start: u32) -> u32 {
    let mut first = start;
    while first > 1 && start - first < 30 {
        let above = line(text, first - 1);
        let above = above.trim();
        let is_comment = above.starts_with("//")
            || above.starts_with("/*")
            || above.starts_with('*')
            || above.ends_with("*/");
        if !is_comment {
            break;
        }
        first -= 1;
    }
    first
}

#[cfg(test)]
mod tests {
    use super::{Snippet, merge_ranges};
    use patchwright_source::{Text, TreePath};
    use proptest::prelude::*;

    fn snippet(content: &str, ranges: &[(u32, u32)]) -> Option<Snippet> {
        let path = TreePath::new("a.c").unwrap();
        Snippet::cut(&path, &Text::new(content.into()), ranges, false)
    }

    #[test]
    fn numbers_in_one_form() {
        let content: String = (1..=26).fold(String::new(), |all, n| all + &format!("line {n}\n"));
        let content = content.replace("line 23\n", "\n");
        let snippet = snippet(&content, &[(22, 24), (1, 1), (26, 99)]).unwrap();
        assert_eq!(snippet.place(), "a.c:1-26");
        assert_eq!(
            snippet.numbered(),
            " 1: line 1\n[... lines 2-21 not shown ...]\n22: line 22\n23:\n24: line 24\n25: line 25\n26: line 26\n"
        );
        assert!(snippet.text.starts_with("line 1\n[... lines 2-21"));
    }

    #[test]
    fn fills_gaps_of_fewer_than_fifteen_lines() {
        let content = "x\n".repeat(60);
        let cut = snippet(&content, &[(1, 2), (17, 18), (34, 35)]).unwrap();
        assert_eq!(cut.ranges(), [(1, 18), (34, 35)]);
        let path = TreePath::new("a.c").unwrap();
        let text = Text::new(content.into());
        let sparse = Snippet::cut(&path, &text, &[(1, 2), (7, 8)], true).unwrap();
        assert_eq!(sparse.ranges(), [(1, 2), (7, 8)]);
    }

    #[test]
    fn cuts_a_line_of_a_million() {
        let snippet = snippet(&"x".repeat(1_000_000), &[(1, 1)]).unwrap();
        assert!(snippet.text.len() < 500);
        assert!(snippet.text.contains("999600 more characters"));
    }

    #[test]
    fn keeps_to_the_file() {
        assert!(snippet("a\n", &[(5, 9)]).is_none());
        assert!(snippet("", &[(1, 1)]).is_none());
    }

    proptest! {
        #[test]
        fn merged_ranges_stand_apart(ranges in proptest::collection::vec((1u32..200, 0u32..20), 0..20)) {
            let ranges: Vec<(u32, u32)> = ranges.into_iter().map(|(a, n)| (a, a + n)).collect();
            let merged = merge_ranges(ranges.clone());
            prop_assert!(merged.windows(2).all(|pair| pair[0].1 + 2 < pair[1].0));
            for (first, last) in ranges {
                prop_assert!(merged.iter().any(|(a, b)| *a <= first && last <= *b));
            }
        }
    }
}
