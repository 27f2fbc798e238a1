//! Functions, variables and types of C and C++, as they stand in the database.

use super::declarations::Head;
use super::keywords::is_reserved;
use super::tokens::identifiers;
use crate::language::declarator::{Declared, declared};
use crate::language::facts::{NameId, SymbolFact};
use crate::language::spec::{Key, Role};
use crate::language::walk::{NodeContext, first_line, last_line, walk};
use crate::language::{Extractor, start_line};
use crate::symbol::SymbolKind;
use patchwright_source::Language;
use std::ops::Range;
use tree_sitter::Node;

impl Extractor<'_> {
    /// Returns whether a word of the language was taken for a name.
    fn is_reserved(&self, found: &Declared<'_>) -> bool {
        let name = self.facts.bytes.get(found.name.byte_range());
        let is_cpp = self.spec.language == Language::Cpp;
        is_reserved(name.unwrap_or_default(), is_cpp) && !found.composed
    }

    /// The name and the full scope of something declared.
    fn naming(&mut self, found: &Declared<'_>) -> (NameId, NameId) {
        self.naming_of(found.name.byte_range(), found.composed, &found.scope)
    }

    fn naming_of(
        &mut self,
        range: Range<usize>,
        is_composed: bool,
        scopes: &[Range<usize>],
    ) -> (NameId, NameId) {
        let name = if is_composed {
            let text = self.facts.bytes.get(range).unwrap_or_default();
            self.facts.compose(operator_name(text))
        } else {
            self.facts.intern_range(range)
        };
        let scope = self.facts.scope_name();
        (name, self.facts.join_ranges(scope, scopes))
    }

    pub(in crate::language) fn function(&mut self, place: &NodeContext<'_, '_>) {
        let node = place.node;
        let body = self.spec.child(node, Key::Body);
        let head = body.and_then(|body| self.prepared.functions.get(&body.start_byte()));
        let in_type = self.facts.owner_kind().is_some_and(SymbolKind::is_type);
        // In a body only local types hold functions: `CASE(x) {` looks like one.
        let real = head.is_some() || in_type && self.facts.in_function();
        let declarator = self.spec.child(node, Key::Declarator).filter(|_| real);
        let Some(found) = declarator.and_then(|node| declared(node)) else {
            self.facts.open(place.depth, 0, 0, true);
            return;
        };
        let is_other = |head: &&Head| {
            head.is_composed != found.composed
                || !found.composed && head.name.end != found.name.end_byte()
        };
        if let Some(head) = head.filter(is_other) {
            return self.define_head(head, place.depth);
        }
        let (name, scope) = self.naming(&found);
        let type_name = self.type_of(node);
        let kind = if !in_type && found.scope.is_empty() {
            SymbolKind::Function
        } else if self.is_constructor(&found, name, scope) {
            SymbolKind::Constructor
        } else {
            SymbolKind::Method
        };
        let end_line = head.map_or_else(|| last_line(node), |head| head.end_line);
        let lines = (start_line(place), end_line);
        let mut fact = SymbolFact {
            scope,
            type_name,
            body_line: body.map_or(0, first_line),
            takes: self.takes(found.parameters),
            is_static: kind == SymbolKind::Function && self.is_static(node)
                || head.is_some_and(|head| head.is_made),
            ..self.facts.fact(kind, name, lines, first_line(found.name))
        };
        if self.facts.in_function() {
            fact.parent = 0;
        }
        self.facts.define_around(place.depth, fact, true);
    }

    fn is_static(&self, node: Node<'_>) -> bool {
        let mut cursor = node.walk();
        node.named_children(&mut cursor).any(|child| {
            child.kind() == "storage_class_specifier"
                && self.facts.bytes.get(child.byte_range()) == Some(b"static")
        })
    }

    /// A body: of a function that `prepare` has found it is parsed by itself.
    pub(in crate::language) fn body(&mut self, place: &NodeContext<'_, '_>) -> bool {
        let start = place.node.start_byte();
        let head = self.prepared.functions.get(&start);
        let Some(head) = head.filter(|_| !self.seen.contains(&start)) else {
            return true;
        };
        let parent = place.parent().map(|parent| self.spec.role(parent));
        if parent != Some(Role::Function) {
            self.define_head(head, place.depth);
        }
        self.read_body(head, place.depth + 1);
        false
    }

    /// Types and functions that the tree of the declarations does not have.
    pub(in crate::language) fn unseen(&mut self) {
        let heads = self.prepared.types.iter().chain(&self.prepared.functions);
        for (start, head) in heads {
            if self.seen.contains(start) {
                continue;
            }
            let scope = self.facts.join_ranges(0, &head.around);
            self.facts.open(1, 0, scope, false);
            self.define_head(head, 2);
            if head.kind.is_none() {
                self.facts.broken = true;
                self.read_body(head, 3);
            }
            self.facts.close(0);
        }
    }

    /// Defines a type or function as its head tells, and opens a function.
    fn define_head(&mut self, head: &Head, depth: u32) {
        let bytes = self.facts.bytes;
        let text = |range: &Range<usize>| bytes.get(range.clone()).unwrap_or_default();
        let (name, scope) = self.naming_of(head.name.clone(), head.is_composed, &head.scope);
        let in_type = self.facts.owner_kind().is_some_and(SymbolKind::is_type);
        let kind = head.kind.unwrap_or_else(|| match head.scope.last() {
            Some(last) if text(last) == text(&head.name) => SymbolKind::Constructor,
            Some(_) => SymbolKind::Method,
            None if in_type => SymbolKind::Method,
            None => SymbolKind::Function,
        });
        let lines = (head.line, head.end_line);
        let fact = SymbolFact {
            scope,
            body_line: head.body_line,
            ..self.facts.fact(kind, name, lines, head.name_line)
        };
        if head.kind.is_some() {
            self.facts.define(fact);
            return;
        }
        self.facts.define_around(depth, fact, true);
        for token in identifiers(bytes, head.parameters.clone()) {
            let after = bytes.get(token.range.end..).unwrap_or_default();
            let next = after.trim_ascii_start().first();
            if matches!(next, Some(b',' | b')' | b'[' | b'=')) {
                let name = self.facts.intern(token.text);
                self.facts.declare_local(name);
            }
        }
    }

    fn read_body(&mut self, head: &Head, depth: u32) {
        self.seen.insert(head.body.start);
        let row = head.body_line as usize - 1;
        let code = &self.prepared.code;
        match patchwright_source::parse_part(self.spec.language, code, head.body.clone(), row) {
            Some(tree) => {
                self.facts.broken |= tree.root_node().has_error();
                walk(&tree, depth, self);
            }
            None => self.facts.broken = true,
        }
        self.unparsed_names_in(head.body.clone());
    }

    fn is_constructor(&self, found: &Declared<'_>, name: NameId, scope: NameId) -> bool {
        if let Some(last) = found.scope.last() {
            return self.facts.bytes.get(last.clone())
                == self.facts.bytes.get(found.name.byte_range());
        }
        let class = self.facts.owner_symbol();
        class.is_some_and(|class| class.name == name && scope != 0)
    }

    /// A declaration: globals and prototypes outside functions, variables
    /// inside.
    pub(in crate::language) fn declaration(&mut self, place: &NodeContext<'_, '_>) {
        let in_type = self.facts.owner_kind().is_some_and(SymbolKind::is_type);
        let is_field = in_type || self.spec.role(place.node) == Role::FieldDeclaration;
        self.declare_each(place, 0, |found, _| match found.function {
            true => SymbolKind::Prototype,
            false if is_field => SymbolKind::Field,
            false => SymbolKind::Variable,
        });
    }

    /// Defines what each declarator of a declaration names; of a `struct { .. }`
    /// without a name the members are the first one's. The kind of each follows
    /// from it and from whether it is the first.
    fn declare_each(
        &mut self,
        place: &NodeContext<'_, '_>,
        body_line: u32,
        kind_of: impl Fn(&Declared<'_>, bool) -> SymbolKind,
    ) {
        let node = place.node;
        let type_name = self.type_of(node);
        let line = start_line(place);
        let mut first = None;
        let children = self.spec.children(node, Key::Declarator);
        let last = children.last().map(Node::id);
        for child in children {
            let Some(found) = declared(child) else {
                continue;
            };
            if self.is_reserved(&found) {
                continue;
            }
            let (name, scope) = self.naming(&found);
            let kind = kind_of(&found, first.is_none());
            let is_last = last == Some(child.id());
            let lines = (line, last_line(if is_last { node } else { child }));
            let symbol = self.facts.define(SymbolFact {
                scope,
                type_name,
                body_line,
                ..self.facts.fact(kind, name, lines, first_line(found.name))
            });
            first.get_or_insert((symbol, scope, name));
        }
        if let Some((symbol, scope, name)) = first.filter(|_| self.has_nameless_body(node)) {
            let inside = self.facts.join(scope, name);
            self.facts.open(place.depth, symbol, inside, false);
        }
    }

    /// Returns whether the type of a declaration is a `struct { ... }` without a name.
    fn has_nameless_body(&self, node: Node<'_>) -> bool {
        self.spec.child(node, Key::Type).is_some_and(|node| {
            self.spec.child(node, Key::Body).is_some() && self.spec.child(node, Key::Name).is_none()
        })
    }

    pub(in crate::language) fn typedef(&mut self, place: &NodeContext<'_, '_>) {
        let node = place.node;
        let nameless = self.has_nameless_body(node);
        let type_node = self.spec.child(node, Key::Type).filter(|_| nameless);
        let named_here = type_node.map_or(Role::Other, |node| self.spec.role(node));
        let body_line = if nameless { first_line(node) } else { 0 };
        self.declare_each(place, body_line, |_, is_first| match named_here {
            Role::Define(kind) if is_first => kind,
            _ => SymbolKind::Typedef,
        });
    }

    /// A struct, union, class or enum with a body.
    pub(in crate::language) fn aggregate(&mut self, place: &NodeContext<'_, '_>, kind: SymbolKind) {
        let node = place.node;
        let name_node = self.spec.child(node, Key::Name);
        let found = name_node.and_then(|name| declared(name));
        let (Some(body), Some(found)) = (self.spec.child(node, Key::Body), found) else {
            return;
        };
        let (name, scope) = self.naming(&found);
        let start = found.name.start_byte();
        self.seen.insert(start);
        let head = self.prepared.types.get(&start);
        let end_line = head.map_or_else(|| last_line(node), |head| head.end_line);
        let lines = (start_line(place), end_line);
        let fact = SymbolFact {
            scope,
            body_line: first_line(body),
            ..self.facts.fact(kind, name, lines, first_line(found.name))
        };
        // What is used inside a type of a function is the function's use, but
        // its members are not the function's variables.
        self.facts.define_around(place.depth, fact, false);
    }
}

/// `operator  ==` as `operator==`, `operator bool` with its one space.
fn operator_name(text: &[u8]) -> Vec<u8> {
    let rest = text.strip_prefix(b"operator").unwrap_or(text).trim_ascii();
    let word = rest.first().is_some_and(u8::is_ascii_alphabetic);
    let mut name = b"operator".to_vec();
    if word {
        name.push(b' ');
        name.extend_from_slice(rest);
    } else {
        name.extend(rest.iter().filter(|byte| !byte.is_ascii_whitespace()));
    }
    // `operator bool() const`: what follows is no part of the name.
    let call_operator = name.starts_with(b"operator()");
    let parenthesis = name.iter().position(|byte| *byte == b'(');
    if let Some(parenthesis) = parenthesis.filter(|_| !call_operator) {
        name.truncate(parenthesis);
    }
    name
}
