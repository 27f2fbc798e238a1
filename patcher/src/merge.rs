//! Result of an edit at its place: the writer's changes, on top of the file's
//! own lines.
//!
//! A line that the edit leaves as it was stays the file's line, byte for byte,
//! however it was quoted, and so does a line that the quote leaves out. New
//! lines get the file's indentation.

use crate::indent::{Indent, lead, unflatten};
use crate::locate::Match;
use crate::pristine::{Pristine, is_blank, key, same_but_space, says_something};
use crate::script::{is_elision, steps};
use patchwright_source::{DiffOp, without_comments};
use std::ops::Range;

/// A line of the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line of the file, counted from 0.
    Kept(usize),
    /// A new line, without its end.
    New(String),
}

/// A reason why an edit has no clear result at its place; each is about a line of
/// the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The quote leaves this line out where the edit adds or removes lines.
    LeftOut,
    /// The quote leaves this line out, and the new lines hold it.
    Repeated,
    /// The edit changes this line, and quotes it differently.
    Misquoted,
    /// The edit adds lines between two quoted ones that stand the other way round.
    Exchanged,
}

/// A result, or an obstacle and the line of the file that it is about.
pub(crate) type Merged<T> = Result<T, (Obstacle, usize)>;

/// Computes the result of an edit. `diff`: a program wrote it; then the new lines are meant as
/// they are where the old ones fit as they are.
pub(crate) fn merge(
    file: &Pristine,
    place: &Match,
    old: &[String],
    new: &[String],
    diff: bool,
) -> Merged<Vec<Line>> {
    let verbatim = diff && file.fits_exactly(place.range.start, old);
    let written = old.iter().chain(new).map(String::as_str);
    let Some(pairs) = &place.pairs else {
        let from = old.iter().find(|line| !line.trim().is_empty());
        let to = file.line(place.range.start);
        let pair = from.map(|from| (lead(from).to_owned(), lead(&to).to_owned()));
        let indent = Indent::learn(file, &place.range, pair.into_iter().collect(), written);
        let lines = new.iter().map(|line| Line::New(indent.apply(line)));
        return Ok(lines.collect());
    };
    let leads = old
        .iter()
        .zip(pairs)
        .filter(|(line, _)| !line.trim().is_empty())
        .filter_map(|(line, at)| Some((lead(line).to_owned(), lead(&file.line((*at)?)).to_owned())))
        .collect();
    let leads = unflatten(leads, old, new);
    let indent = Indent::learn(file, &place.range, leads, written);
    let mut merger = Merger {
        file,
        place,
        pairs,
        old,
        at: place.range.start,
        out: Vec::new(),
    };
    for step in steps(old, new, verbatim) {
        if matches!(step, DiffOp::Equal { .. }) {
            merger.keep(step.old_range());
            continue;
        }
        let lines = new.get(step.new_range()).unwrap_or_default().iter();
        let lines = lines.map(|line| {
            if verbatim {
                line.clone()
            } else {
                indent.apply(line)
            }
        });
        merger.change(step.old_range(), lines.collect())?;
    }
    merger.pass(place.range.end);
    Ok(merger.out)
}

/// Lines around an insertion among which an exchanged neighbour is looked for: the
/// context of a hunk, as `diff -u` prints it.
const NEAR: usize = 3;

struct Merger<'a> {
    file: &'a Pristine,
    place: &'a Match,
    pairs: &'a [Option<usize>],
    old: &'a [String],
    /// The next line of the file.
    at: usize,
    out: Vec<Line>,
}

