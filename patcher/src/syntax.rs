//! Syntax errors that a patch adds.

use crate::pristine::Pristine;
use crate::splice::Splice;
use patchwright_source::{Language, SyntaxError, parse, syntax_errors};
use std::collections::HashMap;

/// Files up to this size are parsed in whole; of larger ones the top-level piece that holds
/// all edits.
const SMALL: usize = 64 * 1024;

/// Larger pieces are not parsed, in bytes.
const LARGEST: usize = 512 * 1024;

/// Errors beyond this many are not counted.
const MOST_ERRORS: usize = 200;

/// Returns the syntax errors that a file has now and did not have before.
pub(crate) fn new_errors(file: &Pristine, splices: &[Splice], new: &[u8]) -> Checked {
    let (Some(language), Some(first), Some(last)) =
        (file.language, splices.first(), splices.last())
    else {
        return Checked::Errors(Vec::new());
    };
    let old = file.text.bytes();
    let (mut start, mut end) = (0, file.count());
    if old.len() > SMALL {
        let mut before = (0..=first.old.start).rev();
        start = before.find(|at| is_boundary(file, *at)).unwrap_or(0);
        let mut behind = last.old.end + 1..end;
        end = behind.find(|at| is_boundary(file, *at)).unwrap_or(end);
    }
    let offset = |at: usize| file.text.line_start(at + 1).unwrap_or(old.len());
    let (from, rest) = (offset(start), old.len() - offset(end));
    let errors = match (
        old.get(from..old.len() - rest),
        new.get(from..new.len().saturating_sub(rest)),
    ) {
        (Some(old), Some(new)) if old.len().max(new.len()) <= LARGEST => {
            compare(language, old, new)
        }
        _ => None,
    };
    errors.map_or(Checked::Not, |mut errors| {
        for error in &mut errors {
            error.line += start;
        }
        Checked::Errors(errors)
    })
}

/// A line that begins something at the top level: it is not indented, and
/// follows a blank line or a closing brace.
fn is_boundary(file: &Pristine, at: usize) -> bool {
    let line = file.line(at);
    let before = at.checked_sub(1).map(|at| file.line(at));
    let begins = line.starts_with(|first: char| first.is_alphabetic() || "_@/#".contains(first));
    begins && before.is_none_or(|before| before.trim().is_empty() || before.starts_with('}'))
}

/// Result of a search for errors.
#[derive(Debug)]
pub(crate) enum Checked {
    Errors(Vec<SyntaxError>),
    /// Too large, or the parser gave up.
    Not,
}

/// Parses both versions and gives the errors of the new one that are not in
/// the old one, if there are more than before.
fn compare(language: Language, old: &[u8], new: &[u8]) -> Option<Vec<SyntaxError>> {
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
    Some(errors)
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
        for copies in [3, 3_000, 30_000] {
            check(copies, "    return (a;\n", &[6]);
            check(copies, "    return (a);\n", &[]);
        }
    }
}
