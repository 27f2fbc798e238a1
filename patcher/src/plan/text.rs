//! New lines as bytes of a file: without echoed numbers and entities, in the
//! file's indentation, line ending and encoding.

use crate::indent::Indent;
use crate::merge::Line;
use crate::numbers;
use crate::pristine::{Pristine, line_number};
use crate::unescape::{looks_escaped, unescape};
use crate::{Refusal, Rule};
use patchwright_source::{Language, TreePath};
use std::ops::Range;

/// Number of lines around a place that are looked at for code that has the form of
/// numbered lines.
const AROUND: usize = 10;

/// The lines of a text; no text, no lines.
pub(crate) fn split(text: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    text.split('\n').map(str::to_owned).collect()
}

/// The lines around a place.
fn around(file: &Pristine, at: usize) -> Vec<String> {
    let range = at.saturating_sub(AROUND)..(at + AROUND).min(file.count());
    range.map(|at| file.line(at).into_owned()).collect()
}

/// The lines of an insertion.
pub(crate) fn inserted(file: &Pristine, after: usize, body: &str) -> Vec<String> {
    let body = without_entities(file.language, body);
    let lines = split(&body);
    let next = line_number(after);
    let expected = [next - 1, next];
    let lines = numbers::new_beside_plain(&lines, &expected, &around(file, after), file.language);
    let written = lines.iter().map(String::as_str);
    let indent = Indent::learn(file, &(after..after), Vec::new(), written);
    lines.iter().map(|line| indent.apply(line)).collect()
}

/// Takes echoed numbers off new lines whose old side had none.
pub(crate) fn beside_plain(
    file: &Pristine,
    start: usize,
    hint: Option<usize>,
    new: &[String],
) -> Vec<String> {
    let expected = [start, hint.unwrap_or(start)].map(line_number);
    numbers::new_beside_plain(new, &expected, &around(file, start), file.language)
}

/// Resolves entities in text that reads as escaped in whole, where they cannot
/// be code: not in markup, not in a string.
pub(crate) fn without_entities(language: Option<Language>, text: &str) -> String {
    let in_string = text.lines().any(|line| {
        line.match_indices('&')
            .any(|(at, _)| line.get(..at).unwrap_or_default().matches('"').count() % 2 == 1)
    });
    if language.is_some() && looks_escaped(text) && !in_string {
        unescape(text).into_owned()
    } else {
        text.to_owned()
    }
}

/// The bytes of a new file.
pub(crate) fn new_file(
    path: &TreePath,
    text: &str,
    latin1: bool,
    unterminated: bool,
) -> Result<Vec<u8>, Refusal> {
    let language = Language::of_path(path);
    let text = if latin1 {
        text.to_owned()
    } else {
        without_entities(language, text)
    };
    let mut lines = split(&text);
    if lines.len() > 2 {
        lines = numbers::new_beside_plain(&lines, &[1], &[], language);
    }
    let mut text = lines.join("\n");
    if !unterminated && !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if !latin1 {
        return Ok(text.into_bytes());
    }
    raw_bytes(&text).ok_or_else(|| Refusal::new(Rule::Encoding, "the text is no Latin-1"))
}

/// Each character as the byte of its number.
pub(crate) fn raw_bytes(text: &str) -> Option<Vec<u8>> {
    text.chars()
        .map(|next| u8::try_from(u32::from(next)).ok())
        .collect()
}

/// The line ending of a range: its own if it is of one kind, else the file's.
fn line_end(file: &Pristine, range: &Range<usize>) -> &'static str {
    let near = if range.is_empty() {
        range.start.saturating_sub(1)..(range.start + 1).min(file.count())
    } else {
        range.clone()
    };
    let lines = near.filter_map(|at| file.text.raw_line(at + 1));
    let ended = lines.filter(|line| line.ends_with(b"\n"));
    let (crlf, lf): (Vec<&[u8]>, Vec<&[u8]>) = ended.partition(|line| line.ends_with(b"\r\n"));
    match (crlf.is_empty(), lf.is_empty()) {
        (true, false) => "\n",
        (false, true) => "\r\n",
        _ => file.text.line_ending(),
    }
}

fn encode_line(file: &Pristine, line: &str, end: &str, raw: bool) -> Result<Vec<u8>, Refusal> {
    let bytes = if raw {
        raw_bytes(line)
    } else {
        file.text.encode(line)
    };
    let mut bytes = bytes.ok_or_else(|| {
        let mut signs = line.chars();
        let stranger = signs.find(|next| u32::from(*next) > 0xff).unwrap_or('?');
        let reason = format!(
            "the file is no UTF-8, so {stranger:?} cannot be written in it; write it in ASCII"
        );
        Refusal::new(Rule::Encoding, reason)
    })?;
    bytes.extend_from_slice(end.as_bytes());
    Ok(bytes)
}

/// The result of an edit as bytes: kept lines as they are, new ones each with the file's line
/// end, a byte-order mark where it was. `raw`: the characters of new lines stand for bytes.
pub(crate) fn encode(
    file: &Pristine,
    range: Range<usize>,
    lines: &[Line],
    raw: bool,
) -> Result<Vec<Vec<u8>>, Refusal> {
    let end = line_end(file, &range);
    let mut out: Vec<Vec<u8>> = Vec::with_capacity(lines.len());
    for line in lines {
        out.push(match line {
            Line::New(line) => encode_line(file, line, end, raw)?,
            Line::Kept(at) => {
                let mut bytes = file.text.raw_line(at + 1).unwrap_or_default().to_vec();
                if !bytes.ends_with(b"\n") {
                    bytes.extend_from_slice(end.as_bytes());
                }
                bytes
            }
        });
    }
    restore_mark(file, &range, lines, &mut out);
    Ok(out)
}

/// Keeps the byte-order mark where the first line of a file is replaced: the mark
/// goes to the new first line.
fn restore_mark(file: &Pristine, range: &Range<usize>, lines: &[Line], out: &mut [Vec<u8>]) {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    if range.start > 0
        || range.is_empty()
        || !file.text.bytes().starts_with(MARK)
        || lines.first() == Some(&Line::Kept(0))
    {
        return;
    }
    for line in out.iter_mut() {
        if let Some(rest) = line.strip_prefix(MARK) {
            *line = rest.to_vec();
        }
    }
    if let Some(first) = out.first_mut() {
        first.splice(0..0, MARK.iter().copied());
    }
}
