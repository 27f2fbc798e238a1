//! Declarations made plain: macros are taken out of the words around a name, so
//! that one type stands before it and nothing but qualifiers behind it.

use super::brackets::Code;
use super::declarations::{Candidate, Scanner};
use super::keywords::{ATTRIBUTE, BUILTIN, CLASS_KEY, SPECIFIER, TRAILING, is};
use super::tokens::Kind;
use std::ops::Range;

impl Code<'_> {
    /// Returns whether tokens are a type that needs nothing else: `void`, `const char *`.
    fn is_plain_type(&self, tokens: Range<usize>) -> bool {
        let units = self.units(tokens.clone());
        let count = |kind| units.iter().filter(|unit| unit.kind == kind).count();
        let types = count(UnitKind::Name) + count(UnitKind::Builtin).min(1);
        let mut marks = tokens.filter(|at| !self.is_name(*at));
        marks.all(|at| self.is_mark(at, b'*')) && types == 1 && count(UnitKind::Call) == 0
    }

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
    /// Takes out of a head what the grammar has no place for: macros before the
    /// name, around it, and behind the parameters.
    pub(super) fn make_plain(&mut self, one: &Candidate, tokens: Range<usize>) {
        for at in &one.around {
            self.take_out(*at..*at + 1);
        }
        if one.from > tokens.start || one.around.is_empty() {
            self.leave_one_type(tokens.start..one.from, self.is_typeless(one));
        } else if one.around.first() == Some(&tokens.start) && !self.is_typeless(one) {
            self.write_type(tokens.start);
        }
        let last = one.around.iter().copied().max().unwrap_or_default();
        self.plain_end(one.parameters.1.max(last) + 1..tokens.end);
    }

    /// Leaves one type of several words that could name one.
    pub(super) fn leave_one_type(&mut self, tokens: Range<usize>, is_typeless: bool) {
        let units = self.code.units(tokens);
        let is_name = |unit: &&Unit| unit.kind == UnitKind::Name;
        let is_call = |unit: &&Unit| unit.kind == UnitKind::Call;
        let names = units.iter().filter(is_name).count();
        let calls = units.iter().filter(is_call).count();
        let builtin = units.iter().any(|unit| unit.kind == UnitKind::Builtin);
        let surplus = names + calls + usize::from(builtin);
        if surplus == 0 || surplus == 1 && calls == 0 && !(is_typeless && names > 0) {
            return;
        }
        let kept = if builtin || is_typeless {
            None
        } else {
            let name = units.iter().rev().filter(is_name);
            let lower = name
                .clone()
                .find(|unit| !self.code.is_capital(unit.tokens.start));
            lower
                .or_else(|| name.clone().next())
                .or_else(|| units.iter().rev().find(is_call))
        };
        let kept = kept.map(|unit| unit.tokens.start);
        let mut written = builtin || is_typeless;
        for unit in &units {
            match unit.kind {
                UnitKind::Builtin => {}
                UnitKind::Name if kept == Some(unit.tokens.start) => written = true,
                UnitKind::Call if kept == Some(unit.tokens.start) => {
                    let open = unit.tokens.start + 1;
                    let inside = open + 1..unit.tokens.end - 1;
                    if self.code.is_plain_type(inside.clone()) {
                        self.take_out(unit.tokens.start..open + 1);
                        self.take_out(inside.end..unit.tokens.end);
                        written = true;
                    } else {
                        self.take_out(unit.tokens.clone());
                    }
                }
                _ => self.take_out(unit.tokens.clone()),
            }
        }
        let call = units.iter().find(is_call).filter(|_| !written);
        if let Some(call) = call {
            self.write_type(call.tokens.start);
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
                self.leave_one_type(head.start..end, false);
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
            self.leave_one_type(head.start..from, false);
            return;
        }
        // `type name MACRO`: after the name of a variable nothing is named.
        let are_names = [one, other].iter().all(|unit| unit.kind == UnitKind::Name);
        let is_marked = are_names
            && !before.is_empty()
            && self.code.is_capital(other.tokens.start)
            && !self.code.is_capital(one.tokens.start)
            && one.tokens.end == other.tokens.start;
        let name = if is_marked {
            &one.tokens
        } else {
            &other.tokens
        };
        let (from, last) = (name.start, name.end);
        if is_marked {
            self.take_out(last..end);
        }
        self.leave_one_type(head.start..from, false);
    }

    /// Takes macros out of what follows the body of a type: `} PACKED name;`.
    pub(super) fn make_tail_plain(&mut self, tail: Range<usize>) {
        let ends = |at: &usize| {
            let next = self.code.kind(*at);
            let is_end = matches!(next, Some(Kind::Mark(b'[' | b'=' | b',' | b'*' | b'&')));
            is_end || *at == tail.end
        };
        let end = (tail.start..=tail.end).find(ends).unwrap_or(tail.end);
        let units = self.code.units(tail.start..end);
        let Some(name) = units.iter().rposition(|unit| unit.kind == UnitKind::Name) else {
            return;
        };
        let is_capital = |unit: &Unit| self.code.is_capital(unit.tokens.start);
        // `} name PACKED;`
        let first = units.first().filter(|unit| unit.kind == UnitKind::Name);
        let is_first = first.is_some_and(|first| !is_capital(first))
            && units.get(name).is_some_and(is_capital);
        let kept = if is_first { 0 } else { name };
        for (at, unit) in units.iter().enumerate() {
            if at != kept {
                self.take_out(unit.tokens.clone());
            }
        }
    }

    /// Takes macros out of what follows the parameters.
    fn plain_end(&mut self, tokens: Range<usize>) {
        let mut at = tokens.start;
        while at < tokens.end {
            let Some(kind) = self.code.kind(at) else {
                return;
            };
            if matches!(kind, Kind::Arrow | Kind::Mark(b':' | b'=')) {
                return;
            }
            let end = self.code.after_call(at);
            if kind == Kind::Name && !(self.code.is_cpp && self.code.is_word(at, TRAILING)) {
                self.take_out(at..end.min(tokens.end));
            }
            at = if kind == Kind::Name {
                end
            } else {
                self.code.after(at)
            };
        }
    }

    /// Takes out of a value what C has no place for: braces among the arguments
    /// of a macro.
    pub(super) fn make_value_plain(&mut self, value: Range<usize>) {
        let mut at = value.start;
        while at < value.end {
            let is_call = self.code.is_mark(at, b'(') && self.code.is_name(at.wrapping_sub(1));
            let close = self.code.close(at);
            let Some(close) = close.filter(|_| is_call && !self.code.is_cpp) else {
                at += 1;
                continue;
            };
            let holds_braces = (at + 1..close).any(|inner| {
                self.code.is_mark(inner, b'{')
                    && (self.code.is_mark(inner - 1, b'(') || self.code.is_mark(inner - 1, b','))
            });
            if holds_braces {
                self.take_out(at + 1..close);
            }
            at = close + 1;
        }
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
