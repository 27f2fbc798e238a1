//! The head of a function: which of the names before `{` or `;` it defines, and
//! what has to be taken out so that the grammar understands the rest.
//!
//! A head is read by the rules of C's declarations: something that names a type
//! stands before the name of a function, so a call without one (`LOCAL(void)
//! f(int a)`) is a macro that makes the type; after the parameters only
//! attributes follow.

use super::brackets::Code;
use super::declarations::{Candidate, Scanner};
use super::keywords::{ATTRIBUTE, SPECIFIER};
use super::tokens::Kind;
use rustc_hash::FxHashMap;
use std::ops::Range;

impl Code<'_> {
    /// The names in a head that are followed by parentheses, up to the colon of
    /// an initializer list or the arrow of a result type.
    fn candidates(&self, tokens: Range<usize>) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        let mut at = tokens.start;
        while at < tokens.end {
            let Some(token) = self.token(at) else {
                break;
            };
            match token.kind {
                Kind::Arrow => break,
                Kind::Mark(b':') if !found.is_empty() => break,
                Kind::Name => {
                    let candidate = self.candidate(at, &tokens);
                    let attribute = self.is_word(at, ATTRIBUTE) && self.is_mark(at + 1, b'(');
                    at = match candidate {
                        Some(candidate) => {
                            let after = candidate.parameters.1;
                            let outermost = candidate.around.iter().copied().max();
                            found.push(candidate);
                            after.max(outermost.unwrap_or_default()) + 1
                        }
                        None if attribute => self.after(at + 1),
                        None => at + 1,
                    };
                }
                Kind::Mark(b'(') => {
                    if let Some(candidate) = self.in_parentheses(at, &tokens) {
                        at = candidate.parameters.1 + 1;
                        found.push(candidate);
                    }
                    at = self.after(at).max(at + 1);
                }
                Kind::Mark(b'[') => at = self.after(at),
                Kind::Mark(b'<') if self.is_name(at.wrapping_sub(1)) => {
                    at = self.after_angles(at).unwrap_or(at + 1);
                }
                _ => at += 1,
            }
        }
        found
    }

    /// A candidate that begins with the name at a place.
    fn candidate(&self, at: usize, tokens: &Range<usize>) -> Option<Candidate> {
        if self.word(at) == b"operator" {
            return self.operator(at, tokens);
        }
        let mut open = at + 1;
        if self.is_mark(open, b'<') {
            open = self.after_angles(open)?;
        }
        if !self.is_mark(open, b'(') || self.is_no_name(at) {
            return None;
        }
        let close = self.closed_before(open, tokens.end)?;
        let mut candidate = Candidate {
            name: at..at + 1,
            from: at,
            parameters: (open, close),
            around: Vec::new(),
            is_special: false,
        };
        let wrapped = self.partner(open + 1) == close.checked_sub(1);
        if self.is_pointer(open) {
            return None;
        }
        if open + 2 == close && self.is_mark(close + 1, b'(') && self.is_name(open + 1) {
            // `MACRO(name)(parameters)`
            candidate.around = vec![at, open, close];
            candidate.name = open + 1..open + 2;
            candidate.parameters = (close + 1, self.partner(close + 1)?);
        } else if self.is_mark(open + 1, b'(')
            && wrapped
            && at > tokens.start
            && self.may_name(at - 1)
        {
            // `name MACRO((parameters))`
            candidate.around = vec![at, open, close];
            candidate.name = at - 1..at;
            candidate.from = at - 1;
            candidate.parameters = (open + 1, close - 1);
        } else if self.is_mark(open + 1, b'(') && wrapped {
            // `ATTRIBUTE((noreturn))`
            return None;
        } else if let Some((name, inner)) = self.named_inside(open, close) {
            // `MACRO(type, name, (parameters))`
            candidate.around = (at..name).chain(name + 1..inner).collect();
            candidate.around.extend(self.partner(inner)? + 1..=close);
            candidate.name = name..name + 1;
            candidate.parameters = (inner, self.partner(inner)?);
        }
        candidate.from = self.qualified_start(candidate.from, tokens.start);
        if candidate.from < candidate.name.start && self.is_mark(candidate.name.start - 1, b'~') {
            candidate.name.start -= 1;
            candidate.is_special = true;
        }
        (candidate.parameters.1 < tokens.end).then_some(candidate)
    }

    /// The name and the parameters among the arguments of a macro that makes a
    /// head: an argument in parentheses after one that ends with a name.
    fn named_inside(&self, open: usize, close: usize) -> Option<(usize, usize)> {
        let mut at = open + 1;
        while at < close {
            let ends = self
                .partner(at)
                .is_some_and(|end| end > at && (end + 1 == close || self.is_mark(end + 1, b',')));
            let is_list = self.is_mark(at, b'(') && self.is_mark(at - 1, b',') && ends;
            if is_list && at > open + 2 && self.may_name(at - 2) {
                return Some((at - 2, at));
            }
            at = self.after(at);
        }
        None
    }

    /// `(name)(parameters)`, or `(*name(parameters))(parameters of the result)`.
    fn in_parentheses(&self, open: usize, tokens: &Range<usize>) -> Option<Candidate> {
        let close = self.closed_before(open, tokens.end)?;
        if !self.is_mark(close + 1, b'(') {
            return None;
        }
        let mut around = Vec::new();
        let inside = (open + 1..close).find(|at| self.may_name(*at))?;
        let parameters = if inside + 1 == close && inside == open + 1 {
            around = vec![open, close];
            (close + 1, self.partner(close + 1)?)
        } else if self.is_mark(inside + 1, b'(') && self.is_mark(open + 1, b'*') {
            (inside + 1, close)
        } else {
            return None;
        };
        Some(Candidate {
            name: inside..inside + 1,
            from: open,
            parameters,
            around,
            is_special: false,
        })
    }

    fn operator(&self, at: usize, tokens: &Range<usize>) -> Option<Candidate> {
        let mut open = at + 1;
        if self.is_mark(open, b'(') && self.is_mark(open + 1, b')') {
            open += 2;
        }
        while open < tokens.end && !self.is_mark(open, b'(') {
            open += 1;
        }
        let close = self.closed_before(open, tokens.end)?;
        Some(Candidate {
            name: at..open,
            from: self.qualified_start(at, tokens.start),
            parameters: (open, close),
            around: Vec::new(),
            is_special: true,
        })
    }

    /// The first place that names a type; what macros are called with is none.
    fn first_type(&self, candidates: &[Candidate], tokens: Range<usize>) -> Option<usize> {
        let calls = candidates.iter().rev();
        let calls: FxHashMap<usize, usize> = calls
            .map(|call| (call.name.start, call.parameters.1))
            .collect();
        let mut at = tokens.start;
        while at < tokens.end {
            if let Some(end) = calls.get(&at) {
                at = end + 1;
            } else if self.is_word(at, ATTRIBUTE) && self.is_mark(at + 1, b'(') {
                at = self.after(at + 1);
            } else if self.is_name(at) && !self.is_word(at, SPECIFIER) {
                return Some(at);
            } else {
                at += 1;
            }
        }
        None
    }

    fn has_one_name(&self, one: &Candidate) -> bool {
        let (open, close) = one.parameters;
        open + 2 == close && self.is_name(open + 1)
    }
}

