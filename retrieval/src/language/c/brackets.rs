//! Tokens with their brackets: what stands where, and what belongs together.

use super::keywords::{ATTRIBUTE, BUILTIN, SPECIFIER, VIRTUAL, is, is_reserved};
use super::tokens::{Kind, Token};

/// Limit on how many tokens template arguments may have.
const ANGLES: usize = 2_000;

/// The tokens of a text whose conditionals are resolved. Places are numbers of
/// tokens.
pub(super) struct Code<'t> {
    text: &'t [u8],
    pub(super) tokens: &'t [Token],
    pub(super) is_cpp: bool,
    partners: Vec<Option<usize>>,
}

impl<'t> Code<'t> {
    /// Matches the brackets of tokens.
    pub(super) fn new(text: &'t [u8], tokens: &'t [Token], is_cpp: bool) -> Self {
        Self {
            text,
            tokens,
            is_cpp,
            partners: partners(tokens),
        }
    }

    /// Returns whether a token stands at the very beginning of its line.
    pub(super) fn is_at_margin(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| {
            let start = token.start as usize;
            start == 0 || self.text.get(start - 1) == Some(&b'\n')
        })
    }

    /// The line of a token; 0 behind the last.
    pub(super) fn line(&self, at: usize) -> u32 {
        self.token(at).map_or(0, |token| token.line)
    }

    /// Returns whether a word is written in capitals, as the names of macros are by custom.
    pub(super) fn is_capital(&self, at: usize) -> bool {
        !self.word(at).iter().any(u8::is_ascii_lowercase)
    }

    pub(super) fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.token(at).map(|token| token.kind)
    }

    pub(super) fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.kind(at) == Some(Kind::Mark(mark))
    }

    pub(super) fn is_name(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Name)
    }

    /// The text of a name; nothing for other tokens.
    pub(super) fn word(&self, at: usize) -> &[u8] {
        let name = self.token(at).filter(|token| token.kind == Kind::Name);
        name.and_then(|token| self.text.get(token.range()))
            .unwrap_or_default()
    }

    /// Returns whether a word is of one of some sorts.
    pub(super) fn is_word(&self, at: usize, sorts: u16) -> bool {
        is(self.word(at), sorts)
    }

    pub(super) fn is_scope(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Scope)
    }

    /// The other bracket.
    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).copied().flatten()
    }

    /// The bracket that closes one.
    pub(super) fn close(&self, open: usize) -> Option<usize> {
        self.partner(open).filter(|close| *close > open)
    }

    /// The place after a bracketed group, or after any other token.
    pub(super) fn after(&self, open: usize) -> usize {
        self.close(open).unwrap_or(open) + 1
    }

    /// The place after a word and the parentheses that may follow it.
    pub(super) fn after_call(&self, word: usize) -> usize {
        if self.is_mark(word + 1, b'(') {
            self.after(word + 1)
        } else {
            word + 1
        }
    }

    /// The bracket that closes one, if it stands before a place.
    pub(super) fn closed_before(&self, open: usize, end: usize) -> Option<usize> {
        self.partner(open).filter(|close| *close < end)
    }

    /// The place after `<...>`.
    pub(super) fn after_angles(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        let mut at = open;
        while at < open + ANGLES {
            match self.token(at)?.kind {
                Kind::Mark(b'<') => depth += 1,
                Kind::Mark(b'>') => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                Kind::Mark(b';' | b'}') => return None,
                Kind::Mark(b'(' | b'[' | b'{') => {
                    at = self.after(at);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Where the template name before `>` begins.
    pub(super) fn before_angles(&self, close: usize, floor: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in (floor..=close).rev() {
            if self.is_mark(at, b'>') {
                depth += 1;
            } else if self.is_mark(at, b'<') {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return at
                        .checked_sub(1)
                        .filter(|at| *at >= floor && self.is_name(*at));
                }
            }
        }
        None
    }

    /// Returns whether a word cannot be the name of something.
    pub(super) fn is_no_name(&self, at: usize) -> bool {
        let of_cpp = if self.is_cpp { VIRTUAL } else { 0 };
        is_reserved(self.word(at), self.is_cpp)
            || self.is_word(at, SPECIFIER | BUILTIN | ATTRIBUTE | of_cpp)
    }

    /// Returns whether a word can be the name of something.
    pub(super) fn may_name(&self, at: usize) -> bool {
        self.is_name(at) && !self.is_no_name(at)
    }

    /// Where `A::B<int>::` before a name begins, `~` included.
    pub(super) fn qualified_start(&self, name: usize, floor: usize) -> usize {
        let mut from = name;
        if from > floor && self.is_mark(from - 1, b'~') {
            from -= 1;
        }
        while from > floor && self.is_scope(from - 1) {
            from -= 1;
            let Some(before) = from.checked_sub(1).filter(|at| *at >= floor) else {
                break;
            };
            if self.is_mark(before, b'>') {
                match self.before_angles(before, floor) {
                    Some(start) => from = start,
                    None => break,
                }
            } else if self.may_name(before) {
                from = before;
            } else {
                break;
            }
        }
        from
    }

    /// Returns whether parentheses hold a pointer to a function: `(CALL *name)(..)`.
    pub(super) fn is_pointer(&self, open: usize) -> bool {
        let star = open + 1 + usize::from(self.is_name(open + 1));
        let close = self.partner(open);
        self.is_mark(star, b'*') && close.is_some_and(|close| self.is_mark(close + 1, b'('))
    }
}

/// For each bracket the place of the other one.
fn partners(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut partners = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let close = match token.kind {
            Kind::Mark(b'(' | b'[' | b'{') => {
                open.push(at);
                continue;
            }
            Kind::Mark(close @ (b')' | b']' | b'}')) => close,
            _ => continue,
        };
        let Some(found) = closed_by(close, &open, tokens) else {
            continue;
        };
        open.truncate(found + 1);
        if let Some(other) = open.pop() {
            for (bracket, partner) in [(at, other), (other, at)] {
                if let Some(slot) = partners.get_mut(bracket) {
                    *slot = Some(partner);
                }
            }
        }
    }
    partners
}

/// Returns which of the brackets that are open at some places one closes. A brace closes whatever
/// parentheses were forgotten inside it.
pub(super) fn closed_by(close: u8, open: &[usize], tokens: &[Token]) -> Option<usize> {
    let is = |at: &usize, mark: u8| tokens.get(*at).is_some_and(|token| token.is(mark));
    let opened = match close {
        b')' => b'(',
        b']' => b'[',
        _ => return open.iter().rposition(|at| is(at, b'{')),
    };
    let top = open.last().filter(|at| is(at, opened));
    top.and_then(|_| open.len().checked_sub(1))
}
