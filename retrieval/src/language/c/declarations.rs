//! Declarations of C and C++ by their tokens: where each function starts and
//! ends, and which text the grammar has no place for.
//!
//! A reader finds a function in `LOCAL(int) name(a, b) int a; /* .. */ {` by the
//! brackets and the order of words; so does this scan. It looks at what stands in
//! files, namespaces and classes, never into a body.

use super::function_head::{Candidate, is_class_key};
use super::tokens::{Kind, Token};
use std::ops::Range;

/// How many tokens template arguments may have.
const ANGLES: usize = 2_000;

/// A function with its body. Lines count from 1, ranges are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FunctionHead {
    pub(crate) name: Range<usize>,
    /// Whether the name has several tokens (`operator ==`).
    pub(crate) is_composed: bool,
    /// What is written before the name, as in `A::` of `A::b`.
    pub(crate) scope: Vec<Range<usize>>,
    /// The namespaces and classes around it.
    pub(crate) around: Vec<Range<usize>>,
    pub(crate) line: u32,
    pub(crate) name_line: u32,
    pub(crate) body_line: u32,
    pub(crate) end_line: u32,
    pub(crate) parameters: Range<usize>,
    /// The body, braces included.
    pub(crate) body: Range<usize>,
}

/// A type with its body. Lines count from 1, ranges are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypeHead {
    pub(crate) name: Range<usize>,
    /// `struct`, `union`, `class` or `enum`.
    pub(crate) key: Range<usize>,
    /// The namespaces and classes around it.
    pub(crate) around: Vec<Range<usize>>,
    pub(crate) line: u32,
    pub(crate) name_line: u32,
    pub(crate) body_line: u32,
    pub(crate) end_line: u32,
}

/// What a scan found.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) functions: Vec<FunctionHead>,
    pub(super) types: Vec<TypeHead>,
    /// Text that the grammar has no place for.
    pub(super) taken_out: Vec<Range<usize>>,
    /// Where a type has to be written in place of what was taken out.
    pub(super) written: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScopeKind {
    Namespace,
    Type,
    /// `extern "C" {`
    Linkage,
}

#[derive(Debug)]
struct OpenScope {
    close: usize,
    kind: ScopeKind,
    /// The tokens of its name.
    name: Range<usize>,
}

/// A function written as before C89, whose parameters are being declared.
#[derive(Debug)]
struct OldStyle {
    name: Candidate,
    /// The place after the last declaration.
    end: usize,
}

/// A walk over the declarations of a file.
pub(super) struct Scanner<'t> {
    text: &'t [u8],
    tokens: &'t [Token],
    pub(super) is_cpp: bool,
    partners: Vec<usize>,
    scopes: Vec<OpenScope>,
    old_style: Option<OldStyle>,
    /// Whether the declaration began with the body of a type.
    after_type: bool,
    found: Outline,
}

/// Finds the functions among tokens whose conditionals are resolved.
pub(super) fn scan(text: &[u8], tokens: &[Token], is_cpp: bool) -> Outline {
    let mut scanner = Scanner {
        text,
        tokens,
        is_cpp,
        partners: partners(tokens),
        scopes: Vec::new(),
        old_style: None,
        after_type: false,
        found: Outline::default(),
    };
    scanner.run();
    scanner.found
}

/// For each bracket the place of the other one; `usize::MAX` for all else.
fn partners(tokens: &[Token]) -> Vec<usize> {
    let mut partners = vec![usize::MAX; tokens.len()];
    let mut open: Vec<(usize, u8)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let opened = match token.kind {
            Kind::Mark(mark @ (b'(' | b'[' | b'{')) => {
                open.push((at, mark));
                continue;
            }
            Kind::Mark(b')') => b'(',
            Kind::Mark(b']') => b'[',
            Kind::Mark(b'}') => b'{',
            _ => continue,
        };
        let found = if opened == b'{' {
            open.iter().rposition(|one| one.1 == opened)
        } else {
            let top = open.len().checked_sub(1);
            top.filter(|top| open.get(*top).is_some_and(|one| one.1 == opened))
        };
        let Some(found) = found else { continue };
        open.truncate(found + 1);
        if let Some((other, _)) = open.pop() {
            if let Some(slot) = partners.get_mut(other) {
                *slot = at;
            }
            if let Some(slot) = partners.get_mut(at) {
                *slot = other;
            }
        }
    }
    partners
}

