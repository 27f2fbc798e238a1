//! The unified diff that we write: `diff --git` headers, three lines of
//! context, any bytes. It is made from the places of the edits, not by
//! comparing whole files, so its cost grows with the patch.

use crate::splice::Splice;
use patchwright_source::{NO_FILE, Text, TreePath};
use std::fmt::Write;
use std::ops::Range;

/// Lines of context, as everybody's diffs have.
const CONTEXT: usize = 3;

#[derive(Debug)]
pub(crate) struct FileDiff<'a> {
    /// The old name; `None` for a new file.
    pub(crate) old: Option<&'a TreePath>,
    /// The old text, empty for a new file.
    pub(crate) text: &'a Text,
    /// The new name; `None` for a file that goes.
    pub(crate) new: Option<&'a TreePath>,
    /// The replaced ranges, in order, reduced to the differences.
    pub(crate) splices: &'a [Splice],
    /// True when the old file is executable.
    pub(crate) executable: bool,
}

impl FileDiff<'_> {
    /// Writes the part of a diff about this file.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let (Some(old_name), Some(new_name)) = (self.old.or(self.new), self.new.or(self.old))
        else {
            return;
        };
        let (a, b) = (quote("a/", old_name), quote("b/", new_name));
        push(out, &format!("diff --git {a} {b}\n"));
        let mode = if self.executable { "100755" } else { "100644" };
        match (self.old, self.new) {
            (None, _) => push(out, "new file mode 100644\n"),
            (_, None) => push(out, &format!("deleted file mode {mode}\n")),
            (Some(old), Some(new)) if old != new => {
                push(out, &format!("similarity index {}%\n", self.similarity()));
                push(out, &format!("rename from {}\n", quote("", old)));
                push(out, &format!("rename to {}\n", quote("", new)));
            }
            _ => {}
        }
        if self.splices.is_empty() {
            return;
        }
        let name = |path: Option<&TreePath>, name: String| match path {
            // A name with a space is ended by a tab, or `patch` would cut it.
            Some(_) if name.contains(' ') && !name.starts_with('"') => name + "\t",
            Some(_) => name,
            None => NO_FILE.to_owned(),
        };
        let (a, b) = (name(self.old, a), name(self.new, b));
        push(out, &format!("--- {a}\n+++ {b}\n"));
        self.write_hunks(out);
    }

    /// A part of the old lines that stays; git wants a number.
    fn similarity(&self) -> usize {
        let total = self.text.line_count().max(1);
        let gone: usize = self.splices.iter().map(|splice| splice.old.len()).sum();
        100 - (gone * 100).div_ceil(total).min(100)
    }

    fn write_hunks(&self, out: &mut Vec<u8>) {
        let near = |a: &Splice, b: &Splice| b.old.start <= a.old.end + 2 * CONTEXT;
        let mut shift = 0_isize;
        for group in self.splices.chunk_by(near) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else {
                continue;
            };
            let start = first.old.start.saturating_sub(CONTEXT);
            let stop = (last.old.end + CONTEXT).min(self.text.line_count());
            shift = self.write_hunk(group, start..stop, shift, out);
        }
    }

    /// Writes one hunk and gives by how much later lines are shifted.
    fn write_hunk(
        &self,
        group: &[Splice],
        lines: Range<usize>,
        shift: isize,
        out: &mut Vec<u8>,
    ) -> isize {
        let grown: isize = group.iter().map(Splice::growth).sum();
        let new_count = lines.len().saturating_add_signed(grown);
        let new_start = lines.start.saturating_add_signed(shift);
        let (old, new) = (range(lines.start, lines.len()), range(new_start, new_count));
        push(out, &format!("@@ -{old} +{new} @@\n"));
        let line = |at: usize| self.text.raw_line(at + 1).unwrap_or_default();
        let mut at = lines.start;
        for splice in group {
            for kept in at..splice.old.start {
                push_line(out, b' ', line(kept));
            }
            for gone in splice.old.clone() {
                push_line(out, b'-', line(gone));
            }
            for new in &splice.new {
                push_line(out, b'+', new);
            }
            at = splice.old.end;
        }
        for kept in at..lines.end {
            push_line(out, b' ', line(kept));
        }
        shift + grown
    }
}

/// `start,count` counted from 1; an empty side names the line before.
fn range(start: usize, count: usize) -> String {
    match count {
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        count => format!("{},{count}", start + 1),
    }
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn push_line(out: &mut Vec<u8>, mark: u8, line: &[u8]) {
    out.push(mark);
    out.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        push(out, "\n\\ No newline at end of file\n");
    }
}

/// A name as git writes it: in quotes where a character asks for it.
fn quote(prefix: &str, path: &TreePath) -> String {
    let name = path.as_str();
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\' || byte == 0x7f;
    if !name.bytes().any(special) {
        return format!("{prefix}{name}");
    }
    let mut quoted = format!("\"{prefix}");
    for character in name.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            other if u8::try_from(u32::from(other)).is_ok_and(special) => {
                let _ = write!(quoted, "\\{:03o}", u32::from(other));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
