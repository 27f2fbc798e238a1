//! Place of an edit, or the reason why it has none.

use super::line_edit::{Escape, LineEdit, Reading, SHOWN, new_lines, readings, show_range};
use super::text;
use crate::locate::{Difference, Located, Match, Quote, Tie, align, locate, nearest};
use crate::numbers;
use crate::pristine::{Pristine, key, line_number, says_something};
use crate::script::{changes, is_elision};
use crate::unescape::unescape;
use crate::{Background, PlacementKind, Refusal, Rule, ShownLine};
use std::ops::Range;

/// Reason that is given for an original that stands nowhere.
const NOT_FOUND: &str = "the original stands nowhere in the file; quote the lines exactly as they \
                         are in the unpatched file";

/// By how many lines the numbers of a hunk are off at most, but for those that
/// are off by any number.
const SLACK: usize = 8;

/// Lines of an original that stand nowhere are named up to this many.
const SHOWN_FOREIGN: usize = 3;

/// Longest line of an original that is shown in whole, in characters.
const LONGEST_SHOWN: usize = 100;

/// A way to look for lines.
type Search<'a> = &'a dyn Fn(Quote<'_>) -> Located;

/// A place that was found, and how the edit is read there.
pub(super) struct Found {
    pub(super) place: Match,
    pub(super) new: Vec<String>,
    pub(super) reading: Reading,
}

/// Finds the place of an edit and its new lines, or says why there is none.
pub(super) fn find(
    file: &Pristine,
    edit: &LineEdit<'_>,
    background: &Background<'_>,
    searches: &mut usize,
) -> Result<Found, Refusal> {
    if edit.old.iter().all(|line| line.trim().is_empty()) && edit.lines.is_none() {
        return empty_original(file, edit);
    }
    let ways = readings(edit);
    let seeker = Seeker {
        file,
        edit,
        background,
    };
    let mut found = seeker.search(&ways, &|quote| locate(file, quote))?;
    if found.is_none() {
        if let Some(at) = replacement_stands(file, edit, &ways) {
            let reason = format!("the replacement stands at line {} already", at + 1);
            return Err(Refusal {
                candidates: vec![line_number(at)],
                ..Refusal::new(Rule::AlreadyApplied, reason)
            });
        }
        let Some(left) = searches.checked_sub(1) else {
            return Err(Refusal::new(Rule::NotFound, NOT_FOUND));
        };
        *searches = left;
        found = seeker.search(&ways, &|quote| align(file, &quote, background.knows))?;
    }
    let Some((place, reading)) = found else {
        return Err(seeker.not_found(&ways));
    };
    Ok(Found {
        new: new_lines(file, edit, reading, &place)?,
        place,
        reading: reading.clone(),
    })
}

/// A line that the edit depends on fits two places.
fn tied(file: &Pristine, reading: &Reading, tie: &Tie) -> Refusal {
    let Tie { line, places } = *tie;
    let numbers = places.map(line_number);
    let text = head(reading.old.get(line).map_or("", |line| line.trim()));
    let [one, other] = numbers;
    let reason = format!(
        "the original leaves lines out, and its line `{text}` fits as well at line {one} as at \
         line {other}; quote the lines around it as they are"
    );
    let start = places.into_iter().min().unwrap_or_default();
    Refusal {
        candidates: numbers.to_vec(),
        nearest: file.excerpt(start.saturating_sub(2), start + SHOWN - 2),
        ..Refusal::new(Rule::Ambiguous, reason)
    }
}

/// The start of a line, for a message.
fn head(line: &str) -> String {
    let mut head: String = line.chars().take(LONGEST_SHOWN).collect();
    if head.len() < line.len() {
        head.push('\u{2026}');
    }
    head
}

fn is_apart(a: &Match, b: &Match) -> bool {
    a.range.end <= b.range.start || b.range.end <= a.range.start
}

/// An original of nothing is a place only in an empty file.
fn empty_original(file: &Pristine, edit: &LineEdit<'_>) -> Result<Found, Refusal> {
    if file.count() > 0 {
        let reason = "the original is empty; quote the lines that are replaced, or send \
                      <insert file=\"..\" after=\"N\"> for new lines";
        return Err(Refusal::new(Rule::Incomplete, reason));
    }
    Ok(Found {
        place: Match::aligned(0, 0, PlacementKind::Exact),
        new: edit.new.clone(),
        reading: Reading::default(),
    })
}

/// Returns the line at which the whole replacement stands, if the original stands nowhere.
fn replacement_stands(file: &Pristine, edit: &LineEdit<'_>, ways: &[Reading]) -> Option<usize> {
    let mut forms = vec![edit.new.clone()];
    if ways.iter().any(|way| way.numbered.is_some()) {
        forms.extend(numbers::numbered(&edit.new).map(|read| read.lines));
    }
    if ways.iter().any(|way| way.escape == Escape::Entities) {
        forms.push(text::split(&unescape(&edit.new.join("\n"))));
    }
    let adds = |lines: &[String]| {
        let olds = ways.iter().flat_map(|way| &way.old);
        let olds: Vec<u64> = olds.map(|line| key(line)).collect();
        lines.iter().any(|line| !olds.contains(&key(line)))
    };
    forms
        .into_iter()
        .filter(|lines| says_something(lines.iter()) && adds(lines))
        .find_map(|lines| {
            let quote = Quote {
                lines: &lines,
                hint: edit.hint(),
                ..Quote::default()
            };
            match locate(file, quote) {
                Located::At(place) => Some(place.range.start),
                _ => None,
            }
        })
}

fn ambiguous(file: &Pristine, edit: &LineEdit<'_>, places: &[usize]) -> Refusal {
    let lines: Vec<u32> = places.iter().map(|at| line_number(*at)).collect();
    let list: Vec<String> = lines.iter().take(SHOWN).map(ToString::to_string).collect();
    let exact = places.iter().all(|at| file.fits_exactly(*at, &edit.old));
    let aside = if exact { "" } else { ", whitespace aside," };
    let (count, list) = (lines.len(), list.join(", "));
    let reason = format!(
        "the original stands{aside} at {count} places, at lines {list}; name the right lines or \
         quote more of them"
    );
    let shown = edit.old.len().min(3);
    let nearest = places.first().map(|at| file.excerpt(*at, at + shown));
    Refusal {
        candidates: lines,
        nearest: nearest.unwrap_or_default(),
        ..Refusal::new(Rule::Ambiguous, reason)
    }
}

/// A search for the place of one edit.
struct Seeker<'a> {
    file: &'a Pristine,
    edit: &'a LineEdit<'a>,
    background: &'a Background<'a>,
}

