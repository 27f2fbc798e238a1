//! Functions that a broken syntax tree hides.
//!
//! Macros that look like types, braces that only balance after the
//! preprocessor, attributes the grammar does not know: the parser gives up on
//! such a function, a reader does not. This scan looks at what a reader looks
//! at: an opening brace after `name(...)` that starts at the left margin, and
//! the closing brace at the margin. It is used only where the parser reported
//! errors.

use crate::language::macros::{continues_name, is_keyword};
use std::ops::Range;

/// How far a parameter list may reach back from its end, in bytes.
const PARAMETERS: usize = 8 * 1024;

/// A function found by its layout. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LostFunction {
    /// Where the name stands.
    pub(crate) name: Range<usize>,
    /// What stands before it, as in `A::` of `A::b`.
    pub(crate) scope: Option<Range<usize>>,
    /// The first line of the declaration.
    pub(crate) line: u32,
    /// The line of the name.
    pub(crate) name_line: u32,
    /// The line of the opening brace.
    pub(crate) body_line: u32,
    /// The line of the closing brace.
    pub(crate) end_line: u32,
    /// How far the declaration is indented, in bytes.
    indent: usize,
}

/// Finds functions by their layout, in the order of the text.
pub(crate) fn lost_functions(bytes: &[u8]) -> Vec<LostFunction> {
    let lines = line_ranges(bytes);
    let mut found: Vec<LostFunction> = Vec::new();
    let mut in_comment = false;
    for (index, line) in lines.iter().enumerate() {
        let text = bytes.get(line.clone()).unwrap_or_default();
        let commented = in_comment;
        in_comment = ends_in_comment(text, in_comment);
        if commented {
            continue;
        }
        let indent = text.len() - text.trim_ascii_start().len();
        let open = found.last_mut().filter(|last| last.end_line == 0);
        if text.get(indent) == Some(&b'}') {
            if let Some(last) = open.filter(|last| indent <= last.indent) {
                last.end_line = number(index);
            }
            continue;
        }
        if open.is_some_and(|last| indent > last.indent) {
            continue;
        }
        let Some(brace) = opening_brace(text, indent) else {
            continue;
        };
        let Some(function) = heading(bytes, &lines, line.start + brace, index) else {
            continue;
        };
        if let Some(last) = found.last_mut().filter(|last| last.end_line == 0) {
            last.end_line = function.line.saturating_sub(1).max(last.body_line);
        }
        found.push(function);
    }
    if let Some(last) = found.last_mut().filter(|last| last.end_line == 0) {
        last.end_line = number(lines.len().saturating_sub(1));
    }
    found
}

fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

fn line_ranges(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| {
            let range = start..start + line.len();
            start = range.end;
            range
        })
        .collect()
}

fn ends_in_comment(line: &[u8], mut inside: bool) -> bool {
    let mut at = 0;
    while let Some(pair) = line.get(at..at + 2) {
        match (inside, pair) {
            (false, b"/*") => (inside, at) = (true, at + 2),
            (true, b"*/") => (inside, at) = (false, at + 2),
            (false, b"//") => return false,
            _ => at += 1,
        }
    }
    inside
}

/// The offset of a brace that opens a body: first on its line or last.
fn opening_brace(line: &[u8], indent: usize) -> Option<usize> {
    let first = *line.get(indent)?;
    let trimmed = line.trim_ascii_end();
    if first == b'{' && (indent == 0 || trimmed.len() == indent + 1) {
        return Some(indent);
    }
    let code = !matches!(first, b'#' | b'/' | b'*' | b'{');
    (code && trimmed.ends_with(b"{")).then(|| trimmed.len() - 1)
}

/// Whether a word stands before a name on its line: `type name(...)` declares,
/// `name(...)` may be a macro that loops. At the margin both declare.
fn is_declared(bytes: &[u8], line: usize, start: usize, indent: usize) -> bool {
    let before = bytes.get(line + indent..start).unwrap_or_default();
    let word = before
        .split(|byte| !continues_name(*byte))
        .next()
        .unwrap_or_default();
    let statement = matches!(word, b"new" | b"delete" | b"throw" | b"co_return" | b"case");
    indent == 0 || !word.is_empty() && !statement && !is_keyword_statement(word)
}

fn is_keyword_statement(word: &[u8]) -> bool {
    matches!(word, b"return" | b"else" | b"if" | b"goto" | b"do")
}

