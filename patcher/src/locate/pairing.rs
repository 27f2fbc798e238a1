//! Pairing of what is left over between lines that are equal: comments, and
//! lines of code that were not copied faithfully.
//!
//! Few things may differ: comments that stay, a string that stays, a
//! backslash that was lost, a name with a slip of the pen. A number, an
//! operator, another name that exists or a preprocessor line may not.

use super::{Difference, Located, Match, Pairs, Quote};
use crate::PlacementKind;
use crate::names::is_standard;
use crate::pristine::{Pristine, bare, is_blank, key, same_but_space};
use crate::script::is_elision;
use crate::tokens::tokens;
use patchwright_source::{DiffOp, difference};
use std::ops::Range;

/// Slips of the pen are only seen in names of this length.
const SHORTEST_NAME: usize = 5;
/// Bytes of the longest one: comparing two takes the product of their lengths.
const LONGEST_NAME: usize = 200;

/// The part of the words of two comments that must be the same, in percent.
const SAME_WORDS: usize = 50;

/// Completes the pairs of an alignment.
pub(super) struct Pairing<'a> {
    pub(super) file: &'a Pristine,
    pub(super) quote: &'a Quote<'a>,
    /// The quote without its comments.
    pub(super) code: &'a [String],
    pub(super) knows: &'a dyn Fn(&str) -> bool,
}

/// The partners found so far.
struct Partners {
    pairs: Pairs,
    /// Lines that are only alike and must not be changed.
    fixed: Vec<usize>,
    /// Lines that stand nowhere.
    foreign: Vec<usize>,
}

/// Likeness of a quoted line and one of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alike {
    Yes,
    /// Only if the line is not changed by the edit.
    WhereKept,
    No,
}

