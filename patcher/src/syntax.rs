//! Syntax errors that a patch adds.

use crate::pristine::Pristine;
use crate::splice::{Splice, bytes_of, carry_out};
use patchwright_source::{Language, SyntaxError, parse, syntax_errors};
use std::collections::HashMap;
use std::ops::Range;

/// Files up to this size are parsed in whole; of larger ones the top-level pieces
/// around the edits, as long as these can be told.
const SMALL: usize = 64 * 1024;

/// Files up to this size are parsed in whole where the pieces around the edits cannot
/// be told.
const WHOLE_LIMIT: usize = 512 * 1024;

/// In a large file at most this many places are parsed.
const MOST_PLACES: usize = 64;

/// Longest reach of a place in a large file, in lines.
const REACH: usize = 2_000;

/// Errors beyond this many are not counted.
const MOST_ERRORS: usize = 200;

/// Returns the syntax errors that a file has now and did not have before; `None` where it is
/// too large, or the parser gave up.
pub(crate) fn new_errors(
    file: &Pristine,
    splices: &[Splice],
    new: &[u8],
) -> Option<Vec<SyntaxError>> {
    let Some(language) = file.language else {
        return Some(Vec::new());
    };
    let old = file.text.bytes();
    let size = old.len().max(new.len());
    let parts = parts(file, splices);
    let apart = parts.len() <= MOST_PLACES;
    let clear = apart && parts.iter().all(|part| part.clear);
    if size > SMALL && clear || size > WHOLE_LIMIT && apart {
        compare_parts(file, language, &parts)
    } else if size <= WHOLE_LIMIT {
        compare(language, old, new, 0)
    } else {
        None
    }
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

/// A part of a file around edits, between two lines that begin something.
struct Part<'a> {
    lines: Range<usize>,
    splices: &'a [Splice],
    /// False where no such line was found within reach.
    clear: bool,
}

/// Divides edits among the parts of a file that they are in.
fn parts<'a>(file: &Pristine, splices: &'a [Splice]) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut rest = splices;
    while let Some(first) = rest.first() {
        let (start, begins) = boundary_before(file, first.old.start);
        let (mut end, mut ends) = boundary_after(file, first.old.end);
        let mut length = 1;
        while let Some(next) = rest.get(length).filter(|next| next.old.start <= end) {
            (end, ends) = boundary_after(file, next.old.end);
            length += 1;
        }
        let (group, after) = rest.split_at(length);
        parts.push(Part {
            lines: start..end,
            splices: group,
            clear: begins && ends,
        });
        rest = after;
        if parts.len() > MOST_PLACES {
            break;
        }
    }
    parts
}

/// Compares parts of a file.
fn compare_parts(
    file: &Pristine,
    language: Language,
    parts: &[Part<'_>],
) -> Option<Vec<SyntaxError>> {
    let mut errors = Vec::new();
    let mut shift = 0_isize;
    for Part { lines, splices, .. } in parts {
        let old = bytes_of(&file.text, lines.clone());
        let new = carry_out(&file.text, lines.clone(), splices);
        let base = lines.start.saturating_add_signed(shift);
        errors.extend(compare(language, old, &new, base)?);
        shift += splices.iter().map(Splice::growth).sum::<isize>();
    }
    Some(errors)
}

/// A line that begins something at the top level: it is not indented, and
/// follows a blank line or a closing brace.
fn is_boundary(file: &Pristine, at: usize) -> bool {
    let line = file.line(at);
    let before = at.checked_sub(1).map(|at| file.line(at));
    let begins = line.starts_with(|first: char| first.is_alphabetic() || "_@/#".contains(first));
    begins && before.is_none_or(|before| before.trim().is_empty() || before.starts_with('}'))
}

/// Returns the last boundary up to a line, and whether one was found before the search was given
/// up there.
fn boundary_before(file: &Pristine, at: usize) -> (usize, bool) {
    let stop = at.saturating_sub(REACH);
    let mut lines = (stop..=at.min(file.count().saturating_sub(1))).rev();
    let found = lines.find(|at| is_boundary(file, *at));
    (found.unwrap_or(stop), found.is_some() || stop == 0)
}

/// Returns the first boundary behind a line, in the same way.
fn boundary_after(file: &Pristine, at: usize) -> (usize, bool) {
    let stop = (at + REACH).min(file.count());
    let found = (at + 1..stop).find(|at| is_boundary(file, *at));
    let is_found = found.is_some() || stop == file.count();
    (found.unwrap_or(stop), is_found)
}

#[cfg(test)]
mod tests {
    use super::new_errors;
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
        let new = carry_out(&file.text, 0..file.count(), &splices);
        let errors = new_errors(&file, &splices, &new).expect("not checked");
        let lines: Vec<usize> = errors.iter().map(|error| error.line).collect();
        assert_eq!(lines, expected, "{new_line} in {copies} copies");
    }

    #[test]
    fn finds_what_is_new() {
        for copies in [3, 3_000, 30_000] {
            check(copies, "    return (a;\n", &[6]);
            check(copies, "    return (a);\n", &[]);
        }
    }
}
