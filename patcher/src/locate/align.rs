//! Alignment of quoted lines with a file: for quotes that leave lines out, or
//! that were not copied faithfully.
//!
//! Lines of code are compared first, without comments and whitespace: the best
//! [`chain`](super::chain) of equal lines gives the place. What is left over
//! between them is compared word by word in [`super::pairing`]. A place counts
//! when most of the quote stands there, every removed line among it, and when
//! no line that a change depends on could as well stand elsewhere.

use super::chain::{Chains, Joint, Row, Slot};
use super::pairing::Pairing;
use super::{Located, Match, NEAR, Quote, Tie};
use crate::pristine::{Pristine, bare, is_blank, key, says_something};
use crate::script::is_elision;
use crate::tokens::tokens;

// `tests/it/perturbed.rs` holds the limits SHARE, MARGIN and LIGHTEST: without them
// disturbed edits land elsewhere.

/// The part of the quoted code that must stand at the place, in percent of its
/// weight.
const SHARE: i64 = 60;

/// The points by which a place must beat every other one.
const MARGIN: i64 = 120;

/// Quotes of less weight may stand anywhere; they must be near their place.
const LIGHTEST: i64 = 240;

/// The part that must stand at a place for it to be shown, in percent.
const SHOWN_SHARE: i64 = 30;

/// Quotes of more lines are not aligned.
const LONGEST: usize = 400;

/// Alignments of more cells (rows by columns) are not tried.
const MOST_CELLS: usize = 8_000_000;

/// The most that a line can weigh.
const HEAVIEST: i64 = 600;

/// Up to this many lines beside its number a place is as good as at it.
const SLACK: usize = 8;

/// Beyond this many lines the number of a quote says nothing about a place.
const REACH: usize = 100;

/// Lines that a quote leaves out between two of its lines are at most this many.
const FARTHEST: usize = 500;

/// Gain of a line that stands where the number says, in percent.
const NUMBER_GAIN: i64 = 25;

/// Gain of a line in the section that the hunk names, in percent.
const HEADING_GAIN: i64 = 20;

/// Headings of fewer characters name nothing.
const SHORTEST_HEADING: usize = 6;

/// Finds the place of lines that stand nowhere as they are.
pub(super) fn align(file: &Pristine, quote: &Quote<'_>, knows: &dyn Fn(&str) -> bool) -> Located {
    if quote.lines.len() > LONGEST || !says_something(quote.lines.iter()) {
        return Located::Nowhere;
    }
    let aligner = Aligner::new(file, quote);
    let Some((chains, chain)) = aligner.best() else {
        return Located::Nowhere;
    };
    if !aligner.is_evident(&chain) {
        return Located::Nowhere;
    }
    let pairing = Pairing {
        file,
        quote,
        code: &aligner.code,
        knows,
    };
    let located = pairing.complete(&aligner.pairs(&chain));
    let Located::At(place) = located else {
        return located;
    };
    let rival = aligner.rival(&chains, &chain, &|_| true);
    rival.map_or(Located::At(place), Located::Tied)
}

/// Returns true when lines say enough to be told from others by themselves.
pub(super) fn says_enough(lines: &[String]) -> bool {
    lines.iter().map(|line| weight(line)).sum::<i64>() >= LIGHTEST
}

