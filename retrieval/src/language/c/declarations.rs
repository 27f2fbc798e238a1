//! Declarations of C and C++ by their tokens: where each function starts and
//! ends, and which text the grammar has no place for.
//!
//! A reader finds a function in `LOCAL(int) name(a, b) int a; /* .. */ {` by the
//! brackets and the order of words; so does this scan. It looks at what stands in
//! files, namespaces and classes, never into a body.

use super::brackets::Code;
use super::keywords::CLASS_KEY;
use super::tokens::Kind;
use crate::symbol::SymbolKind;
use std::collections::BTreeMap;
use std::ops::Range;

/// A function or a type with its body. Lines count from 1, ranges are bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// The kind of a type; of a function the scope decides it.
    pub(crate) kind: Option<SymbolKind>,
    pub(crate) name: Range<usize>,
    /// True when the name has several tokens (`operator ==`).
    pub(crate) is_composed: bool,
    /// True when a macro makes the name: what the compiler sees has another.
    pub(crate) is_made: bool,
    /// The qualifier before the name of a function, as in `A::` of `A::b`.
    pub(crate) scope: Vec<Range<usize>>,
    /// The namespaces and classes around it.
    pub(crate) around: Vec<Range<usize>>,
    pub(crate) line: u32,
    pub(crate) name_line: u32,
    pub(crate) body_line: u32,
    pub(crate) end_line: u32,
    /// The parameters of a function.
    pub(crate) parameters: Range<usize>,
    /// The body, braces included.
    pub(crate) body: Range<usize>,
}

/// Findings of a scan.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// By where their bodies begin.
    pub(super) functions: BTreeMap<usize, Head>,
    /// By where their names begin.
    pub(super) types: BTreeMap<usize, Head>,
    /// Text that the grammar has no place for.
    pub(super) taken_out: Vec<Range<usize>>,
    /// Where a type has to be written in place of what was taken out.
    pub(super) written: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct OpenScope {
    pub(super) close: usize,
    /// The kind of a namespace or type; nothing for `extern "C" {`.
    kind: Option<SymbolKind>,
    /// The tokens of its name.
    name: Range<usize>,
}

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
    pub(super) around: Vec<usize>,
    /// True when it is an operator or a destructor.
    pub(super) is_special: bool,
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
    pub(super) code: &'t Code<'t>,
    pub(super) scopes: Vec<OpenScope>,
    old_style: Option<OldStyle>,
    /// True when the declaration began with the body of a type.
    after_type: bool,
    pub(super) found: Outline,
}

/// Finds the functions among tokens whose conditionals are resolved.
pub(super) fn scan(code: &Code<'_>) -> Outline {
    let mut scanner = Scanner {
        code,
        scopes: Vec::new(),
        old_style: None,
        after_type: false,
        found: Outline::default(),
    };
    scanner.run();
    scanner.found
}

