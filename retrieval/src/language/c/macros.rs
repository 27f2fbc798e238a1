//! The names in a macro's body, which the grammar leaves as raw text.
//!
//! Tokens alone: no expansion, no conditionals.

use super::tokens::{Kind, tokens};
use std::ops::Range;

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
    use super::identifiers;

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