impl Merger<'_> {
    fn pair(&self, index: usize) -> Option<usize> {
        self.pairs.get(index).copied().flatten()
    }

    fn keep(&mut self, old: Range<usize>) {
        for index in old {
            if let Some(at) = self.pair(index) {
                self.pass(at);
                self.out.push(Line::Kept(at));
                self.at = at + 1;
            }
        }
    }

    /// Keeps the lines up to `to`, which the writer did not quote.
    fn pass(&mut self, to: usize) {
        self.out.extend((self.at..to).map(Line::Kept));
        self.at = self.at.max(to);
    }

    fn change(&mut self, old: Range<usize>, new: Vec<String>) -> Merged<()> {
        let fixed = self.place.fixed.iter().find(|index| old.contains(index));
        if let Some(at) = fixed.and_then(|index| self.pair(*index)) {
            return Err((Obstacle::Misquoted, at));
        }
        let gone: Vec<usize> = old.clone().filter_map(|index| self.pair(index)).collect();
        match (gone.first(), gone.last()) {
            (Some(first), Some(last)) => {
                let next = self.next_pair(old.end).unwrap_or(last + 1);
                let (before, behind) = (self.at..*first, last + 1..next);
                let new = self.without_repeated(new, &before, &behind)?;
                self.pass(*first);
                self.replace(&gone, new)
            }
            _ => self.insert(old, new),
        }
    }

    /// Puts new lines between the last quoted line and the next one.
    fn insert(&mut self, old: Range<usize>, new: Vec<String>) -> Merged<()> {
        let next = self.next_pair(old.end);
        if self.is_adrift(&old) {
            return Err((Obstacle::LeftOut, next.unwrap_or(self.at)));
        }
        let gap = self.at..next.unwrap_or(self.at);
        if let Some(at) = self.exchanged(&old, &gap) {
            return Err((Obstacle::Exchanged, at));
        }
        let left_out = self.code_in(&gap);
        if let Some(first) = left_out.first() {
            let elided = (
                self.is_elided(old.start, true),
                self.is_elided(old.end, false),
            );
            match elided {
                (true, false) => self.pass(gap.end),
                (false, true) => {}
                _ => {
                    if !self.hold(&new, &left_out) {
                        return Err((Obstacle::LeftOut, *first));
                    }
                    self.at = gap.end;
                }
            }
        }
        self.out.extend(new.into_iter().map(Line::New));
        Ok(())
    }

    /// Puts new lines in place of old ones. Lines between these that were left
    /// out stay: all of them where the new lines hold them in this order, or
    /// where there are no new lines and each part that goes is whole by
    /// itself.
    fn replace(&mut self, gone: &[usize], new: Vec<String>) -> Merged<()> {
        let (Some(first), Some(last)) = (gone.first(), gone.last()) else {
            return Ok(());
        };
        let between = (*first..*last).filter(|at| !gone.contains(at));
        let stays: Vec<usize> = between.filter(|at| self.file.key(*at) != Some(0)).collect();
        let mut code = stays.clone();
        code.retain(|at| self.file.is_code(*at));
        if let Some(left_out) = code.first() {
            if new.is_empty() && self.are_whole(gone) {
                self.out.extend(stays.into_iter().map(Line::Kept));
            } else if !self.hold(&new, &code) {
                return Err((Obstacle::LeftOut, *left_out));
            }
        } else {
            self.out.extend(stays.into_iter().map(Line::Kept));
        }
        self.out.extend(new.into_iter().map(Line::New));
        self.at = last + 1;
        Ok(())
    }

    /// Returns true when lines of the file are all among the new ones, in this order, and
    /// that is no accident: one of them stands nowhere else in the file. `break;`
    /// among new lines need not be the one that the quote leaves out.
    fn hold(&self, new: &[String], lines: &[usize]) -> bool {
        let stands_once = |at: &usize| {
            let code = self.file.code().get(*at);
            code.is_some_and(|code| self.file.with_code(key(code)).len() == 1)
        };
        if !lines.iter().any(stands_once) {
            return false;
        }
        let mut rest = lines.iter().peekable();
        for line in new {
            rest.next_if(|at| self.is_line(line, **at));
        }
        rest.peek().is_none()
    }

    /// Takes lines off the ends of the new ones that are the lines left out
    /// there, so that nothing stands twice.
    fn without_repeated(
        &self,
        mut new: Vec<String>,
        before: &Range<usize>,
        behind: &Range<usize>,
    ) -> Merged<Vec<String>> {
        let left_out = self.code_in(behind);
        if let Some(first) = left_out.first() {
            let tail = |start: usize| self.code_of(new.get(start..).unwrap_or_default());
            let start = (0..new.len()).find(|start| {
                let tail = tail(*start);
                tail.len() <= left_out.len() && self.are_lines(&tail, &left_out)
            });
            if start.is_some_and(|start| tail(start).len() < left_out.len()) {
                return Err((Obstacle::Repeated, *first));
            }
            new.truncate(start.unwrap_or(new.len()));
        }
        let left_out = self.code_in(before);
        if let Some(last) = left_out.last() {
            let head = |end: usize| self.code_of(new.get(..end).unwrap_or_default());
            let end = (1..=new.len()).rev().find(|end| {
                let head = head(*end);
                let skipped = left_out.len().checked_sub(head.len());
                let tail = skipped.and_then(|skipped| left_out.get(skipped..));
                tail.is_some_and(|tail| self.are_lines(&head, tail))
            });
            if end.is_some_and(|end| head(end).len() < left_out.len()) {
                return Err((Obstacle::Repeated, *last));
            }
            new.drain(..end.unwrap_or(0));
        }
        // A left-out line that stays right beside new lines which hold it would stand twice.
        let left_out = [self.code_in(before), self.code_in(behind)];
        let [above, below] = &left_out;
        let beside = [above.last().copied(), below.first().copied()];
        let again = beside.into_iter().flatten().find(|at| {
            let text = self.file.line(*at).into_owned();
            says_something(std::iter::once(&text)) && new.iter().any(|line| self.is_line(line, *at))
        });
        again.map_or(Ok(new), |at| Err((Obstacle::Repeated, at)))
    }

    /// Returns true when new lines are those of the file, one by one, and say enough for
    /// that to be no accident.
    fn are_lines(&self, new: &[&String], lines: &[usize]) -> bool {
        let mut pairs = new.iter().zip(lines);
        says_something(new.iter().copied()) && pairs.all(|(line, at)| self.is_line(line, *at))
    }

    fn is_line(&self, text: &str, at: usize) -> bool {
        let code = self.file.code().get(at).map_or("", String::as_str);
        same_but_space(&self.code(text), code)
    }

    /// The lines among these that hold code.
    fn code_of<'a>(&self, lines: &'a [String]) -> Vec<&'a String> {
        let lines = lines.iter();
        lines.filter(|line| !is_blank(&self.code(line))).collect()
    }

    fn code(&self, text: &str) -> String {
        let line = std::iter::once(text);
        without_comments(self.file.language, line).concat()
    }

    fn code_in(&self, range: &Range<usize>) -> Vec<usize> {
        let lines = range.clone();
        lines.filter(|at| self.file.is_code(*at)).collect()
    }

    /// Returns true when every run of removed lines opens the brackets that it closes.
    fn are_whole(&self, gone: &[usize]) -> bool {
        let mut before = None;
        let mut depth = 0_i32;
        for at in gone {
            if before.is_some_and(|before: usize| !self.code_in(&(before + 1..*at)).is_empty())
                && depth != 0
            {
                return false;
            }
            before = Some(*at);
            let code = self.file.code().get(*at).map_or("", String::as_str);
            for token in crate::tokens::tokens(code) {
                depth += match token {
                    "(" | "[" | "{" => 1,
                    ")" | "]" | "}" => -1,
                    _ => 0,
                };
                if depth < 0 {
                    return false;
                }
            }
        }
        depth == 0
    }

    /// Finds a quoted line that was not found beside an insertion, and stands on the other
    /// side of it in the file: then nothing tells on which side the new lines belong.
    fn exchanged(&self, old: &Range<usize>, gap: &Range<usize>) -> Option<usize> {
        let blank = |index: &usize| {
            let line = self.old.get(*index);
            line.is_none_or(|line| line.trim().is_empty() || is_elision(line))
        };
        let before = (0..old.start).rev().find(|index| !blank(index));
        let after = (old.end..self.old.len()).find(|index| !blank(index));
        let nearby = |mut lines: Range<usize>, index: Option<usize>| {
            let index = index.filter(|index| self.pair(*index).is_none())?;
            let text = self.old.get(index)?;
            // A comment is compared as it is written.
            lines.find(|at| {
                self.file.key(*at) == Some(key(text))
                    || self.file.is_code(*at) && self.is_line(text, *at)
            })
        };
        let behind = gap.end..gap.end.saturating_add(NEAR);
        nearby(behind, before)
            .or_else(|| nearby(gap.start.saturating_sub(NEAR)..gap.start, after))
            .or_else(|| self.other_side(0..old.start, gap.end..self.place.range.end))
            .or_else(|| {
                let quoted = old.end..self.old.len();
                self.other_side(quoted, self.place.range.start..gap.start)
            })
    }

    /// Finds a line of the place that no quoted line was found for, and that is quoted on the
    /// other side of an insertion.
    fn other_side(&self, quoted: Range<usize>, mut lines: Range<usize>) -> Option<usize> {
        let lost = quoted.filter(|index| self.pair(*index).is_none());
        let lost = lost.filter_map(|index| self.old.get(index));
        let keys: Vec<u64> = lost
            .filter(|line| !is_elision(line) && says_something(std::iter::once(*line)))
            .map(|line| key(line))
            .collect();
        lines.find(|at| {
            let known = || self.pairs.contains(&Some(*at));
            self.file.key(*at).is_some_and(|key| keys.contains(&key)) && !known()
        })
    }

    /// Returns true when neither of the quoted lines around a change is in the file.
    fn is_adrift(&self, old: &Range<usize>) -> bool {
        let blank = |at: &usize| self.old.get(*at).is_some_and(|line| line.trim().is_empty());
        let before = (0..old.start).rev().find(|at| !blank(at));
        let after = (old.end..self.old.len()).find(|at| !blank(at));
        let lost = |at: usize| {
            self.pair(at).is_none() && self.old.get(at).is_some_and(|line| !is_elision(line))
        };
        match (before, after) {
            (Some(before), Some(after)) => lost(before) && lost(after),
            (Some(only), None) | (None, Some(only)) => lost(only),
            (None, None) => false,
        }
    }

    fn next_pair(&self, from: usize) -> Option<usize> {
        (from..self.pairs.len()).find_map(|index| self.pair(index))
    }

    /// Returns true when the quote says that it leaves lines out before or behind a
    /// place.
    fn is_elided(&self, at: usize, before: bool) -> bool {
        let says = |index: &usize| self.old.get(*index).is_some_and(|line| is_elision(line));
        let unpaired = |index: &usize| self.pair(*index).is_none();
        if before {
            (0..at).rev().take_while(unpaired).any(|index| says(&index))
        } else {
            let indices = at..self.old.len();
            indices.take_while(unpaired).any(|index| says(&index))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, merge};
    use crate::locate::{Located, Quote, locate};
    use crate::pristine::Pristine;
    use patchwright_source::{Text, TreePath};

    fn check(file: &str, old: &str, new: &str, expected: &str) {
        let file = Pristine::new(TreePath::new("a.c").unwrap(), Text::new(file.into()));
        let split = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
        let (old, new) = (split(old), split(new));
        let quote = Quote {
            lines: &old,
            hint: None,
            slack: 0,
            heading: None,
            changes: &[],
        };
        let Located::At(place) = locate(&file, quote) else {
            panic!("not found: {old:?}");
        };
        let merged = merge(&file, &place, &old, &new, false).unwrap();
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
