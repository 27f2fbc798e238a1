//! The normal form of a patch: equal for patches that do the same to the same
//! lines, whatever their whitespace, the order and the cut of their edits.
//!
//! It is made of the texts before and after and not of the edits, so that what
//! can be told in several ways (which of two equal lines goes) is told in one.

use crate::indent::lead;
use crate::pristine::is_space;
use crate::splice::{COMPARE_LIMIT, Splice};
use patchwright_source::{DiffOp, Language, Text, TreePath, difference};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write;
use std::ops::Range;

/// Adds the normal form of one file. The splices are reduced and in order.
pub(crate) fn write_file(
    out: &mut String,
    path: &TreePath,
    text: Option<&Text>,
    language: Option<Language>,
    splices: &[Splice],
) {
    let file = File { text, language };
    let changed = file.changed(splices);
    if changed.old == changed.new {
        return;
    }
    let _ = writeln!(out, "file {path}");
    if changed.old.len() + changed.new.len() > COMPARE_LIMIT {
        changed.write_digest(out);
    } else {
        changed.write_lines(out);
    }
}

/// The file as it was.
struct File<'a> {
    text: Option<&'a Text>,
    language: Option<Language>,
}

impl File<'_> {
    /// The lines of a range (from 0) that are not blank, each with its number (from 1).
    fn lines(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = (usize, String)> {
        range.filter_map(|at| {
            let line = self.text?.raw_line(at + 1)?;
            Some((at + 1, normal_line(self.language, line)?))
        })
    }

    /// Returns the differences that the splices make: their range without what is
    /// equal at its ends. What repeats the lines above it moves up as far as it can.
    fn changed(&self, splices: &[Splice]) -> Changed {
        let start = splices.first().map_or(0, |splice| splice.old.start);
        let end = splices.last().map_or(0, |splice| splice.old.end);
        let mut old: VecDeque<(usize, String)> = self.lines(start..end).collect();
        let mut new: VecDeque<String> = self.after(splices).into();
        while let (Some((_, gone)), Some(come)) = (old.back(), new.back())
            && gone == come
        {
            old.pop_back();
            new.pop_back();
        }
        let mut above = self.lines(0..start).rev().peekable();
        if new.is_empty() {
            while let Some(line) = above.next_if(|(_, line)| last_is(&old, line)) {
                old.pop_back();
                old.push_front(line);
            }
        } else if old.is_empty() {
            while let Some((_, line)) = above.next_if(|(_, line)| new.back() == Some(line)) {
                new.pop_back();
                new.push_front(line);
            }
        }
        let mut before = above.next().map_or(0, |(number, _)| number);
        while let (Some((number, gone)), Some(come)) = (old.front(), new.front())
            && gone == come
        {
            before = *number;
            old.pop_front();
            new.pop_front();
        }
        let (numbers, old) = old.into_iter().unzip();
        Changed {
            before,
            numbers,
            old,
            new: new.into(),
        }
    }

    /// The new lines of the range of all splices.
    fn after(&self, splices: &[Splice]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut at = splices.first().map_or(0, |splice| splice.old.start);
        for splice in splices {
            let kept = self.lines(at..splice.old.start);
            lines.extend(kept.map(|(_, line)| line));
            let come = splice.new.iter();
            lines.extend(come.filter_map(|line| normal_line(self.language, line)));
            at = splice.old.end;
        }
        lines
    }
}

fn last_is(lines: &VecDeque<(usize, String)>, line: &str) -> bool {
    lines.back().is_some_and(|(_, last)| last == line)
}

/// Returns the differences between a file and its new text.
struct Changed {
    /// The number of the line before; 0 at the start of the file.
    before: usize,
    /// The number of each old line.
    numbers: Vec<usize>,
    old: Vec<String>,
    new: Vec<String>,
}

impl Changed {
    fn write_lines(&self, out: &mut String) {
        for op in difference(&self.old, &self.new) {
            if matches!(op, DiffOp::Equal { .. }) {
                continue;
            }
            let _ = writeln!(out, "@{}", self.number_before(op.old_range().start));
            for line in self.old.get(op.old_range()).unwrap_or_default() {
                let _ = writeln!(out, "-{line}");
            }
            for line in self.new.get(op.new_range()).unwrap_or_default() {
                let _ = writeln!(out, "+{line}");
            }
        }
    }

    fn number_before(&self, at: usize) -> usize {
        let number = at.checked_sub(1).and_then(|at| self.numbers.get(at));
        number.copied().unwrap_or(self.before)
    }

    /// Stands for lines that are too many to be compared.
    fn write_digest(&self, out: &mut String) {
        let mut digest = Sha256::new();
        for line in &self.new {
            digest.update(line);
            digest.update("\n");
        }
        let digest = digest.finalize();
        let _ = writeln!(out, "@{} -{} {digest:x}", self.before, self.old.len());
    }
}

/// A line without whitespace; where indentation is meaning, its width stays.
/// Blank lines are none.
fn normal_line(language: Option<Language>, line: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => line.iter().copied().map(char::from).collect(),
    };
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

    #[test]
    fn does_not_depend_on_how_the_change_is_cut() {
        let text = "a\nx;\n\nx;\nb\nc\n";
        let c = Language::C;
        // Which of the two equal lines goes cannot be told from what is left.
        let high = form(text, c, &[(0..2, &[]), (4..5, &["V\n"])]);
        let low = form(text, c, &[(0..1, &[]), (3..5, &["V\n"])]);
        assert_eq!(high, low);
        let whole = form(text, c, &[(0..6, &["x;\n", "V\n", "c\n"])]);
        assert_eq!(high, whole);
        assert_ne!(high, form(text, c, &[(0..2, &[]), (4..5, &["W\n"])]));
        let twice = "{\n  y;\n}\n{\n  y;\n}\n";
        assert_eq!(
            form(twice, c, &[(0..3, &[])]),
            form(twice, c, &[(3..6, &[])])
        );
        assert_eq!(form(twice, c, &[(0..1, &["{\n"])]), "");
    }

    #[test]
    fn tells_the_bytes_of_old_encodings_apart() {
        let of = |bytes: &[u8]| {
            let splice = Splice {
                old: 0..1,
                new: vec![bytes.to_vec()],
            };
            let mut out = String::new();
            let path = TreePath::new("a").unwrap();
            let text = Text::new(b"caf\xe9;\n".to_vec());
            write_file(&mut out, &path, Some(&text), Some(Language::C), &[splice]);
            out
        };
        assert_eq!(of(b" caf\xe9;\n"), "");
        assert_ne!(of(b"caf\xe8;\n"), "");
        assert_ne!(of(b"caf\xe8;\n"), of(b"caf\xea;\n"));
    }

    #[test]
    fn stays_short_for_a_long_change() {
        let text = "a;\n";
        let lines = |last: &'static str| {
            let mut lines = vec!["b;\n"; 6_000];
            lines.push(last);
            form(text, Language::C, &[(1..1, &lines)])
        };
        assert_eq!(lines("c;\n"), lines("c ;\n"));
        assert_ne!(lines("c;\n"), lines("d;\n"));
        assert!(lines("c;\n").len() < 200, "{}", lines("c;\n"));
    }
}
