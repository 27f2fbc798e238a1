//! The unified diff that we write: `diff --git` headers, three lines of
//! context, any bytes. It is made from the places of the edits, not by
//! comparing whole files, so its cost grows with the patch.

use crate::splice::Splice;
use patchwright_source::{Text, TreePath};
use std::fmt::Write;

/// Lines of context, as everybody's diffs have.
const CONTEXT: usize = 3;

#[derive(Debug)]
pub(crate) struct FileDiff<'a> {
    /// The old name and text; `None` for a new file.
    pub(crate) old: Option<(&'a TreePath, &'a Text)>,
    /// The new name; `None` for a file that goes.
    pub(crate) new: Option<&'a TreePath>,
    /// The replaced ranges, in order, reduced to the differences.
    pub(crate) splices: &'a [Splice],
    /// True when the old file is executable.
    pub(crate) executable: bool,
}

pub(crate) fn write_diff(files: &[FileDiff<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for file in files {
        write_file(file, &mut out);
    }
    out
}

fn write_file(file: &FileDiff<'_>, out: &mut Vec<u8>) {
    let old_name = file.old.map(|(path, _)| path).or(file.new);
    let new_name = file.new.or(old_name);
    let (Some(old_name), Some(new_name)) = (old_name, new_name) else {
        return;
    };
    let (a, b) = (quote("a/", old_name), quote("b/", new_name));
    push(out, &format!("diff --git {a} {b}\n"));
    let mode = if file.executable { "100755" } else { "100644" };
    match (file.old, file.new) {
        (None, _) => push(out, "new file mode 100644\n"),
        (_, None) => push(out, &format!("deleted file mode {mode}\n")),
        (Some((old, _)), Some(new)) if old != new => {
            push(out, &format!("similarity index {}%\n", similarity(file)));
            push(out, &format!("rename from {}\n", quote("", old)));
            push(out, &format!("rename to {}\n", quote("", new)));
        }
        _ => {}
    }
    if file.splices.is_empty() {
        return;
    }
    let null = "/dev/null".to_owned();
    let a = if file.old.is_some() {
        tabbed(a)
    } else {
        null.clone()
    };
    let b = if file.new.is_some() { tabbed(b) } else { null };
    push(out, &format!("--- {a}\n+++ {b}\n"));
    write_hunks(file, out);
}

/// A part of the old lines that stays; git wants a number.
fn similarity(file: &FileDiff<'_>) -> usize {
    let total = file.old.map_or(0, |(_, text)| text.line_count()).max(1);
    let gone: usize = file.splices.iter().map(|splice| splice.old.len()).sum();
    100 - (gone * 100).div_ceil(total).min(100)
}

fn write_hunks(file: &FileDiff<'_>, out: &mut Vec<u8>) {
    let count = file.old.map_or(0, |(_, text)| text.line_count());
    let mut shift = 0_isize;
    let mut rest = file.splices;
    while let Some(first) = rest.first() {
        let mut end = first.old.end;
        let length = 1 + rest
            .iter()
            .skip(1)
            .take_while(|next| {
                let near = next.old.start <= end + 2 * CONTEXT;
                if near {
                    end = next.old.end;
                }
                near
            })
            .count();
        let (group, after) = rest.split_at(length);
        let start = first.old.start.saturating_sub(CONTEXT);
        let stop = (end + CONTEXT).min(count);
        shift = write_hunk(file, group, (start, stop), shift, out);
        rest = after;
    }
}

/// Writes one hunk and gives by how much later lines are shifted.
fn write_hunk(
    file: &FileDiff<'_>,
    group: &[Splice],
    (start, stop): (usize, usize),
    shift: isize,
    out: &mut Vec<u8>,
) -> isize {
    let grown: isize = group
        .iter()
        .map(|splice| splice.new.len().cast_signed() - splice.old.len().cast_signed())
        .sum();
    let old_count = stop - start;
    let new_count = old_count.saturating_add_signed(grown);
    let new_start = start.saturating_add_signed(shift);
    push(
        out,
        &format!(
            "@@ -{} +{} @@\n",
            range(start, old_count),
            range(new_start, new_count)
        ),
    );
    let line = |at: usize| {
        file.old
            .and_then(|(_, text)| text.raw_line(at + 1))
            .unwrap_or_default()
    };
    let mut at = start;
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
    for kept in at..stop {
        push_line(out, b' ', line(kept));
    }
    shift + grown
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

/// A name with a space is ended by a tab, or `patch` would cut it.
fn tabbed(name: String) -> String {
    if name.contains(' ') && !name.starts_with('"') {
        name + "\t"
    } else {
        name
    }
}
