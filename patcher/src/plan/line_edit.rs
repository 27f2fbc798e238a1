//! Edit of lines in one form, and the ways in which it can be read.

use super::text;
use crate::locate::Match;
use crate::numbers::{self, Numbered};
use crate::pristine::{Pristine, line_index};
use crate::refusal::refuse;
use crate::unescape::{unescape, with_tabs};
use crate::{Edit, Hunk, Refusal, Rule};

/// Number of lines of the file that a refusal shows.
pub(super) const SHOWN: usize = 12;

/// An edit of lines, whichever form it was written in.
#[derive(Default)]
pub(super) struct LineEdit<'a> {
    pub(super) lines: Option<(u32, u32)>,
    pub(super) old: Vec<String>,
    pub(super) new: Vec<String>,
    /// The section in which the lines are said to stand.
    pub(super) heading: Option<&'a str>,
    /// True when it is a hunk: written by a program, without echoes or entities.
    pub(super) hunk: bool,
    pub(super) raw: bool,
    /// True when the old and the new side end without a line end, if marked.
    pub(super) open: Option<(bool, bool)>,
}

impl LineEdit<'_> {
    pub(super) fn hint(&self) -> Option<usize> {
        line_index(self.lines?.0)
    }
}

/// One way to read the original, and how the new lines follow from it.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    pub(super) old: Vec<String>,
    pub(super) numbered: Option<Numbered>,
    pub(super) escape: Escape,
    /// Blank lines taken off at both ends.
    pub(super) trimmed: (usize, usize),
}

/// The escapes that were taken back to read an edit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Escape {
    #[default]
    None,
    /// XML entities.
    Entities,
    /// A tab written as `\t`.
    Tabs,
}

impl Reading {
    /// The new lines without the escapes of this reading.
    fn unescaped(&self, edit: &LineEdit<'_>) -> Vec<String> {
        match self.escape {
            Escape::None => edit.new.clone(),
            Escape::Entities => text::split(&unescape(&edit.new.join("\n"))),
            Escape::Tabs => all_tabs(&edit.new),
        }
    }

    /// The new lines as they are read before the place is known.
    pub(super) fn new_side(&self, edit: &LineEdit<'_>) -> Vec<String> {
        let mut new = self.unescaped(edit);
        if let Some(numbered) = &self.numbered
            && let Some(lines) = numbers::new_beside_numbered(&new, numbered, None)
        {
            new = lines;
        }
        self.trim(&mut new);
        new
    }

    /// Takes as many blank lines off the ends of the new lines as were taken
    /// off the old ones.
    fn trim(&self, new: &mut Vec<String>) {
        let (before, after) = self.trimmed;
        let blank = |line: &&String| line.trim().is_empty();
        let front = new.iter().take(before).take_while(blank).count();
        new.drain(..front);
        let back = new.iter().rev().take(after).take_while(blank).count();
        new.truncate(new.len() - back);
    }

    /// The line, from 0, that an echoed number names.
    pub(super) fn first_number(&self) -> Option<usize> {
        line_index(*self.numbered.as_ref()?.numbers.first()?)
    }
}

/// Puts an edit into one form; what is missing is told, with the lines that
/// stand at its place.
pub(super) fn line_edit_of<'a>(edit: &'a Edit, file: &Pristine) -> Result<LineEdit<'a>, Refusal> {
    let mut wanted = LineEdit {
        lines: edit.lines(),
        ..LineEdit::default()
    };
    match edit {
        Edit::Hunk(hunk) => {
            wanted.hunk = true;
            wanted.heading = hunk.heading.as_deref();
            let old = hunk.old.iter();
            wanted.old = old.map(|line| foreign(file, line, hunk.latin1)).collect();
            (wanted.new, wanted.raw) = hunk_lines(file, hunk);
            wanted.open = Some((hunk.old_unterminated, hunk.new_unterminated));
        }
        Edit::Replace {
            original,
            replacement,
            ..
        } => {
            let Some(original) = original else {
                let reason = "the edit does not quote the lines as they are; without <original> \
                              its place cannot be checked";
                let mut refusal = Refusal::new(Rule::Incomplete, reason);
                show_range(file, wanted.lines, &mut refusal);
                return Err(refusal);
            };
            let Some(replacement) = replacement else {
                let reason = "the edit has no <replacement>; to delete the lines send an empty one";
                return refuse(Rule::Incomplete, reason);
            };
            wanted.old = original.split('\n').map(str::to_owned).collect();
            wanted.new = text::split(replacement);
        }
        _ => {}
    }
    Ok(wanted)
}

