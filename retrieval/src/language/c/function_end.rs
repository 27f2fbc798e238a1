//! The end of a function: its closing brace, unless macros or conditionals hide a
//! brace; then the layout shows it.

use super::declarations::Scanner;

/// Words that begin a statement.
const STATEMENTS: &str = "else while do return case default if goto for switch";

impl Scanner<'_> {
    /// Where a body ends: at its closing brace, unless macros or conditionals
    /// hide a brace; then where the layout shows it.
    pub(super) fn body_end(&self, start: usize, open: usize) -> usize {
        let close = self.code.close(open);
        let limit = self
            .scopes
            .last()
            .map_or(self.code.tokens.len(), |scope| scope.close);
        let at_margin = self.code.is_at_margin(start) || self.code.is_at_margin(open);
        if !at_margin {
            return close.unwrap_or_else(|| limit.saturating_sub(1).max(open));
        }
        let end = close.unwrap_or(self.code.tokens.len());
        let mut ends = (open + 1..self.code.tokens.len())
            .filter(|at| self.code.is_mark(*at, b'}') && self.code.is_at_margin(*at));
        // No function lies in another: where one begins, the last has ended.
        let hidden = ends
            .clone()
            .take_while(|at| *at < end)
            .find(|at| self.begins_function(*at + 1));
        if let Some(hidden) = hidden {
            return hidden;
        }
        match close {
            Some(close) if self.is_plausible_end(close) => close,
            _ => ends.next().or(close).unwrap_or(self.code.tokens.len() - 1),
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

    /// Returns whether a function's head begins at a place at the margin: `int f(..) {`.
    fn begins_function(&self, from: usize) -> bool {
        if !self.code.is_at_margin(from) || !self.code.is_name(from) || self.is_statement(from) {
            return false;
        }
        let mut at = from;
        while self.code.is_name(at) || self.code.is_mark(at, b'*') {
            at += 1;
        }
        at > from + 1
            && self.code.is_mark(at, b'(')
            && !self.code.is_no_name(at - 1)
            && self.code.is_mark(self.code.after(at), b'{')
    }

    fn is_statement(&self, at: usize) -> bool {
        let mut words = STATEMENTS.split(' ');
        words.any(|word| word.as_bytes() == self.code.word(at))
    }
}