impl Scanner<'_> {
    pub(super) fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    pub(super) fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.token(at).is_some_and(|token| token.is(mark))
    }

    pub(super) fn is_name(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.kind == Kind::Name)
    }

    /// The text of a name; nothing for other tokens.
    pub(super) fn word(&self, at: usize) -> &[u8] {
        let name = self.token(at).filter(|token| token.kind == Kind::Name);
        name.and_then(|token| self.text.get(token.range()))
            .unwrap_or_default()
    }

    /// The other bracket.
    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        let partner = self.partners.get(at).copied();
        partner.filter(|partner| *partner != usize::MAX)
    }

    /// The place after a bracketed group.
    pub(super) fn after(&self, open: usize) -> usize {
        self.partner(open).filter(|close| *close > open).unwrap_or(open) + 1
    }

    /// The place after `<...>`.
    pub(super) fn after_angles(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        let mut at = open;
        while at < open + ANGLES {
            match self.token(at)?.kind {
                Kind::Mark(b'<') => depth += 1,
                Kind::Mark(b'>') => {
                    depth -= 1;
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
                    return at.checked_sub(1).filter(|at| *at >= floor && self.is_name(*at));
                }
            }
        }
        None
    }

    /// The name of the class around, when a class is.
    pub(super) fn innermost_type(&self) -> Option<&[u8]> {
        let scope = self.scopes.last().filter(|one| one.kind == ScopeKind::Type)?;
        scope.name.end.checked_sub(1).map(|last| self.word(last))
    }

    /// Takes tokens out of the text.
    pub(super) fn take_out(&mut self, tokens: Range<usize>) {
        let range = self.bytes(&tokens);
        if !range.is_empty() {
            self.found.taken_out.push(range);
        }
    }

    /// Writes a type in place of the token at a place.
    pub(super) fn write_type(&mut self, at: usize) {
        if let Some(token) = self.token(at) {
            let offset = token.start as usize;
            self.found.written.push(offset);
        }
    }

    fn bytes(&self, tokens: &Range<usize>) -> Range<usize> {
        let first = self.token(tokens.start);
        let last = tokens.end.checked_sub(1).and_then(|last| self.token(last));
        match (first, last) {
            (Some(first), Some(last)) if !tokens.is_empty() => {
                first.start as usize..last.end as usize
            }
            _ => 0..0,
        }
    }

    fn run(&mut self) {
        let (mut at, mut start) = (0, 0);
        while let Some(token) = self.token(at).copied() {
            if self.scopes.last().is_some_and(|scope| scope.close <= at) {
                self.leave(start..at);
                start = at + 1;
                at = start;
                continue;
            }
            match token.kind {
                Kind::Mark(b'(' | b'[') => at = self.after(at),
                Kind::Mark(b'{') => {
                    let begins_anew;
                    (at, begins_anew) = self.brace(start, at);
                    if begins_anew {
                        start = at;
                    }
                }
                Kind::Mark(b'}') => {
                    self.take_out(at..at + 1);
                    at += 1;
                    start = at;
                }
                Kind::Mark(b';') => {
                    at += 1;
                    if !self.is_old_style(start, at - 1) {
                        self.declaration(start..at - 1);
                        start = at;
                    }
                }
                Kind::Mark(b'=') if self.begins_initializer(start, at) => {
                    at = self.initializer_end(at + 1);
                    let ended = self.token(at).is_none_or(|token| token.is(b';') || token.is(b'}'));
                    if !ended {
                        // `ITEMS(a) = { .. } ITEMS_END(a)`: macros put in the semicolon.
                        self.take_out(start..at);
                        start = at;
                    }
                }
                Kind::Mark(b':') if self.access(start, at) => {
                    at += 1;
                    start = at;
                }
                Kind::Name if self.word(at) == b"template" && self.is_mark(at + 1, b'<') => {
                    at = self.after_angles(at + 1).unwrap_or(at + 1);
                }
                _ => at += 1,
            }
        }
    }

    /// Ends the innermost scope; what stands before its brace is no declaration.
    fn leave(&mut self, left: Range<usize>) {
        let Some(scope) = self.scopes.pop() else {
            return;
        };
        self.take_out(left);
        self.old_style = None;
        self.after_type = scope.kind == ScopeKind::Type;
        if scope.kind == ScopeKind::Linkage {
            self.take_out(scope.close..scope.close + 1);
        }
    }

    fn begins_initializer(&self, start: usize, at: usize) -> bool {
        let from = at.saturating_sub(3).max(start);
        !(from..at).any(|before| self.word(before) == b"operator")
    }

    /// The place of the semicolon, or of the brace of the scope, after a value.
    fn initializer_end(&self, from: usize) -> usize {
        let mut at = from;
        if self.is_mark(at, b'{') {
            at = self.after(at);
            if self.is_name(at) {
                return at;
            }
        }
        while let Some(token) = self.token(at) {
            match token.kind {
                Kind::Mark(b';' | b'}') => return at,
                Kind::Mark(b'(') if self.is_name(at.wrapping_sub(1)) => {
                    at = self.after(at);
                    // No name follows a value: a macro has put in the semicolon.
                    let line = |at: usize| self.token(at).map_or(0, |token| token.line);
                    if self.is_name(at) && line(at) > line(at - 1) {
                        return at;
                    }
                }
                Kind::Mark(b'(' | b'[' | b'{') => at = self.after(at),
                _ => at += 1,
            }
        }
        at
    }

    /// Takes out of a value what C has no place for: braces among the arguments
    /// of a macro.
    fn make_value_plain(&mut self, value: Range<usize>) {
        let mut at = value.start;
        while at < value.end {
            let close = self.partner(at).filter(|close| *close > at);
            let is_call = self.is_mark(at, b'(') && self.is_name(at.wrapping_sub(1));
            let Some(close) = close.filter(|_| is_call && !self.is_cpp) else {
                at += 1;
                continue;
            };
            let holds_braces = (at + 1..close).any(|inner| {
                self.is_mark(inner, b'{')
                    && (self.is_mark(inner - 1, b'(') || self.is_mark(inner - 1, b','))
            });
            if holds_braces {
                self.take_out(at + 1..close);
            }
            at = close + 1;
        }
    }

    /// Whether a colon ends `public:` or its like; Qt's own words and macros
    /// before it are taken out.
    fn access(&mut self, start: usize, colon: usize) -> bool {
        let is_access = |at: &usize| matches!(self.word(*at), b"public" | b"private" | b"protected");
        let is_signals = |at: &usize| matches!(self.word(*at), b"signals" | b"Q_SIGNALS");
        let in_type = self.scopes.last().is_some_and(|one| one.kind == ScopeKind::Type);
        if !in_type || start >= colon || is_class_key(self.word(start)) {
            return false;
        }
        let keyword = (start..colon).rev().take(2).find(is_access);
        if let Some(keyword) = keyword {
            self.take_out(start..keyword);
            self.take_out(keyword + 1..colon);
            return true;
        }
        if (start..colon).next_back().as_ref().is_some_and(is_signals) {
            self.take_out(start..colon + 1);
            return true;
        }
        false
    }

    /// What an opening brace begins: gives the place to go on at, and whether a
    /// declaration begins there.
    fn brace(&mut self, start: usize, open: usize) -> (usize, bool) {
        let close = self.partner(open).filter(|close| *close > open);
        self.after_type = false;
        if let Some(old) = self.old_style.take() {
            let head = self.without_loose(start..open);
            self.plain_type(&old.name, head.start);
            return (self.function(&old.name, start..open), true);
        }
        let head = self.without_loose(self.after_templates(start)..open);
        let first = if head.start == self.after_templates(start) { start } else { head.start };
        self.add_type(first..open, head.start);
        if let Some((kind, name)) = self.scope_head(head.clone()) {
            let close = close.unwrap_or(self.tokens.len());
            self.scopes.push(OpenScope { close, kind, name });
            return (open + 1, true);
        }
        if self.is_enum(head.clone()) {
            self.after_type = true;
            return (self.after(open), true);
        }
        let name = self.function_name(head.clone());
        if let Some(name) = name.filter(|name| self.is_body(name, open)) {
            self.make_plain(&name, head.clone());
            return (self.function(&name, first..open), true);
        }
        let after = self.after(open);
        let next = self.token(after).map_or(0, |token| token.line);
        let last = self.token(after - 1).map_or(0, |token| token.line);
        let ended = next > last && !self.is_mark(after, b';') && !self.is_mark(after, b',');
        // `A() : x{1}` goes on; a block that belongs to a macro has ended.
        (after, ended && !self.is_mark(after, b'{') && !(start..open).any(|at| self.is_mark(at, b':')))
    }

    /// Whether a brace after a head opens the body, and is no initializer of a
    /// member (`A() : x{1} {}`).
    fn is_body(&self, name: &Candidate, open: usize) -> bool {
        let colon = (name.parameters.1 + 1..open).find(|at| self.is_mark(*at, b':'));
        let before = open.saturating_sub(1);
        colon.is_none_or(|colon| {
            colon < before
                && (self.is_mark(before, b')') || self.is_mark(before, b'}') || self.word(before) == b"try")
        })
    }

    /// The place after `template <...>`, once or several times.
    fn after_templates(&self, start: usize) -> usize {
        let mut at = start;
        while self.word(at) == b"template" {
            match self.after_angles(at + 1) {
                Some(after) => at = after,
                None => break,
            }
        }
        at
    }

    /// Takes out macro calls that stand on lines of their own before a
    /// declaration which is whole without them.
    fn without_loose(&mut self, tokens: Range<usize>) -> Range<usize> {
        let line = |at: usize| self.token(at).map_or(0, |token| token.line);
        let mut whole = None;
        let mut at = tokens.start;
        while self.is_name(at) && !self.is_no_name(at) {
            let has_group = self.is_mark(at + 1, b'(');
            let next = if has_group { self.after(at + 1) } else { at + 1 };
            if next >= tokens.end || line(next) == line(next - 1) {
                break;
            }
            if self.is_whole(next, tokens.end) {
                whole = Some(next);
            }
            at = next;
        }
        let Some(start) = whole else { return tokens };
        self.take_out(tokens.start..start);
        self.after_templates(start)..tokens.end
    }

    /// Whether a declaration that begins at a place names its type.
    fn is_whole(&self, at: usize, end: usize) -> bool {
        let next = |mark: u8| self.is_mark(at + 1, mark);
        if self.word(at) == b"namespace" || is_class_key(self.word(at)) {
            return true;
        }
        let words = self.is_name(at)
            && (self.is_no_name(at)
                || self.is_name(at + 1)
                || next(b'*')
                || next(b'&')
                || next(b'<'));
        let special = self.is_mark(at, b'~') || self.is_mark(at, b'[');
        at + 1 < end && (words || special || self.innermost_type() == Some(self.word(at)))
    }

    /// A namespace, a linkage or a type: its kind and name.
    fn scope_head(&mut self, head: Range<usize>) -> Option<(ScopeKind, Range<usize>)> {
        let first = self.word(head.start);
        if first == b"extern" && head.len() == 2 && !self.is_name(head.start + 1) {
            self.take_out(head.start..head.end + 1);
            return Some((ScopeKind::Linkage, 0..0));
        }
        let from = head.start + usize::from(first == b"inline");
        if self.word(from) == b"namespace" {
            return Some((ScopeKind::Namespace, self.namespace_name(from + 1..head.end)));
        }
        let key = self.class_key(head.clone()).filter(|key| self.word(*key) != b"enum")?;
        let name = self.type_name(key + 1..head.end)?;
        self.take_out_names(head.start..key);
        let from = self.qualified_start(name.start, key + 1);
        if !name.is_empty() {
            self.take_out(key + 1..from);
        }
        Some((ScopeKind::Type, from.min(name.start)..name.end))
    }

    /// Takes macros out of what stands before `class`.
    fn take_out_names(&mut self, tokens: Range<usize>) {
        let names: Vec<usize> = tokens.filter(|at| self.is_name(*at) && !self.is_no_name(*at)).collect();
        for at in names {
            let end = if self.is_mark(at + 1, b'(') { self.after(at + 1) } else { at + 1 };
            self.take_out(at..end);
        }
    }

    /// Adds a type with a name and a body; `from` is where its head begins
    /// without templates.
    fn add_type(&mut self, head: Range<usize>, from: usize) {
        let open = head.end;
        let Some(key) = self.class_key(from..open) else { return };
        let is_scoped_enum = usize::from(is_class_key(self.word(key + 1)));
        let name = self.type_name(key + 1 + is_scoped_enum..open);
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return;
        };
        let close = self.partner(open).filter(|close| *close > open);
        let tokens = [head.start, key, name.start, open, close.unwrap_or(open)];
        let [Some(first), Some(key), Some(name), Some(brace), Some(last)] =
            tokens.map(|at| self.token(at).copied())
        else {
            return;
        };
        self.found.types.push(TypeHead {
            name: name.range(),
            key: key.range(),
            around: self.around(),
            line: first.line,
            name_line: name.line,
            body_line: brace.line,
            end_line: last.line,
        });
    }

    /// The names of the scopes that are open.
    fn around(&self) -> Vec<Range<usize>> {
        let names = self.scopes.iter().map(|scope| self.bytes(&scope.name));
        names.filter(|range| !range.is_empty()).collect()
    }

    fn is_enum(&mut self, head: Range<usize>) -> bool {
        let key = self.class_key(head.clone());
        let Some(key) = key.filter(|key| self.word(*key) == b"enum") else {
            return false;
        };
        let from = key + 1 + usize::from(is_class_key(self.word(key + 1)));
        let Some(name) = self.type_name(from..head.end) else {
            return false;
        };
        self.take_out_names(head.start..key);
        if !name.is_empty() {
            self.take_out(from..self.qualified_start(name.start, from));
        }
        true
    }

    /// `struct` and its like, unless in the parameters of a function.
    fn class_key(&self, head: Range<usize>) -> Option<usize> {
        let mut at = head.start;
        while at < head.end {
            if is_class_key(self.word(at)) {
                return Some(at);
            }
            at = if self.is_mark(at, b'(') || self.is_mark(at, b'[') {
                self.after(at)
            } else {
                at + 1
            };
        }
        None
    }

    /// The name between `class` and its bases or body; empty when it has none,
    /// `None` when no type is defined.
    fn type_name(&self, tokens: Range<usize>) -> Option<Range<usize>> {
        let mut name = tokens.start..tokens.start;
        let mut at = tokens.start;
        while at < tokens.end {
            match self.token(at)?.kind {
                Kind::Mark(b':') => return Some(name),
                Kind::Mark(b'<') if !name.is_empty() => at = self.after_angles(at)?,
                Kind::Mark(b'[') => at = self.after(at),
                Kind::Scope => at += 1,
                Kind::Name if self.is_mark(at + 1, b'(') => {
                    let capital = !self.word(at).iter().any(u8::is_ascii_lowercase);
                    let attribute = self.is_no_name(at);
                    let after = self.after(at + 1);
                    let named_later = after < tokens.end && self.is_name(after);
                    if !(attribute || named_later && (name.is_empty() || capital)) {
                        return None;
                    }
                    at = after;
                }
                Kind::Name => {
                    if !matches!(self.word(at), b"final" | b"sealed") || name.is_empty() {
                        name = at..at + 1;
                    }
                    at += 1;
                }
                _ => return None,
            }
        }
        Some(name)
    }

    /// `a::b` after `namespace`; macros behind it are taken out.
    fn namespace_name(&mut self, tokens: Range<usize>) -> Range<usize> {
        let mut end = tokens.start;
        while end < tokens.end && self.is_name(end) {
            end += 1;
            if !self.token(end).is_some_and(|token| token.kind == Kind::Scope) {
                break;
            }
            end += 1;
            end += usize::from(self.word(end) == b"inline");
        }
        let end = end.min(tokens.end);
        self.take_out(end..tokens.end);
        tokens.start..end
    }

    /// Whether a semicolon ends the declaration of a parameter of a function in
    /// the style before C89: one of the names between its parentheses is declared.
    fn is_old_style(&mut self, start: usize, semicolon: usize) -> bool {
        if self.is_cpp {
            return false;
        }
        let old = self.old_style.take().or_else(|| {
            let name = self.function_name(start..semicolon)?;
            let (open, close) = name.parameters;
            let listed = (open + 1..close).all(|at| {
                self.is_mark(at, b',') || self.is_name(at) && !self.is_no_name(at)
            });
            let end = name.parameters.1 + 1;
            (listed && open + 1 < close).then_some(OldStyle { name, end })
        });
        let Some(old) = old else { return false };
        let (open, close) = old.name.parameters;
        let declares = self.is_name(old.end)
            && (old.end + 1..semicolon).any(|at| {
                self.is_name(at) && (open + 1..close).any(|other| self.word(other) == self.word(at))
            });
        if declares {
            let end = semicolon + 1;
            self.old_style = Some(OldStyle { end, ..old });
        }
        declares
    }

    /// A declaration without a body.
    fn declaration(&mut self, tokens: Range<usize>) {
        if std::mem::take(&mut self.after_type) {
            self.make_tail_plain(tokens);
            return;
        }
        let head = self.without_loose(self.after_templates(tokens.start)..tokens.end);
        let mut places = head.clone();
        let value = places.find(|at| self.is_mark(*at, b'=') && self.begins_initializer(head.start, *at));
        let value = value.unwrap_or(head.end);
        self.make_value_plain(value..head.end);
        let head = head.start..value;
        let is_other = matches!(self.word(head.start), b"using" | b"friend" | b"template" | b"namespace");
        if is_other {
            return;
        }
        // Only a macro stands before the asterisk of a pointer to a function.
        let is_call = |at: &usize| {
            self.is_mark(*at, b'(') && self.is_name(at + 1) && !self.is_no_name(at + 1)
        };
        let calls: Vec<usize> = head.clone().filter(is_call).collect();
        for open in calls {
            if self.is_pointer(open) {
                self.take_out(open + 1..open + 2);
            }
        }
        match self.function_name(head.clone()) {
            Some(name) if name.from > head.start && !self.is_type_macro(&name, &head) => {
                self.make_plain(&name, head);
            }
            Some(name) if !self.is_type_macro(&name, &head) => {}
            _ => self.make_variable_plain(head),
        }
    }

    /// Adds a function; gives the place after it.
    fn function(&mut self, name: &Candidate, head: Range<usize>) -> usize {
        let open = head.end;
        let mut close = self.body_end(head.start, open);
        while self.word(close + 1) == b"catch" {
            let handler = self.after(close + 2);
            close = self.partner(handler).unwrap_or(handler).max(close + 1);
        }
        let at = |place: usize| self.token(place).copied();
        let (Some(first), Some(brace)) = (at(head.start), at(open)) else {
            return open + 1;
        };
        let last = at(close).unwrap_or(brace);
        let name_token = at(name.name.start).unwrap_or(first);
        let scope = name.from..name.name.start;
        let scope = scope
            .filter(|at| self.is_name(*at) && self.token(at + 1).is_some_and(|next| {
                next.kind == Kind::Scope || next.is(b'<')
            }))
            .filter(|at| !self.is_in_angles(*at, name.from))
            .filter_map(|at| self.token(at).map(Token::range))
            .collect();
        let (from, to) = name.parameters;
        self.found.functions.push(FunctionHead {
            name: self.bytes(&name.name),
            is_composed: name.name.len() > 1,
            scope,
            around: self.around(),
            line: first.line,
            name_line: name_token.line,
            body_line: brace.line,
            end_line: last.line,
            parameters: self.bytes(&(from..to + 1)),
            body: brace.start as usize..last.end as usize,
        });
        close + 1
    }

    fn is_in_angles(&self, at: usize, from: usize) -> bool {
        let before = (from..at).filter(|one| self.is_mark(*one, b'<')).count();
        let closed = (from..at).filter(|one| self.is_mark(*one, b'>')).count();
        before > closed
    }

    /// Where a body ends: at its closing brace, unless macros or conditionals
    /// hide a brace; then where the layout shows it.
    fn body_end(&self, start: usize, open: usize) -> usize {
        let close = self.partner(open).filter(|close| *close > open);
        let limit = self.scopes.last().map_or(self.tokens.len(), |scope| scope.close);
        let at_margin = self.is_at_margin(start) || self.is_at_margin(open);
        if !at_margin {
            return close.unwrap_or_else(|| limit.saturating_sub(1).max(open));
        }
        let end = close.unwrap_or(self.tokens.len());
        let mut ends = (open + 1..self.tokens.len())
            .filter(|at| self.is_mark(*at, b'}') && self.is_at_margin(*at));
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
            _ => ends.next().or(close).unwrap_or(self.tokens.len() - 1),
        }
    }

    /// Whether something new begins after a brace.
    fn is_plausible_end(&self, close: usize) -> bool {
        let next = close + 1;
        self.is_at_margin(close)
            || self.token(next).is_none()
            || self.is_at_margin(next)
            || self.is_mark(next, b';')
            || self.scopes.last().is_some_and(|scope| scope.close <= next)
    }

    /// Whether a function's head begins at a place at the margin: `int f(..) {`.
    fn begins_function(&self, from: usize) -> bool {
        if !self.is_at_margin(from) || !self.is_name(from) || self.is_statement(from) {
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

    fn is_statement(&self, at: usize) -> bool {
        matches!(
            self.word(at),
            b"else" | b"while" | b"do" | b"return" | b"case" | b"default" | b"if" | b"goto" | b"for" | b"switch"
        )
    }

    fn is_at_margin(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| {
            let start = token.start as usize;
            start == 0 || self.text.get(start - 1) == Some(&b'\n')
        })
    }
}
