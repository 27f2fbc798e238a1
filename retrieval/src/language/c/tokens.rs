//! Tokens of C and C++ text, preprocessor lines among them.
//!
//! The first step of reading a file (`prepare`): it needs no grammar, so nothing
//! that a macro hides can stop it.

use std::ops::Range;

/// A kind of preprocessor line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    /// `#if`, `#ifdef`, `#ifndef`.
    If,
    IfZero,
    IfOne,
    /// `#elif` and its like.
    Elif,
    Else,
    Endif,
    Define,
    /// `#include`, `#import`.
    Include,
    /// Any other.
    Other,
}

/// A kind of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Name,
    Number,
    /// A string or character literal.
    Text,
    Scope,
    Arrow,
    /// `==`, `!=`, `+=` and their like.
    Operator,
    /// Any other punctuation, one byte at a time.
    Mark(u8),
    /// A whole preprocessor line with its continuation lines.
    Directive(Directive),
}

/// A token and where it stands. Lines count from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) line: u32,
}

impl Token {
    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(super) fn is(&self, mark: u8) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

/// Cuts a text into tokens; comments and white space are left out. With directives a preprocessor
/// line is a token of its own.
pub(super) fn tokens(text: &[u8], has_directives: bool) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::with_capacity(text.len() / 5);
    let (mut at, mut line) = (0, 1);
    // The line on which the last token ends.
    let mut last_line = 0;
    while let Some(byte) = text.get(at).copied() {
        let begins_directive = byte == b'#' && has_directives && line != last_line;
        let (kind, end) = match gap_end(text, at) {
            Some(end) => (None, end),
            None if begins_directive => directive(text, at),
            None => token(text, at),
        };
        let passed = text.get(at..end).unwrap_or_default();
        let end_line = line + memchr::memchr_iter(b'\n', passed).count() as u32;
        if let Some(kind) = kind {
            let (start, end) = (at as u32, end as u32);
            found.push(Token {
                kind,
                start,
                end,
                line,
            });
            last_line = end_line;
        }
        (at, line) = (end, end_line);
    }
    found
}

fn byte_at(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or_default()
}

/// Returns whether a C identifier can start with this byte.
fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Returns whether this byte can be part of a C identifier.
fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit()
}

/// Where white space or a comment ends that begins at an offset.
fn gap_end(text: &[u8], at: usize) -> Option<usize> {
    match (byte_at(text, at), byte_at(text, at + 1)) {
        (b' ' | b'\t' | b'\r' | b'\n' | 0x0c | 0x0b | b'\\', _) => Some(at + 1),
        (b'/', b'/') => Some(line_end(text, at)),
        (b'/', b'*') => {
            let rest = text.get(at + 2..).unwrap_or_default();
            let length = memchr::memmem::find(rest, b"*/");
            Some(length.map_or(text.len(), |length| at + length + 4))
        }
        _ => None,
    }
}

/// The end of a line that may be continued.
fn line_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let mut ends = memchr::memchr_iter(b'\n', rest).map(|length| from + length);
    ends.find(|end| !is_continued(text, *end))
        .unwrap_or(text.len())
}

/// Returns whether a backslash stands before the line end at an offset.
fn is_continued(text: &[u8], end: usize) -> bool {
    let line = text.get(..end).unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\")
}

/// The kind and the end of the token at an offset.
fn token(text: &[u8], at: usize) -> (Option<Kind>, usize) {
    let next = byte_at(text, at + 1);
    let (kind, end) = match byte_at(text, at) {
        b'"' | b'\'' => (Kind::Text, literal_end(text, at)),
        b'0'..=b'9' => (Kind::Number, number_end(text, at)),
        b':' if next == b':' => (Kind::Scope, at + 2),
        b'-' if next == b'>' => (Kind::Arrow, at + 2),
        b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^'
            if next == b'=' =>
        {
            (Kind::Operator, at + 2)
        }
        byte if starts_name(byte) => {
            let end = name_end(text, at);
            let prefix = text.get(at..end).unwrap_or_default();
            if byte_at(text, end) == b'"' && matches!(prefix, b"R" | b"LR" | b"uR" | b"UR" | b"u8R")
            {
                (Kind::Text, raw_string_end(text, end + 1))
            } else {
                (Kind::Name, end)
            }
        }
        mark => (Kind::Mark(mark), at + 1),
    };
    (Some(kind), end)
}

fn name_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let length = rest.iter().position(|byte| !continues_name(*byte));
    length.map_or(text.len(), |length| at + length)
}

/// `0x1fUL`, `1.5e-3`, `1'000`.
fn number_end(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        let (before, byte) = (byte_at(text, at - 1), byte_at(text, at));
        let sign = matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P');
        let quote = byte == b'\'' && continues_name(byte_at(text, at + 1));
        if !continues_name(byte) && byte != b'.' && !sign && !quote {
            return at;
        }
        at += 1;
    }
}

/// `x( ... )x"` of `R"x( ... )x"`.
fn raw_string_end(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let open = rest.iter().take(17).position(|byte| *byte == b'(');
    let Some(open) = open else { return from };
    let mark = rest.get(..open).unwrap_or_default();
    let close = [b")".as_slice(), mark, b"\""].concat();
    let length = memchr::memmem::find(rest, &close);
    length.map_or(text.len(), |length| from + length + close.len())
}

