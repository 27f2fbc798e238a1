//! Location of quoted lines in a file: the heart of the patcher.
//!
//! The whole quote is compared, in this order: exactly at the range that was
//! named; exactly at most three lines away; there but for whitespace; exactly
//! and once in the file; once but for whitespace; aligned beyond doubt. The
//! first that holds decides, and more than one place is none. A place that no number
//! confirms must also beat those where the quote would stand with lines left out.

mod align;
mod chain;
mod contradiction;
mod pairing;
#[cfg(test)]
mod tests;

use crate::PlacementKind;
use crate::pristine::{Pristine, bare, key, says_something, solid};
use crate::script::Change;
use std::ops::Range;

/// Distance from the named line within which a place counts as near.
pub(crate) const NEAR: usize = 3;

/// Distance from the named line within which another equal place makes a near one
/// doubtful: numbers of models are off by less.
const SLACK: usize = 8;

/// Distance by which the next equal place must be farther from its number for a number
/// to decide.
const APART: usize = 40;

/// More places than this are not told apart any further.
const MOST_PLACES: usize = 50;

/// Quoted lines that are looked for. Lines count from 0.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Quote<'a> {
    pub(crate) lines: &'a [String],
    /// The line at which they are said to begin.
    pub(crate) hint: Option<usize>,
    /// By how many lines a program's number may be off where it has to decide
    /// among equal places; 0 where it may not decide.
    pub(crate) slack: usize,
    /// The section in which they are said to stand.
    pub(crate) heading: Option<&'a str>,
    /// The changes that the edit makes to them.
    pub(crate) changes: &'a [Change<'a>],
}

impl Quote<'_> {
    /// Returns true when the edit takes a quoted line away.
    fn removes(&self, at: usize) -> bool {
        self.changes.iter().any(|change| change.old.contains(&at))
    }
}

/// Lines of the file that quoted lines stand for, one for each of these.
type Pairs = Vec<Option<usize>>;

/// Lines of a file that are the quoted ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) range: Range<usize>,
    pub(crate) kind: PlacementKind,
    /// For each quoted line the line of the file that it stands for, if the
    /// two can be paired at all.
    pub(crate) pairs: Option<Pairs>,
    /// Quoted lines that are only alike and must not be changed.
    pub(crate) fixed: Vec<usize>,
}

impl Match {
    pub(crate) fn aligned(start: usize, count: usize, kind: PlacementKind) -> Self {
        Self {
            range: start..start + count,
            kind,
            pairs: Some((start..start + count).map(Some).collect()),
            fixed: Vec::new(),
        }
    }

    /// Returns true when a number says the same as the place.
    pub(crate) fn is_near(&self, line: Option<usize>) -> bool {
        line.is_some_and(|line| line.abs_diff(self.range.start) <= NEAR)
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Located {
    At(Match),
    /// It stands at several places, of which these are the first lines.
    Several(Vec<usize>),
    /// The quote fits nearly as well where one of its lines stands elsewhere.
    Tied(Tie),
    /// Most of the quote has one place, and some of it stands nowhere.
    Differs(Difference),
    Nowhere,
}

/// A quoted line that fits two places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tie {
    /// The quoted line.
    pub(crate) line: usize,
    /// The lines of the file that it can be.
    pub(crate) places: [usize; 2],
}

/// A place where only a part of the quote stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The first line of the place.
    pub(crate) place: usize,
    /// For each quoted line the line of the file that it stands for.
    pub(crate) pairs: Pairs,
    /// Quoted lines that do not stand there.
    pub(crate) foreign: Vec<usize>,
}

