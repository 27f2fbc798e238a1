//! Fences and code spans: what is quoted, and what is quoted only as an example.

use super::Level;
use crate::reply::example::introduces_example;
use crate::reply::tag::{Tag, line_before};

/// A line of prose is shorter than this, in bytes.
const LONGEST_LINE: usize = 2_000;

/// A fence that is open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    pub(super) level: Level,
}

/// The fence that is open after a line; `before` is the text before the line.
pub(super) fn after(open: Option<Fence>, line: &str, before: &str) -> Option<Fence> {
    let line = line.trim();
    let Some(mark) = line.chars().next().filter(|mark| "`~".contains(*mark)) else {
        return open;
    };
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    match open {
        Some(open) if open.mark == mark && length >= open.length && info.is_empty() => None,
        None if length >= 3 && !info.contains('`') => {
            let level = if introduces_example(before) {
                Level::Ignored
            } else {
                Level::Quoted
            };
            Some(Fence {
                mark,
                length,
                level,
            })
        }
        unchanged => unchanged,
    }
}

/// Returns true when a tag stands between backticks on its line.
pub(super) fn in_code_span(text: &str, tag: &Tag) -> bool {
    let Some(line) = line_before(text, tag.start, LONGEST_LINE) else {
        return false;
    };
    let after = text.get(tag.start..).unwrap_or_default();
    let after = after
        .get(..after.floor_char_boundary(LONGEST_LINE))
        .unwrap_or(after);
    let rest = after.split('\n').next().unwrap_or_default();
    line.matches('`').count() % 2 == 1 && rest.contains('`')
}
