//! The patch of a reply: edits one after the other, whatever stands between.

use super::body::{End, Question, Span, clean, find_end};
use super::range::{read_lines, read_path};
use super::tag::{Tag, starts_line};
use super::words::{
    ANALYSIS, CREATE, DELETE, EDIT, EXPLANATION, FILE, INSERT, LINES, ORIGINAL, PATCH, PROBE,
    QUERIES, RENAME, REPLACEMENT, begins_edit, closes, opens,
};
use crate::guard::MOST_EDITS;
use crate::{Edit, Patch};
use patchwright_source::regex;

/// Number of tags behind `<delete>` in which its end is looked for.
const DELETION_REACH: usize = 100;

/// A patch as far as it could be read.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) patch: Patch,
    /// True when the patch was closed by its tag.
    pub(crate) closed: bool,
    /// True when the text ended inside of an edit.
    pub(crate) incomplete: bool,
    /// The first tag behind the patch.
    pub(crate) next: usize,
    /// The offset at which the patch ends in the text.
    pub(crate) end: usize,
}

/// Reader of the edits up to what ends the patch.
struct PatchReader<'a> {
    text: &'a str,
    tags: &'a [Tag],
    found: Found,
}

/// Reads the edits from the tag at `from` on; `wrapped` when that tag is `<patch>`.
pub(crate) fn read(text: &str, tags: &[Tag], from: usize, wrapped: bool) -> Found {
    let mut reader = PatchReader {
        text,
        tags,
        found: Found::default(),
    };
    let mut index = from;
    reader.found.end = tags.get(from).map_or(text.len(), |tag| tag.start);
    if wrapped && let Some(tag) = tags.get(from) {
        reader.found.end = tag.end;
        index += 1;
    }
    while let Some(tag) = tags.get(index) {
        if closes(tag, PATCH) {
            reader.found.closed = true;
            reader.found.end = tag.end;
            index += 1;
            break;
        }
        if reader.leaves(tag, wrapped) || reader.found.patch.edits.len() >= MOST_EDITS {
            break;
        }
        let next = reader.step(index, tag);
        if reader.found.incomplete {
            index = tags.len();
            break;
        }
        index = next.max(index + 1);
    }
    reader.found.next = index;
    if index >= tags.len() && !reader.found.closed && wrapped {
        reader.found.end = text.len();
    }
    reader.found
}

impl<'a> PatchReader<'a> {
    /// Returns true when a tag belongs to something after a patch that was not closed.
    fn leaves(&self, tag: &Tag, wrapped: bool) -> bool {
        if opens(tag, PATCH) {
            return !self.found.patch.edits.is_empty();
        }
        let other = opens(tag, ANALYSIS) || opens(tag, QUERIES) || opens(tag, PROBE);
        let foreign = !wrapped && opens(tag, EXPLANATION);
        (other || foreign) && starts_line(self.text, tag.start)
    }

    /// Reads what begins at a tag; gives the index of the next tag.
    fn step(&mut self, index: usize, tag: &Tag) -> usize {
        if opens(tag, EXPLANATION) && !tag.empty && self.found.patch.edits.is_empty() {
            return self.explanation(index, tag);
        }
        let (edit, next) = if opens(tag, EDIT) {
            self.edit(index, tag)
        } else if opens(tag, INSERT) {
            self.insert(index, tag)
        } else if opens(tag, CREATE) {
            self.create(index, tag)
        } else if opens(tag, DELETE) {
            self.delete(index, tag)
        } else if opens(tag, RENAME) {
            (rename(tag), index + 1)
        } else {
            return index + 1;
        };
        self.found.patch.edits.push(edit);
        let last = next.checked_sub(1).and_then(|last| self.tags.get(last));
        self.found.end = last.map_or(self.text.len(), |last| last.end);
        next
    }

    fn explanation(&mut self, index: usize, tag: &Tag) -> usize {
        let span = self.body(index, tag, (&ends_edits, &ends_edits));
        let text = self.slice(&span).trim();
        if self.found.patch.explanation.is_none() && !text.is_empty() {
            self.found.patch.explanation = Some(text.to_owned());
        }
        span.next
    }

    fn edit(&mut self, open: usize, tag: &Tag) -> (Edit, usize) {
        let (file, lines) = header(tag);
        let (mut original, mut replacement) = (None, None);
        let mut index = open + 1;
        while let Some(next) = self.tags.get(index).filter(|_| !tag.empty) {
            if closes(next, EDIT) {
                index += 1;
                break;
            }
            let outside = begins_edit(next) || closes(next, PATCH) || opens(next, PATCH);
            if outside && starts_line(self.text, next.start) {
                break;
            }
            if opens(next, ORIGINAL) {
                let span = self.side(index, next, true);
                original = Some(self.code(&span, &file));
                index = span.next;
            } else if opens(next, REPLACEMENT) {
                let span = self.side(index, next, false);
                replacement = Some(self.code(&span, &file));
                index = span.next;
            } else {
                index += 1;
            }
            if self.found.incomplete {
                break;
            }
        }
        let edit = Edit::Replace {
            file,
            lines,
            original,
            replacement,
        };
        (edit, index)
    }