/// The new lines of a hunk, and whether their characters stand for bytes.
pub(super) fn hunk_lines(file: &Pristine, hunk: &Hunk) -> (Vec<String>, bool) {
    if !hunk.latin1 {
        return (hunk.new.clone(), false);
    }
    let lines = hunk.new.iter().map(|line| foreign(file, line, true));
    let lines: Vec<String> = lines.collect();
    let raw = !file.text.is_latin1() && lines == hunk.new;
    (lines, raw)
}

/// A line of a diff that was read as Latin-1, as the file's characters.
pub(super) fn foreign(file: &Pristine, line: &str, latin1: bool) -> String {
    if !latin1 || file.text.is_latin1() {
        return line.to_owned();
    }
    text::raw_bytes(line)
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_else(|| line.to_owned())
}

pub(super) fn show_range(file: &Pristine, lines: Option<(u32, u32)>, refusal: &mut Refusal) {
    let Some((first, last)) = lines else { return };
    let number = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
    let from = number(first).saturating_sub(1);
    let to = number(last).min(from.saturating_add(SHOWN));
    refusal.nearest = file.excerpt(from, to);
}

/// Every way to read the original, the most literal first.
pub(super) fn readings(edit: &LineEdit<'_>) -> Vec<Reading> {
    let mut ways = Vec::new();
    let mut add = |old: Vec<String>, numbered: Option<Numbered>, escape: Escape| {
        let blank = |line: &&String| line.trim().is_empty();
        let before = old.iter().take_while(blank).count();
        let after = old.iter().rev().take_while(blank).count();
        let inner = old
            .get(before..old.len().saturating_sub(after))
            .map(<[String]>::to_vec);
        ways.push(Reading {
            old,
            numbered: numbered.clone(),
            escape,
            trimmed: (0, 0),
        });
        if let Some(old) = inner.filter(|inner| !inner.is_empty() && before + after > 0) {
            ways.push(Reading {
                old,
                numbered,
                escape,
                trimmed: (before, after),
            });
        }
    };
    add(edit.old.clone(), None, Escape::None);
    if edit.old.iter().any(|line| with_tabs(line).is_some()) {
        add(all_tabs(&edit.old), None, Escape::Tabs);
    }
    if edit.hunk {
        return ways;
    }
    let numbered = |lines: &[String]| numbers::numbered(lines).filter(|read| read.consecutive);
    for read in numbered(&edit.old).into_iter().flat_map(Numbered::variants) {
        add(read.lines.clone(), Some(read), Escape::None);
    }
    let joined = edit.old.join("\n");
    let plain = unescape(&joined);
    if *plain != joined {
        let lines: Vec<String> = plain.split('\n').map(str::to_owned).collect();
        let read = numbered(&lines);
        add(lines, None, Escape::Entities);
        for read in read.into_iter().flat_map(Numbered::variants) {
            add(read.lines.clone(), Some(read), Escape::Entities);
        }
    }
    ways
}

/// Returns lines with their written-out tabs as tabs.
fn all_tabs(lines: &[String]) -> Vec<String> {
    let tabs = |line: &String| with_tabs(line).unwrap_or_else(|| line.clone());
    lines.iter().map(tabs).collect()
}

/// The new lines, read in the way in which the original was found.
pub(super) fn new_lines(
    file: &Pristine,
    edit: &LineEdit<'_>,
    reading: &Reading,
    place: &Match,
) -> Result<Vec<String>, Refusal> {
    let mut new = reading.unescaped(edit);
    if !edit.hunk {
        let raw_signs = edit.old.iter().any(|line| line.contains(['<', '>', '&']));
        if reading.escape != Escape::Entities && !raw_signs {
            new = text::split(&text::without_entities(file.language, &new.join("\n")));
        }
        new = match &reading.numbered {
            None => text::beside_plain(file, place.range.start, edit.hint(), &new),
            Some(numbered) => numbers::new_beside_numbered(&new, numbered, file.language)
                .ok_or_else(|| {
                    Refusal::new(
                        Rule::Incomplete,
                        "some lines of the replacement carry line numbers and some do not; \
                         send the code without line numbers",
                    )
                })?,
        };
    }
    reading.trim(&mut new);
    Ok(new)
}
