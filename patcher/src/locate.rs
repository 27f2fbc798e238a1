//! Where lines stand in a file: the heart of the patcher.
//!
//! The whole original is compared, in this order: exactly at the range that was
//! named; exactly at most three lines away; there but for whitespace; exactly
//! and once in the file; once but for whitespace; similar beyond doubt. The
//! first that holds decides, and more than one place is none.

mod similar;
#[cfg(test)]
mod tests;

use crate::How;
use crate::pristine::{Pristine, is_space, key};
use std::ops::Range;

/// How far from the named line a place still counts as near.
pub(crate) const NEAR: usize = 3;

/// More places than this are not told apart any further.
const MOST_PLACES: usize = 50;

/// What is looked for. Lines count from 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) lines: &'a [String],
    /// The line at which they are said to begin.
    pub(crate) hint: Option<usize>,
}

/// A place that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) range: Range<usize>,
    pub(crate) how: How,
    /// For each wanted line the line of the file that it stands for, if the two
    /// can be paired at all.
    pub(crate) pairs: Option<Vec<Option<usize>>>,
    /// Wanted lines that are only alike and must not be changed.
    pub(crate) fixed: Vec<usize>,
}

impl Place {
    fn aligned(start: usize, count: usize, how: How) -> Self {
        Self {
            range: start..start + count,
            how,
            pairs: Some((start..start + count).map(Some).collect()),
            fixed: Vec::new(),
        }
    }
}

/// What came of looking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    At(Place),
    /// Several places, by their first lines.
    Several(Vec<usize>),
    Nowhere,
}

/// Finds the place of lines by all rules but similarity.
pub(crate) fn locate(file: &Pristine, wanted: Wanted<'_>) -> Found {
    let count = wanted.lines.len();
    let keys: Vec<u64> = wanted.lines.iter().map(|line| key(line)).collect();
    if keys.iter().all(|key| *key == 0) {
        return blank_lines(file, wanted);
    }
    if let Some(hint) = wanted.hint {
        let near: Vec<usize> = (hint.saturating_sub(NEAR)..=hint + NEAR)
            .filter(|at| file.fits(*at, wanted.lines, &keys))
            .collect();
        let exact: Vec<usize> = near
            .iter()
            .copied()
            .filter(|at| file.fits_exactly(*at, wanted.lines))
            .collect();
        match (exact.as_slice(), near.as_slice()) {
            (exact, _) if exact.contains(&hint) => {
                return Found::At(Place::aligned(hint, count, How::Exact));
            }
            ([at], _) => return Found::At(Place::aligned(*at, count, How::Shifted)),
            ([], [at]) => return Found::At(Place::aligned(*at, count, How::Whitespace)),
            ([], []) => {}
            ([], several) | (several, _) => return Found::Several(several.to_vec()),
        }
    }
    anywhere(file, wanted, &keys)
}

/// The place in the whole file, if it is the only one.
fn anywhere(file: &Pristine, wanted: Wanted<'_>, keys: &[u64]) -> Found {
    let count = wanted.lines.len();
    let all = places(file, wanted.lines, keys);
    let exact: Vec<usize> = all
        .iter()
        .copied()
        .filter(|at| file.fits_exactly(*at, wanted.lines))
        .collect();
    let far = |unhinted: How| {
        if wanted.hint.is_some() {
            How::Moved
        } else {
            unhinted
        }
    };
    match (exact.as_slice(), all.as_slice()) {
        ([at], _) => Found::At(Place::aligned(*at, count, far(How::Exact))),
        ([], [at]) => Found::At(Place::aligned(*at, count, far(How::Whitespace))),
        ([], []) => reflowed(file, wanted),
        ([], several) | (several, _) => Found::Several(several.to_vec()),
    }
}

/// Every place where the lines stand, whitespace aside.
fn places(file: &Pristine, lines: &[String], keys: &[u64]) -> Vec<usize> {
    let rarest = keys
        .iter()
        .enumerate()
        .filter(|(_, key)| **key != 0)
        .min_by_key(|(_, key)| file.with_key(**key).len());
    let Some((offset, key)) = rarest else {
        return Vec::new();
    };
    file.with_key(*key)
        .iter()
        .filter_map(|at| at.checked_sub(offset))
        .filter(|at| file.fits(*at, lines, keys))
        .take(MOST_PLACES)
        .collect()
}

