//! The head of a function: which of the names before `{` or `;` it defines, and
//! what has to be taken out so that the grammar understands the rest.
//!
//! A head is read by the rules of C's declarations: something that names a type
//! stands before the name of a function, so a call without one (`LOCAL(void)
//! f(int a)`) is a macro that makes the type; after the parameters only
//! attributes follow.

use super::declarations::Scanner;
use super::tokens::{Kind, Token};
use crate::language::macros::is_reserved;
use std::ops::Range;

/// A name that is followed by parentheses. All numbers are places in the tokens.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// The name; several tokens of an operator.
    pub(super) name: Range<usize>,
    /// Where its qualified name begins.
    pub(super) from: usize,
    /// The parameters, parentheses included.
    pub(super) parameters: (usize, usize),
    /// Tokens of a macro around the name or the parameters.
    around: Vec<usize>,
    /// Whether it is an operator or a destructor.
    is_special: bool,
}

/// Words that may stand before a name and name no type.
fn is_specifier(word: &[u8]) -> bool {
    matches!(
        word,
        b"static"
            | b"extern"
            | b"inline"
            | b"__inline"
            | b"__inline__"
            | b"__forceinline"
            | b"const"
            | b"constexpr"
            | b"consteval"
            | b"volatile"
            | b"virtual"
            | b"explicit"
            | b"friend"
            | b"register"
            | b"typedef"
            | b"mutable"
            | b"thread_local"
            | b"_Noreturn"
            | b"_Thread_local"
            | b"restrict"
            | b"__restrict"
            | b"__extension__"
            | b"export"
            | b"operator"
    )
}

/// Words that are types by themselves.
fn is_builtin(word: &[u8]) -> bool {
    matches!(
        word,
        b"void"
            | b"char"
            | b"short"
            | b"int"
            | b"long"
            | b"float"
            | b"double"
            | b"signed"
            | b"unsigned"
            | b"bool"
            | b"_Bool"
            | b"auto"
            | b"wchar_t"
            | b"__int8"
            | b"__int16"
            | b"__int32"
            | b"__int64"
            | b"__int128"
    )
}

pub(super) fn is_class_key(word: &[u8]) -> bool {
    matches!(word, b"struct" | b"union" | b"class" | b"enum")
}

/// Words that are followed by parentheses and belong to what stands before them.
fn is_attribute(word: &[u8]) -> bool {
    matches!(
        word,
        b"__attribute__"
            | b"__attribute"
            | b"__declspec"
            | b"alignas"
            | b"_Alignas"
            | b"decltype"
            | b"typeof"
            | b"__typeof__"
            | b"__typeof"
            | b"noexcept"
            | b"throw"
            | b"asm"
            | b"__asm"
            | b"__asm__"
            | b"requires"
            | b"explicit"
            | b"_Static_assert"
            | b"static_assert"
    )
}

/// Words that follow the parameters in the grammar of C++.
fn is_trailing(word: &[u8]) -> bool {
    matches!(
        word,
        b"const" | b"volatile" | b"noexcept" | b"override" | b"final" | b"throw" | b"try" | b"requires"
    )
}

