//! Preprocessor lines of C and C++, as they stand in the database: macros with
//! the names in their bodies, includes, and the names in conditions.

use super::CVisitor;
use super::keywords::{KEYWORD, is};
use super::macros::{RawName, identifiers};
use super::prepare::Piece;
use crate::language::between;
use crate::language::facts::{SymbolFact, Takes};
use crate::symbol::{SymbolKind, UseKind};
use std::ops::Range;

impl<'a> CVisitor<'a> {
    /// Every macro with the names in its body.
    pub(super) fn macros(&mut self) {
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
        let value = after_parameters(bytes, piece, &name);
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
            takes: parameters_of(bytes, &name, value),
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
    pub(super) fn includes(&mut self) {
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
    pub(super) fn unparsed_names(&mut self) {
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

/// Where the body of a macro begins: parameters stand right behind the name.
fn after_parameters(bytes: &[u8], piece: &Piece, name: &RawName<'_>) -> usize {
    let rest = bytes.get(name.range.end..piece.range.end);
    let rest = rest.unwrap_or_default();
    if rest.first() != Some(&b'(') {
        return name.range.end;
    }
    let close = rest.iter().position(|byte| *byte == b')');
    name.range.end + close.map_or(rest.len(), |close| close + 1)
}

/// Returns how many arguments a macro takes.
fn parameters_of(bytes: &[u8], name: &RawName<'_>, value: usize) -> Takes {
    let list = bytes.get(name.range.end..value).unwrap_or_default();
    let inside = list
        .strip_prefix(b"(")
        .and_then(|rest| rest.strip_suffix(b")"));
    match inside.map(<[u8]>::trim_ascii) {
        None => Takes::ANY,
        Some(list) if list.ends_with(b"...") => Takes::ANY,
        Some(b"") => Takes::exactly(0),
        Some(list) => Takes::exactly(list.split(|byte| *byte == b',').count()),
    }
}

fn lines_in(bytes: &[u8], from: usize, to: usize) -> u32 {
    let text = bytes.get(from..to).unwrap_or_default();
    let count = memchr::memchr_iter(b'\n', text).count();
    u32::try_from(count).unwrap_or_default()
}