/// Reads backwards from an opening brace: `name ( ... )`, attributes skipped.
fn heading(
    bytes: &[u8],
    lines: &[Range<usize>],
    brace: usize,
    index: usize,
) -> Option<LostFunction> {
    let floor = brace.saturating_sub(PARAMETERS);
    let mut end = brace;
    let name = loop {
        let close = skip_space_back(bytes, end, floor);
        if bytes.get(close.checked_sub(1)?) != Some(&b')') {
            return None;
        }
        let open = matching_parenthesis(bytes, close - 1, floor)?;
        let name_end = skip_space_back(bytes, open, floor);
        let name_start = word_back(bytes, name_end, floor);
        let word = bytes.get(name_start..name_end)?;
        if word.is_empty() || is_keyword(word) {
            return None;
        }
        if word.starts_with(b"__attribute") || word == b"noexcept" || word == b"throw" {
            end = name_start;
            continue;
        }
        if let Some(earlier) = before_initializer(bytes, name_start, floor) {
            end = earlier;
            continue;
        }
        break name_start..name_end;
    };
    let name_index = lines.partition_point(|line| line.start <= name.start) - 1;
    let scope = scope_back(bytes, name.start, floor);
    let line = lines.get(name_index)?;
    let text = bytes.get(line.clone())?;
    let indent = text.len() - text.trim_ascii_start().len();
    let start = scope.as_ref().map_or(name.start, |scope| scope.start);
    if !is_declared(bytes, line.start, start, indent) {
        return None;
    }
    Some(LostFunction {
        line: number(declaration_start(bytes, lines, name_index)),
        name_line: number(name_index),
        body_line: number(index),
        end_line: 0,
        indent,
        name,
        scope,
    })
}

/// In `A(int a) : x(a), y(a) {` the names after the colon are members: gives
/// where the text before such a member ends.
fn before_initializer(bytes: &[u8], name: usize, floor: usize) -> Option<usize> {
    let end = skip_space_back(bytes, name, floor).checked_sub(1)?;
    match bytes.get(end)? {
        b',' => Some(end),
        b':' if bytes.get(end.checked_sub(1)?) != Some(&b':') => Some(end),
        _ => None,
    }
}

fn skip_space_back(bytes: &[u8], end: usize, floor: usize) -> usize {
    let mut at = end;
    while at > floor
        && bytes
            .get(at - 1)
            .is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'\\')
    {
        at -= 1;
    }
    at
}

fn word_back(bytes: &[u8], end: usize, floor: usize) -> usize {
    let mut at = end;
    while at > floor && bytes.get(at - 1).is_some_and(|byte| continues_name(*byte)) {
        at -= 1;
    }
    at
}

fn matching_parenthesis(bytes: &[u8], close: usize, floor: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for at in (floor..=close).rev() {
        match bytes.get(at)? {
            b')' => depth += 1,
            b'(' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            b';' | b'{' | b'}' => return None,
            _ => {}
        }
    }
    None
}

fn scope_back(bytes: &[u8], name: usize, floor: usize) -> Option<Range<usize>> {
    let mut start = name;
    while start >= floor + 3 && bytes.get(start - 2..start) == Some(b"::") {
        let before = word_back(bytes, start - 2, floor);
        if before == start - 2 {
            break;
        }
        start = before;
    }
    (start < name).then(|| start..name - 2)
}

/// The first line of the declaration whose name stands on a line: result types
/// and macros may stand above it.
fn declaration_start(bytes: &[u8], lines: &[Range<usize>], name_line: usize) -> usize {
    let mut start = name_line;
    while let Some(above) = start.checked_sub(1) {
        let text = lines
            .get(above)
            .and_then(|line| bytes.get(line.clone()))
            .unwrap_or_default()
            .trim_ascii_end();
        let margin = text
            .first()
            .is_some_and(|byte| continues_name(*byte) && !byte.is_ascii_digit());
        let ended = text
            .last()
            .is_some_and(|byte| matches!(byte, b';' | b'}' | b'{' | b':' | b',' | b'/' | b')'));
        if !margin || ended || name_line - above > 3 {
            break;
        }
        start = above;
    }
    start
}

#[cfg(test)]
mod tests {
    use super::lost_functions;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, u32, u32, u32)]) {
        let found: Vec<(&str, u32, u32, u32)> = lost_functions(text.as_bytes())
            .into_iter()
            .map(|lost| (&text[lost.name], lost.line, lost.body_line, lost.end_line))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn finds_by_layout() {
        check(
            "u_char * MACRO\nname(int a,\n    int b)\n{\n  return 0;\n}\n",
            &[("name", 1, 4, 6)],
        );
        check(
            "int f(void) {\n#if A\n  if (x) {\n#else\n  if (y) {\n#endif\n  }\n}\nint g(void)\n{\n}\n",
            &[("f", 1, 1, 8), ("g", 9, 10, 11)],
        );
        check(
            "static int h(int a) __attribute__((unused))\n{\n",
            &[("h", 1, 2, 2)],
        );
        check(
            "/*\nint f(void)\n{\n*/\nstruct a\n{\n};\nint x[] = {\n};\nif (a) {\n}\n",
            &[],
        );
        check("void\nA::B::c(int)\n{\n}\n", &[("c", 1, 3, 4)]);
        check(
            "A::A(int a)\n  : x(a), y(a)\n{\n}\nB::B(int b) : z(b) {\n}\n",
            &[("A", 1, 3, 4), ("B", 5, 5, 6)],
        );
        check(
            "extern \"C\" {\n\n  Opt* CALL make (void)\n  {\n    EACH(x) {\n    }\n    if (y) {\n    }\n  }\n}\n",
            &[("make", 3, 4, 9)],
        );
    }
}
