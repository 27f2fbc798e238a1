//! The normal form of a patch: equal for patches that do the same to the same
//! lines, whatever their whitespace, the order and the cut of their edits.

use crate::indent::lead;
use crate::pristine::is_space;
use crate::splice::Splice;
use patchwright_source::{Language, Text, TreePath};
use std::fmt::Write;

/// Adds the normal form of one file. The splices are reduced and in order.
pub(crate) fn write_file(
    out: &mut String,
    path: &TreePath,
    text: Option<&Text>,
    language: Option<Language>,
    splices: &[Splice],
) {
    let mut body = String::new();
    for splice in splices {
        let splice = slide_up(text, splice);
        let old = splice
            .old
            .clone()
            .filter_map(|at| text?.raw_line(at + 1))
            .filter_map(|line| normal_line(language, line));
        let old: Vec<String> = old.collect();
        let new: Vec<String> = splice
            .new
            .iter()
            .filter_map(|line| normal_line(language, line))
            .collect();
        if old == new {
            continue;
        }
        let at = first_code_line(text, splice.old.start);
        let _ = writeln!(body, "@{at}");
        for line in old {
            let _ = writeln!(body, "-{line}");
        }
        for line in new {
            let _ = writeln!(body, "+{line}");
        }
    }
    if !body.is_empty() {
        let _ = writeln!(out, "file {path}");
        out.push_str(&body);
    }
}

/// A line without whitespace; where indentation is meaning, its width stays.
/// Blank lines are none.
fn normal_line(language: Option<Language>, line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let bare: String = text.chars().filter(|next| !is_space(*next)).collect();
    if bare.is_empty() {
        return None;
    }
    if language == Some(Language::Python) {
        let width: usize = lead(&text)
            .chars()
            .map(|c| if c == '\t' { 8 } else { 1 })
            .sum();
        return Some(format!("{width} {bare}"));
    }
    Some(bare)
}

/// How many non-blank lines stand before a line, so that blank lines around an
/// insertion make no difference.
fn first_code_line(text: Option<&Text>, at: usize) -> usize {
    let Some(text) = text else {
        return 0;
    };
    let blank = |line: usize| {
        text.raw_line(line)
            .is_some_and(|raw| raw.iter().all(u8::is_ascii_whitespace))
    };
    let mut line = at;
    while line > 0 && blank(line) {
        line -= 1;
    }
    line
}

/// A pure insertion or deletion can often be told in several ways: the highest
/// of them is taken.
fn slide_up(text: Option<&Text>, splice: &Splice) -> Splice {
    let mut moved = splice.clone();
    let Some(text) = text else {
        return moved;
    };
    if splice.old.is_empty() {
        while let (Some(last), Some(before)) = (moved.new.last(), text.raw_line(moved.old.start)) {
            if last.as_slice() != before {
                break;
            }
            moved.new.rotate_right(1);
            moved.old = moved.old.start - 1..moved.old.start - 1;
        }
    } else if splice.new.is_empty() {
        while moved.old.start > 0 && text.raw_line(moved.old.start) == text.raw_line(moved.old.end)
        {
            moved.old = moved.old.start - 1..moved.old.end - 1;
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::write_file;
    use crate::splice::Splice;
    use patchwright_source::{Language, Text, TreePath};

    fn form(
        text: &str,
        language: Language,
        splices: &[(std::ops::Range<usize>, &[&str])],
    ) -> String {
        let splices: Vec<Splice> = splices
            .iter()
            .map(|(old, new)| Splice {
                old: old.clone(),
                new: new.iter().map(|line| line.as_bytes().to_vec()).collect(),
            })
            .collect();
        let mut out = String::new();
        let text = Text::new(text.into());
        write_file(
            &mut out,
            &TreePath::new("a").unwrap(),
            Some(&text),
            Some(language),
            &splices,
        );
        out
    }

    #[test]
    fn is_the_same_for_the_same_patch() {
        let text = "f {\n  a;\n}\n\ng {\n}\n";
        let c = Language::C;
        assert_eq!(
            form(text, c, &[(1..1, &["  if (x) y;\n"])]),
            form(text, c, &[(1..1, &["\tif(x)  y;\n", "\n"])])
        );
        assert_eq!(
            form(text, c, &[(3..3, &["h {\n", "}\n"])]),
            form(text, c, &[(2..2, &["}\n", "h {\n"])])
        );
        assert_ne!(
            form(text, c, &[(1..1, &["x;\n"])]),
            form(text, c, &[(2..2, &["x;\n"])])
        );
        assert_eq!(form(text, c, &[(1..2, &["    a ;\n"])]), "");
        assert_ne!(form(text, Language::Python, &[(1..2, &["    a;\n"])]), "");
    }
}
