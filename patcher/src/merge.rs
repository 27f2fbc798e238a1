//! What stands at a place after an edit: the writer's changes, on top of the
//! file's own lines.
//!
//! A line that the edit leaves as it was stays the file's line, byte for byte,
//! however it was quoted. New lines get the file's indentation.

use crate::indent::{Indent, lead};
use crate::locate::Place;
use crate::pristine::Pristine;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;

/// A line of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line of the file, counted from 0.
    Kept(usize),
    /// A new line, without its end.
    New(String),
}

/// Both sides of an edit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) old: &'a [String],
    pub(crate) new: &'a [String],
    /// Whether a program wrote them: then the new lines are meant as they are
    /// where the old ones fit as they are.
    pub(crate) diff: bool,
}

/// The result of an edit, or the line of the file over which the edit would
/// pass without having seen it.
pub(crate) fn merge(file: &Pristine, place: &Place, sides: Sides<'_>) -> Result<Vec<Line>, usize> {
    let Sides { old, new, diff } = sides;
    let verbatim = diff && file.fits_exactly(place.range.start, old);
    let written: Vec<&str> = old.iter().chain(new).map(String::as_str).collect();
    let Some(pairs) = &place.pairs else {
        let from = old.iter().find(|line| !line.trim().is_empty());
        let to = file.line(place.range.start);
        let pair = from.map(|from| (lead(from).to_owned(), lead(&to).to_owned()));
        let indent = Indent::learn(file, &place.range, pair.into_iter().collect(), &written);
        return Ok(new
            .iter()
            .map(|line| Line::New(indent.apply(line)))
            .collect());
    };
    let leads = old
        .iter()
        .zip(pairs)
        .filter(|(line, _)| !line.trim().is_empty())
        .filter_map(|(line, at)| Some((lead(line).to_owned(), lead(&file.line((*at)?)).to_owned())))
        .collect();
    let leads = unflatten(leads, old, new);
    let indent = Indent::learn(file, &place.range, leads, &written);
    let mut merger = Merger {
        file,
        place,
        pairs,
        at: place.range.start,
        changed: false,
        out: Vec::new(),
    };
    let seen = |line: &'_ String| -> String {
        let end = if verbatim {
            line.as_str()
        } else {
            line.trim_end()
        };
        end.to_owned()
    };
    let a: Vec<String> = old.iter().map(seen).collect();
    let b: Vec<String> = new.iter().map(seen).collect();
    for op in capture_diff_slices(Algorithm::Myers, &a, &b) {
        if let DiffOp::Equal { .. } = op {
            merger.keep(op.old_range())?;
        } else {
            merger.drop_lines(op.old_range())?;
            let lines = new.get(op.new_range()).unwrap_or_default();
            merger.out.extend(lines.iter().map(|line| {
                Line::New(if verbatim {
                    line.clone()
                } else {
                    indent.apply(line)
                })
            }));
            merger.changed = true;
        }
    }
    merger.pass(place.range.end)?;
    Ok(merger.out)
}

/// Old lines that lost all indentation say nothing about new lines that have
/// the file's: then these are meant as they are.
fn unflatten(
    leads: Vec<(String, String)>,
    old: &[String],
    new: &[String],
) -> Vec<(String, String)> {
    let flat = leads.iter().all(|(from, _)| from.is_empty());
    let least = leads.iter().map(|(_, to)| to).min_by_key(|to| to.len());
    let Some(least) = least.filter(|least| flat && !least.is_empty()) else {
        return leads;
    };
    let mut fresh = new
        .iter()
        .filter(|line| !line.trim().is_empty() && !old.contains(line))
        .peekable();
    if fresh.peek().is_none() || !fresh.all(|line| line.starts_with(least.as_str())) {
        return leads;
    }
    leads.into_iter().map(|(_, to)| (to.clone(), to)).collect()
}