/// Finds the place of lines by all rules but alignment.
pub(crate) fn locate(file: &Pristine, quote: Quote<'_>) -> Located {
    let at = |start, kind| Located::At(Match::aligned(start, quote.lines.len(), kind));
    if quote.lines.iter().all(|line| key(line) == 0) {
        return blank_lines(file, quote);
    }
    if let Some(hint) = quote.hint {
        // Braces alone stand beside every place.
        let mut signs = quote.lines.iter().flat_map(|line| line.chars());
        if !signs.any(char::is_alphanumeric) {
            return if file.fits_exactly(hint, quote.lines) {
                at(hint, PlacementKind::Exact)
            } else {
                Located::Nowhere
            };
        }
        let around =
            (hint.saturating_sub(SLACK)..=hint + SLACK).filter(|at| file.fits(*at, quote.lines));
        let around: Vec<usize> = around.collect();
        let exact = exactly(file, quote, &around);
        let is_near = |at: &usize| at.abs_diff(hint) <= NEAR;
        match (exact.as_slice(), around.as_slice()) {
            (exact, _) if exact.contains(&hint) => return at(hint, PlacementKind::Exact),
            ([near], _) if is_near(near) => return at(*near, PlacementKind::Shifted),
            ([], [near]) if is_near(near) => return at(*near, PlacementKind::Whitespace),
            ([], several) | (several, _) if several.iter().any(is_near) => {
                return Located::Several(several.to_vec());
            }
            _ => {}
        }
    }
    match anywhere(file, quote) {
        Located::At(place) => uncontested(file, quote, place),
        located => located,
    }
}

/// Returns a place that was found far from its number, or without one, as far as the
/// quote cannot as well stand elsewhere with lines left out: what stands there as it
/// is quoted and says enough is beyond doubt.
fn uncontested(file: &Pristine, quote: Quote<'_>, place: Match) -> Located {
    let verbatim = file.fits_exactly(place.range.start, quote.lines);
    if verbatim && align::says_enough(quote.lines) || place.is_near(quote.hint) {
        return Located::At(place);
    }
    align::rival(file, &quote, &place).map_or(Located::At(place), Located::Tied)
}

/// Aligns lines that stand nowhere as they are with the file; a place that some of them
/// contradict is none.
pub(crate) fn align(file: &Pristine, quote: &Quote<'_>, knows: &dyn Fn(&str) -> bool) -> Located {
    let located = align::align(file, quote, knows);
    let Located::At(place) = &located else {
        return located;
    };
    contradiction::find(file, quote, place).map_or(located, Located::Tied)
}

/// Returns the places among these where the quote stands as it is written.
fn exactly(file: &Pristine, quote: Quote<'_>, places: &[usize]) -> Vec<usize> {
    let mut exact = places.to_vec();
    exact.retain(|at| file.fits_exactly(*at, quote.lines));
    exact
}

/// The place in the whole file, if it is the only one.
fn anywhere(file: &Pristine, quote: Quote<'_>) -> Located {
    let all = places(file, quote.lines);
    let exact = exactly(file, quote, &all);
    let at = |start, unhinted| {
        let kind = quote.hint.map_or(unhinted, |_| PlacementKind::Moved);
        Located::At(Match::aligned(start, quote.lines.len(), kind))
    };
    // Braces and blanks are a place only where they are said to be.
    if quote.hint.is_some() && !all.is_empty() && !says_something(quote.lines.iter()) {
        return Located::Nowhere;
    }
    if exact.len() == 1 || all.len() == 1 {
        let loose = loose_places(file, quote.lines);
        if loose.len() > all.len() {
            return Located::Several(loose);
        }
    }
    match (exact.as_slice(), all.as_slice()) {
        // Indentation alone tells places apart only for lines that say something.
        ([_], several @ [_, _, ..]) if !align::says_enough(quote.lines) => {
            Located::Several(several.to_vec())
        }
        ([place], _) => at(*place, PlacementKind::Exact),
        ([], [place]) => at(*place, PlacementKind::Whitespace),
        ([], []) => match reflowed(file, quote) {
            Located::Nowhere => cut_short(file, quote),
            located => located,
        },
        ([], several) | (several, _) => match decided(file, quote, several) {
            Some(place) => at(place, PlacementKind::Moved),
            None => Located::Several(several.to_vec()),
        },
    }
}

