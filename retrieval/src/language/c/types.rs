//! Types of C and C++, as they stand in the database: aggregates with their
//! bases, and typedefs.

use super::definitions::start_line;
use super::{CVisitor, Role};
use crate::language::declarator::declared;
use crate::language::facts::SymbolFact;
use crate::language::spec::Key;
use crate::language::walk::{NodeContext, first_line, last_line};
use crate::symbol::SymbolKind;
use tree_sitter::Node;

impl CVisitor<'_> {
    /// Returns whether the type of a declaration is a `struct { ... }` without a name.
    pub(super) fn has_nameless_body(&self, node: Node<'_>) -> bool {
        self.spec.child(node, Key::Type).is_some_and(|node| {
            self.spec.child(node, Key::Body).is_some() && self.spec.child(node, Key::Name).is_none()
        })
    }

    pub(super) fn typedef(&mut self, place: &NodeContext<'_, '_>) {
        let node = place.node;
        let nameless = self.has_nameless_body(node);
        let named_here = self
            .spec
            .child(node, Key::Type)
            .filter(|_| nameless)
            .map_or(Role::Other, |node| self.spec.role(node));
        let body_line = if nameless { first_line(node) } else { 0 };
        self.declare_each(place, body_line, |_, is_first| match named_here {
            Role::Aggregate(kind) if is_first => kind,
            _ => SymbolKind::Typedef,
        });
    }

    /// A struct, union, class or enum with a body.
    pub(super) fn aggregate(&mut self, place: &NodeContext<'_, '_>, kind: SymbolKind) {
        let node = place.node;
        let Some(body) = self.spec.child(node, Key::Body) else {
            return;
        };
        let Some(name_node) = self.spec.child(node, Key::Name) else {
            return;
        };
        let Some(found) = declared(name_node) else {
            return;
        };
        let (name, scope) = self.naming(&found);
        let known = self
            .prepared
            .types
            .binary_search_by(|one| one.name.start.cmp(&found.name.start_byte()))
            .ok();
        if let Some(seen) = known.and_then(|at| self.seen_types.get_mut(at)) {
            *seen = true;
        }
        let head = known.and_then(|at| self.prepared.types.get(at));
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

    /// Types that the tree of the declarations does not have.
    pub(super) fn unseen_types(&mut self) {
        let bytes = self.facts.bytes;
        let types = self.prepared.types.iter().zip(&self.seen_types);
        for (head, _) in types.filter(|(_, seen)| !**seen) {
            let kind = match bytes.get(head.key.clone()) {
                Some(b"struct") => SymbolKind::Struct,
                Some(b"union") => SymbolKind::Union,
                Some(b"enum") => SymbolKind::Enum,
                _ => SymbolKind::Class,
            };
            let scope = self.facts.join_ranges(0, &head.around);
            let name = self.facts.intern_range(head.name.clone());
            let lines = (head.line, head.end_line);
            self.facts.define(SymbolFact {
                scope,
                body_line: head.body_line,
                ..self.facts.fact(kind, name, lines, head.name_line)
            });
        }
    }

    pub(super) fn bases(&mut self, place: &NodeContext<'_, '_>) {
        let class = self.facts.owner();
        let node = place.node;
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if let Some(found) = declared(child) {
                let base = self.facts.intern_range(found.name.byte_range());
                self.facts.inherit(class, base, first_line(child));
            }
        }
    }
}