impl Code<'_> {
    pub(super) fn bytes(&self, tokens: &Range<usize>) -> Range<usize> {
        let first = self.token(tokens.start);
        let last = tokens.end.checked_sub(1).and_then(|last| self.token(last));
        match (first, last) {
            (Some(first), Some(last)) if !tokens.is_empty() => {
                first.start as usize..last.end as usize
            }
            _ => 0..0,
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
                    let line = |at: usize| self.line(at);
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

    /// Returns whether a brace after a head opens the body, and is no initializer of a
    /// member (`A() : x{1} {}`).
    fn is_body(&self, name: &Candidate, open: usize) -> bool {
        let colon = (name.parameters.1 + 1..open).find(|at| self.is_mark(*at, b':'));
        let before = open.saturating_sub(1);
        colon.is_none_or(|colon| {
            colon < before
                && (self.is_mark(before, b')')
                    || self.is_mark(before, b'}')
                    || self.word(before) == b"try")
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

    /// The names before a qualified name, template arguments left out.
    fn scope_of(&self, name: &Candidate) -> Vec<Range<usize>> {
        let mut scope = Vec::new();
        let mut at = name.from;
        while at < name.name.start {
            let is_template = self.is_mark(at + 1, b'<');
            if self.is_name(at) && (is_template || self.is_scope(at + 1)) {
                scope.push(self.bytes(&(at..at + 1)));
            }
            at += 1;
            if is_template {
                at = self.after_angles(at).unwrap_or(at);
            }
        }
        scope
    }
}

impl Scanner<'_> {
    /// The name of the class around, when a class is.
    pub(super) fn innermost_type(&self) -> Option<&[u8]> {
        let around = self.scopes.last();
        let class = around.filter(|one| one.kind.is_some_and(SymbolKind::is_type))?;
        Some(self.code.word(class.name.end.checked_sub(1)?))
    }

    /// Takes tokens out of the text.
    pub(super) fn take_out(&mut self, tokens: Range<usize>) {
        let range = self.code.bytes(&tokens);
        if !range.is_empty() {
            self.found.taken_out.push(range);
        }
    }

    /// Writes a type in place of the token at a place.
    pub(super) fn write_type(&mut self, at: usize) {
        if let Some(token) = self.code.token(at) {
            let offset = token.start as usize;
            self.found.written.push(offset);
        }
    }

    fn run(&mut self) {
        let (mut at, mut start) = (0, 0);
        while let Some(token) = self.code.token(at).copied() {
            if self.scopes.last().is_some_and(|scope| scope.close <= at) {
                self.leave(start..at);
                start = at + 1;
                at = start;
                continue;
            }
            match token.kind {
                Kind::Mark(b'(' | b'[') => at = self.code.after(at),
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
                Kind::Mark(b'=') if self.code.begins_initializer(start, at) => {
                    at = self.code.initializer_end(at + 1);
                    let next = self.code.kind(at);
                    if !matches!(next, None | Some(Kind::Mark(b';' | b'}'))) {
                        // `ITEMS(a) = { .. } ITEMS_END(a)`: macros put in the semicolon.
                        self.take_out(start..at);
                        start = at;
                    }
                }
                Kind::Mark(b':') if self.access(start, at) => {
                    at += 1;
                    start = at;
                }
                Kind::Name
                    if self.code.word(at) == b"template" && self.code.is_mark(at + 1, b'<') =>
                {
                    at = self.code.after_angles(at + 1).unwrap_or(at + 1);
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
        self.after_type = scope.kind.is_some_and(SymbolKind::is_type);
        if scope.kind.is_none() {
            self.take_out(scope.close..scope.close + 1);
        }
    }

    /// Returns whether a colon ends `public:` or its like; Qt's own words and macros
    /// before it are taken out.
    fn access(&mut self, start: usize, colon: usize) -> bool {
        let is_access =
            |at: &usize| matches!(self.code.word(*at), b"public" | b"private" | b"protected");
        let is_signals = |at: &usize| matches!(self.code.word(*at), b"signals" | b"Q_SIGNALS");
        let in_type = self.innermost_type().is_some();
        if !in_type || start >= colon || self.code.is_word(start, CLASS_KEY) {
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

    /// Returns what an opening brace begins: gives the place to go on at, and whether a
    /// declaration begins there.
    fn brace(&mut self, start: usize, open: usize) -> (usize, bool) {
        self.after_type = false;
        if let Some(old) = self.old_style.take() {
            let head = self.without_loose(start..open);
            self.leave_one_type(head.start..old.name.from, self.is_typeless(&old.name));
            return (self.function(&old.name, start..open), true);
        }
        let head = self.without_loose(self.code.after_templates(start)..open);
        let first = if head.start == self.code.after_templates(start) {
            start
        } else {
            head.start
        };
        let scope = self.scope_head(head.clone(), first);
        if let Some((Some(SymbolKind::Enum), _)) = scope {
            self.after_type = true;
            return (self.code.after(open), true);
        }
        if let Some((kind, name)) = scope {
            let close = self.code.close(open).unwrap_or(self.code.tokens.len());
            self.scopes.push(OpenScope { close, kind, name });
            return (open + 1, true);
        }
        let name = self.function_name(head.clone());
        if let Some(name) = name.filter(|name| self.code.is_body(name, open)) {
            self.make_plain(&name, head.clone());
            return (self.function(&name, first..open), true);
        }
        let after = self.code.after(open);
        let goes_on = [b';', b',', b'{']
            .iter()
            .any(|mark| self.code.is_mark(after, *mark));
        // `A() : x{1}` goes on; a block that belongs to a macro has ended.
        let ended = self.code.line(after) > self.code.line(after - 1)
            && !goes_on
            && !(start..open).any(|at| self.code.is_mark(at, b':'));
        (after, ended)
    }

    /// Takes out macro calls that stand on lines of their own before a
    /// declaration which is whole without them.
    fn without_loose(&mut self, tokens: Range<usize>) -> Range<usize> {
        let line = |at: usize| self.code.line(at);
        let mut whole = None;
        let mut at = tokens.start;
        while self.code.may_name(at) {
            let next = self.code.after_call(at);
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
        self.code.after_templates(start)..tokens.end
    }

    /// Returns whether a declaration that begins at a place names its type.
    fn is_whole(&self, at: usize, end: usize) -> bool {
        let next = |mark: u8| self.code.is_mark(at + 1, mark);
        if self.code.word(at) == b"namespace" || self.code.is_word(at, CLASS_KEY) {
            return true;
        }
        let words = self.code.is_name(at)
            && (self.code.is_no_name(at)
                || self.code.is_name(at + 1)
                || next(b'*')
                || next(b'&')
                || next(b'<'));
        let special = self.code.is_mark(at, b'~') || self.code.is_mark(at, b'[');
        at + 1 < end && (words || special || self.innermost_type() == Some(self.code.word(at)))
    }

    /// The names of the scopes that are open.
    pub(super) fn around(&self) -> Vec<Range<usize>> {
        let names = self.scopes.iter().map(|scope| self.code.bytes(&scope.name));
        names.filter(|range| !range.is_empty()).collect()
    }

    /// Returns whether a semicolon ends the declaration of a parameter of a function in
    /// the style before C89: one of the names between its parentheses is declared.
    fn is_old_style(&mut self, start: usize, semicolon: usize) -> bool {
        if self.code.is_cpp {
            return false;
        }
        let old = self.old_style.take().or_else(|| {
            let name = self.function_name(start..semicolon)?;
            let (open, close) = name.parameters;
            let listed =
                (open + 1..close).all(|at| self.code.is_mark(at, b',') || self.code.may_name(at));
            let end = name.parameters.1 + 1;
            (listed && open + 1 < close).then_some(OldStyle { name, end })
        });
        let Some(old) = old else { return false };
        let (open, close) = old.name.parameters;
        let declares = self.code.is_name(old.end)
            && (old.end + 1..semicolon).any(|at| {
                self.code.is_name(at)
                    && (open + 1..close).any(|other| self.code.word(other) == self.code.word(at))
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
        let head = self.without_loose(self.code.after_templates(tokens.start)..tokens.end);
        let mut places = head.clone();
        let value = places.find(|at| {
            self.code.is_mark(*at, b'=') && self.code.begins_initializer(head.start, *at)
        });
        let value = value.unwrap_or(head.end);
        self.make_value_plain(value..head.end);
        let head = head.start..value;
        let is_other = matches!(
            self.code.word(head.start),
            b"using" | b"friend" | b"template" | b"namespace"
        );
        if is_other {
            return;
        }
        // Only a macro stands before the asterisk of a pointer to a function.
        let is_call = |at: &usize| self.code.is_mark(*at, b'(') && self.code.may_name(at + 1);
        let calls: Vec<usize> = head.clone().filter(is_call).collect();
        for open in calls {
            if self.code.is_pointer(open) {
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
        while self.code.word(close + 1) == b"catch" {
            let handler = self.code.after(close + 2);
            close = self.code.partner(handler).unwrap_or(handler).max(close + 1);
        }
        let at = |place: usize| self.code.token(place).copied();
        let (Some(first), Some(brace)) = (at(head.start), at(open)) else {
            return open + 1;
        };
        let last = at(close).unwrap_or(brace);
        let name_token = at(name.name.start).unwrap_or(first);
        let scope = self.code.scope_of(name);
        let (from, to) = name.parameters;
        let head = Head {
            kind: None,
            name: self.code.bytes(&name.name),
            is_composed: self.code.word(name.name.start) == b"operator",
            is_made: name.around.contains(&(name.name.end)),
            scope,
            around: self.around(),
            line: first.line,
            name_line: name_token.line,
            body_line: brace.line,
            end_line: last.line,
            parameters: self.code.bytes(&(from..to + 1)),
            body: brace.start as usize..last.end as usize,
        };
        self.found.functions.insert(brace.start as usize, head);
        close + 1
    }
}
