//! Lines of code as markup: visible, and with marks on what a change touches.

use crate::text::push_line;
use minijinja::{Value, context};
use std::ops::Range;

/// Lines of a file of the unpatched tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceLines {
    /// The number of the first line, counted from 1.
    pub first: u32,
    pub lines: Vec<String>,
    /// Lines after the patch minus lines before it, above this place.
    pub shift: i64,
}

/// Writes a line; `mark` is the part that a change touches.
pub(crate) fn line(text: &str, mark: Option<&Range<usize>>) -> String {
    let mark = mark.cloned().unwrap_or_default();
    let [before, marked, after] = [0..mark.start, mark.clone(), mark.end..text.len()]
        .map(|range| text.get(range).unwrap_or_default());
    let mut out = String::with_capacity(text.len() * 2);
    push_line(&mut out, before);
    if !marked.is_empty() {
        out.push_str("<b>");
        push_line(&mut out, marked);
        out.push_str("</b>");
    }
    push_line(&mut out, after);
    out
}

/// Returns the parts in which two versions of a line differ: all between their common
/// beginning and their common end. Lines that share little are not marked.
pub(crate) fn differing(old: &str, new: &str) -> Option<(Range<usize>, Range<usize>)> {
    let common = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs
            .take_while(|(one, other)| one == other)
            .map(|(one, _)| one.len_utf8())
            .sum()
    };
    let before = common(&mut old.chars().zip(new.chars()));
    let (old_rest, new_rest) = (old.get(before..)?, new.get(before..)?);
    let after = common(&mut old_rest.chars().rev().zip(new_rest.chars().rev()));
    let shared = before + after;
    let enough = 2 * shared >= old.len().min(new.len()) && !old.trim().is_empty();
    enough.then(|| (before..old.len() - after, before..new.len() - after))
}

/// Returns the cell of a line's number; empty where the line is not on this side.
pub(crate) fn number(number: Option<u32>) -> Value {
    context! { class => "no", text => number }
}

/// Returns the cell of a line's markup.
pub(crate) fn code(class: &str, markup: String) -> Value {
    context! { class, text => Value::from_safe_string(markup) }
}

#[cfg(test)]
mod tests {
    use super::{differing, line};

    #[test]
    fn what_differs_is_marked() {
        let (old, new) = differing("f(a, 1);", "f(a, 22);").unwrap();
        assert_eq!((&"f(a, 1);"[old], &"f(a, 22);"[new.clone()]), ("1", "22"));
        let shown = line("f(a, 22);", Some(&new));
        assert_eq!(shown, "f(a, <b>22</b>);");
        assert_eq!(line("if <x>", None), "if &lt;x&gt;");
        assert_eq!(differing("abc", "xyz"), None);
        assert!(differing("é1", "é2").is_some());
    }
}