impl Seeker<'_> {
    /// Looks for every reading. The first that stands in the file as it is wins,
    /// else the first that is found at all; one that stands at several places ends
    /// the search.
    fn search<'r>(
        &self,
        ways: &'r [Reading],
        look: Search<'_>,
    ) -> Result<Option<(Match, &'r Reading)>, Refusal> {
        let (file, edit) = (self.file, self.edit);
        let mut best: Option<(Match, &Reading)> = None;
        let mut nearly: Option<(Difference, &Reading)> = None;
        for reading in ways {
            let echoed = reading.first_number();
            let hint = edit.hint().or(echoed);
            // One numbered line alone is weak: `1: ret` may be code. It is an echo only where the
            // number is right.
            let numbered = reading.numbered.as_ref();
            let alone = numbered.is_some_and(|read| read.numbers.len() == 1);
            let near = |place: &Match| [echoed, hint].iter().all(|at| place.is_near(*at));
            let new = reading.new_side(edit);
            let quote = Quote {
                lines: &reading.old,
                hint,
                slack: if edit.hunk { SLACK } else { 0 },
                heading: edit.heading,
                changes: &changes(&reading.old, &new),
            };
            match look(quote) {
                Located::At(place) if !alone || near(&place) => {
                    let other = best.as_ref().filter(|(other, _)| is_apart(other, &place));
                    if let Some((other, _)) = other {
                        let places = [other.range.start, place.range.start];
                        return Err(ambiguous(file, edit, &places));
                    }
                    if file.fits_exactly(place.range.start, &reading.old) {
                        return Ok(Some((place, reading)));
                    }
                    best.get_or_insert((place, reading));
                }
                Located::Several(starts) if best.is_none() => {
                    return Err(ambiguous(file, edit, &starts));
                }
                Located::Tied(tie) if best.is_none() => {
                    return Err(tied(file, reading, &tie));
                }
                Located::Differs(difference) => {
                    let other = nearly.as_ref().map(|(other, _)| other.foreign.len());
                    if other.is_none_or(|fewest| difference.foreign.len() < fewest) {
                        nearly = Some((difference, reading));
                    }
                }
                _ => {}
            }
        }
        match (best, nearly) {
            (None, Some((difference, reading))) => Err(self.differs(reading, &difference)),
            (best, _) => Ok(best),
        }
    }

    /// Refuses an edit of which most of the original has a place, but not all of it.
    fn differs(&self, reading: &Reading, difference: &Difference) -> Refusal {
        let foreign = difference.foreign.iter();
        let foreign: Vec<&String> = foreign.filter_map(|at| reading.old.get(*at)).collect();
        let count = reading.old.len().clamp(3, SHOWN);
        let (place, stand, list) = (difference.place + 1, stand(foreign.len()), list(&foreign));
        let strangers = format!(
            "most of the original stands around line {place}, but {stand} nowhere there: {list}; \
             quote the lines of the unpatched file, not those of an earlier patch"
        );
        let mut refusal = self.lost(&foreign, &strangers);
        refusal.nearest = self.excerpt_beside(&reading.old, difference, count);
        refusal
    }

    /// Refuses an edit of which some lines are not in the file: an earlier attempt added them, or
    /// else for another reason.
    fn lost(&self, foreign: &[&String], reason: &str) -> Refusal {
        let Some(number) = self.background.attempt_that_added(foreign) else {
            return Refusal::new(Rule::NotFound, reason);
        };
        let reason = format!(
            "the original quotes lines that your attempt {number} added: {}; every patch is \
             against the unpatched tree, so quote its lines and repeat what shall stay of attempt \
             {number}",
            list(foreign)
        );
        Refusal::new(Rule::EarlierPatch, reason)
    }

    /// The lines of a place, and between them the quoted ones that stand nowhere.
    fn excerpt_beside(
        &self,
        old: &[String],
        difference: &Difference,
        count: usize,
    ) -> Vec<ShownLine> {
        let start = difference.place;
        let mut lines: Vec<Vec<ShownLine>> = vec![Vec::new()];
        let shown = self.file.excerpt(start, start + count).into_iter();
        lines.extend(shown.map(|line| vec![line]));
        let mut behind = 0;
        for (at, line) in old.iter().enumerate() {
            if let Some(Some(line)) = difference.pairs.get(at) {
                behind = (line + 1).saturating_sub(start);
            } else if difference.foreign.contains(&at)
                && let Some(shown) = lines.get_mut(behind)
            {
                shown.push(ShownLine {
                    number: None,
                    text: head(line),
                });
            }
        }
        lines.concat()
    }

    /// Refuses an edit whose original is nowhere in the file.
    fn not_found(&self, ways: &[Reading]) -> Refusal {
        let (file, edit) = (self.file, self.edit);
        let foreign: Vec<&String> = edit
            .old
            .iter()
            .filter(|line| file.with_key(key(line)).is_empty())
            .collect();
        let blank = edit.old.iter().all(|line| line.trim().is_empty());
        let elided = edit.old.iter().any(|line| is_elision(line));
        let (stand, list) = (stand(foreign.len()), list(&foreign));
        let strangers = format!(
            "the original stands nowhere in the file, and {stand} nowhere in it at all: {list}; \
             quote the lines of the unpatched file, not those of an earlier patch"
        );
        let reason = if blank {
            "the original is empty, and there is no blank line at its place; quote the lines that \
         are replaced, or send <insert file=\"..\" after=\"N\"> for new lines"
        } else if elided {
            "the original leaves lines out; quote every line as it is in the file, without '...'"
        } else if foreign.is_empty() {
            NOT_FOUND
        } else {
            strangers.as_str()
        };
        let mut refusal = self.lost(&foreign, reason);
        let mut ways = ways.iter().rev();
        let best = ways.find(|way| way.numbered.is_some() || way.escape != Escape::None);
        let old = best.map_or(&edit.old, |way| &way.old);
        let quote = Quote {
            lines: old,
            hint: edit.hint(),
            heading: edit.heading,
            ..Quote::default()
        };
        let near = nearest(file, quote);
        if let Some(start) = near {
            let count = old.len().clamp(3, SHOWN);
            let difference = compare_beside(file, old, start..start + count);
            refusal.nearest = self.excerpt_beside(old, &difference, count);
        } else {
            show_range(file, edit.lines, &mut refusal);
        }
        refusal
    }
}