/// Returns a line of a quote that a change depends on, where it stands at the place
/// that was found, and where it would stand nearly as well with the whole quote
/// around it, if lines are left out there.
pub(super) fn rival(file: &Pristine, quote: &Quote<'_>, place: &Match) -> Option<Tie> {
    let pairs = place.pairs.as_ref()?;
    if quote.lines.len() > LONGEST {
        return None;
    }
    let mut aligner = Aligner::new(file, quote);
    for row in &mut aligner.rows {
        row.required = !row.places.is_empty();
        // An edit may leave lines out right beside its change, too.
        if row.joint == Joint::Tight {
            row.joint = Joint::Loose;
        }
    }
    if aligner.cells() > MOST_CELLS {
        return None;
    }
    let slot = |(number, row): (usize, &Row)| {
        let line = pairs.get(row.line).copied().flatten()?;
        let mut places = row.places.iter();
        let at = places.position(|(place, _)| file.code_line(*place) == line)?;
        Some(Slot { row: number, at })
    };
    let chain: Vec<Slot> = aligner.rows.iter().enumerate().filter_map(slot).collect();
    let chains = Chains::of(&aligner.rows);
    let here = aligner.pairs(&chain);
    // A brace may stand anywhere, as long as no code comes between its places.
    let is_elsewhere = |other: Slot| {
        let pairs = aligner.pairs(&chains.chain(other)).into_iter();
        let moved: Vec<(usize, usize)> = pairs.filter(|pair| !here.contains(pair)).collect();
        let quoted = moved.iter().filter_map(|(at, _)| quote.lines.get(*at));
        says_something(quoted) || moved.iter().any(|pair| aligner.is_parted(*pair, &here))
    };
    aligner.rival(&chains, &chain, &is_elsewhere)
}

/// Returns the line where most of a quote stands, for messages.
pub(crate) fn nearest(file: &Pristine, quote: &Quote<'_>) -> Option<usize> {
    let lines = quote.lines.get(..LONGEST.min(quote.lines.len()))?;
    let quote = Quote { lines, ..*quote };
    let aligner = Aligner::new(file, &quote);
    let (_, chain) = aligner.best()?;
    if aligner.share(&chain) < SHOWN_SHARE {
        return None;
    }
    let weight = |slot: &&Slot| aligner.rows.get(slot.row).map(|row| row.loss);
    let heaviest = chain.iter().max_by_key(weight)?;
    let pairs = aligner.pairs(std::slice::from_ref(heaviest));
    let (at, line) = pairs.first()?;
    Some(line.saturating_sub(*at))
}

/// A quote as rows of the computation.
struct Aligner<'a> {
    file: &'a Pristine,
    quote: &'a Quote<'a>,
    /// The quote without comments.
    code: Vec<String>,
    rows: Vec<Row>,
}

impl<'a> Aligner<'a> {
    fn new(file: &'a Pristine, quote: &'a Quote<'a>) -> Self {
        let mut aligner = Self {
            file,
            quote,
            code: code_of_quote(file, quote.lines),
            rows: Vec::new(),
        };
        let section = quote.heading.map(|heading| section(file, heading));
        let section = section.unwrap_or_default();
        for (at, line) in aligner.code.iter().enumerate() {
            let bare = bare(line);
            if bare.is_empty() || (is_elision(line) && file.with_code(key(&bare)).is_empty()) {
                continue;
            }
            let row = aligner.row(at, key(&bare), &section);
            aligner.rows.push(row);
        }
        aligner
    }

    fn row(&self, at: usize, key: u64, section: &[bool]) -> Row {
        let weight = self.code.get(at).map_or(0, |code| weight(code));
        let places = self.file.with_code(key).iter().map(|place| {
            let line = self.file.code_line(*place);
            let in_section = section.get(line).copied().unwrap_or(false);
            let gain = self.number_gain(at, line) + if in_section { HEADING_GAIN } else { 0 };
            (*place, weight + weight * gain / 100)
        });
        let places: Vec<(usize, i64)> = places.collect();
        Row {
            line: at,
            required: self.quote.removes(at) && !places.is_empty(),
            places,
            loss: weight,
            joint: self.joint(at),
        }
    }

    /// Percent gained by the distance between a line and its number.
    fn number_gain(&self, at: usize, line: usize) -> i64 {
        let Some(hint) = self.quote.hint else {
            return 0;
        };
        let distance = line.abs_diff(hint + at).max(SLACK) - SLACK;
        let left = REACH.saturating_sub(distance).cast_signed();
        NUMBER_GAIN * left as i64 / REACH.cast_signed() as i64
    }