    /// One side of an edit.
    fn side(&mut self, index: usize, tag: &Tag, old: bool) -> Span {
        let ends_edit = |next: &Tag| closes(next, EDIT) || ends_edits(next);
        let other = if old { REPLACEMENT } else { ORIGINAL };
        let follows =
            |next: &Tag| ends_edit(next) || opens(next, other) || opens(next, EXPLANATION);
        let ends = |next: &Tag| ends_edit(next) || (old && opens(next, REPLACEMENT));
        self.body(index, tag, (&follows, &ends))
    }

    /// A body that is ended by its own closing tag where the next tag may follow it, or by one that ends it.
    fn body(&mut self, index: usize, tag: &Tag, rules: (Question<'_>, Question<'_>)) -> Span {
        if tag.empty {
            return Span {
                start: tag.end,
                stop: tag.end,
                end: End::Closed,
                next: index + 1,
            };
        }
        let span = find_end(self.text, self.tags, index, rules);
        self.found.incomplete |= span.end == End::Missing;
        span
    }

    fn slice(&self, span: &Span) -> &'a str {
        self.text.get(span.start..span.stop).unwrap_or_default()
    }

    fn code(&self, span: &Span, file: &str) -> String {
        clean(self.slice(span), is_markup(file))
    }
}

/// Edits with one text or none: insertions, and files that are created, deleted or
/// renamed.
impl PatchReader<'_> {
    fn insert(&mut self, index: usize, tag: &Tag) -> (Edit, usize) {
        let (file, _) = header(tag);
        let number = |text: &str| read_lines(text).map(|(_, last)| last);
        let after = tag.attribute(&["after", "line", "lines"]).and_then(number);
        let (text, next) = self.content(index, tag, &file);
        (Edit::Insert { file, after, text }, next)
    }

    fn create(&mut self, index: usize, tag: &Tag) -> (Edit, usize) {
        let (file, _) = header(tag);
        let (text, next) = self.content(index, tag, &file);
        let edit = Edit::Create {
            file,
            text,
            latin1: false,
            unterminated: false,
        };
        (edit, next)
    }

    /// A file goes, or, where lines or an original are named, only these.
    fn delete(&mut self, index: usize, tag: &Tag) -> (Edit, usize) {
        let (file, lines) = header(tag);
        let closing = self.tags.iter().skip(index + 1).take(DELETION_REACH);
        let next_is_edit = closing
            .clone()
            .find(|next| begins_edit(next) || closes(next, PATCH) || closes(next, DELETE));
        let has_body = !tag.empty && next_is_edit.is_some_and(|next| closes(next, DELETE));
        let mut next = index + 1;
        let mut original = None;
        if has_body {
            let (text, after) = self.content(index, tag, &file);
            next = after;
            original = Some(text).filter(|text| !text.trim().is_empty());
        }
        let edit = match lines {
            None => Edit::Delete { file, original },
            lines => Edit::Replace {
                file,
                lines,
                original,
                replacement: Some(String::new()),
            },
        };
        (edit, next)
    }

    /// The text of an insertion or a new file.
    fn content(&mut self, index: usize, tag: &Tag, file: &str) -> (String, usize) {
        let span = self.body(index, tag, (&ends_edits, &ends_edits));
        (self.code(&span, file), span.next)
    }
}

/// Returns true when a tag ends the text of an edit or an explanation that was never closed.
fn ends_edits(tag: &Tag) -> bool {
    begins_edit(tag) || closes(tag, PATCH)
}

fn rename(tag: &Tag) -> Edit {
    let path = |names: &[&str]| read_path(tag.attribute(names).unwrap_or_default()).0;
    Edit::Rename {
        from: path(&["from", "file", "path"]),
        to: path(&["to"]),
    }
}

/// The file and the lines that a tag names.
fn header(tag: &Tag) -> (String, Option<(u32, u32)>) {
    let (file, in_path) = read_path(tag.attribute(FILE).unwrap_or_default());
    let lines = tag.attribute(LINES).and_then(read_lines);
    (file, lines.or(in_path))
}

/// Returns true when a fence can be part of the file's own text.
fn is_markup(file: &str) -> bool {
    regex!(r"(?i)(?:^|\.)(?:md|markdown|rst|txt|adoc)$").is_match(file)
}