/// The place among equal ones that the hunk's header means: the only one in the
/// section that it names, or the only one near its number. The two may not
/// contradict each other.
fn decided(file: &Pristine, quote: Quote<'_>, starts: &[usize]) -> Option<usize> {
    let nearest = quote.hint.and_then(|hint| {
        let mut by_distance: Vec<(usize, usize)> =
            starts.iter().map(|at| (at.abs_diff(hint), *at)).collect();
        by_distance.sort_by_key(|(distance, _)| *distance);
        let [(near, first), (far, _), ..] = *by_distance.as_slice() else {
            return None;
        };
        (far > near).then_some((first, near, far))
    });
    let named = quote.heading.and_then(|heading| {
        let section = align::section(file, heading);
        let is_inside = |at: usize| section.get(at).copied().unwrap_or(false);
        let places = starts.iter();
        let mut inside = places.filter(|at| at.checked_sub(1).is_some_and(is_inside));
        let first = inside.next()?;
        inside.next().is_none().then_some(*first)
    });
    match (named, nearest) {
        (Some(named), Some((near, _, _))) if named == near => Some(named),
        (Some(named), None) if quote.hint.is_none() => Some(named),
        (None, Some((near, distance, other))) => {
            let near_enough = quote.slack > 0 && distance <= quote.slack;
            (near_enough && other >= distance + APART).then_some(near)
        }
        _ => None,
    }
}

/// Returns the first quoted line among those that stand in the fewest places of a file, and
/// these places; blank lines are passed over.
fn rarest<'a>(file: &'a Pristine, keys: &[u64]) -> Option<(usize, &'a [usize])> {
    let solid = keys.iter().enumerate().filter(|(_, key)| **key != 0);
    let places = solid.map(|(at, key)| (at, file.with_key(*key)));
    places.min_by_key(|(_, places)| places.len())
}

/// Every place where the lines stand, whitespace aside.
fn places(file: &Pristine, lines: &[String]) -> Vec<usize> {
    let keys: Vec<u64> = lines.iter().map(|line| key(line)).collect();
    let Some((offset, places)) = rarest(file, &keys) else {
        return Vec::new();
    };
    let starts = places.iter().filter_map(|at| at.checked_sub(offset));
    let fitting = starts.filter(|at| file.fits(*at, lines));
    fitting.take(MOST_PLACES).collect()
}

/// Every place where the lines stand when blank ones do not count either.
fn loose_places(file: &Pristine, lines: &[String]) -> Vec<usize> {
    let keys = lines.iter().map(|line| key(line));
    let keys: Vec<u64> = keys.filter(|key| *key != 0).collect();
    let Some((offset, places)) = rarest(file, &keys) else {
        return Vec::new();
    };
    let (before, behind) = keys.split_at(offset);
    let is_solid = |at: &usize| file.key(*at) != Some(0);
    let start = |at: &usize| {
        let mut above = (0..*at).rev().filter(is_solid);
        let mut below = (*at..file.count()).filter(is_solid);
        let mut first = *at;
        for key in before.iter().rev() {
            first = above.next().filter(|at| file.key(*at) == Some(*key))?;
        }
        let mut behind = behind.iter();
        let follow = behind.all(|key| below.next().and_then(|at| file.key(at)) == Some(*key));
        follow.then_some(first)
    };
    places.iter().filter_map(start).take(MOST_PLACES).collect()
}

/// Blank lines alone are a place only where they are said to be.
fn blank_lines(file: &Pristine, quote: Quote<'_>) -> Located {
    let count = quote.lines.len();
    let blank = |at: usize| (at..at + count).all(|at| file.key(at) == Some(0));
    match quote.hint {
        Some(hint) if count > 0 && blank(hint) => {
            Located::At(Match::aligned(hint, count, PlacementKind::Exact))
        }
        _ => Located::Nowhere,
    }
}