    /// Returns the way in which a quoted line follows the line of code before it.
    fn joint(&self, at: usize) -> Joint {
        let Some(before) = self.rows.last().map(|row| row.line) else {
            return Joint::Loose;
        };
        let between = self.quote.lines.get(before + 1..at).unwrap_or_default();
        if between.iter().any(|line| is_elision(line)) {
            Joint::Open
        } else if self.quote.changes.iter().any(|change| {
            let old = &change.old;
            let together = old.contains(&before) && old.contains(&at);
            let inserted = before < old.start && old.end <= at && !self.holds_code(old);
            together || inserted
        }) {
            Joint::Tight
        } else {
            Joint::Loose
        }
    }

    fn holds_code(&self, range: &std::ops::Range<usize>) -> bool {
        let lines = self.code.get(range.clone()).unwrap_or_default();
        lines.iter().any(|line| !is_blank(line))
    }

    /// The best chain. Removed lines that cannot all be taken in order are
    /// required no longer, so that it can be said what stands there instead.
    fn best(&self) -> Option<(Chains, Vec<Slot>)> {
        if self.cells() > MOST_CELLS {
            return None;
        }
        let mut chains = Chains::of(&self.rows);
        if chains.best().is_none() {
            let rows = self.rows.iter().cloned();
            let rows = rows.map(|row| Row {
                required: false,
                ..row
            });
            chains = Chains::of(&rows.collect::<Vec<Row>>());
        }
        let (_, slot) = chains.best()?;
        let chain = chains.chain(slot);
        Some((chains, chain))
    }

    fn cells(&self) -> usize {
        let places: usize = self.rows.iter().map(|row| row.places.len()).sum();
        self.rows.len().saturating_mul(places)
    }

    /// Returns true when enough of the quote stands at a place.
    fn is_evident(&self, chain: &[Slot]) -> bool {
        let near = || {
            let first = self.pairs(chain).first().map(|(_, line)| *line);
            let numbers = first.zip(self.quote.hint);
            numbers.is_some_and(|(first, hint)| hint.abs_diff(first) <= NEAR)
        };
        self.share(chain) >= SHARE
            && (self.taken(chain) >= LIGHTEST || near())
            && self.is_in_one_place(chain)
    }

    /// The weight of the lines that a chain takes.
    fn taken(&self, chain: &[Slot]) -> i64 {
        let taken = chain.iter().filter_map(|slot| self.rows.get(slot.row));
        taken.map(|row| row.loss).sum()
    }

    /// The part of the quoted code that a chain takes, in percent of its weight.
    fn share(&self, chain: &[Slot]) -> i64 {
        let total: i64 = self.rows.iter().map(|row| row.loss).sum();
        self.taken(chain) * 100 / total.max(1)
    }

    /// Returns true when the lines of a chain belong together: none is far from the next,
    /// and the first is not far from the number where a later one is near it.
    fn is_in_one_place(&self, chain: &[Slot]) -> bool {
        let pairs = self.pairs(chain);
        let together = pairs.windows(2).all(|pair| match pair {
            [(_, a), (_, b)] => b - a <= FARTHEST,
            _ => true,
        });
        let Some(hint) = self.quote.hint else {
            return together;
        };
        let distance = |(at, line): &(usize, usize)| line.abs_diff(hint + at);
        let first = pairs.first().map_or(0, distance);
        let nearest = pairs.iter().map(distance).min().unwrap_or(0);
        together && (first <= REACH || nearest > SLACK)
    }

    /// Returns a line that a change depends on and two places of it, if one is
    /// nearly as good as the other, and counts.
    fn rival(&self, chains: &Chains, chain: &[Slot], counts: &dyn Fn(Slot) -> bool) -> Option<Tie> {
        let critical = chain.iter().filter(|slot| self.is_critical(slot.row));
        let (slot, rival) = critical
            .filter_map(|slot| Some((*slot, chains.rival(*slot)?)))
            .filter(|(slot, (score, _))| chains.through(*slot) - score < MARGIN)
            .find(|(_, (_, rival))| counts(*rival))
            .map(|(slot, (_, rival))| (slot, rival))?;
        let line = |slot: Slot| {
            let (place, _) = self.rows.get(slot.row)?.places.get(slot.at)?;
            Some(self.file.code_line(*place))
        };
        Some(Tie {
            line: self.rows.get(slot.row)?.line,
            places: [line(slot)?, line(rival)?],
        })
    }

