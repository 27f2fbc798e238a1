//! The end of a function: its closing brace, unless macros or conditionals hide a
//! brace; then the layout shows it.

use super::declarations::Scanner;

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
        let mut ends = (open + 1..count)
            .filter(|at| self.code.is_mark(*at, b'}') && self.code.is_at_margin(*at));
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
