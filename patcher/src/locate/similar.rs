//! Lines that were not copied faithfully, where nothing else can be meant.
//!
//! What may differ is little: comments, a string that stays as it is, a name
//! with a slip of the pen, a line that was left out between two that stay. A
//! number, an operator, another name that exists, a brace, a parenthesis or a
//! preprocessor line may not.

mod judge;

use super::{Found, NEAR, Wanted};
use crate::pristine::{Pristine, is_space};
use judge::Judge;
use std::collections::{BTreeMap, HashMap};

/// The part of the code lines that must be the same, in percent.
const THRESHOLD: usize = 60;

/// How far the second best place must stay behind, in percent of the best.
const RIVAL: usize = 75;

/// How far lines left out may shift the rest.
const DRIFT: isize = 3;

/// Code of fewer characters may stand anywhere; it must be near its place.
const SHORTEST: usize = 20;

/// Beyond this many lines similarity is not tried.
const LONGEST: usize = 400;

/// A line of code: its number and its text without whitespace and comments.
struct Line {
    at: usize,
    code: String,
}

fn bare(code: &str) -> String {
    code.chars().filter(|next| !is_space(*next)).collect()
}

fn code_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Line> {
    lines
        .enumerate()
        .map(|(at, code)| Line {
            at,
            code: bare(code),
        })
        .filter(|line| !line.code.is_empty())
        .collect()
}

/// Candidates: how many lines are the same, by the shift between both.
fn votes(file: &[Line], wanted: &[Line]) -> BTreeMap<isize, Vec<(usize, usize)>> {
    let mut by_code: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in file.iter().enumerate() {
        by_code.entry(&line.code).or_default().push(index);
    }
    let mut votes: BTreeMap<isize, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, line) in wanted.iter().enumerate() {
        for at in by_code
            .get(line.code.as_str())
            .into_iter()
            .flatten()
            .take(2_000)
        {
            let shift = at.cast_signed() - index.cast_signed();
            votes.entry(shift).or_default().push((index, *at));
        }
    }
    votes
}

/// The matched pairs of the best shift and its neighbours, and how many the
/// best rival elsewhere has.
fn best(
    votes: &BTreeMap<isize, Vec<(usize, usize)>>,
    near: Option<isize>,
) -> Option<(Vec<(usize, usize)>, usize)> {
    let count = |shift: isize| -> usize {
        let around = votes.range(shift - DRIFT..=shift + DRIFT);
        let mut wanted: Vec<usize> = around
            .flat_map(|(_, pairs)| pairs.iter().map(|(i, _)| *i))
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.len()
    };
    let top = votes.keys().copied().max_by_key(|shift| {
        let distance = near.map_or(0, |near| shift.abs_diff(near));
        (
            count(*shift),
            votes.get(shift).map_or(0, Vec::len),
            std::cmp::Reverse(distance),
        )
    })?;
    let mut pairs: Vec<(usize, usize)> = votes
        .range(top - DRIFT..=top + DRIFT)
        .flat_map(|(_, pairs)| pairs.clone())
        .collect();
    pairs.sort_unstable_by_key(|(wanted, at)| {
        (
            *wanted,
            (at.cast_signed() - wanted.cast_signed() - top).unsigned_abs(),
        )
    });
    pairs.dedup_by_key(|(wanted, _)| *wanted);
    let rival = votes
        .keys()
        .filter(|shift| shift.abs_diff(top) > 2 * DRIFT.unsigned_abs())
        .map(|shift| count(*shift))
        .max()
        .unwrap_or(0);
    Some((pairs, rival))
}

/// Finds lines that were not copied faithfully.
pub(crate) fn locate_similar(
    file: &Pristine,
    wanted: Wanted<'_>,
    knows: &dyn Fn(&str) -> bool,
) -> Found {
    if wanted.lines.len() > LONGEST {
        return Found::Nowhere;
    }
    let wanted_code =
        crate::syntax::without_comments(file.language, wanted.lines.iter().map(String::as_str));
    let ours = code_lines(wanted_code.iter().map(String::as_str));
    let theirs = code_lines(file.code().iter().map(String::as_str));
    let votes = votes(&theirs, &ours);
    let Some((pairs, rival)) = best(&votes, None) else {
        return Found::Nowhere;
    };
    if pairs.len() * 100 < ours.len() * THRESHOLD || ours.iter().all(|line| line.code.len() < 4) {
        return Found::Nowhere;
    }
    if rival * 100 > pairs.len() * RIVAL {
        let shifts = votes.keys().filter_map(|shift| {
            let start = usize::try_from(*shift).ok()?;
            theirs.get(start).map(|line| line.at)
        });
        return Found::Several(shifts.take(super::MOST_PLACES).collect());
    }
    let (Some((first, start)), Some((last, end))) = (pairs.first(), pairs.last()) else {
        return Found::Nowhere;
    };
    let after = ours.len() - 1 - last;
    let region = start
        .checked_sub(*first)
        .and_then(|start| Some((theirs.get(start)?.at, theirs.get(end + after)?.at)))
        .filter(|(start, end)| start <= end);
    let Some((start, end)) = region else {
        return Found::Nowhere;
    };
    let length: usize = ours.iter().map(|line| line.code.len()).sum();
    let near = wanted.hint.is_some_and(|hint| hint.abs_diff(start) <= NEAR);
    if length < SHORTEST && !near {
        return Found::Nowhere;
    }
    let (start, end) = widen(file, wanted.lines, &wanted_code, (start, end + 1));
    let judge = Judge {
        file,
        wanted: wanted.lines,
        wanted_code: &wanted_code,
        knows,
    };
    judge.pair(start, end).map_or(Found::Nowhere, Found::At)
}

/// Takes in the comments around the code, where the wanted lines have some.
fn widen(
    file: &Pristine,
    wanted: &[String],
    code: &[String],
    (mut start, mut end): (usize, usize),
) -> (usize, usize) {
    let comment = |at: usize| {
        file.key(at).is_some_and(|key| key != 0)
            && file
                .code()
                .get(at)
                .is_some_and(|code| bare(code).is_empty())
    };
    let is_comment = |index: &usize| {
        code.get(*index).is_some_and(|code| bare(code).is_empty())
            && wanted
                .get(*index)
                .is_some_and(|line| !line.trim().is_empty())
    };
    let before = (0..wanted.len()).take_while(is_comment).count();
    let after = (0..wanted.len()).rev().take_while(is_comment).count();
    for _ in 0..before {
        start -= usize::from(start > 0 && comment(start - 1));
    }
    for _ in 0..after {
        end += usize::from(comment(end));
    }
    (start, end)
}

/// Where most of the wanted lines stand, for messages.
pub(crate) fn nearest(file: &Pristine, wanted: &[String]) -> Option<usize> {
    let ours = code_lines(wanted.iter().take(LONGEST).map(String::as_str));
    let theirs: Vec<Line> = (0..file.count())
        .map(|at| Line {
            at,
            code: bare(&file.line(at)),
        })
        .filter(|line| !line.code.is_empty())
        .collect();
    let votes = votes(&theirs, &ours);
    let (pairs, _) = best(&votes, None)?;
    let (first, at) = pairs.first()?;
    let start = at.saturating_sub(*first);
    theirs.get(start).map(|line| line.at)
}
