//! Changes of a text: its numbers, the parts of its lists, its lines, brackets and words, each as a
//! replacement of a place. Which of them are worth trying is not decided here.

use patchwright_source::regex;
use std::collections::BTreeSet;
use std::ops::Range;

/// Numbers of an input that are changed wherever they occur.
const REPEATED: usize = 8;
/// Occurrences of the last part of every line after the change.
const TIMES: [usize; 3] = [2, 3, 0];
/// Separators of the parts of a list.
const SEPARATORS: [char; 4] = ['|', ',', ';', '\t'];
/// Brackets that a part of a list may open.
const OPENING: [char; 3] = ['(', '[', '{'];
/// Characters that end a part of a list besides separators.
const CLOSING: [char; 4] = [')', ']', '}', '\n'];

/// A replacement of a place in a text.
pub(super) type Change = (Range<usize>, String);

/// Finds the numbers of a text with their signs; digits of names are none.
pub(super) fn numbers(text: &str) -> Vec<Range<usize>> {
    let number = regex!(r"-?(?-u:\b)[0-9]+(?-u:\b)");
    number.find_iter(text).map(|found| found.range()).collect()
}

/// Changes numbers that occur more than once by one, everywhere.
pub(super) fn repeated_numbers(text: &str, places: &[Range<usize>]) -> Vec<Vec<u8>> {
    let number = |place: &Range<usize>| text.get(place.clone());
    let mut seen = BTreeSet::new();
    let all = places.iter().filter_map(number);
    let twice: BTreeSet<&str> = all.filter(|one| !seen.insert(*one)).collect();
    let mut made = Vec::new();
    for repeated in twice.into_iter().take(REPEATED) {
        let Ok(value) = repeated.parse::<i64>() else {
            continue;
        };
        for other in [value.checked_add(1), value.checked_sub(1)] {
            let alike = { places.iter() }.filter(|place| number(place) == Some(repeated));
            let changes = alike.filter_map(|place| Some((place.clone(), other?.to_string())));
            let changes: Vec<Change> = changes.collect();
            made.push(changed(text, &changes.iter().collect::<Vec<_>>()));
        }
    }
    made
}

/// Adds or removes the last part of every line that has several.
pub(super) fn last_parts(text: &str) -> Vec<Vec<u8>> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut made = Vec::new();
    for separator in SEPARATORS {
        let with = lines.iter().filter(|line| line.contains(separator));
        if with.count() < 2 {
            continue;
        }
        for times in TIMES {
            let line = |line: &&str| with_last_part(line, separator, times);
            made.push(lines.iter().map(line).collect::<String>().into_bytes());
        }
    }
    made
}

/// Returns a line with its last part `times` times.
fn with_last_part(line: &str, separator: char, times: usize) -> String {
    let bare = line.trim_end_matches(['\n', '\r']);
    let (bare, end) = line.split_at(bare.len());
    // The last part includes its separator, which stands before or after it.
    let start = match bare.strip_suffix(separator) {
        Some(open) => {
            let before = open.rfind(separator);
            Some(before.map_or(0, |at| at + separator.len_utf8()))
        }
        None => bare.rfind(separator),
    };
    let Some((head, last)) = start.and_then(|at| bare.split_at_checked(at)) else {
        return line.to_owned();
    };
    format!("{head}{}{end}", last.repeat(times))
}

/// Repeats each part of a list. For the last part of a list the flag is true where a
/// bracket ends the list, false where the line ends.
pub(super) fn parts(text: &str, times: usize) -> Vec<(Change, Option<bool>)> {
    let mut found = Vec::new();
    for (at, separator) in text.match_indices(SEPARATORS) {
        let rest = text.get(at + separator.len()..).unwrap_or_default();
        let ends = |c: char| SEPARATORS.contains(&c) || CLOSING.contains(&c);
        let end = rest.find(ends).unwrap_or(rest.len());
        let (inside, after) = rest.split_at(end);
        // A part that opens a bracket is incomplete.
        if inside.contains(OPENING) {
            continue;
        }
        let place = at + separator.len() + end;
        let part = text.get(at..place).unwrap_or_default();
        let in_brackets = match after.chars().next() {
            Some(')' | ']' | '}') => Some(true),
            Some('\n') | None => Some(false),
            Some(_) => None,
        };
        found.push(((place..place, part.repeat(times)), in_brackets));
    }
    found
}

/// Repeats lines and nests brackets.
pub(super) fn lines_and_brackets(text: &str, times: usize) -> Vec<Change> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        found.push((end..end, line.repeat(times)));
        start = end;
    }
    for (open, close) in [("[", "]"), ("{", "}"), ("(", ")")] {
        if let Some((first, last)) = text.find(open).zip(text.rfind(close))
            && let Some(inside) = text.get(first..=last)
        {
            let deep = format!("{}{inside}{}", open.repeat(times), close.repeat(times));
            found.push((first..last + 1, deep));
        }
    }
    found
}

/// Makes words as long as a constant, and one letter longer.
pub(super) fn words(text: &str, constant: usize) -> Vec<Change> {
    let mut found = Vec::new();
    let mut at = 0;
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        let place = at..at + word.len();
        at += part.len();
        let is_word = word.chars().all(char::is_alphabetic);
        let Some(last) = word.chars().next_back().filter(|_| is_word) else {
            continue;
        };
        for length in [constant, constant.saturating_add(1)] {
            let letters = word.chars().chain(std::iter::repeat(last));
            found.push((place.clone(), letters.take(length).collect()));
        }
    }
    found
}

pub(super) fn are_apart(one: &Change, other: &Change) -> bool {
    other.0.end <= one.0.start || one.0.end <= other.0.start
}

/// Returns a text with some changes, which do not overlap.
pub(super) fn changed(text: &str, changes: &[&Change]) -> Vec<u8> {
    let mut changes = changes.to_vec();
    changes.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let mut made = text.to_owned();
    for (place, with) in changes {
        made.replace_range(place.clone(), with);
    }
    made.into_bytes()
}
