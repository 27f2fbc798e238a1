//! What is kept from the parser of C and C++: macro calls that stand where C has
//! no place for them, and rows of numbers.
//!
//! `DEFINE_STACK_OF(X)` or `ADD_PROPERTY(T, name)` alone on a line, without a
//! semicolon, makes a parser lose the class or function after it. Such lines
//! are blanked before parsing (offsets and lines stay as they are) and their
//! names are kept as uses. Rows of numbers in tables name nothing and cost the
//! parser more than code does (a tenth of the time on a library of ciphers).

use std::ops::Range;

/// The text to parse, and the macro calls that were taken out of it.
#[derive(Debug, Default)]
pub(crate) struct Loose {
    /// The text without them and without rows of numbers, when there are any.
    pub(crate) text: Option<Vec<u8>>,
    /// Their lines and places.
    pub(crate) calls: Vec<(u32, Range<usize>)>,
}

/// Finds and blanks the loose macro calls and the rows of numbers of a C or C++
/// file.
pub(crate) fn blank(bytes: &[u8]) -> Loose {
    let mut calls: Vec<(u32, Range<usize>)> = Vec::new();
    let mut numbers: Vec<Range<usize>> = Vec::new();
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
        // The first row stays: where the rest of a list is broken, it shows what it is.
        if before.ends_with(b",") && is_row_of_numbers(text) {
            numbers.push(range.start..range.start + line.trim_ascii_end().len());
        }
        before = text;
    }
    calls.extend(pending);
    let text = (!calls.is_empty() || !numbers.is_empty()).then(|| {
        let mut text = bytes.to_vec();
        for range in calls.iter().map(|call| &call.1).chain(&numbers) {
            if let Some(blanked) = text.get_mut(range.clone()) {
                blanked.fill(b' ');
            }
        }
        text
    });
    Loose { text, calls }
}

/// Whole elements of a list and nothing but numbers: `0x1f, -2, {3, 4},`.
fn is_row_of_numbers(text: &[u8]) -> bool {
    let starts = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'{');
    if !text.first().is_some_and(starts) || text.last() != Some(&b',') {
        return false;
    }
    let mut depth = 0_u32;
    let mut in_number = false;
    for byte in text {
        match byte {
            b'0'..=b'9' => in_number = true,
            // Digits of base 16, exponents, suffixes; a name would begin so.
            b'a'..=b'f' | b'A'..=b'F' | b'x' | b'X' | b'u' | b'U' | b'l' | b'L' | b'.'
                if in_number => {}
            b' ' | b'\t' | b',' | b'-' => in_number = false,
            b'{' => depth += 1,
            b'}' if depth > 0 => (depth, in_number) = (depth - 1, false),
            _ => return false,
        }
    }
    depth == 0
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

    #[test]
    fn takes_out_rows_of_numbers_that_are_whole_elements() {
        let code = "int a[] = {\n  0x1fUL, -2, 3.5e1,\n  {4, 5}, {6},\n  7, NAME,\n  8, a1,\n  9\n};\n\
                    enum { A =\n  1,\n B };\nint b[2][2] = {\n  {1,\n  2}, {\n  3, 4,\n  },\n};\n";
        let text = blank(code.as_bytes()).text.unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.len(), code.len());
        let kept: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let expected = [
            "int a[] = {",
            "0x1fUL, -2, 3.5e1,",
            "7, NAME,",
            "8, a1,",
            "9",
            "};",
            "enum { A =",
            "1,",
            "B };",
            "int b[2][2] = {",
            "{1,",
            "2}, {",
            "3, 4,",
            "},",
            "};",
        ];
        assert_eq!(kept, expected);
    }
}