/// The end of a string or character, at the end of its line at the latest.
fn literal_end(text: &[u8], start: usize) -> usize {
    let quote = byte_at(text, start);
    let mut at = start + 1;
    while let Some(byte) = text.get(at).copied() {
        match byte {
            b'\\' => at += 2 + usize::from(text.get(at + 1..at + 3) == Some(b"\r\n")),
            b'\n' => return at,
            _ if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// A preprocessor line up to its end, continuation lines and comments that
/// begin on it included.
fn directive(text: &[u8], start: usize) -> (Option<Kind>, usize) {
    let mut at = start;
    while let Some(byte) = text.get(at).copied() {
        match (byte, byte_at(text, at + 1)) {
            (b'\n', _) if !is_continued(text, at) => break,
            (b'/', b'*' | b'/') => at = gap_end(text, at).unwrap_or(at + 1),
            // A quote in it opens no comment.
            (b'"', _) => at = literal_end(text, at),
            _ => at += 1,
        }
    }
    let kind = directive_kind(text.get(start + 1..at).unwrap_or_default());
    (Some(Kind::Directive(kind)), at)
}

fn directive_kind(after: &[u8]) -> Directive {
    let after = after.trim_ascii_start();
    let end = name_end(after, 0);
    let (word, rest) = after.split_at_checked(end).unwrap_or_default();
    match word {
        b"if" => match constant(rest) {
            Some(0) => Directive::IfZero,
            Some(_) => Directive::IfOne,
            None => Directive::If,
        },
        b"ifdef" | b"ifndef" => Directive::If,
        b"elif" | b"elifdef" | b"elifndef" => Directive::Elif,
        b"else" => Directive::Else,
        b"endif" => Directive::Endif,
        b"define" => Directive::Define,
        b"include" | b"include_next" | b"import" => Directive::Include,
        _ => Directive::Other,
    }
}

/// The condition when it is nothing but `0` or `1`.
fn constant(rest: &[u8]) -> Option<u8> {
    let line = rest.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let (digit, after) = line.split_first()?;
    let after = after.trim_ascii_start();
    let alone = after.is_empty() || after.starts_with(b"/*") || after.starts_with(b"//");
    (alone && matches!(digit, b'0' | b'1')).then(|| digit - b'0')
}

/// A name in raw C text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawName<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) range: Range<usize>,
    /// True when an opening parenthesis follows on its line.
    pub(crate) called: bool,
    /// Number of line ends between the start of the text and it.
    pub(crate) lines_down: u32,
}

/// Finds the identifiers between two offsets; literals and comments hold none.
pub(crate) fn identifiers(bytes: &[u8], range: Range<usize>) -> Vec<RawName<'_>> {
    let all = tokens(bytes.get(range.clone()).unwrap_or_default(), false);
    let names = all.iter().enumerate();
    let names = names.filter(|(_, token)| token.kind == Kind::Name);
    let found = names.map(|(at, token)| {
        let (start, end) = (token.start as usize, token.end as usize);
        let range = range.start + start..range.start + end;
        let next = all.get(at + 1);
        RawName {
            text: bytes.get(range.clone()).unwrap_or_default(),
            range,
            called: next.is_some_and(|next| next.is(b'(') && next.line == token.line),
            lines_down: token.line - 1,
        }
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::{Directive, Kind, identifiers, tokens};

    #[track_caller]
    fn check(text: &str, expected: &[(&str, u32)]) {
        let found: Vec<(&str, u32)> = tokens(text.as_bytes(), true)
            .iter()
            .map(|token| (&text[token.range()], token.line))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn cuts_text_into_tokens() {
        check(
            "a::b->c /* ; */ // x\n \"s\\\"\" 'x' 1'000 1e-3f",
            &[
                ("a", 1),
                ("::", 1),
                ("b", 1),
                ("->", 1),
                ("c", 1),
                ("\"s\\\"\"", 2),
                ("'x'", 2),
                ("1'000", 2),
                ("1e-3f", 2),
            ],
        );
        check("R\"x(a)\"\n)x\" b", &[("R\"x(a)\"\n)x\"", 1), ("b", 2)]);
        check("/* a\n*/ b \\\n c", &[("b", 2), ("c", 3)]);
        let continued = "\"a\\\r\nb;\" c";
        check(continued, &[("\"a\\\r\nb;\"", 1), ("c", 2)]);
    }

    #[test]
    fn keeps_a_directive_whole() {
        check(
            "#define A \\\n b /* x\n y */ c\n d\n  # if 0\nit's\n#endif // a\\\n b\nc",
            &[
                ("#define A \\\n b /* x\n y */ c", 1),
                ("d", 4),
                ("# if 0", 5),
                ("it", 6),
                ("'s", 6),
                ("#endif // a\\\n b", 7),
                ("c", 9),
            ],
        );
        let kinds: Vec<Kind> = tokens(
            b"#if 0 /* x */\n#if 1\n#if 10\n#ifdef A\n#elif B\n#pragma x\n#\n#\nif",
            true,
        )
        .iter()
        .map(|token| token.kind)
        .collect();
        let expected = [
            Directive::IfZero,
            Directive::IfOne,
            Directive::If,
            Directive::If,
            Directive::Elif,
            Directive::Other,
            Directive::Other,
            Directive::Other,
        ];
        let expected = expected.map(Kind::Directive).into_iter();
        assert_eq!(kinds, expected.chain([Kind::Name]).collect::<Vec<_>>());
    }

    #[test]
    fn reads_tokens_and_no_literals() {
        let text = b"do { foo (a, \"bar(\", 'x', 0xffu) /* no */ ; \\\n baz(b) } // end";
        let found: Vec<(&str, bool, u32)> = identifiers(text, 0..text.len())
            .into_iter()
            .map(|token| {
                let name = std::str::from_utf8(&text[token.range.clone()]).unwrap();
                (name, token.called, token.lines_down)
            })
            .collect();
        let expected = [
            ("do", false, 0),
            ("foo", true, 0),
            ("a", false, 0),
            ("baz", true, 1),
            ("b", false, 1),
        ];
        assert_eq!(found, expected);
    }
}
