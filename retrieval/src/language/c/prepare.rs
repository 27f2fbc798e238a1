//! C and C++ made ready for the parser: what a macro, a conditional or an old
//! style hides from the grammar is taken out, byte for byte, before it is parsed.
//!
//! Offsets and lines stay as they are. Function bodies are parsed one by one, so
//! that an error in one cannot swallow its neighbours. What was taken out is kept
//! as uses of names.

use super::brackets::Code;
use super::conditionals::resolve;
use super::declarations::{Head, scan};
use super::keywords::KEYWORD;
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
    /// Every type with a name and a body, by where the name begins.
    pub(crate) types: BTreeMap<usize, Head>,
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
    let calls = loose_calls(&code, &outline.functions);
    let mut prepared = Prepared {
        code: text.to_vec(),
        functions: outline.functions,
        types: outline.types,
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
    for range in rows_of_numbers(&resolved.live) {
        blank(&mut prepared.code, &range);
    }
    let taken_out = outline.taken_out.into_iter();
    for range in taken_out.chain(resolved.unread).chain(calls) {
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

/// Statements in bodies that are macro calls without a semicolon.
fn loose_calls(code: &Code<'_>, functions: &BTreeMap<usize, Head>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for function in functions.values() {
        let skipped = code.tokens.get(at..).unwrap_or_default();
        at += skipped.partition_point(|token| (token.start as usize) < function.body.start);
        let mut begins = false;
        while let Some(token) = code.token(at)
            && (token.start as usize) < function.body.end
        {
            if let Some(last) = call_end(code, at).filter(|_| begins) {
                let end = code.token(last).map_or(token.end, |last| last.end);
                found.push(token.start as usize..end as usize);
                at = last + 1;
                continue;
            }
            begins = matches!(token.kind, Kind::Mark(b';' | b'{' | b'}'));
            at += 1;
        }
    }
    found
}

/// The last token of `NAME(...)` when a new statement begins on the next line.
fn call_end(code: &Code<'_>, at: usize) -> Option<usize> {
    if !code.is_name(at) || code.is_word(at, KEYWORD) || !code.is_mark(at + 1, b'(') {
        return None;
    }
    let last = code.partner(at + 1)?;
    let next = last + 1;
    let begins_anew = code.is_name(next) || code.is_mark(next, b'}');
    let holds = |mark| (at..last).any(|at| code.is_mark(at, mark));
    let is_call = ![b'{', b'}', b';'].into_iter().any(holds);
    (begins_anew && is_call && code.line(next) > code.line(last)).then_some(last)
}

/// Whole lines of numbers in lists: they name nothing and cost the parser more
/// than code does. The first row of a list stays: it shows what the list is.
fn rows_of_numbers(live: &[Token]) -> Vec<Range<usize>> {
    let mut rows: Vec<Range<usize>> = Vec::new();
    let mut before = b' ';
    for row in live.chunk_by(|a, b| a.line == b.line) {
        let (Some(first), Some(last)) = (row.first(), row.last()) else {
            continue;
        };
        let mut depth = 0_i32;
        let is_numbers = last.is(b',')
            && row.iter().all(|token| {
                match token.kind {
                    Kind::Mark(b'{') => depth += 1,
                    Kind::Mark(b'}') => depth -= 1,
                    _ => {}
                }
                depth >= 0
                    && matches!(
                        token.kind,
                        Kind::Number | Kind::Mark(b',' | b'-' | b'{' | b'}')
                    )
            })
            && depth == 0;
        if is_numbers && before == b',' {
            rows.push(first.start as usize..last.end as usize);
        }
        before = match last.kind {
            Kind::Mark(mark) => mark,
            _ => b' ',
        };
    }
    rows
}
