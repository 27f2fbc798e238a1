//! Syntax errors that a patch adds.

use crate::pristine::Pristine;
use crate::splice::Splice;
use patchwright_source::{Language, SyntaxError, parse, syntax_errors};
use std::collections::HashMap;

/// Files up to this size are parsed in whole; larger ones around the edits.
const WHOLE_LIMIT: usize = 512 * 1024;

/// In a large file at most this many places are parsed.
const MOST_PLACES: usize = 64;

/// With more edits than this in a large file nothing is parsed.
const MOST_SPLICES: usize = 4 * MOST_PLACES;

/// Longest reach of a place in a large file, in lines.
const REACH: usize = 400;

/// Errors beyond this many are not counted.
const MOST_ERRORS: usize = 200;

/// Returns the syntax errors that a file has now and did not have before.
pub(crate) fn new_errors(file: &Pristine, splices: &[Splice], new: &[u8]) -> Checked {
    let Some(language) = file.language else {
        return Checked::Errors(Vec::new());
    };
    let old = file.text.bytes();
    if old.len().max(new.len()) <= WHOLE_LIMIT {
        return compare(language, old, new, 0).map_or(Checked::Not, Checked::Errors);
    }
    if splices.len() > MOST_SPLICES {
        return Checked::Not;
    }
    around_edits(file, language, splices)
}

/// Result of a search for errors.
#[derive(Debug)]
pub(crate) enum Checked {
    Errors(Vec<SyntaxError>),
    /// Too large, or the parser gave up.
    Not,
}

/// Parses both versions and gives the errors of the new one that are not in
/// the old one, if there are more than before. `base` is added to the lines.
fn compare(language: Language, old: &[u8], new: &[u8], base: usize) -> Option<Vec<SyntaxError>> {
    let tree = parse(language, new)?;
    let mut errors = syntax_errors(&tree, new, MOST_ERRORS);
    if errors.is_empty() {
        return Some(errors);
    }
    let before = parse(language, old).map(|tree| syntax_errors(&tree, old, MOST_ERRORS))?;
    if errors.len() <= before.len() {
        return Some(Vec::new());
    }
    let mut known: HashMap<String, usize> = HashMap::new();
    for error in before {
        *known.entry(error.what).or_default() += 1;
    }
    errors.retain(|error| match known.get_mut(&error.what) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    for error in &mut errors {
        error.line += base;
    }
    Some(errors)
}

/// Compares the functions around the edits of a large file.
fn around_edits(file: &Pristine, language: Language, splices: &[Splice]) -> Checked {
    let mut errors = Vec::new();
    let mut shift = 0_isize;
    let mut rest = splices;
    for _ in 0..MOST_PLACES {
        let Some(first) = rest.first() else {
            return Checked::Errors(errors);
        };
        let start = boundary_before(file, first.old.start);
        let mut end = boundary_after(file, first.old.end);
        let mut length = 1;
        while let Some(next) = rest.get(length).filter(|next| next.old.start <= end) {
            end = boundary_after(file, next.old.end);
            length += 1;
        }
        let (group, after) = rest.split_at(length);
        rest = after;
        let old = slice(file, start, end);
        let new = spliced(file, start, end, group);
        let base = start.saturating_add_signed(shift);
        match compare(language, old, &new, base) {
            Some(found) => errors.extend(found),
            None => return Checked::Not,
        }
        shift += group
            .iter()
            .map(|splice| splice.new.len().cast_signed() - splice.old.len().cast_signed())
            .sum::<isize>();
    }
    if rest.is_empty() {
        Checked::Errors(errors)
    } else {
        Checked::Not
    }
}

fn slice(file: &Pristine, start: usize, end: usize) -> &[u8] {
    let from = file.text.line_start(start + 1).unwrap_or_default();
    let to = file
        .text
        .line_start(end + 1)
        .unwrap_or(file.text.bytes().len());
    file.text.bytes().get(from..to).unwrap_or_default()
}

fn spliced(file: &Pristine, start: usize, end: usize, group: &[Splice]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = start;
    for splice in group {
        out.extend_from_slice(slice(file, at, splice.old.start));
        for line in &splice.new {
            out.extend_from_slice(line);
        }
        at = splice.old.end;
    }
    out.extend_from_slice(slice(file, at, end));
    out
}

/// A line that begins something at the top level: it is not indented, and
/// follows a blank line or a closing brace.
fn is_boundary(file: &Pristine, at: usize) -> bool {
    let line = file.line(at);
    let before = at.checked_sub(1).map(|at| file.line(at));
    let begins = line.starts_with(|first: char| first.is_alphabetic() || "_@/#".contains(first));
    begins && before.is_none_or(|before| before.trim().is_empty() || before.starts_with('}'))
}

fn boundary_before(file: &Pristine, at: usize) -> usize {
    let stop = at.saturating_sub(REACH);
    (stop..=at.min(file.count().saturating_sub(1)))
        .rev()
        .find(|at| is_boundary(file, *at))
        .unwrap_or(stop)
}

fn boundary_after(file: &Pristine, at: usize) -> usize {
    let stop = (at + REACH).min(file.count());
    (at + 1..stop)
        .find(|at| is_boundary(file, *at))
        .unwrap_or(stop)
}

#[cfg(test)]
mod tests {
    use super::{Checked, new_errors};
    use crate::pristine::Pristine;
    use crate::splice::{Splice, carry_out};
    use patchwright_source::{Text, TreePath};

    fn check(copies: usize, new_line: &str, expected: &[usize]) {
        let one = "int f(int a) {\n    return a;\n}\n\n";
        let text = Text::new(one.repeat(copies).into_bytes());
        let file = Pristine::new(TreePath::new("a.c").unwrap(), text);
        let splices = [Splice {
            old: 5..6,
            new: vec![new_line.as_bytes().to_vec()],
        }];
        let new = carry_out(&file.text, &splices);
        let Checked::Errors(errors) = new_errors(&file, &splices, &new) else {
            panic!("not checked");
        };
        let lines: Vec<usize> = errors.iter().map(|error| error.line).collect();
        assert_eq!(lines, expected, "{new_line} in {copies} copies");
    }

    #[test]
    fn finds_what_is_new() {
        for copies in [3, 30_000] {
            check(copies, "    return (a;\n", &[6]);
            check(copies, "    return (a);\n", &[]);
        }
    }
}
