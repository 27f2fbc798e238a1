//! Texts brought to a bound: their numbers, words, lists, lines and nesting, one
//! at a time, and with a number that asks for the last of many.

use crate::mutation::numbers;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Inputs that are made of one: with one change, and with two at once, a number
/// that asks for the last of many things among them.
const SINGLES: usize = 48;
const PAIRS: usize = 48;
/// What stands between the parts of a list.
const SEPARATORS: [char; 3] = [',', ';', '|'];
/// Brackets that a part of a list may open.
const OPENING: [char; 3] = ['(', '[', '{'];
/// What ends a part of a list besides separators.
const CLOSING: [char; 4] = [')', ']', '}', '\n'];

/// A change of a text: what stands in a place gives way to something else.
type Change = (Range<usize>, String);

/// Adds what comes of a text and a bound.
pub(super) fn towards(text: &str, bound: usize, made: &mut Vec<Vec<u8>>) {
    let mut asking = Vec::new();
    let mut singles = Vec::new();
    for place in numbers(text) {
        let sign = if text.get(place.clone()).is_some_and(|n| n.starts_with('-')) {
            "-"
        } else {
            ""
        };
        singles.push((place.clone(), format!("{sign}{bound}")));
        asking.push((place, format!("{sign}{}", bound + 1)));
    }
    let lists = lists(text, bound);
    let mut longer: Vec<Change> = lists.iter().map(|list| list.change.clone()).collect();
    longer.extend(lines_and_brackets(text, bound));
    for in_brackets in [true, false] {
        let all = lists
            .iter()
            .filter(|list| list.in_brackets == Some(in_brackets));
        let all: Vec<&Change> = all.map(|list| &list.change).collect();
        made.extend(all_longer(text, &all, &asking));
    }
    singles.extend(asking.iter().cloned());
    singles.extend(longer.iter().cloned());
    singles.extend(words(text, bound));
    made.extend(
        some(singles, SINGLES)
            .iter()
            .map(|one| changed(text, &[one])),
    );
    let pairs = asking.iter().flat_map(|one| {
        let others = longer.iter().filter(|other| are_apart(one, other));
        others.map(move |other| (one, other))
    });
    let pairs = some(pairs, PAIRS);
    made.extend(
        pairs
            .iter()
            .map(|(one, other)| changed(text, &[one, other])),
    );
}

/// A text with all its lists longer than the bound, and one number that asks
/// for the end of one of them.
fn all_longer(text: &str, all: &[&Change], asking: &[Change]) -> Vec<Vec<u8>> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut made = vec![changed(text, all)];
    let asked = asking.iter().map(|one| {
        let apart = all.iter().copied().filter(|other| are_apart(one, other));
        changed(text, &apart.chain([one]).collect::<Vec<_>>())
    });
    made.extend(some(asked, SINGLES / 2));
    made
}

fn are_apart(one: &Change, other: &Change) -> bool {
    other.0.end <= one.0.start || one.0.end <= other.0.start
}

/// A list with one of its parts repeated.
struct List {
    change: Change,
    /// For the last part, whether a bracket ends the list, or a line does.
    in_brackets: Option<bool>,
}

/// Lists with more parts than the bound.
fn lists(text: &str, bound: usize) -> Vec<List> {
    let mut found = Vec::new();
    for (at, separator) in text.match_indices(SEPARATORS) {
        let rest = text.get(at + separator.len()..).unwrap_or_default();
        let ends = |c: char| SEPARATORS.contains(&c) || CLOSING.contains(&c);
        let end = rest.find(ends).unwrap_or(rest.len());
        let (inside, after) = rest.split_at(end);
        // What opens a bracket is only half of a part.
        if inside.contains(OPENING) {
            continue;
        }
        let place = at + separator.len() + end;
        let part = text.get(at..place).unwrap_or_default();
        found.push(List {
            change: (place..place, part.repeat(bound)),
            in_brackets: match after.chars().next() {
                Some(')' | ']' | '}') => Some(true),
                Some('\n') | None => Some(false),
                Some(_) => None,
            },
        });
    }
    found
}

/// Lines repeated as often as the bound, and brackets nested as deep.
fn lines_and_brackets(text: &str, bound: usize) -> Vec<Change> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        found.push((end..end, line.repeat(bound)));
        start = end;
    }
    for (open, close) in [('[', ']'), ('{', '}'), ('(', ')')] {
        let Some((first, last)) = text.find(open).zip(text.rfind(close)) else {
            continue;
        };
        if let Some(inside) = text.get(first..=last) {
            let (open, close) = (open.to_string(), close.to_string());
            let deep = format!("{}{inside}{}", open.repeat(bound), close.repeat(bound));
            found.push((first..last + 1, deep));
        }
    }
    found
}

/// Words as long as the bound, and one letter longer.
fn words(text: &str, bound: usize) -> Vec<Change> {
    let mut found = Vec::new();
    let mut at = 0;
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        let place = at..at + word.len();
        at += part.len();
        if !word.chars().all(char::is_alphabetic) {
            continue;
        }
        let Some(last) = word.chars().next_back() else {
            continue;
        };
        for length in [bound, bound + 1] {
            let letters = word.chars().chain(std::iter::repeat(last));
            found.push((place.clone(), letters.take(length).collect()));
        }
    }
    found
}

/// A fair choice among many, the same every time.
fn some<T>(all: impl IntoIterator<Item = T>, most: usize) -> Vec<T> {
    let mut numbered: Vec<(u64, T)> = all
        .into_iter()
        .enumerate()
        .map(|(number, one)| {
            let mut hasher = DefaultHasher::new();
            number.hash(&mut hasher);
            (hasher.finish(), one)
        })
        .collect();
    numbered.sort_by_key(|(hash, _)| *hash);
    numbered.truncate(most);
    numbered.into_iter().map(|(_, one)| one).collect()
}

/// A text with some changes made, which do not overlap.
fn changed(text: &str, changes: &[&Change]) -> Vec<u8> {
    let mut changes = changes.to_vec();
    changes.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut made = text.to_owned();
    for (place, with) in changes {
        made.replace_range(place.clone(), with);
    }
    made.into_bytes()
}