impl Pairing<'_> {
    /// Pairs all lines of the quote; `pairs` are those of equal code, in order.
    pub(super) fn complete(&self, pairs: &[(usize, usize)]) -> Located {
        let (Some(first), Some(last)) = (pairs.first(), pairs.last()) else {
            return Located::Nowhere;
        };
        let count = self.quote.lines.len();
        let mut partners = Partners {
            pairs: vec![None; count],
            fixed: Vec::new(),
            foreign: Vec::new(),
        };
        for (at, line) in pairs {
            partners.pair(*at, *line);
        }
        self.gap(0..first.0, self.before(first), &mut partners);
        for pair in pairs.windows(2) {
            if let [a, b] = pair {
                self.gap(a.0 + 1..b.0, a.1 + 1..b.1, &mut partners);
            }
        }
        self.gap(last.0 + 1..count, self.behind(last), &mut partners);
        partners.finish(first.1)
    }

    /// The lines of the file that can belong to the quote before its first
    /// equal line.
    fn before(&self, first: &(usize, usize)) -> Range<usize> {
        let lines = self.fitting(0..first.0, (0..first.1).rev());
        first.1 - lines..first.1
    }

    /// The same behind its last equal line.
    fn behind(&self, last: &(usize, usize)) -> Range<usize> {
        let start = last.1 + 1;
        let quoted = last.0 + 1..self.quote.lines.len();
        start..start + self.fitting(quoted, start..self.file.count())
    }

    /// Counts the first lines of the file of which a part of the quote has enough, lines of
    /// code and others counted apart.
    fn fitting(&self, quoted: Range<usize>, lines: impl Iterator<Item = usize>) -> usize {
        let count = quoted.len();
        let mut code = quoted.filter(|at| self.holds_code(*at)).count();
        let mut other = count - code;
        let fits = |at: &usize| {
            let left = if self.file.is_code(*at) {
                &mut code
            } else {
                &mut other
            };
            left.checked_sub(1).map(|less| *left = less).is_some()
        };
        lines.take_while(fits).count()
    }

    fn holds_code(&self, at: usize) -> bool {
        let line = self.code.get(at).map_or("", String::as_str);
        !is_blank(line) && !is_elision(line)
    }

    /// Pairs what stands between lines that are equal.
    fn gap(&self, ours: Range<usize>, theirs: Range<usize>, partners: &mut Partners) {
        let mut from = (ours.start, theirs.start);
        let code: Vec<usize> = theirs.clone().filter(|at| self.file.is_code(*at)).collect();
        let mut rest = code.as_slice();
        for index in ours.clone().filter(|at| self.holds_code(*at)) {
            let mut alike = rest
                .iter()
                .enumerate()
                .map(|(offset, at)| (offset, *at, self.alike(index, *at)))
                .filter(|(_, _, alike)| *alike != Alike::No);
            let (Some((offset, at, alike)), None) = (alike.next(), alike.next()) else {
                partners.foreign.push(index);
                continue;
            };
            partners.pair(index, at);
            if alike == Alike::WhereKept {
                partners.fixed.push(index);
            }
            self.comments(from.0..index, from.1..at, partners);
            from = (index + 1, at + 1);
            rest = rest.get(offset + 1..).unwrap_or_default();
        }
        self.comments(from.0..ours.end, from.1..theirs.end, partners);
    }

    /// Pairs comments and blank lines: equal ones, then comments that differ a
    /// little.
    fn comments(&self, ours: Range<usize>, theirs: Range<usize>, partners: &mut Partners) {
        let free = |at: &usize| !self.file.is_code(*at);
        let ours: Vec<usize> = ours.filter(|at| !self.holds_code(*at)).collect();
        let theirs: Vec<usize> = theirs.filter(free).collect();
        let line = |at: usize| self.quote.lines.get(at).map_or("", String::as_str);
        let old: Vec<u64> = ours.iter().map(|at| key(line(*at))).collect();
        let new: Vec<u64> = theirs
            .iter()
            .map(|at| self.file.key(*at).unwrap_or_default())
            .collect();
        for op in difference(&old, &new) {
            let mut candidates = theirs.get(op.new_range()).unwrap_or_default().iter();
            let equal = matches!(op, DiffOp::Equal { .. });
            for at in ours.get(op.old_range()).unwrap_or_default() {
                if is_elision(line(*at)) {
                    if self.quote.removes(*at) {
                        partners.foreign.push(*at);
                    }
                    continue;
                }
                let words = line(*at);
                let is_partner =
                    |other: &usize| equal || same_words(words, &self.file.line(*other));
                let skipped = candidates.clone().position(is_partner);
                let partner = skipped.and_then(|skipped| candidates.nth(skipped));
                match partner {
                    Some(partner) => partners.pair(*at, *partner),
                    None if self.quote.removes(*at) && key(words) != 0 => {
                        partners.foreign.push(*at);
                    }
                    None => {}
                }
            }
        }
    }

    fn alike(&self, index: usize, at: usize) -> Alike {
        let ours = self.code.get(index).map_or("", String::as_str);
        let theirs = self.file.code().get(at).map_or("", String::as_str);
        if same_but_space(ours, theirs) || self.lost_backslash(index, ours, theirs) {
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

    /// Returns true when the quoted line is that of the file without a backslash: what
    /// passes through a layer that unescapes text loses one of two. New lines
    /// that hold a backslash may have lost one as well.
    fn lost_backslash(&self, index: usize, ours: &str, theirs: &str) -> bool {
        let count = |line: &str| line.matches('\\').count();
        let without = |line: &str| bare(line).replace('\\', "");
        let mut changes = self.quote.changes.iter();
        let intact = changes
            .find(|change| change.old.contains(&index))
            .is_none_or(|change| !change.new.iter().any(|line| line.contains('\\')));
        intact && count(ours) < count(theirs) && without(ours) == without(theirs)
    }

    /// Returns true when a name that exists nowhere is another one with one letter too
    /// few, one too many, or two exchanged.
    fn is_slip(&self, ours: &str, theirs: &str) -> bool {
        let is_name = |token: &str| {
            (SHORTEST_NAME..=LONGEST_NAME).contains(&token.len())
                && token
                    .chars()
                    .all(|next| next.is_alphanumeric() || next == '_')
                && token.starts_with(|first: char| !first.is_ascii_digit())
        };
        let digits =
            |token: &str| -> String { token.chars().filter(char::is_ascii_digit).collect() };
        is_name(ours)
            && is_name(theirs)
            && digits(ours) == digits(theirs)
            && one_slip(ours, theirs)
            && !self.file.names().contains(ours)
            && !is_standard(ours)
            && !(self.knows)(ours)
    }
}

impl Partners {
    fn pair(&mut self, index: usize, line: usize) {
        if let Some(pair) = self.pairs.get_mut(index) {
            *pair = Some(line);
        }
    }

    fn finish(mut self, place: usize) -> Located {
        if !self.foreign.is_empty() {
            self.foreign.sort_unstable();
            return Located::Differs(Difference {
                place,
                pairs: self.pairs,
                foreign: self.foreign,
            });
        }
        let mut paired = self.pairs.iter().flatten();
        let Some(first) = paired.next().copied() else {
            return Located::Nowhere;
        };
        let last = paired.next_back().copied().unwrap_or(first);
        Located::At(Match {
            range: first..last + 1,
            kind: PlacementKind::Similar,
            pairs: Some(self.pairs),
            fixed: self.fixed,
        })
    }
}

/// Returns true when two comments share most of their words.
fn same_words(a: &str, b: &str) -> bool {
    let words =
        |line: &str| -> Vec<String> { crate::tokens::words(line).map(str::to_lowercase).collect() };
    let (a, b) = (words(a), words(b));
    let shared = a.iter().filter(|word| b.contains(word)).count();
    shared > 0 && shared * 100 >= a.len().max(b.len()) * SAME_WORDS
}

/// Returns true when one letter is missing, one is too many, or two are exchanged: another
/// letter in its place makes another name.
fn one_slip(a: &str, b: &str) -> bool {
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let (ours, theirs) = (letters(a), letters(b));
    let is_exchange = ours == theirs;
    strsim::osa_distance(a, b) == 1 && (is_exchange || ours.len() != theirs.len())
}
