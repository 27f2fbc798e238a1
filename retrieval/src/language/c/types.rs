//! Types of C and C++, as they stand in the database: aggregates with their
//! bases, and typedefs.

use super::CVisitor;
use super::definitions::start_line;
use crate::language::declarator::declared;
use crate::language::facts::SymbolFact;
use crate::language::spec::{Key, Role};
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
        let type_node = self.spec.child(node, Key::Type).filter(|_| nameless);
        let named_here = type_node.map_or(Role::Other, |node| self.spec.role(node));
        let body_line = if nameless { first_line(node) } else { 0 };
        self.declare_each(place, body_line, |_, is_first| match named_here {
            Role::Define(kind) if is_first => kind,
            _ => SymbolKind::Typedef,
        });
    }

    /// A struct, union, class or enum with a body.
    pub(super) fn aggregate(&mut self, place: &NodeContext<'_, '_>, kind: SymbolKind) {
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
