//! Declarations made plain: macros are taken out of the words before a name, so
//! that one type stands there.

use super::brackets::Code;
use super::declarations::{Candidate, Scanner};
use super::keywords::{ATTRIBUTE, BUILTIN, CLASS_KEY, SPECIFIER, is};
use super::tokens::Kind;
use std::ops::Range;

impl Code<'_> {
    /// Returns what could name a type, piece by piece.
    fn units(&self, tokens: Range<usize>) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut at = tokens.start;
        while at < tokens.end {
            if !self.is_name(at) {
                at = self.after(at);
                continue;
            }
            let word = self.word(at);
            let (kind, end) = if is(word, CLASS_KEY) {
                (UnitKind::Builtin, self.after_qualified(at + 1, tokens.end))
            } else if is(word, BUILTIN)
                || is(word, ATTRIBUTE) && matches!(word, b"decltype" | b"typeof" | b"__typeof__")
            {
                (UnitKind::Builtin, self.after_call(at))
            } else if is(word, ATTRIBUTE) {
                at = self.after_call(at);
                continue;
            } else if is(word, SPECIFIER) || matches!(word, b"typename" | b"template") {
                at += 1;
                continue;
            } else if self.is_mark(at + 1, b'(') {
                (UnitKind::Call, self.after(at + 1))
            } else {
                (UnitKind::Name, self.after_qualified(at, tokens.end))
            };
            units.push(Unit {
                tokens: at..end.min(tokens.end).max(at + 1),
                kind,
            });
            at = end.max(at + 1);
        }
        units
    }

    /// The place after `A::B<int>::C`.
    fn after_qualified(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end {
            if self.is_name(at) {
                at += 1;
                if self.is_cpp && self.is_mark(at, b'<') {
                    at = self.after_angles(at).unwrap_or(at);
                }
            }
            if !self.is_scope(at) {
                return at;
            }
            at += 1;
        }
        at
    }
}

impl Scanner<'_> {
    /// Takes out of a head the macros before the name and around it.
    pub(super) fn make_plain(&mut self, one: &Candidate, tokens: Range<usize>) {
        for at in &one.around {
            self.take_out(*at..*at + 1);
        }
        if one.from > tokens.start || one.around.is_empty() {
            self.leave_one_type(tokens.start..one.from);
        } else if one.around.first() == Some(&tokens.start) {
            self.write_type(tokens.start);
        }
    }

    /// Leaves one type of several words that could name one: a word of the language, else
    /// the last name, else what a macro is called with. Names in capitals come last.
    pub(super) fn leave_one_type(&mut self, tokens: Range<usize>) {
        let units = self.code.units(tokens);
        let rank = |at: &usize| match units.get(*at) {
            Some(unit) if unit.kind == UnitKind::Builtin => 3,
            Some(unit) if unit.kind == UnitKind::Call => 0,
            Some(unit) if self.code.is_capital(unit.tokens.start) => 1,
            _ => 2,
        };
        let kept = (0..units.len()).max_by_key(rank);
        for (at, unit) in units.into_iter().enumerate() {
            match unit.kind {
                UnitKind::Builtin => {}
                UnitKind::Name if kept == Some(at) => {}
                UnitKind::Call if kept == Some(at) => self.unwrap_type(unit.tokens),
                _ => self.take_out(unit.tokens),
            }
        }
    }

    /// Leaves the type that a macro is called with, `int` where that is none.
    fn unwrap_type(&mut self, call: Range<usize>) {
        let mut inside = call.start + 2..call.end - 1;
        let is_type = !inside.is_empty()
            && inside.all(|at| self.code.is_name(at) || self.code.is_mark(at, b'*'));
        if is_type {
            self.take_out(call.start..call.start + 2);
            self.take_out(call.end - 1..call.end);
        } else {
            self.write_type(call.start);
            self.take_out(call);
        }
    }

    /// Takes macros out of a declaration that is no function's.
    pub(super) fn make_variable_plain(&mut self, head: Range<usize>) {
        let mut end = head.start;
        while end < head.end {
            let next = self.code.kind(end);
            let is_call =
                self.code.is_mark(end, b'(') && end > head.start && self.code.is_name(end - 1);
            if is_call && !self.code.is_pointer(end) {
                end = self.code.after(end);
            } else if matches!(next, Some(Kind::Mark(b'[' | b'=' | b',' | b':' | b'('))) {
                break;
            } else {
                end += 1;
            }
        }
        let end = end.min(head.end);
        if self.code.is_mark(end, b'(') {
            if self.code.is_pointer(end) {
                self.leave_one_type(head.start..end);
            }
            return;
        }
        let units = self.code.units(head.start..end);
        let [before @ .., one, other] = units.as_slice() else {
            return;
        };
        let last = other.tokens.clone();
        if other.kind == UnitKind::Call && last.len() == 4 && self.code.is_name(last.start + 2) {
            // `type MACRO(name)[] = ..`
            let from = last.start;
            self.take_out(from..from + 2);
            self.take_out(from + 3..from + 4);
            self.leave_one_type(head.start..from);
            return;
        }
        // `type name MACRO`: after the name of a variable nothing is named.
        let are_names = [one, other].iter().all(|unit| unit.kind == UnitKind::Name);
        let is_marked = are_names
            && !before.is_empty()
            && self.code.is_capital(other.tokens.start)
            && !self.code.is_capital(one.tokens.start)
            && one.tokens.end == other.tokens.start;
        let name = if is_marked { one } else { other };
        if is_marked {
            self.take_out(last.start..end);
        }
        self.leave_one_type(head.start..name.tokens.start);
    }
}

/// A piece of a head that could name a type.
#[derive(Debug)]
struct Unit {
    tokens: Range<usize>,
    kind: UnitKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnitKind {
    /// A word of the language, `struct A` included.
    Builtin,
    Name,
    /// A macro with arguments.
    Call,
}
