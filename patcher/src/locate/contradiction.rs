//! Contradictions: quoted lines that speak against the place where the rest of their quote was
//! found, and for another one. What was quoted from two places is refused, not guessed at.

use super::{Match, Quote, SLACK, Tie, align};
use crate::pristine::{Pristine, key};
use crate::script::is_elision;

/// A line of fewer letters and digits may be written anew by chance.
const STRAY_LETTERS: usize = 10;

/// A line that stands in more places than this speaks for none of them.
const STRAY_PLACES: usize = 3;

/// Quoted neighbours that are farther apart in the file are torn.
const TORN_APART: usize = 30;

/// A line that stands within so many lines of a place speaks for it.
const STRAY_DISTANCE: usize = SLACK;

/// Returns a quoted line that speaks against a place, with two lines of the file that it can
/// be; none where a number confirms the place.
pub(super) fn find(file: &Pristine, quote: &Quote<'_>, place: &Match) -> Option<Tie> {
    torn(file, quote, place).or_else(|| {
        if place.is_near(quote.hint) {
            return None;
        }
        stray(file, quote, place).or_else(|| align::rival(file, quote, place))
    })
}

/// Returns a removed line that was found far from the quoted lines beside it, and stands
/// close to these as well, but in another order.
fn torn(file: &Pristine, quote: &Quote<'_>, place: &Match) -> Option<Tie> {
    let pairs = place.pairs.as_ref()?;
    let paired: Vec<(usize, usize)> = pairs
        .iter()
        .enumerate()
        .filter_map(|(at, line)| Some((at, (*line)?)))
        .collect();
    paired.windows(2).find_map(|beside| {
        let [before, after] = beside else { return None };
        if after.1.saturating_sub(before.1) <= TORN_APART {
            return None;
        }
        let other = |(at, line): (usize, usize), neighbour: usize| {
            let near = |other: &&usize| **other != line && other.abs_diff(neighbour) <= SLACK;
            let text = quote.lines.get(at).filter(|_| quote.removes(at))?;
            let other = file.with_key(key(text)).iter().find(near)?;
            Some(Tie {
                line: at,
                places: [line, *other],
            })
        };
        other(*after, before.1).or_else(|| other(*before, after.1))
    })
}

/// Returns a quoted line that is not at a place and stands far from it, with the first line
/// of the place and its own: it speaks for another place. Lines that stand in many places,
/// and short ones, are written anew by chance.
fn stray(file: &Pristine, quote: &Quote<'_>, place: &Match) -> Option<Tie> {
    let pairs = place.pairs.as_ref()?;
    let lines = quote.lines.iter().zip(pairs).enumerate();
    let lost = lines.filter(|(_, (_, pair))| pair.is_none());
    lost.filter(|(_, (line, _))| !is_elision(line) && letters(line) >= STRAY_LETTERS)
        .find_map(|(at, (line, _))| {
            let others = file.with_key(key(line));
            let is_far = |other: &&usize| {
                other.saturating_add(STRAY_DISTANCE) < place.range.start
                    || **other > place.range.end.saturating_add(STRAY_DISTANCE)
            };
            let first = others.first()?;
            let speaks = others.len() <= STRAY_PLACES && others.iter().all(|other| is_far(&other));
            let places = [place.range.start, *first];
            speaks.then_some(Tie { line: at, places })
        })
}

fn letters(line: &str) -> usize {
    line.chars().filter(|next| next.is_alphanumeric()).count()
}
