//! The definitions that one language or another writes in its own way.

use crate::language::declarator::declared;
use crate::language::facts::SymbolFact;
use crate::language::spec::{Key, Role};
use crate::language::walk::{NodeContext, first_line, last_named};
use crate::language::{Extractor, between, lines};
use crate::symbol::{SymbolKind, UseKind};
use patchwright_source::Language;
use tree_sitter::Node;

impl Extractor<'_> {
    /// A variable outside functions; a function if that is its value.
    pub(super) fn variable(&mut self, place: &NodeContext<'_, '_>, key: Key) {
        if self.facts.in_function() {
            return;
        }
        let node = place.node;
        let value = self.spec.child(node, Key::Value);
        let functions = ["arrow_function", "function_expression", "function"];
        let function = value.filter(|value| functions.contains(&value.kind()));
        for name_node in self.spec.children(node, key) {
            if !matches!(self.spec.role(name_node), Role::Name | Role::Member) {
                continue;
            }
            let kind = match function {
                Some(_) => SymbolKind::Function,
                None if self.in_class() => SymbolKind::Field,
                None => SymbolKind::Variable,
            };
            let mut fact = self.fact(place, name_node, kind);
            if let Some(value) = function {
                let body = self.spec.child(value, Key::Body);
                fact.body_line = body.map_or(fact.line, first_line);
                self.facts.define_around(place.depth, fact, true);
                return;
            }
            self.facts.define(fact);
        }
    }

    /// The class without a name that `new T() { ... }` makes.
    pub(super) fn anonymous_class(&mut self, place: &NodeContext<'_, '_>, body: Node<'_>) {
        let node = place.node;
        let scope = self.scope();
        let number = self.anonymous.entry(scope).or_default();
        *number += 1;
        let name = number.to_string().into_bytes();
        let name = self.facts.compose(name);
        let base = self.type_of(node);
        let kind = SymbolKind::Class;
        let fact = SymbolFact {
            scope,
            type_name: base,
            body_line: first_line(body),
            ..self.facts.fact(kind, name, lines(place), first_line(node))
        };
        let symbol = self.facts.define_around(place.depth, fact, false);
        if base != 0 {
            self.facts.inherit(symbol, base, first_line(node));
        }
    }

    pub(super) fn initializer(&mut self, place: &NodeContext<'_, '_>) {
        let node = place.node;
        let scope = self.scope();
        let name = self.facts.intern(b"<clinit>");
        let (kind, line) = (SymbolKind::Initializer, first_line(node));
        let symbol = SymbolFact {
            scope,
            body_line: line,
            ..self.facts.fact(kind, name, lines(place), line)
        };
        let symbol = self.facts.define(symbol);
        self.facts.open(place.depth, symbol, scope, true);
    }

    /// Rust's `impl Trait for Type`: no symbol, but a scope and a base.
    pub(super) fn implementation(&mut self, place: &NodeContext<'_, '_>) {
        let name = self.type_of(place.node);
        let bytes = self.facts.bytes;
        let own = place.node.child_by_field_id(self.spec.key(Key::Type));
        let class = own.and_then(|own| {
            let text = bytes.get(own.byte_range())?;
            let text = text.split(|byte| *byte == b'<').next()?;
            let at = self.facts.symbols.iter().rposition(|symbol| {
                symbol.kind.is_type() && symbol.name == name && !text.is_empty()
            })?;
            u32::try_from(at + 1).ok()
        });
        if let (Some(class), Some(base)) = (class, self.spec.child(place.node, Key::Trait)) {
            let line = first_line(base);
            let base = self.facts.intern_range(base.byte_range());
            self.facts.inherit(class, base, line);
        }
        let inside = self.facts.join(self.facts.scope_name(), name);
        self.facts
            .open(place.depth, class.unwrap_or_default(), inside, false);
    }

    /// Go's `func (r *Type) name()`.
    pub(super) fn receiver(&mut self, place: &NodeContext<'_, '_>) {
        let node = place.node;
        let Some(name_node) = self.spec.child(node, Key::Name) else {
            return;
        };
        let mut fact = self.fact(place, name_node, SymbolKind::Method);
        let receiver = self.spec.child(node, Key::Receiver);
        let declared = receiver.and_then(|receiver| receiver.named_child(0));
        let class = declared.map_or(0, |declared| self.type_of(declared));
        fact.scope = self.facts.join(fact.scope, class);
        self.facts.define_around(place.depth, fact, true);
    }

    pub(super) fn type_spec(&mut self, place: &NodeContext<'_, '_>) {
        let declared = self.spec.child(place.node, Key::Type);
        let kind = match declared.map(|node| node.kind()) {
            Some("struct_type") => SymbolKind::Struct,
            Some("interface_type") => SymbolKind::Interface,
            _ => SymbolKind::Typedef,
        };
        self.define(place, kind);
    }

    /// The types named right below, or one list below, are bases.
    pub(super) fn bases(&mut self, node: Node<'_>) {
        let class = self.facts.owner();
        let mut open = vec![node];
        for _ in 0..100 {
            let Some(node) = open.pop() else { break };
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                match child.kind() {
                    "type_list" | "extends_clause" | "implements_clause" => open.push(child),
                    "type_arguments" | "keyword_argument" => {}
                    _ => {
                        // A macro beside a base of C++ puts it into an error.
                        let named = if self.spec.is_c() {
                            declared(child).map(|found| found.name)
                        } else {
                            self.spec.last_name(child, UseKind::Type)
                        };
                        if let Some(named) = named {
                            let base = self.facts.intern_range(named.byte_range());
                            let line = first_line(if self.spec.is_c() { child } else { named });
                            self.facts.inherit(class, base, line);
                        }
                    }
                }
            }
        }
    }

    /// Returns what is imported, as it is written.
    pub(super) fn import(&mut self, node: Node<'_>) {
        let bytes = self.facts.bytes;
        let mut range = node.byte_range();
        if self.spec.language == Language::Java
            && let (Some(first), Some(last)) = (node.named_child(0), last_named(node))
        {
            range = first.start_byte()..last.end_byte();
        }
        let mut text = bytes.get(range).unwrap_or_default().trim_ascii();
        for word in [b"import ".as_slice(), b"from ", b"use "] {
            text = text.strip_prefix(word).unwrap_or(text);
        }
        if let Some(quoted) = between(text, b"\"'`", b"\"'`") {
            text = quoted;
        } else if self.spec.language == Language::Python {
            text = text.split(u8::is_ascii_whitespace).next().unwrap_or(text);
        }
        let text = text.strip_suffix(b";").unwrap_or(text);
        let target = self.facts.intern(text);
        self.facts.imports.push((first_line(node), target));
    }
}
