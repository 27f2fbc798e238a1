//! Macro calls that stand where C has no place for them.
//!
//! `DEFINE_STACK_OF(X)` or `ADD_PROPERTY(T, name)` alone on a line, without a
//! semicolon, makes a parser lose the class or function after it. Such lines
//! are blanked before parsing (offsets and lines stay as they are) and their
//! names are kept as uses.

use std::ops::Range;

/// The text to parse, and the macro calls that were taken out of it.
#[derive(Debug, Default)]
pub(crate) struct Loose {
    /// The text without them, when there are any.
    pub(crate) text: Option<Vec<u8>>,
    /// Their lines and places.
    pub(crate) calls: Vec<(u32, Range<usize>)>,
}

/// Finds and blanks the loose macro calls of a C or C++ file.
pub(crate) fn blank(bytes: &[u8]) -> Loose {
    let mut calls: Vec<(u32, Range<usize>)> = Vec::new();
    let mut start = 0;
    let mut before: &[u8] = b"";
    let mut pending: Option<(u32, Range<usize>)> = None;
    for (line, number) in bytes.split_inclusive(|byte| *byte == b'\n').zip(1..) {
        let range = start..start + line.len();
        start = range.end;
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        if let Some(call) = pending.take().filter(|_| begins_anew(text)) {
            calls.push(call);
        }
        if is_loose_call(text) && may_precede(before) {
            let length = line.trim_ascii_end().len();
            pending = Some((number, range.start..range.start + length));
        }
        before = text;
    }
    calls.extend(pending);
    let text = (!calls.is_empty()).then(|| {
        let mut text = bytes.to_vec();
        for (_, range) in &calls {
            if let Some(blanked) = text.get_mut(range.clone()) {
                blanked.fill(b' ');
            }
        }
        text
    });
    Loose { text, calls }
}

/// `NAME(...)` in capitals, its parentheses closed at the end of the line.
fn is_loose_call(text: &[u8]) -> bool {
    let capitals = text
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b'_')
        .count();
    let first = text.first().copied().unwrap_or_default();
    if capitals < 3 || first.is_ascii_digit() || text.last() != Some(&b')') {
        return false;
    }
    let rest = text.get(capitals..).unwrap_or_default();
    // `STACK_OF(X)` and its like are types: what follows goes on with them.
    if rest.first() != Some(&b'(') {
        return false;
    }
    let mut depth = 0_usize;
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'"' | b'\'' | b';' | b'{' => return false,
            _ => {}
        }
        if depth == 0 {
            return at + 1 == rest.len();
        }
    }
    false
}

/// Whether a statement or declaration can start after a line.
fn may_precede(line: &[u8]) -> bool {
    line.is_empty()
        || line.starts_with(b"#") && !line.ends_with(b"\\")
        || line.ends_with(b";")
        || line.ends_with(b"{")
        || line.ends_with(b"}")
        || line.ends_with(b"*/")
        || line.starts_with(b"//")
        || line.ends_with(b":") && !line.contains(&b'?')
        || is_loose_call(line)
}

/// Whether a line starts something of its own, and does not go on with the
/// macro call before it.
fn begins_anew(line: &[u8]) -> bool {
    line.first().is_some_and(|first| {
        first.is_ascii_alphabetic() || matches!(first, b'_' | b'}' | b'#' | b'/' | b'~')
    })
}

#[cfg(test)]
mod tests {
    use super::blank;

    #[test]
    fn takes_out_what_has_no_place() {
        let code = "DEFINE_STACK_OF(X)\n\nstruct a {\n  ADD_PROP(int, b)\n  ADD_PROP(int, c)\n  int d;\n};\n\
                    TEST(a, b)\n{\n}\nint x =\n  MAX(1, 2)\n  + 3;\nSTACK_OF(X)\n*f(void) {\n}\nFOO(a);\n#define M(x) \\\n  BAR(x)\nint y;\n";
        let loose = blank(code.as_bytes());
        let lines: Vec<u32> = loose.calls.iter().map(|call| call.0).collect();
        assert_eq!(lines, [1, 4, 5]);
        let text = loose.text.unwrap();
        assert_eq!(text.len(), code.len());
        assert!(!String::from_utf8(text).unwrap().contains("ADD_PROP"));
    }
}