/// Blank lines alone are a place only where they are said to be.
fn blank_lines(file: &Pristine, wanted: Wanted<'_>) -> Found {
    let count = wanted.lines.len();
    let blank = |at: usize| (at..at + count).all(|at| file.key(at) == Some(0));
    match wanted.hint {
        Some(hint) if count > 0 && blank(hint) => {
            Found::At(Place::aligned(hint, count, How::Exact))
        }
        _ => Found::Nowhere,
    }
}

/// The place of lines that were broken differently, or lack blank lines: the
/// same characters, from the start of a line to the end of one.
fn reflowed(file: &Pristine, wanted: Wanted<'_>) -> Found {
    let needle: String = wanted
        .lines
        .iter()
        .flat_map(|line| line.chars())
        .filter(|next| !is_space(*next))
        .collect();
    let stream = file.stream();
    let mut found: Vec<Range<usize>> = Vec::new();
    for (offset, _) in stream.text.match_indices(needle.as_str()) {
        let end = offset + needle.len();
        let first = stream.starts.partition_point(|start| *start <= offset);
        let after = stream.starts.partition_point(|start| *start < end);
        let begins = first
            .checked_sub(1)
            .filter(|at| stream.starts.get(*at) == Some(&offset));
        let ends = stream.starts.get(after) == Some(&end);
        if let Some(begin) = begins.filter(|_| ends) {
            found.push(begin..after);
        }
        if found.len() >= MOST_PLACES {
            break;
        }
    }
    let near = |range: &Range<usize>| {
        wanted
            .hint
            .is_some_and(|hint| range.start.abs_diff(hint) <= NEAR)
    };
    let close: Vec<Range<usize>> = found.iter().filter(|range| near(range)).cloned().collect();
    let (range, how) = match (close.as_slice(), found.as_slice()) {
        ([range], _) => (range.clone(), How::Whitespace),
        ([], [range]) if wanted.hint.is_none() => (range.clone(), How::Whitespace),
        ([], [range]) => (range.clone(), How::Moved),
        ([], []) => return Found::Nowhere,
        ([], several) | (several, _) => {
            return Found::Several(several.iter().map(|range| range.start).collect());
        }
    };
    let pairs = pair_non_blank(file, wanted.lines, &range);
    if pairs.is_none() && lines_matter(file, &range) {
        return Found::Nowhere;
    }
    Found::At(Place {
        range,
        how,
        pairs,
        fixed: Vec::new(),
    })
}

/// Pairs the lines, if only blank ones are missing or too many.
fn pair_non_blank(
    file: &Pristine,
    lines: &[String],
    range: &Range<usize>,
) -> Option<Vec<Option<usize>>> {
    let mut rest = range.clone().filter(|at| file.key(*at) != Some(0));
    let mut pairs = Vec::with_capacity(lines.len());
    for line in lines {
        if key(line) == 0 {
            pairs.push(None);
        } else {
            let at = rest.next()?;
            if file.key(at) != Some(key(line)) {
                return None;
            }
            pairs.push(Some(at));
        }
    }
    rest.next().is_none().then_some(pairs)
}

/// Whether the end of a line means something in a range, so that lines broken
/// differently are other code.
fn lines_matter(file: &Pristine, range: &Range<usize>) -> bool {
    use patchwright_source::Language::{C, Cpp, Java};
    let free = matches!(file.language, Some(C | Cpp | Java));
    !free
        || range.clone().any(|at| {
            let line = file.line(at);
            line.contains("//") || line.trim_start().starts_with('#') || line.ends_with('\\')
        })
}

pub(crate) use similar::locate_similar;

/// The part of the file that looks most like the wanted lines, for messages.
pub(crate) fn nearest(file: &Pristine, wanted: Wanted<'_>) -> Option<usize> {
    similar::nearest(file, wanted.lines).or(wanted.hint.filter(|hint| *hint < file.count()))
}
