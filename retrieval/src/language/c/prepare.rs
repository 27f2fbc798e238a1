//! C and C++ made ready for the parser: what a macro, a conditional or an old
//! style hides from the grammar is taken out, byte for byte, before it is parsed.
//!
//! Offsets and lines stay as they are. Function bodies are parsed one by one, so
//! that an error in one cannot swallow its neighbours. What was taken out is kept
//! as uses of names.

use super::brackets::Code;
use super::conditionals::resolve;
use super::declarations::{Head, scan};
use super::tokens::{Directive, Kind, Token, tokens};
use std::collections::BTreeMap;
use std::ops::Range;

/// A file ready to be parsed.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// The text without what the grammar has no place for.
    pub(crate) code: Vec<u8>,
    /// The same with empty function bodies.
    pub(crate) declarations: Vec<u8>,
    /// Every function with a body, by where the body begins.
    pub(crate) functions: BTreeMap<usize, Head>,
    /// `#define` lines.
    pub(crate) defines: Vec<Piece>,
    /// `#include` lines.
    pub(crate) includes: Vec<Piece>,
    /// Text that was taken out and may use names, in the order of the text.
    pub(crate) unparsed: Vec<Piece>,
}

/// A piece of text and its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) line: u32,
    pub(crate) range: Range<usize>,
}

/// Makes a C or C++ file ready for the parser.
pub(crate) fn prepare(text: &[u8], is_cpp: bool) -> Prepared {
    let all = tokens(text, true);
    let resolved = resolve(text, &all);
    let code = Code::new(text, &resolved.live, is_cpp);
    let outline = scan(&code);
    let mut prepared = Prepared {
        code: text.to_vec(),
        functions: outline.functions,
        ..Prepared::default()
    };
    for token in &all {
        let Kind::Directive(kind) = token.kind else {
            continue;
        };
        blank(&mut prepared.code, &token.range());
        let range = token.range();
        if resolved.dead.iter().any(|dead| dead.contains(&range.start)) {
            continue;
        }
        let piece = Piece {
            line: token.line,
            range,
        };
        match kind {
            Directive::Define => prepared.defines.push(piece),
            Directive::Include => prepared.includes.push(piece),
            Directive::If | Directive::Elif => prepared.unparsed.push(piece),
            _ => {}
        }
    }
    for range in &resolved.dead {
        blank(&mut prepared.code, range);
    }
    let taken_out = outline.taken_out.into_iter();
    for range in taken_out.chain(resolved.unread) {
        blank(&mut prepared.code, &range);
        let line = line_of(&all, range.start);
        prepared.unparsed.push(Piece { line, range });
    }
    for at in outline.written {
        if let Some(place) = prepared.code.get_mut(at..at + 3) {
            place.copy_from_slice(b"int");
        }
    }
    prepared.unparsed.sort_by_key(|piece| piece.range.start);
    prepared.declarations.clone_from(&prepared.code);
    for function in prepared.functions.values() {
        let body = function.body.start + 1..function.body.end.saturating_sub(1);
        blank(&mut prepared.declarations, &body);
    }
    prepared
}

/// Fills a range with spaces; its line ends stay.
fn blank(text: &mut [u8], range: &Range<usize>) {
    for byte in text.get_mut(range.clone()).unwrap_or_default() {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// The line of the first token at or after an offset.
fn line_of(tokens: &[Token], offset: usize) -> u32 {
    let after = tokens.partition_point(|token| (token.start as usize) < offset);
    let token = tokens.get(after).or(tokens.last());
    token.map_or(1, |token| token.line)
}
