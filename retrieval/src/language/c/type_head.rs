//! The heads of types, enumerations and namespaces: their names, and the macros
//! among them.

use super::brackets::Code;
use super::declarations::{Head, Scanner};
use super::keywords::CLASS_KEY;
use super::tokens::Kind;
use crate::symbol::SymbolKind;
use std::ops::Range;

impl Code<'_> {
    /// `struct` and its like, unless in the parameters of a function.
    fn class_key(&self, head: Range<usize>) -> Option<usize> {
        let mut at = head.start;
        while at < head.end {
            if self.is_word(at, CLASS_KEY) {
                return Some(at);
            }
            at = self.after(at);
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
                    let capital = self.is_capital(at);
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
}

impl Scanner<'_> {
    /// A namespace, a linkage or a type with members: its kind and name. `first` is where the
    /// head begins with its templates.
    pub(super) fn scope_head(
        &mut self,
        head: Range<usize>,
        first: usize,
    ) -> Option<(Option<SymbolKind>, Range<usize>)> {
        let word = self.code.word(head.start);
        if word == b"extern" && head.len() == 2 && !self.code.is_name(head.start + 1) {
            self.take_out(head.start..head.end + 1);
            return Some((None, 0..0));
        }
        let from = head.start + usize::from(word == b"inline");
        if self.code.word(from) == b"namespace" {
            let name = self.namespace_name(from + 1..head.end);
            return Some((Some(SymbolKind::Namespace), name));
        }
        let key = self.code.class_key(head.clone())?;
        // `enum class`
        let from = key + 1 + usize::from(self.code.is_word(key + 1, CLASS_KEY));
        let name = self.code.type_name(from..head.end)?;
        let kind = match self.code.word(key) {
            b"struct" => SymbolKind::Struct,
            b"union" => SymbolKind::Union,
            b"enum" => SymbolKind::Enum,
            _ => SymbolKind::Class,
        };
        if !name.is_empty() {
            self.add_type(kind, (first, name.start, head.end));
        }
        self.take_out_names(head.start..key);
        let start = self.code.qualified_start(name.start, from);
        if !name.is_empty() {
            self.take_out(from..start);
        }
        Some((Some(kind), start.min(name.start)..name.end))
    }

    /// Takes macros out of what stands before `class`.
    fn take_out_names(&mut self, tokens: Range<usize>) {
        let names: Vec<usize> = tokens.filter(|at| self.code.may_name(*at)).collect();
        for at in names {
            self.take_out(at..self.code.after_call(at));
        }
    }

    /// Adds a type by its first token, its name and the brace of its body.
    fn add_type(&mut self, kind: SymbolKind, (first, name, open): (usize, usize, usize)) {
        let range = self.code.bytes(&(name..name + 1));
        let close = self.code.close(open).unwrap_or(open);
        let head = Head {
            kind: Some(kind),
            name: range.clone(),
            around: self.around(),
            line: self.code.line(first),
            name_line: self.code.line(name),
            body_line: self.code.line(open),
            end_line: self.code.line(close),
            ..Head::default()
        };
        self.found.types.insert(range.start, head);
    }

    /// `a::b` after `namespace`; macros behind it are taken out.
    fn namespace_name(&mut self, tokens: Range<usize>) -> Range<usize> {
        let mut end = tokens.start;
        while end < tokens.end && self.code.is_name(end) {
            end += 1;
            if !self.code.is_scope(end) {
                break;
            }
            end += 1;
            end += usize::from(self.code.word(end) == b"inline");
        }
        let end = end.min(tokens.end);
        self.take_out(end..tokens.end);
        tokens.start..end
    }
}
