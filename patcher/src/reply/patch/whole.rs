//! Edits with one text or none: insertions, and files that are created, deleted
//! or renamed. What it deliberately does not do: judge whether they make sense.

use super::{PatchReader, is_markup};
use crate::Edit;
use crate::reply::body::clean;
use crate::reply::range::{read_lines, read_path};
use crate::reply::tag::Tag;
use crate::reply::words::{
    CONTENT, DELETE, ORIGINAL, PATCH, REPLACEMENT, begins_edit, closes, opens,
};

/// Number of tags behind `<delete>` in which its end is looked for.
const DELETION_REACH: usize = 100;

impl PatchReader<'_> {
    pub(super) fn insert(&mut self, index: usize, tag: &Tag) -> usize {
        let (file, _) = self.header(tag);
        let number = |text: &str| read_lines(text).map(|(_, last)| last);
        let after = tag
            .attribute(&["after", "after_line", "line", "lines", "at"])
            .and_then(number)
            .or_else(|| {
                let before = number(tag.attribute(&["before", "before_line"])?)?;
                before.checked_sub(1)
            });
        let (text, next) = self.content(index, tag, &file);
        self.found
            .patch
            .edits
            .push(Edit::Insert { file, after, text });
        next
    }

    pub(super) fn create(&mut self, index: usize, tag: &Tag) -> usize {
        let (file, _) = self.header(tag);
        let (text, next) = self.content(index, tag, &file);
        self.found.patch.edits.push(Edit::Create {
            file,
            text,
            latin1: false,
            unterminated: false,
        });
        next
    }

    /// A file goes, or, where lines or an original are named, only these.
    pub(super) fn delete(&mut self, index: usize, tag: &Tag) -> usize {
        let (mut file, lines) = self.header(tag);
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
        if file.is_empty()
            && let Some(path) = original.take_if(|text| !text.contains('\n'))
        {
            file = read_path(&path).0;
        }
        self.found.patch.edits.push(match lines {
            None => Edit::Delete { file, original },
            lines => Edit::Replace {
                file,
                lines,
                original,
                replacement: Some(String::new()),
            },
        });
        next
    }

    pub(super) fn rename(&mut self, tag: &Tag) {
        let path = |names: &[&str]| read_path(tag.attribute(names).unwrap_or_default()).0;
        self.found.patch.edits.push(Edit::Rename {
            from: path(&["from", "old", "file", "path", "source"]),
            to: path(&["to", "new", "target", "destination"]),
        });
    }

    /// The text of an insertion or a new file, out of an inner tag if it is
    /// wrapped in one.
    fn content(&mut self, index: usize, tag: &Tag, file: &str) -> (String, usize) {
        if tag.empty {
            return (String::new(), index + 1);
        }
        let span = self.body(index, tag, &|next| begins_edit(next) || closes(next, PATCH));
        let mut raw = self.slice(&span);
        let inner = raw.trim();
        if let Some(wrap) = Tag::at(inner, 0).filter(|wrap| {
            opens(wrap, REPLACEMENT) || opens(wrap, CONTENT) || opens(wrap, ORIGINAL)
        }) {
            let closing = format!("</{}>", wrap.name);
            if inner.to_ascii_lowercase().ends_with(&closing) {
                raw = inner
                    .get(wrap.end..inner.len() - closing.len())
                    .unwrap_or_default();
            }
        }
        (clean(raw, is_markup(file)), span.next)
    }
}
