//! A part of a fix beside the lines of a function.

use super::words::{FunctionLine, Kind, Vocabulary, Word};
use patchwright_source::Side;
use std::collections::BTreeSet;

/// Weight of an old line that names nothing of what the fix adds.
const UNRELATED: f64 = 0.35;
/// Share of its weight that a plain name keeps where another one stands in its place.
const RENAMED: f64 = 0.3;
/// Share of a line from which on another one stands for it.
const SAME_LINE: f64 = 0.4;
/// Cost of a line that stands between two that match.
const GAP: f64 = 0.15;
/// Lines beyond the matched ones in which the added lines may be.
const AROUND: u32 = 2;

/// A part of a fix: what it found and what it adds.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    old: Vec<Line>,
    added: Vec<Line>,
}

/// A line of the fix.
#[derive(Debug, Default)]
struct Line {
    words: Vec<Word>,
    /// The weight of each word.
    weights: Vec<f64>,
    /// The factor on all of them.
    factor: f64,
}

/// Where the old lines of a fix are found.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Place {
    /// Numbers of the lines.
    pub(super) first: u32,
    pub(super) last: u32,
    /// Share of the weight that is found.
    pub(super) likeness: f64,
}

impl Wanted {
    /// Reads the lines of a hunk.
    pub(super) fn read(lines: &[(Side, &str)], vocabulary: &mut Vocabulary) -> Self {
        let removed: Vec<&str> = of(lines, |side| side == Side::Old);
        let added = of(lines, |side| side == Side::New);
        let mut read = |line: &str| Line {
            words: vocabulary.read(line),
            weights: Vec::new(),
            factor: 1.0,
        };
        // A line that only moved is not added.
        let added = added.into_iter().filter(|line| !removed.contains(line));
        let added: Vec<Line> = added.map(&mut read).filter(Line::says_something).collect();
        let old = of(lines, |side| side != Side::New).into_iter();
        let mut old: Vec<Line> = old.map(&mut read).filter(Line::says_something).collect();
        let names: BTreeSet<u32> = added.iter().flat_map(Line::names).collect();
        for line in &mut old {
            if !line.names().any(|name| names.contains(&name)) {
                line.factor = UNRELATED;
            }
        }
        Self { old, added }
    }

    /// Weighs the words when it is known how often each is said.
    pub(super) fn weigh(&mut self, vocabulary: &Vocabulary) {
        for line in self.old.iter_mut().chain(&mut self.added) {
            let weights = line
                .words
                .iter()
                .map(|word| vocabulary.weight(*word) * line.factor);
            line.weights = weights.collect();
        }
    }

    /// Finds where the old lines are likest, in their order, by local alignment (Smith and
    /// Waterman, 1981); none where no line stands for one of them.
    pub(super) fn place_in(&self, lines: &[FunctionLine]) -> Option<Place> {
        let total: f64 = self.old.iter().map(Line::weight).sum();
        let mut above = vec![Place::default(); lines.len() + 1];
        let mut best = Place::default();
        for wanted in &self.old {
            let mut row = vec![Place::default()];
            let mut left = Place::default();
            for ((line, diagonal), up) in lines.iter().zip(&above).zip(above.iter().skip(1)) {
                left.likeness -= GAP;
                let mut next = larger(*up, left);
                let matched = wanted.matched(line);
                if matched >= SAME_LINE * wanted.weight() && matched > 0.0 {
                    let first = if diagonal.likeness > 0.0 {
                        diagonal.first
                    } else {
                        line.number
                    };
                    let here = Place {
                        first,
                        last: line.number,
                        likeness: diagonal.likeness.max(0.0) + matched,
                    };
                    next = larger(here, next);
                }
                if next.likeness <= 0.0 {
                    next = Place::default();
                }
                best = larger(best, next);
                row.push(next);
                left = next;
            }
            above = row;
        }
        best.likeness /= total;
        (best.likeness > 0.0).then_some(best)
    }

    /// Returns the share of the added lines that is at a place already; 0 where none is added.
    pub(super) fn present_in(&self, lines: &[FunctionLine], place: &Place) -> f64 {
        let more = AROUND + self.added.len() as u32;
        let near = place.first.saturating_sub(more)..=place.last.saturating_add(more);
        let near = lines.iter().filter(|line| near.contains(&line.number));
        let best = |wanted: &Line| {
            near.clone()
                .map(|line| wanted.matched(line))
                .fold(0.0, f64::max)
        };
        let total: f64 = self.added.iter().map(Line::weight).sum();
        let found: f64 = self.added.iter().map(best).sum();
        if total > 0.0 { found / total } else { 0.0 }
    }
}

fn larger(one: Place, other: Place) -> Place {
    if one.likeness > other.likeness {
        one
    } else {
        other
    }
}

fn of<'l>(lines: &[(Side, &'l str)], wanted: impl Fn(Side) -> bool) -> Vec<&'l str> {
    let lines = lines.iter().filter(|(side, _)| wanted(*side));
    lines.map(|(_, text)| *text).collect()
}

impl Line {
    fn says_something(&self) -> bool {
        self.words.iter().any(|word| word.kind != Kind::Operator)
    }

    fn names(&self) -> impl Iterator<Item = u32> + '_ {
        self.words
            .iter()
            .filter(|word| word.relates)
            .map(|word| word.id)
    }

    fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Returns how much of its weight is in a line of a function. A line of another length has less of it.
    fn matched(&self, line: &FunctionLine) -> f64 {
        let mut left = line.words.clone();
        let mut found = 0.0;
        for (word, weight) in self.words.iter().zip(&self.weights) {
            match left
                .iter_mut()
                .find(|(id, count)| *id == word.id && *count > 0)
            {
                Some((_, count)) => {
                    *count -= 1;
                    found += weight;
                }
                None if word.kind == Kind::Plain => found += RENAMED * weight,
                None => {}
            }
        }
        let (own, theirs) = (self.words.len() as f64, line.length as f64);
        found * own.min(theirs) / own.max(theirs)
    }
}
