//! The end of a function: its closing brace, unless macros or conditionals hide a
//! brace; then the layout shows it.

use super::brackets::Code;
use super::declarations::Scanner;

/// Words that begin a statement.
const STATEMENTS: &str = "else while do return case default if goto for switch";

impl Code<'_> {
    /// Returns whether a function's head begins at a place at the margin: `int f(..) {`.
    fn begins_function(&self, from: usize) -> bool {
        let mut statements = STATEMENTS.split(' ');
        let is_statement = statements.any(|word| word.as_bytes() == self.word(from));
        if !self.is_at_margin(from) || !self.is_name(from) || is_statement {
            return false;
        }
        let mut at = from;
        while self.is_name(at) || self.is_mark(at, b'*') {
            at += 1;
        }
        at > from + 1
            && self.is_mark(at, b'(')
            && !self.is_no_name(at - 1)
            && self.is_mark(self.after(at), b'{')
    }
}

impl Scanner<'_> {
    /// Where a body ends: at its closing brace, unless macros or conditionals
    /// hide a brace; then where the layout shows it.
    pub(super) fn body_end(&self, start: usize, open: usize) -> usize {
        let close = self.code.close(open);
        let count = self.code.tokens.len();
        let limit = self.scopes.last().map_or(count, |scope| scope.close);
        let at_margin = self.code.is_at_margin(start) || self.code.is_at_margin(open);
        if !at_margin {
            return close.unwrap_or_else(|| limit.saturating_sub(1).max(open));
        }
        let end = close.unwrap_or(count);
        let mut ends = (open + 1..count)
            .filter(|at| self.code.is_mark(*at, b'}') && self.code.is_at_margin(*at));
        // No function lies in another: where one begins, the last has ended.
        let mut before = ends.clone().take_while(|at| *at < end);
        let hidden = before.find(|at| self.code.begins_function(*at + 1));
        if let Some(hidden) = hidden {
            return hidden;
        }
        match close {
            Some(close) if self.is_plausible_end(close) => close,
            _ => ends.next().or(close).unwrap_or(count - 1),
        }
    }

    /// Returns whether something new begins after a brace.
    fn is_plausible_end(&self, close: usize) -> bool {
        let next = close + 1;
        self.code.is_at_margin(close)
            || self.code.token(next).is_none()
            || self.code.is_at_margin(next)
            || self.code.is_mark(next, b';')
            || self.scopes.last().is_some_and(|scope| scope.close <= next)
    }
}