    /// Returns true when the place of a change follows from the place of this row.
    fn is_critical(&self, row: usize) -> bool {
        let line = |row: usize| self.rows.get(row).map(|row| row.line);
        let Some(at) = line(row) else {
            return false;
        };
        let (before, after) = (row.checked_sub(1).and_then(line), line(row + 1));
        self.quote.changes.iter().any(|change| {
            let old = &change.old;
            if self.holds_code(old) {
                let unfound = |other: Option<usize>| {
                    other.is_some_and(|at| old.contains(&at) && !self.has_place(at))
                };
                return old.contains(&at) || unfound(before) || unfound(after);
            }
            let follows = at >= old.end && before.is_none_or(|before| before < old.start);
            let leads = at < old.start && after.is_none_or(|after| after >= old.end);
            follows || leads
        })
    }

    /// Returns true when a quoted line has another place in a list, and code that is not
    /// quoted stands between the two.
    fn is_parted(&self, (at, line): (usize, usize), pairs: &[(usize, usize)]) -> bool {
        let Some((_, other)) = pairs.iter().find(|(quoted, _)| *quoted == at) else {
            return false;
        };
        let mut between = line.min(*other) + 1..line.max(*other);
        between.any(|at| {
            let quoted = pairs.iter().any(|(_, line)| *line == at);
            !quoted && says_something(std::iter::once(&self.file.line(at).into_owned()))
        })
    }

    fn has_place(&self, at: usize) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| row.line == at && !row.places.is_empty())
    }

    /// The lines of the quote and of the file that a chain pairs.
    fn pairs(&self, chain: &[Slot]) -> Vec<(usize, usize)> {
        chain
            .iter()
            .filter_map(|slot| {
                let row = self.rows.get(slot.row)?;
                let (place, _) = row.places.get(slot.at)?;
                Some((row.line, self.file.code_line(*place)))
            })
            .collect()
    }
}

/// The lines of a quote without comments. A quote may begin or end within a
/// comment, or leave its end out, so the file tells of every line that it holds
/// whether it is code.
fn code_of_quote(file: &Pristine, lines: &[String]) -> Vec<String> {
    let alone = patchwright_source::code_of_piece(file.language, lines.iter().map(String::as_str));
    lines
        .iter()
        .zip(alone)
        .map(|(line, alone)| {
            let places = file.with_key(key(line));
            let code = |at: &usize| file.code().get(*at).cloned();
            match places.first() {
                Some(first) if places.iter().all(|at| file.is_code(*at)) => {
                    code(first).unwrap_or(alone)
                }
                Some(_) if !places.iter().any(|at| file.is_code(*at)) => String::new(),
                _ => alone,
            }
        })
        .collect()
}

/// Tells of each line of a file whether it is in a section that a heading names.
pub(super) fn section(file: &Pristine, heading: &str) -> Vec<bool> {
    let heading = bare(heading);
    let mut inside = false;
    let lines = (0..file.count()).map(|at| file.line(at));
    let marks = lines.map(|line| {
        // Only such a line is named by a diff.
        if line.starts_with(|first: char| first.is_alphabetic() || "_$".contains(first)) {
            inside = is_named(&line, &heading);
        }
        inside
    });
    marks.collect()
}

/// Returns true when a heading names this line; headings are cut off at some length, and
/// their end is often left out.
fn is_named(line: &str, heading: &str) -> bool {
    let line = bare(line);
    let shorter = line.len().min(heading.len());
    shorter >= SHORTEST_HEADING && (line.starts_with(heading) || heading.starts_with(&line))
}

/// The weight of a line of code: identifiers count most, then other words.
fn weight(code: &str) -> i64 {
    let points = tokens(code).map(|token| {
        let mut characters = token.chars();
        match characters.next() {
            Some('"' | '\'') => 60,
            Some(first) if first.is_alphabetic() || first == '_' => match characters.count() {
                0 => 20,
                1 | 2 => 40,
                _ => 60,
            },
            Some(first) if first.is_ascii_digit() => 20,
            _ => 4,
        }
    });
    points.sum::<i64>().min(HEAVIEST)
}
