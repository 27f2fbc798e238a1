//! Lines that were not copied faithfully, where nothing else can be meant.
//!
//! What may differ is little: comments, a string that stays as it is, a name
//! with a slip of the pen, a line that was left out between two that stay. A
//! number, an operator, another name that exists, a brace, a parenthesis or a
//! preprocessor line may not.

use super::{Found, Place, Wanted};
use crate::How;
use crate::names::{is_standard, tokens};
use crate::pristine::{Pristine, is_space};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::{BTreeMap, HashMap};

/// The part of the code lines that must be the same, in percent.
const THRESHOLD: usize = 60;

/// How far the second best place must stay behind, in percent of the best.
const RIVAL: usize = 75;

/// How far lines left out may shift the rest.
const DRIFT: isize = 3;

/// Beyond this many lines similarity is not tried.
const LONGEST: usize = 400;

/// Slips of the pen are only seen in names of this length.
const SHORTEST_NAME: usize = 5;

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

/// Decides whether the differences between two pieces of code are harmless.
struct Judge<'a> {
    file: &'a Pristine,
    wanted: &'a [String],
    wanted_code: &'a [String],
    knows: &'a dyn Fn(&str) -> bool,
}

impl Judge<'_> {
    fn code_at(&self, at: usize) -> String {
        self.file
            .code()
            .get(at)
            .map(|code| bare(code))
            .unwrap_or_default()
    }

    fn wanted_code(&self, index: usize) -> String {
        self.wanted_code
            .get(index)
            .map(|code| bare(code))
            .unwrap_or_default()
    }

    /// Pairs the wanted lines with those of a range, if all differences are
    /// harmless.
    fn pair(&self, start: usize, end: usize) -> Option<Place> {
        let old: Vec<u64> = self
            .wanted
            .iter()
            .map(|line| crate::pristine::key(line))
            .collect();
        let new: Vec<u64> = (start..end).filter_map(|at| self.file.key(at)).collect();
        let mut pairs = vec![None; self.wanted.len()];
        let mut fixed = Vec::new();
        for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
            let (ours, theirs) = (op.old_range(), op.new_range());
            if let DiffOp::Equal { .. } = op {
                for (index, at) in ours.zip(theirs) {
                    *pairs.get_mut(index)? = Some(start + at);
                }
                continue;
            }
            let theirs = start + theirs.start..start + theirs.end;
            self.gap(ours, theirs, &mut pairs, &mut fixed)?;
        }
        Some(Place {
            range: start..end,
            how: How::Similar,
            pairs: Some(pairs),
            fixed,
        })
    }

    /// Pairs what stands between lines that are the same.
    fn gap(
        &self,
        ours: std::ops::Range<usize>,
        theirs: std::ops::Range<usize>,
        pairs: &mut [Option<usize>],
        fixed: &mut Vec<usize>,
    ) -> Option<()> {
        let mut rest = theirs.clone().peekable();
        for index in ours {
            let code = self.wanted_code(index);
            if code.is_empty() {
                let comment = rest.next_if(|at| self.code_at(*at).is_empty());
                *pairs.get_mut(index)? = comment;
                continue;
            }
            let mut partner = None;
            while let Some(at) = rest.next() {
                let alike = self.alike(index, at);
                if alike != Alike::No {
                    partner = Some((at, alike));
                    break;
                }
                self.may_be_left_out(at).then_some(())?;
            }
            let (at, alike) = partner?;
            *pairs.get_mut(index)? = Some(at);
            if alike == Alike::WhereKept {
                fixed.push(index);
            }
        }
        rest.all(|at| self.may_be_left_out(at)).then_some(())
    }

    /// Whether a line of the file may be missing among the wanted ones.
    fn may_be_left_out(&self, at: usize) -> bool {
        let code = self.code_at(at);
        !code.contains(['{', '}', '(', ')', '[', ']']) && !code.starts_with('#')
    }

    fn alike(&self, index: usize, at: usize) -> Alike {
        let ours = self.wanted_code.get(index).map_or("", String::as_str);
        let theirs = self.file.code().get(at).map_or("", String::as_str);
        if bare(ours) == bare(theirs) {
            return Alike::Yes;
        }
        let (ours, theirs): (Vec<&str>, Vec<&str>) =
            (tokens(ours).collect(), tokens(theirs).collect());
        if ours.len() != theirs.len() || theirs.first() == Some(&"#") {
            return Alike::No;
        }
        let mut alike = Alike::Yes;
        for (a, b) in ours.iter().zip(&theirs).filter(|(a, b)| a != b) {
            let quoted = |token: &str| token.starts_with('"') && token.len() > 1;
            if quoted(a) && quoted(b) {
                alike = Alike::WhereKept;
            } else if !self.is_slip(a, b) {
                return Alike::No;
            }
        }
        alike
    }

    /// Whether a name that exists nowhere is another one with one letter too
    /// few, one too many, or two exchanged.
    fn is_slip(&self, ours: &str, theirs: &str) -> bool {
        let is_name = |token: &str| {
            token.len() >= SHORTEST_NAME
                && token
                    .chars()
                    .all(|next| next.is_alphanumeric() || next == '_')
                && token.starts_with(|first: char| !first.is_ascii_digit())
        };
        let digits = |token: &str| {
            token
                .chars()
                .filter(char::is_ascii_digit)
                .collect::<String>()
        };
        is_name(ours)
            && is_name(theirs)
            && digits(ours) == digits(theirs)
            && one_slip(ours, theirs)
            && !self.file.names().contains(ours)
            && !is_standard(ours)
            && !(self.knows)(ours)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alike {
    Yes,
    /// Only if the line is not changed by the edit.
    WhereKept,
    No,
}

/// Whether one letter is missing, one is too many, or two are exchanged.
fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let prefix = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let rest = |word: &[char], from: usize| word.get(from..).unwrap_or_default().to_vec();
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Less => {
            a.len() + 1 == b.len() && rest(&a, prefix) == rest(&b, prefix + 1)
        }
        std::cmp::Ordering::Greater => {
            b.len() + 1 == a.len() && rest(&a, prefix + 1) == rest(&b, prefix)
        }
        std::cmp::Ordering::Equal => {
            a.get(prefix) == b.get(prefix + 1)
                && a.get(prefix + 1) == b.get(prefix)
                && rest(&a, prefix + 2) == rest(&b, prefix + 2)
        }
    }
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
