//! C and C++: what a translation unit defines and uses.
//!
//! `prepare` makes the text ready and says where each function lies; then one
//! walk over the syntax trees of the declarations and of each body, with one
//! table of roles per grammar. Preprocessor conditionals are not evaluated: both
//! branches count, as far as they hold whole statements.

mod brackets;
mod conditionals;
mod declarations;
mod definitions;
mod directives;
mod function_end;
mod function_head;
mod keywords;
pub(crate) mod macros;
mod outline;
mod plain;
pub(crate) mod prepare;
mod tokens;
mod type_head;
mod types;

use crate::language::declarator::declared;
use crate::language::facts::{Collector, Facts, NO_CALL, NameId, WRITE};
use crate::language::spec::{Key, Role, Spec};
use crate::language::walk::{NodeContext, Visitor, argument_count, walk};
use crate::symbol::{SymbolKind, UseKind};
use patchwright_source::Language;
use prepare::{Prepared, prepare};
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Reads the facts of a C or C++ file. `None` when the parser gave up.
pub(crate) fn extract(language: Language, bytes: &[u8]) -> Option<Facts> {
    let prepared = prepare(bytes, language == Language::Cpp);
    let tree = patchwright_source::parse(language, &prepared.declarations)?;
    let mut visitor = CVisitor {
        spec: Spec::of(language)?,
        facts: Collector::new(bytes, "::"),
        seen: BTreeSet::new(),
        prepared: &prepared,
        broken: tree.root_node().has_error(),
    };
    walk(&tree, 0, &mut visitor);
    visitor.facts.close(0);
    visitor.unseen();
    visitor.macros();
    visitor.includes();
    visitor.unparsed_names();
    Some(Facts {
        broken: visitor.broken,
        ..visitor.facts.finish()
    })
}

struct CVisitor<'a> {
    spec: &'static Spec,
    facts: Collector<'a>,
    prepared: &'a Prepared,
    /// The heads of `prepared` that the walk has come to, by their keys.
    seen: BTreeSet<usize>,
    /// True when a part of the file was not understood in full.
    broken: bool,
}

impl Visitor for CVisitor<'_> {
    fn enter(&mut self, place: &NodeContext<'_, '_>) -> bool {
        let (spec, node) = (self.spec, place.node);
        match spec.role(node) {
            Role::Other => {}
            Role::Skip => return false,
            Role::Name => self.name(place),
            Role::Member => self.member(place),
            Role::TypeName => self.type_name(place),
            Role::Call(key) => self.call(node, key),
            Role::Creation => {
                let usage = (UseKind::Call, NO_CALL);
                self.facts.mark_last(spec, (node, Key::Type), usage);
            }
            Role::Assignment(key) => self.facts.mark_last(spec, (node, key), WRITE),
            definition => return self.definition(place, definition),
        }
        true
    }

    fn leave(&mut self, depth: u32) {
        self.facts.close(depth);
    }
}

impl CVisitor<'_> {
    fn definition(&mut self, place: &NodeContext<'_, '_>, role: Role) -> bool {
        match role {
            Role::Function => self.function(place),
            Role::Body => return self.body(place),
            Role::Declaration | Role::Parameter if self.facts.in_function() => {
                self.type_locals(place.node);
            }
            Role::Declaration | Role::FieldDeclaration => self.declaration(place),
            Role::Typedef => self.typedef(place),
            Role::Define(SymbolKind::Namespace) => self.named(place, SymbolKind::Namespace),
            Role::Define(kind) => self.aggregate(place, kind),
            Role::Leaf(kind) => self.named(place, kind),
            Role::Bases => self.bases(place),
            Role::FieldInitializer => self.initializer(place),
            Role::Lambda => self.facts.open(place.depth, 0, 0, true),
            _ => {}
        }
        true
    }

    /// An identifier: a declaration of a variable, or a use.
    fn name(&mut self, place: &NodeContext<'_, '_>) {
        let field = place.field();
        let parent = place.parent().map_or("", |parent| parent.kind());
        let declares = field == self.spec.key(Key::Declarator)
            || matches!(parent, "parenthesized_declarator" | "reference_declarator");
        if declares {
            // A function's own name, or a prototype in it, is no variable.
            if self.facts.in_function() && parent != "function_declarator" {
                let name = self.facts.intern_range(place.node.byte_range());
                self.facts.declare_local(name);
            }
        } else if parent != "enumerator" || field != self.spec.key(Key::Name) {
            self.facts.use_node(place.node, UseKind::Read, false);
        }
    }

    /// The name of a field or method: where it is declared, or after `->`.
    fn member(&mut self, place: &NodeContext<'_, '_>) {
        if place.field() != self.spec.key(Key::Declarator) {
            self.facts.use_node(place.node, UseKind::Read, true);
        }
    }

    fn type_name(&mut self, place: &NodeContext<'_, '_>) {
        let field = place.field();
        let defines = |parent| {
            self.spec.child(parent, Key::Body).is_some()
                || self.spec.role(parent) == Role::Leaf(SymbolKind::Typedef)
        };
        let is_defined = field == self.spec.key(Key::Name) && place.parent().is_some_and(defines);
        if field != self.spec.key(Key::Declarator) && !is_defined {
            self.facts.use_node(place.node, UseKind::Type, false);
        }
    }

    /// A call: what it is written on, and with how many arguments.
    fn call(&mut self, node: Node<'_>, key: Key) {
        let Some(function) = self.spec.child(node, key) else {
            return;
        };
        let receiver = self.receiver(function);
        let usage = (UseKind::Call, (receiver, argument_count(node)));
        self.facts.mark_last(self.spec, (node, key), usage);
    }

    /// Returns what stands before the name that is called.
    fn receiver(&mut self, function: Node<'_>) -> NameId {
        if self.spec.role(function) == Role::Name {
            return 0;
        }
        if function.kind() == "qualified_identifier" {
            let scope = declared(function).and_then(|found| found.scope.last().cloned());
            let Some(scope) = scope else { return 0 };
            let name = self.facts.intern_range(scope);
            return self.facts.compose_with(b':', name);
        }
        let Some(object) = self.spec.child(function, Key::Argument) else {
            let is_template = self.spec.child(function, Key::Name).is_some();
            return if is_template {
                0
            } else {
                self.facts.compose(b"?".to_vec())
            };
        };
        if self.spec.language == Language::C {
            return self.facts.compose(b"*".to_vec());
        }
        match self.spec.role(object) {
            Role::Name => {
                let variable = self.facts.intern_range(object.byte_range());
                self.facts.receiver_of(variable)
            }
            _ if object.kind() == "this" => 0,
            _ => self.facts.compose(b"?".to_vec()),
        }
    }

    /// Notes the type of the variables that a declaration in a function makes.
    fn type_locals(&mut self, node: Node<'_>) {
        if self.spec.language == Language::C {
            return;
        }
        let type_name = self.base_type(node);
        for child in self.spec.children(node, Key::Declarator) {
            if let Some(found) = declared(child) {
                let name = self.facts.intern_range(found.name.byte_range());
                self.facts.local_types.insert(name, type_name);
            }
        }
    }

    fn initializer(&mut self, place: &NodeContext<'_, '_>) {
        if let Some(name) = place.node.named_child(0) {
            self.facts.mark(name.start_byte(), WRITE);
        }
    }
}