struct Merger<'a> {
    file: &'a Pristine,
    place: &'a Place,
    pairs: &'a [Option<usize>],
    /// The next line of the file.
    at: usize,
    /// Whether the last thing was a change.
    changed: bool,
    out: Vec<Line>,
}

impl Merger<'_> {
    fn pair(&self, index: usize) -> Option<usize> {
        self.pairs.get(index).copied().flatten()
    }

    fn keep(&mut self, old: Range<usize>) -> Result<(), usize> {
        for index in old {
            let Some(at) = self.pair(index) else {
                continue;
            };
            self.pass(at)?;
            self.out.push(Line::Kept(at));
            self.at = at + 1;
            self.changed = false;
        }
        Ok(())
    }

    /// Keeps the lines up to `to`, which the writer did not quote. Beside a
    /// change only those that are no code.
    fn pass(&mut self, to: usize) -> Result<(), usize> {
        for at in self.at..to {
            if self.changed && self.is_code(at) {
                return Err(at);
            }
            self.out.push(Line::Kept(at));
        }
        self.at = self.at.max(to);
        Ok(())
    }

    fn drop_lines(&mut self, old: Range<usize>) -> Result<(), usize> {
        let fixed = self.place.fixed.iter().find(|index| old.contains(index));
        if let Some(at) = fixed.and_then(|index| self.pair(*index)) {
            return Err(at);
        }
        let gone: Vec<usize> = old.filter_map(|index| self.pair(index)).collect();
        if let (Some(first), Some(last)) = (gone.first(), gone.last()) {
            if let Some(at) = (self.at..*first).find(|at| self.is_code(*at)) {
                return Err(at);
            }
            self.changed = false;
            self.pass(*first)?;
            let unseen = (*first..=*last).find(|at| !gone.contains(at) && self.is_code(*at));
            if let Some(at) = unseen {
                return Err(at);
            }
            self.at = last + 1;
        }
        Ok(())
    }

    fn is_code(&self, at: usize) -> bool {
        let code = self.file.code().get(at);
        code.is_some_and(|code| !code.trim().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Sides, merge};
    use crate::locate::{Found, Wanted, locate};
    use crate::pristine::Pristine;
    use patchwright_source::{Text, TreePath};

    fn check(file: &str, old: &str, new: &str, expected: &str) {
        let file = Pristine::new(TreePath::new("a.c").unwrap(), Text::new(file.into()));
        let split = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
        let (old, new) = (split(old), split(new));
        let Found::At(place) = locate(
            &file,
            Wanted {
                lines: &old,
                hint: None,
            },
        ) else {
            panic!("not found: {old:?}");
        };
        let sides = Sides {
            old: &old,
            new: &new,
            diff: false,
        };
        let merged = merge(&file, &place, sides).unwrap();
        let text: Vec<String> = merged
            .iter()
            .map(|line| match line {
                Line::Kept(at) => file.line(*at).into_owned(),
                Line::New(line) => line.clone(),
            })
            .collect();
        assert_eq!(text.join("\n"), expected);
    }

    #[test]
    fn keeps_the_lines_of_the_file() {
        check(
            "\ta();\n\tb();\n",
            "    a();\n    b();",
            "    a();\n    if (x)\n        c();\n    b();",
            "\ta();\n\tif (x)\n\t\tc();\n\tb();",
        );
        check(
            "  a;\n  b;\n",
            "a;\nb;",
            "a;\n  if (x)\n    y;\nb;",
            "  a;\n  if (x)\n    y;\n  b;",
        );
        check(
            "  a;\n  b;\n",
            "a;\nb;",
            "a;\nif (x)\n  y;\nb;",
            "  a;\n  if (x)\n    y;\n  b;",
        );
        check("a( b );\nc;\n", "a(b);\nc;", "a(b);\nd;", "a( b );\nd;");
        check("a;\n\nb;\nc;\n", "a;\nb;\nc;", "a;\nb;\nd;", "a;\n\nb;\nd;");
    }
}
