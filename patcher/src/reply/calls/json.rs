//! JSON values within the text of a reply.

use serde_json::Value;

/// The offset of the next `{` or `[` that begins a line or follows a tag.
pub(super) fn next_value(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.match_indices(['{', '[']).find_map(|(offset, _)| {
        let start = from + offset;
        let before = text.get(..start)?;
        let line = before.rsplit('\n').next().unwrap_or_default().trim();
        (line.is_empty() || line.ends_with('>')).then_some(start)
    })
}

/// Beginning of a text.
pub(super) enum Parsed {
    /// A value and its length in bytes.
    Value(Value, usize),
    /// The text ended within a value.
    Torn,
    Other,
}

/// Reads the JSON value at the start of a text. Line breaks and tabs within
/// strings are taken as they are, as models write them.
pub(super) fn parse(text: &str) -> Parsed {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => return Parsed::Value(value, values.byte_offset()),
        Some(Err(error)) if error.is_eof() => return Parsed::Torn,
        _ => {}
    }
    let (escaped, end) = with_escaped_breaks(text);
    match serde_json::from_str(&escaped) {
        Ok(value) => Parsed::Value(value, end),
        Err(error) if error.is_eof() => Parsed::Torn,
        Err(_) => Parsed::Other,
    }
}

/// Returns the value at the start of a text with control characters in its
/// strings escaped, and where it ends.
fn with_escaped_breaks(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let (mut inside, mut escaped, mut depth) = (false, false, 0_usize);
    for (at, next) in text.char_indices() {
        match next {
            '\n' if inside => out.push_str("\\n"),
            '\t' if inside => out.push_str("\\t"),
            '\r' if inside => out.push_str("\\r"),
            next => out.push(next),
        }
        match next {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            '{' | '[' if !inside => depth += 1,
            '}' | ']' if !inside => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && !inside {
            return (out, at + next.len_utf8());
        }
    }
    (out, text.len())
}