impl Scanner<'_> {
    /// The names in a head that are followed by parentheses, up to the colon of
    /// an initializer list or the arrow of a result type.
    fn candidates(&self, tokens: Range<usize>) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        let mut at = tokens.start;
        while at < tokens.end {
            let Some(token) = self.token(at) else { break };
            match token.kind {
                Kind::Arrow => break,
                Kind::Mark(b':') if !found.is_empty() => break,
                Kind::Name => {
                    let candidate = self.candidate(at, &tokens);
                    let attribute = is_attribute(self.word(at)) && self.is_mark(at + 1, b'(');
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
        let close = self.partner(open).filter(|close| *close < tokens.end)?;
        let mut candidate = Candidate {
            name: at..at + 1,
            from: at,
            parameters: (open, close),
            around: Vec::new(),
            is_special: false,
        };
        let wrapped = self.partner(open + 1).is_some_and(|inner| inner + 1 == close);
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
            && self.is_name(at - 1)
            && !self.is_no_name(at - 1)
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

    /// Whether parentheses hold a pointer to a function: `(CALL *name)(..)`.
    pub(super) fn is_pointer(&self, open: usize) -> bool {
        let star = open + 1 + usize::from(self.is_name(open + 1));
        let followed = self.partner(open).is_some_and(|close| self.is_mark(close + 1, b'('));
        followed && self.is_mark(star, b'*')
    }

    /// The name and the parameters among the arguments of a macro that makes a
    /// head: an argument in parentheses after one that ends with a name.
    fn named_inside(&self, open: usize, close: usize) -> Option<(usize, usize)> {
        let mut at = open + 1;
        while at < close {
            let ends = self.partner(at).is_some_and(|end| {
                end > at && (end + 1 == close || self.is_mark(end + 1, b','))
            });
            let is_list = self.is_mark(at, b'(') && self.is_mark(at - 1, b',') && ends;
            if is_list && at > open + 2 && self.is_name(at - 2) && !self.is_no_name(at - 2) {
                return Some((at - 2, at));
            }
            at = self.after(at);
        }
        None
    }

    /// `(name)(parameters)`, or `(*name(parameters))(parameters of the result)`.
    fn in_parentheses(&self, open: usize, tokens: &Range<usize>) -> Option<Candidate> {
        let close = self.partner(open).filter(|close| *close < tokens.end)?;
        if !self.is_mark(close + 1, b'(') {
            return None;
        }
        let mut around = Vec::new();
        let inside = (open + 1..close).find(|at| self.is_name(*at) && !self.is_no_name(*at))?;
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
        let close = self.partner(open).filter(|close| *close < tokens.end)?;
        Some(Candidate {
            name: at..open,
            from: self.qualified_start(at, tokens.start),
            parameters: (open, close),
            around: Vec::new(),
            is_special: true,
        })
    }

    /// Where `A::B<int>::` before a name begins, `~` included.
    pub(super) fn qualified_start(&self, name: usize, floor: usize) -> usize {
        let mut from = name;
        if from > floor && self.is_mark(from - 1, b'~') {
            from -= 1;
        }
        while from > floor && self.token(from - 1).is_some_and(|one| one.kind == Kind::Scope) {
            from -= 1;
            let Some(before) = from.checked_sub(1).filter(|at| *at >= floor) else {
                break;
            };
            if self.is_mark(before, b'>') {
                match self.before_angles(before, floor) {
                    Some(start) => from = start,
                    None => break,
                }
            } else if self.is_name(before) && !self.is_no_name(before) {
                from = before;
            } else {
                break;
            }
        }
        from
    }

    /// The function that a head names.
    pub(super) fn function_name(&self, tokens: Range<usize>) -> Option<Candidate> {
        let candidates = self.candidates(tokens.clone());
        let fits = |number: usize, one: &Candidate| {
            let later = candidates.get(number + 1..).unwrap_or_default();
            // By custom the names of macros are in capitals.
            let is_macro = self.is_capital(&one.name)
                && later.iter().any(|other| !self.is_capital(&other.name));
            !is_macro
                && (one.is_special
                    || self.is_constructor(one)
                    || self.is_typed(one, &candidates, tokens.start))
        };
        let chosen = candidates
            .iter()
            .enumerate()
            .find(|(number, one)| fits(*number, one))
            .map(|(_, one)| one);
        chosen.or(candidates.last()).cloned()
    }

    fn is_constructor(&self, one: &Candidate) -> bool {
        let name = self.word(one.name.start);
        let scope = one.name.start.checked_sub(2).filter(|at| *at >= one.from);
        match scope {
            Some(scope) if self.is_name(scope) => self.word(scope) == name,
            Some(_) => false,
            None => self.innermost_type() == Some(name),
        }
    }

    /// Whether something that names a type stands before a candidate.
    fn is_typed(&self, one: &Candidate, all: &[Candidate], start: usize) -> bool {
        let mut at = start;
        while at < one.from {
            let macro_call = all
                .iter()
                .find(|other| other.name.start == at && other.from != one.from);
            if let Some(call) = macro_call {
                at = call.parameters.1 + 1;
            } else if is_attribute(self.word(at)) && self.is_mark(at + 1, b'(') {
                at = self.after(at + 1);
            } else if self.is_name(at) && !is_specifier(self.word(at)) {
                return true;
            } else {
                at += 1;
            }
        }
        false
    }

    fn is_capital(&self, name: &Range<usize>) -> bool {
        !self.word(name.start).iter().any(u8::is_ascii_lowercase)
    }

    /// Whether a word cannot be the name of something.
    pub(super) fn is_no_name(&self, at: usize) -> bool {
        let word = self.word(at);
        is_reserved(word, self.is_cpp)
            || is_specifier(word)
            || is_builtin(word)
            || is_attribute(word)
            || self.is_cpp && matches!(word, b"final" | b"override")
    }

    /// Takes out of a head what the grammar has no place for: macros before the
    /// name, around it, and behind the parameters.
    pub(super) fn make_plain(&mut self, one: &Candidate, tokens: Range<usize>) {
        for at in &one.around {
            self.take_out(*at..*at + 1);
        }
        if one.from > tokens.start || one.around.is_empty() {
            self.plain_type(one, tokens.start);
        } else if one.around.first() == Some(&tokens.start) && !self.is_typeless(one) {
            self.write_type(tokens.start);
        }
        let last = one.around.iter().copied().max().unwrap_or_default();
        self.plain_end(one.parameters.1.max(last) + 1..tokens.end);
    }

    /// Whether a name with parentheses is a type and not what is declared:
    /// `STACK_OF(X) name`, or a macro around the name of an array.
    pub(super) fn is_type_macro(&self, one: &Candidate, head: &Range<usize>) -> bool {
        let after = one.parameters.1 + 1;
        let untyped = !one.is_special
            && one.around.is_empty()
            && !self.is_typed(one, &[], head.start)
            && (self.is_name(after) || self.is_mark(after, b'*'));
        untyped && after < head.end || self.is_mark(after, b'[') || after == head.end && self.is_value(after) && self.has_one_name(one)
    }

    fn is_value(&self, at: usize) -> bool {
        self.is_mark(at, b'=')
    }

    fn has_one_name(&self, one: &Candidate) -> bool {
        let (open, close) = one.parameters;
        open + 2 == close && self.is_name(open + 1)
    }

    /// Whether no type stands before a function of this name.
    fn is_typeless(&self, one: &Candidate) -> bool {
        let next = self.word(one.name.start + 1);
        let converts = self.word(one.name.start) == b"operator"
            && !matches!(next, b"" | b"new" | b"delete");
        converts || self.is_mark(one.name.start, b'~') || self.is_constructor(one)
    }

    /// Leaves one type before the name of a function.
    pub(super) fn plain_type(&mut self, one: &Candidate, start: usize) {
        self.leave_one_type(start..one.from, self.is_typeless(one));
    }

    /// Leaves one type of several words that could name one.
    fn leave_one_type(&mut self, tokens: Range<usize>, is_typeless: bool) {
        let units = self.units(tokens);
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
            let lower = name.clone().find(|unit| !self.is_capital(&unit.tokens));
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
                    if self.is_plain_type(inside.clone()) {
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
            let next = self.token(end).map(|token| token.kind);
            let is_call = self.is_mark(end, b'(') && end > head.start && self.is_name(end - 1);
            if is_call && !self.is_pointer(end) {
                end = self.after(end);
            } else if matches!(next, Some(Kind::Mark(b'[' | b'=' | b',' | b':' | b'('))) {
                break;
            } else {
                end += 1;
            }
        }
        let end = end.min(head.end);
        if self.is_mark(end, b'(') {
            if self.is_pointer(end) {
                self.leave_one_type(head.start..end, false);
            }
            return;
        }
        let units = self.units(head.start..end);
        let [before @ .., one, other] = units.as_slice() else {
            return;
        };
        let last = other.tokens.clone();
        if other.kind == UnitKind::Call && last.len() == 4 && self.is_name(last.start + 2) {
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
            && self.is_capital(&other.tokens)
            && !self.is_capital(&one.tokens)
            && one.tokens.end == other.tokens.start;
        let name = if is_marked { &one.tokens } else { &other.tokens };
        let (from, last) = (name.start, name.end);
        if is_marked {
            self.take_out(last..end);
        }
        self.leave_one_type(head.start..from, false);
    }

    /// Takes macros out of what follows the body of a type: `} PACKED name;`.
    pub(super) fn make_tail_plain(&mut self, tail: Range<usize>) {
        let ends = |at: &usize| {
            let next = self.token(*at).map(|token| token.kind);
            let is_end = matches!(next, Some(Kind::Mark(b'[' | b'=' | b',' | b'*' | b'&')));
            is_end || *at == tail.end
        };
        let end = (tail.start..=tail.end).find(ends).unwrap_or(tail.end);
        let units = self.units(tail.start..end);
        let Some(name) = units.iter().rposition(|unit| unit.kind == UnitKind::Name) else {
            return;
        };
        let is_capital = |unit: &Unit| self.is_capital(&unit.tokens);
        // `} name PACKED;`
        let first = units.first().filter(|unit| unit.kind == UnitKind::Name);
        let is_first = first.is_some_and(|first| !is_capital(first)) && units.get(name).is_some_and(is_capital);
        let kept = if is_first { 0 } else { name };
        for (at, unit) in units.iter().enumerate() {
            if at != kept {
                self.take_out(unit.tokens.clone());
            }
        }
    }

    /// Whether tokens are a type that needs nothing else: `void`, `const char *`.
    fn is_plain_type(&self, tokens: Range<usize>) -> bool {
        let units = self.units(tokens.clone());
        let count = |kind| units.iter().filter(|unit| unit.kind == kind).count();
        let types = count(UnitKind::Name) + count(UnitKind::Builtin).min(1);
        let mut marks = tokens.filter(|at| !self.is_name(*at));
        marks.all(|at| self.is_mark(at, b'*')) && types == 1 && count(UnitKind::Call) == 0
    }

    /// What could name a type, piece by piece.
    fn units(&self, tokens: Range<usize>) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut at = tokens.start;
        while at < tokens.end {
            if !self.is_name(at) {
                at = if self.is_mark(at, b'(') || self.is_mark(at, b'[') {
                    self.after(at)
                } else {
                    at + 1
                };
                continue;
            }
            let word = self.word(at);
            let (kind, end) = if is_class_key(word) {
                (UnitKind::Builtin, self.after_qualified(at + 1, tokens.end))
            } else if is_builtin(word) || is_attribute(word) && matches!(word, b"decltype" | b"typeof" | b"__typeof__") {
                let end = if self.is_mark(at + 1, b'(') { self.after(at + 1) } else { at + 1 };
                (UnitKind::Builtin, end)
            } else if is_attribute(word) {
                let end = if self.is_mark(at + 1, b'(') { self.after(at + 1) } else { at + 1 };
                at = end;
                continue;
            } else if is_specifier(word) || matches!(word, b"typename" | b"template") {
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
            if !self.token(at).is_some_and(|one| one.kind == Kind::Scope) {
                return at;
            }
            at += 1;
        }
        at
    }

    /// Takes macros out of what follows the parameters.
    fn plain_end(&mut self, tokens: Range<usize>) {
        let mut at = tokens.start;
        while at < tokens.end {
            let Some(kind) = self.token(at).map(|token| token.kind) else {
                return;
            };
            if matches!(kind, Kind::Arrow | Kind::Mark(b':' | b'=')) {
                return;
            }
            let has_group = self.is_mark(at + 1, b'(');
            let end = if has_group { self.after(at + 1) } else { at + 1 };
            if kind == Kind::Name && !(self.is_cpp && is_trailing(self.word(at))) {
                self.take_out(at..end.min(tokens.end));
            }
            at = if kind == Kind::Name { end } else { self.after_any(at) };
        }
    }

    fn after_any(&self, at: usize) -> usize {
        match self.token(at).map(|token: &Token| token.kind) {
            Some(Kind::Mark(b'(' | b'[' | b'{')) => self.after(at),
            _ => at + 1,
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
    /// A name.
    Name,
    /// A macro with arguments.
    Call,
}
