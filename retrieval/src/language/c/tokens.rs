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

/// Cuts a text into tokens; comments and white space are left out.
pub(super) fn tokens(text: &[u8]) -> Vec<Token> {
    read(text, true)
}

/// Cuts a text into tokens in which a preprocessor line is no token of its own.
pub(super) fn raw_tokens(text: &[u8]) -> Vec<Token> {
    read(text, false)
}

fn read(text: &[u8], has_directives: bool) -> Vec<Token> {
    let mut lexer = Lexer {
        text,
        has_directives,
        at: 0,
        line: 1,
        line_is_empty: true,
        found: Vec::with_capacity(text.len() / 5),
    };
    while lexer.step() {}
    lexer.found
}

/// Returns whether a C identifier can start with this byte.
fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Returns whether this byte can be part of a C identifier.
fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit()
}

struct Lexer<'t> {
    text: &'t [u8],
    /// True when a preprocessor line is one token.
    has_directives: bool,
    at: usize,
    line: u32,
    /// True when only white space and comments stand before `at` on its line.
    line_is_empty: bool,
    found: Vec<Token>,
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or_default()
    }

    /// Reads one token or gap; `false` at the end.
    fn step(&mut self) -> bool {
        let Some(byte) = self.text.get(self.at).copied() else {
            return false;
        };
        match byte {
            b'\n' => {
                self.line += 1;
                self.line_is_empty = true;
                self.at += 1;
                return true;
            }
            b' ' | b'\t' | b'\r' | 0x0c | 0x0b | b'\\' => {
                self.at += 1;
                return true;
            }
            b'/' if self.byte(1) == b'/' => {
                self.skip_line_comment();
                return true;
            }
            b'/' if self.byte(1) == b'*' => {
                self.skip_comment();
                return true;
            }
            b'#' if self.line_is_empty && self.has_directives => {
                self.directive();
                return true;
            }
            _ => {}
        }
        self.line_is_empty = false;
        self.token(byte);
        true
    }

    fn token(&mut self, byte: u8) {
        let (kind, length) = match byte {
            b'"' | b'\'' => return self.literal(byte),
            b'0'..=b'9' => (Kind::Number, self.number_length()),
            b':' if self.byte(1) == b':' => (Kind::Scope, 2),
            b'-' if self.byte(1) == b'>' => (Kind::Arrow, 2),
            b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^'
                if self.byte(1) == b'=' =>
            {
                (Kind::Operator, 2)
            }
            _ if starts_name(byte) => {
                let length = self.name_length();
                if self.byte(length) == b'"' && self.is_raw_prefix(length) {
                    return self.raw_string(length);
                }
                (Kind::Name, length)
            }
            _ => (Kind::Mark(byte), 1),
        };
        self.push(kind, self.at + length, self.line);
    }

    fn push(&mut self, kind: Kind, end: usize, line: u32) {
        let number = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        self.found.push(Token {
            kind,
            start: number(self.at),
            end: number(end),
            line,
        });
        self.at = end;
    }

    fn name_length(&self) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        rest.iter()
            .position(|byte| !continues_name(*byte))
            .unwrap_or(rest.len())
    }

    /// `0x1fUL`, `1.5e-3`, `1'000`.
    fn number_length(&self) -> usize {
        let mut length = 1;
        loop {
            let (byte, next) = (self.byte(length), self.byte(length + 1));
            let sign = matches!(byte, b'+' | b'-')
                && matches!(self.byte(length - 1), b'e' | b'E' | b'p' | b'P');
            let quote = byte == b'\'' && continues_name(next);
            if !continues_name(byte) && byte != b'.' && !sign && !quote {
                return length;
            }
            length += 1;
        }
    }

    fn is_raw_prefix(&self, length: usize) -> bool {
        let prefix = self.text.get(self.at..self.at + length).unwrap_or_default();
        matches!(prefix, b"R" | b"LR" | b"uR" | b"UR" | b"u8R")
    }

    /// `R"x( ... )x"`.
    fn raw_string(&mut self, prefix: usize) {
        let line = self.line;
        let from = self.at + prefix + 1;
        let rest = self.text.get(from..).unwrap_or_default();
        let open = rest.iter().take(17).position(|byte| *byte == b'(');
        let Some(open) = open else {
            return self.push(Kind::Text, from, line);
        };
        let mut close = b")".to_vec();
        close.extend_from_slice(rest.get(..open).unwrap_or_default());
        close.push(b'"');
        let end = memchr::memmem::find(rest, &close)
            .map_or(self.text.len(), |at| from + at + close.len());
        self.count_lines(self.at, end);
        self.push(Kind::Text, end, line);
    }

    fn literal(&mut self, quote: u8) {
        let line = self.line;
        let mut end = self.at + 1;
        while let Some(byte) = self.text.get(end).copied() {
            match byte {
                b'\\' => {
                    self.line += u32::from(self.text.get(end + 1) == Some(&b'\n'));
                    end += 1 + usize::from(end + 1 < self.text.len());
                }
                b'\n' => break,
                _ if byte == quote => {
                    end += 1;
                    break;
                }
                _ => end += 1,
            }
        }
        self.push(Kind::Text, end, line);
    }

    fn skip_line_comment(&mut self) {
        while let Some(at) = self.line_end() {
            self.at = at;
            if !self.is_continued(at) {
                return;
            }
            self.line += 1;
            self.at += 1;
        }
        self.at = self.text.len();
    }

    fn line_end(&self) -> Option<usize> {
        let rest = self.text.get(self.at..)?;
        memchr::memchr(b'\n', rest).map(|at| self.at + at)
    }

    /// Returns whether a backslash stands before the line end at an offset.
    fn is_continued(&self, end: usize) -> bool {
        let line = self.text.get(..end).unwrap_or_default();
        line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\")
    }

    fn skip_comment(&mut self) {
        let rest = self.text.get(self.at + 2..).unwrap_or_default();
        let end = memchr::memmem::find(rest, b"*/").map_or(self.text.len(), |at| self.at + at + 4);
        self.count_lines(self.at, end);
        self.at = end;
    }

    fn count_lines(&mut self, from: usize, to: usize) {
        let text = self.text.get(from..to).unwrap_or_default();
        let count = memchr::memchr_iter(b'\n', text).count();
        self.line += u32::try_from(count).unwrap_or_default();
    }

    /// A preprocessor line up to its end, continuation lines and comments that
    /// begin on it included.
    fn directive(&mut self) {
        let (start, line) = (self.at, self.line);
        let kind = directive_kind(self.text.get(start + 1..).unwrap_or_default());
        while let Some(byte) = self.text.get(self.at).copied() {
            match (byte, self.byte(1)) {
                (b'\n', _) if !self.is_continued(self.at) => break,
                (b'/', b'*') => self.skip_comment(),
                (b'/', b'/') => self.skip_line_comment(),
                (b'"', _) => self.at = after_string(self.text, self.at),
                _ => self.at += 1,
            }
        }
        let end = self.at.min(self.text.len());
        (self.at, self.line) = (start, line);
        self.count_lines(start, end);
        self.push(Kind::Directive(kind), end, line);
    }
}

/// The end of a string on its line: a quote in it opens no comment.
fn after_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at).copied() {
        match byte {
            b'\\' if text.get(at + 1) != Some(&b'\n') && text.get(at + 1) != Some(&b'\r') => {
                at += 2;
            }
            b'\n' | b'\\' => return at.max(start + 1),
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

fn directive_kind(after: &[u8]) -> Directive {
    let after = after.trim_ascii_start();
    let length = after
        .iter()
        .position(|byte| !continues_name(*byte))
        .unwrap_or(after.len());
    let (word, rest) = after.split_at_checked(length).unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::{Directive, Kind, tokens};

    #[track_caller]
    fn check(text: &str, expected: &[(&str, u32)]) {
        let found: Vec<(&str, u32)> = tokens(text.as_bytes())
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
        let kinds: Vec<Kind> =
            tokens(b"#if 0 /* x */\n#if 1\n#if 10\n#ifdef A\n#elif B\n#pragma x")
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
        ];
        assert_eq!(kinds, expected.map(Kind::Directive));
    }
}
