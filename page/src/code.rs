//! Lines of code as markup: syntax colours from the tree-sitter grammars, and marks
//! on what a change touches.

use crate::text::push_line;
use minijinja::{Value, context};
use patchwright_source::{Language, TreePath, parse};
use std::fmt::Write;
use std::ops::Range;

/// Bytes of a text that is coloured; more is shown plain.
const MOST: usize = 256 << 10;

/// Lines of a file of the unpatched tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceLines {
    /// The path in the tree.
    pub path: String,
    /// The number of the first line, counted from 1.
    pub first: u32,
    pub lines: Vec<String>,
    /// Lines after the patch minus lines before it, above this place.
    pub shift: i64,
}

/// A part of a line and its class of syntax.
type Coloured = (Range<usize>, &'static str);

/// Returns the coloured parts of each line of a text.
pub(crate) fn colours(path: &str, lines: &[&str]) -> Vec<Vec<Coloured>> {
    let mut found = vec![Vec::new(); lines.len()];
    let text = lines.join("\n");
    let path = TreePath::new(path).ok();
    let language = path.and_then(|path| Language::of(&path, text.as_bytes()));
    let Some(tree) = language
        .filter(|_| text.len() <= MOST)
        .and_then(|language| parse(language, text.as_bytes()))
    else {
        return found;
    };
    let mut cursor = tree.walk();
    let mut down = true;
    loop {
        let node = cursor.node();
        let class = class_of(node, &text);
        if down && let Some(class) = class {
            spread(&mut found, lines, node.range(), class);
        }
        if down && class.is_none() && cursor.goto_first_child() {
            continue;
        }
        down = cursor.goto_next_sibling();
        if !down && !cursor.goto_parent() {
            return found;
        }
    }
}

/// Adds a coloured range to each line that it lies on.
fn spread(
    found: &mut [Vec<Coloured>],
    lines: &[&str],
    range: tree_sitter::Range,
    class: &'static str,
) {
    let (start, end) = (range.start_point, range.end_point);
    let rows = start.row..(end.row + 1).min(lines.len());
    let parts = found.get_mut(rows.clone()).into_iter().flatten();
    let coloured = parts.zip(lines.get(rows).into_iter().flatten());
    for (row, (parts, line)) in (start.row..).zip(coloured) {
        let from = if row == start.row { start.column } else { 0 };
        let to = if row == end.row {
            end.column
        } else {
            line.len()
        };
        if from < to {
            parts.push((from..to, class));
        }
    }
}

/// Returns the class of a node; `None` where its children decide.
fn class_of(node: tree_sitter::Node<'_>, text: &str) -> Option<&'static str> {
    let kind = node.kind();
    if kind.contains("comment") {
        return Some("c");
    }
    if kind.contains("string") || kind.starts_with("char") || kind == "system_lib_string" {
        return (!kind.contains("interpolation")).then_some("s");
    }
    if node.child_count() > 0 {
        return None;
    }
    match kind {
        "primitive_type" | "type_identifier" | "sized_type_specifier" => Some("t"),
        "true" | "false" | "null" | "nullptr" | "this" => Some("n"),
        _ if kind.contains("number") || kind.ends_with("_literal") => Some("n"),
        _ if kind.starts_with('#') || kind == "preproc_directive" => Some("p"),
        // A keyword's kind is the word itself.
        _ if !node.is_named() && kind.starts_with(|first: char| first.is_ascii_alphabetic()) => {
            let word = text.get(node.byte_range())?;
            (word == kind).then_some("k")
        }
        _ => None,
    }
}

/// Writes a line with its colours; `mark` is the part that a change touches.
pub(crate) fn line(text: &str, colours: &[Coloured], mark: Option<&Range<usize>>) -> String {
    let mut cuts = vec![0, text.len()];
    let ranges = colours.iter().map(|(range, _)| range).chain(mark);
    cuts.extend(ranges.flat_map(|range| [range.start, range.end]));
    cuts.sort_unstable();
    cuts.dedup();
    let mut out = String::with_capacity(text.len() * 2);
    for pair in cuts.windows(2) {
        let [from, to] = *pair else { continue };
        let Some(part) = text.get(from..to) else {
            continue;
        };
        let class = colours.iter().find(|(range, _)| range.contains(&from));
        let marked = mark.is_some_and(|range| range.contains(&from));
        if let Some((_, class)) = class {
            // Writing to a string cannot fail, here and below.
            let _ = write!(out, "<i class={class}>");
        }
        if marked {
            out.push_str("<b>");
        }
        push_line(&mut out, part);
        if marked {
            out.push_str("</b>");
        }
        if class.is_some() {
            out.push_str("</i>");
        }
    }
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
    use super::{colours, differing, line};

    fn coloured(path: &str, text: &str) -> String {
        let lines: Vec<&str> = text.split('\n').collect();
        let parts = colours(path, &lines);
        let shown = lines.iter().zip(&parts);
        let shown: Vec<String> = shown.map(|(text, parts)| line(text, parts, None)).collect();
        shown.join("\n")
    }

    #[test]
    fn code_is_coloured_by_its_grammar() {
        insta::assert_snapshot!(
            coloured("a.c", "if (n > 12) return \"<a>\"; /* one\ntwo */ char *x;"),
            @r#"
        <i class=k>if</i> (n &gt; <i class=n>12</i>) <i class=k>return</i> <i class=s>&quot;&lt;a&gt;&quot;</i>; <i class=c>/* one</i>
        <i class=c>two */</i> <i class=t>char</i> *x;
        "#
        );
        assert_eq!(coloured("a.unknown", "if <x>"), "if &lt;x&gt;");
        assert_eq!(coloured("../x.c", "if"), "if");
    }

    #[test]
    fn what_differs_is_marked() {
        let (old, new) = differing("f(a, 1);", "f(a, 22);").unwrap();
        assert_eq!((&"f(a, 1);"[old], &"f(a, 22);"[new.clone()]), ("1", "22"));
        let shown = line("f(a, 22);", &[], Some(&new));
        assert_eq!(shown, "f(a, <b>22</b>);");
        assert_eq!(differing("abc", "xyz"), None);
        assert!(differing("é1", "é2").is_some());
    }
}