/// Compares quoted lines with those of a range, in order. Foreign are those that the
/// range does not hold anywhere.
fn compare_beside(file: &Pristine, old: &[String], range: Range<usize>) -> Difference {
    let mut difference = Difference {
        place: range.start,
        pairs: vec![None; old.len()],
        foreign: Vec::new(),
    };
    let mut next = range.start;
    for (at, line) in old.iter().enumerate() {
        let key = key(line);
        let is_there = |at: &usize| file.key(*at) == Some(key);
        if let Some(line) = (next..range.end).find(is_there) {
            next = line + 1;
            if let Some(pair) = difference.pairs.get_mut(at) {
                *pair = Some(line);
            }
        } else if key != 0 && !range.clone().any(|at| is_there(&at)) {
            difference.foreign.push(at);
        }
    }
    difference
}

/// A number of lines, for a message.
fn stand(count: usize) -> String {
    match count {
        1 => "1 of its lines stands".to_owned(),
        count => format!("{count} of its lines stand"),
    }
}

/// Lines for a message.
fn list(lines: &[&String]) -> String {
    let shown = lines.iter().take(SHOWN_FOREIGN);
    let shown: Vec<String> = shown
        .map(|line| format!("`{}`", head(line.trim())))
        .collect();
    shown.join(", ")
}