impl Scanner<'_> {
    /// The function that a head names.
    pub(super) fn function_name(&self, tokens: Range<usize>) -> Option<Candidate> {
        let candidates = self.code.candidates(tokens.clone());
        let typed_from = self.code.first_type(&candidates, tokens);
        let is_capital = |one: &Candidate| self.code.is_capital(one.name.start);
        let last_plain = candidates.iter().rposition(|one| !is_capital(one));
        let fits = |number: usize, one: &Candidate| {
            // By custom the names of macros are in capitals.
            let is_macro = is_capital(one) && last_plain.is_some_and(|last| last > number);
            let first = self.code.kind(one.parameters.0 + 1);
            // No parameter begins with a value.
            let has_values = matches!(first, Some(Kind::Number | Kind::Text));
            !is_macro
                && !has_values
                && (one.is_special
                    || self.is_constructor(one)
                    || typed_from.is_some_and(|at| at < one.from))
        };
        let mut numbered = candidates.iter().enumerate();
        let chosen = numbered.find(|(number, one)| fits(*number, one));
        chosen.map(|(_, one)| one).or(candidates.last()).cloned()
    }

    fn is_constructor(&self, one: &Candidate) -> bool {
        let name = self.code.word(one.name.start);
        let scope = one.name.start.checked_sub(2).filter(|at| *at >= one.from);
        match scope {
            Some(scope) if self.code.is_name(scope) => self.code.word(scope) == name,
            Some(_) => false,
            None => self.innermost_type() == Some(name),
        }
    }

    /// Returns whether a name with parentheses is a type and not what is declared:
    /// `STACK_OF(X) name`, or a macro around the name of an array.
    pub(super) fn is_type_macro(&self, one: &Candidate, head: &Range<usize>) -> bool {
        let after = one.parameters.1 + 1;
        let untyped = !one.is_special
            && one.around.is_empty()
            && self.code.first_type(&[], head.start..one.from).is_none()
            && (self.code.is_name(after) || self.code.is_mark(after, b'*'));
        untyped && after < head.end
            || self.code.is_mark(after, b'[')
            || after == head.end && self.code.is_mark(after, b'=') && self.code.has_one_name(one)
    }

    /// Returns whether no type stands before a function of this name.
    pub(super) fn is_typeless(&self, one: &Candidate) -> bool {
        let next = self.code.word(one.name.start + 1);
        let converts = self.code.word(one.name.start) == b"operator"
            && !matches!(next, b"" | b"new" | b"delete");
        converts || self.code.is_mark(one.name.start, b'~') || self.is_constructor(one)
    }
}