/// The place of lines that were broken differently, or lack blank lines: the
/// same characters, from the start of a line to the end of one.
fn reflowed(file: &Pristine, quote: Quote<'_>) -> Located {
    let needle: String = quote.lines.iter().flat_map(|line| solid(line)).collect();
    let stream = file.stream();
    let mut found: Vec<Range<usize>> = Vec::new();
    for (offset, _) in stream.text.match_indices(needle.as_str()) {
        let end = offset + needle.len();
        let first = stream.starts.partition_point(|start| *start <= offset);
        let after = stream.starts.partition_point(|start| *start < end);
        let before = first.checked_sub(1);
        let begins = before.filter(|at| stream.starts.get(*at) == Some(&offset));
        let ends = stream.starts.get(after) == Some(&end);
        if let Some(begin) = begins.filter(|_| ends) {
            found.push(begin..after);
        }
        if found.len() >= MOST_PLACES {
            break;
        }
    }
    let is_near = |start: usize| quote.hint.is_some_and(|hint| start.abs_diff(hint) <= NEAR);
    let near = |range: &&Range<usize>| is_near(range.start);
    let close: Vec<Range<usize>> = found.iter().filter(near).cloned().collect();
    let (range, kind) = match (close.as_slice(), found.as_slice()) {
        ([range], _) => (range.clone(), PlacementKind::Whitespace),
        ([], [range]) if quote.hint.is_none() => (range.clone(), PlacementKind::Whitespace),
        ([], [range]) => (range.clone(), PlacementKind::Moved),
        ([], []) => return Located::Nowhere,
        ([], several) | (several, _) => {
            return Located::Several(several.iter().map(|range| range.start).collect());
        }
    };
    let pairs = pair_non_blank(file, quote.lines, &range);
    if pairs.is_none() && lines_matter(file, &range) {
        return Located::Nowhere;
    }
    Located::At(Match {
        range,
        kind,
        pairs,
        fixed: Vec::new(),
    })
}

/// The place of lines that stand in the file but for one at an end, which is a
/// part of the line there: a writer who closes a block with `}` leaves out that
/// `else` follows on the same line. Nothing may be changed beyond that line.
fn cut_short(file: &Pristine, quote: Quote<'_>) -> Located {
    let count = quote.lines.len();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (edge, rest) in [(count - 1, 0..count - 1), (0, 1..count)] {
        let at_end = edge >= rest.end;
        let lines = quote.lines.get(rest.clone()).unwrap_or_default();
        let untouched = quote.changes.iter().all(|change| {
            let old = &change.old;
            if at_end {
                old.end <= edge
            } else {
                old.start > edge
            }
        });
        let part = quote.lines.get(edge);
        let part = part.map_or(String::new(), |line| bare(line));
        let weak = part.is_empty() || !says_something(lines.iter());
        if weak || !untouched || loose_places(file, lines).len() > 1 {
            continue;
        }
        let starts = places(file, lines);
        let starts = starts.iter().filter_map(|at| at.checked_sub(rest.start));
        found.extend(starts.map(|start| (start, edge)).filter(|(start, edge)| {
            let line = bare(&file.line(start + edge));
            if at_end {
                line.starts_with(&part)
            } else {
                line.ends_with(&part)
            }
        }));
    }
    match found.as_slice() {
        [(start, edge)] => Located::At(Match {
            fixed: vec![*edge],
            ..Match::aligned(*start, count, PlacementKind::Similar)
        }),
        _ => Located::Nowhere,
    }
}

/// Pairs the lines, if only blank ones are missing or too many.
fn pair_non_blank(file: &Pristine, lines: &[String], range: &Range<usize>) -> Option<Pairs> {
    let mut rest = range.clone().filter(|at| file.key(*at) != Some(0));
    let pairs = lines.iter().map(|line| match key(line) {
        0 => Some(None),
        key => {
            let at = rest.next()?;
            (file.key(at) == Some(key)).then_some(Some(at))
        }
    });
    let pairs = pairs.collect::<Option<Pairs>>()?;
    rest.next().is_none().then_some(pairs)
}

/// Returns true when the end of a line means something in a range, so that lines broken
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

/// Returns the line where most of a quote stands, for messages.
pub(crate) fn nearest(file: &Pristine, quote: Quote<'_>) -> Option<usize> {
    align::nearest(file, &quote).or(quote.hint.filter(|hint| *hint < file.count()))
}
