//! Preprocessor lines of C and C++, as they stand in the database: macros with
//! the names in their bodies, includes, and the names in conditions.

use super::keywords::{KEYWORD, is};
use super::prepare::Piece;
use super::tokens::{RawName, identifiers};
use crate::language::facts::{SymbolFact, Takes};
use crate::language::{Extractor, between};
use crate::symbol::{SymbolKind, UseKind};
use std::ops::Range;

impl<'a> Extractor<'a> {
    /// Every macro with the names in its body.
    pub(in crate::language) fn macros(&mut self) {
        for piece in &self.prepared.defines {
            self.macro_definition(piece);
        }
    }

    fn macro_definition(&mut self, piece: &Piece) {
        let bytes = self.facts.bytes;
        let mut tokens = identifiers(bytes, piece.range.clone()).into_iter().skip(1);
        // `#define inline`: a word of the language is no name to be asked for.
        let Some(name) = tokens.next().filter(|token| !is(token.text, KEYWORD)) else {
            return;
        };
        let behind = bytes.get(name.range.end..piece.range.end);
        let (length, takes) = parameters(behind.unwrap_or_default());
        let value = name.range.end + length;
        let body = bytes.get(value..piece.range.end).unwrap_or_default();
        let blank = body.len() - body.trim_ascii_start().len();
        let line_of = |offset| piece.line + lines_in(bytes, piece.range.start, offset);
        let lines = (piece.line, line_of(piece.range.end));
        let name_line = line_of(name.range.start);
        let id = self.facts.intern(name.text);
        let symbol = SymbolFact {
            body_line: if body.trim_ascii().is_empty() {
                0
            } else {
                line_of(value + blank)
            },
            takes,
            ..self.facts.fact(SymbolKind::Macro, id, lines, name_line)
        };
        let symbol = self.facts.define(symbol);
        let (parameters, names): (Vec<RawName<'_>>, Vec<RawName<'_>>) =
            tokens.partition(|token| token.range.start < value);
        for token in names {
            if parameters.iter().all(|one| one.text != token.text) {
                self.use_name(&token, piece, symbol);
            }
        }
    }

    /// Adds a use of a name in raw text, unless it is a word of the language.
    fn use_name(&mut self, token: &RawName<'a>, piece: &Piece, owner: u32) {
        if !is(token.text, KEYWORD) {
            let kind = if token.called {
                UseKind::Call
            } else {
                UseKind::Read
            };
            let name = self.facts.intern(token.text);
            let line = piece.line + token.lines_down;
            self.facts.use_in(name, line, kind, owner);
        }
    }

    /// Every file that is included.
    pub(in crate::language) fn includes(&mut self) {
        for piece in &self.prepared.includes {
            let text = self.facts.bytes.get(piece.range.clone());
            let text = text.unwrap_or_default();
            if let Some(path) = between(text, b"\"", b"\"").or_else(|| between(text, b"<", b">")) {
                let target = self.facts.intern(path);
                self.facts.imports.push((piece.line, target));
            }
        }
    }

    /// The names in text that was kept from the parser, outside of functions.
    pub(in crate::language) fn unparsed_names(&mut self) {
        let mut from = 0;
        for function in self.prepared.functions.values() {
            self.unparsed_names_in(from..function.body.start);
            from = function.body.end;
        }
        self.unparsed_names_in(from..usize::MAX);
    }

    /// The names in a piece of text, as far as it was kept from the parser.
    pub(super) fn unparsed_names_in(&mut self, text: Range<usize>) {
        let pieces = &self.prepared.unparsed;
        let before = |offset: usize| pieces.partition_point(|piece| piece.range.start < offset);
        let inside = before(text.start)..before(text.end);
        for piece in pieces.get(inside).unwrap_or_default() {
            self.names_in(piece);
        }
    }

    fn names_in(&mut self, piece: &Piece) {
        let bytes = self.facts.bytes;
        let is_directive = bytes.get(piece.range.start) == Some(&b'#');
        let owner = self.facts.owner();
        let tokens = identifiers(bytes, piece.range.clone()).into_iter();
        for token in tokens.skip(usize::from(is_directive)) {
            self.use_name(&token, piece, owner);
        }
    }
}

/// The length of the parameters right behind the name of a macro, parentheses included, and how many
/// arguments they take.
fn parameters(behind: &[u8]) -> (usize, Takes) {
    let Some(rest) = behind.strip_prefix(b"(") else {
        return (0, Takes::ANY);
    };
    let Some(close) = rest.iter().position(|byte| *byte == b')') else {
        return (behind.len(), Takes::ANY);
    };
    let takes = match rest.get(..close).unwrap_or_default().trim_ascii() {
        b"" => Takes::exactly(0),
        list if list.ends_with(b"...") => Takes::ANY,
        list => Takes::exactly(list.split(|byte| *byte == b',').count()),
    };
    (close + 2, takes)
}

fn lines_in(bytes: &[u8], from: usize, to: usize) -> u32 {
    let text = bytes.get(from..to).unwrap_or_default();
    let count = memchr::memchr_iter(b'\n', text).count();
    u32::try_from(count).unwrap_or_default()
}
