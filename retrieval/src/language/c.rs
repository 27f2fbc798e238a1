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

use crate::language::Extracted;
use crate::language::declarator::declared;
use crate::language::facts::{Collector, NameId};
use crate::language::spec::{Key, Spec};
use crate::language::walk::{NodeContext, Visitor, argument_count, walk};
use crate::symbol::{SymbolKind, UseKind};
use patchwright_source::Language;
use prepare::{Prepared, prepare};
use serde::Deserialize;
use std::sync::OnceLock;
use tree_sitter::Node;

/// Meaning of a kind of node here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    #[default]
    Other,
    Skip,
    Name,
    Member,
    TypeName,
    Function,
    Body,
    Declaration,
    Parameter,
    FieldDeclaration,
    Typedef,
    Aggregate(SymbolKind),
    Enumerator,
    Call,
    New,
    Assignment,
    Update,
    Initializer,
    Namespace,
    Alias,
    BaseClause,
    Lambda,
}

/// The table of one of the two grammars, resolved once.
fn spec_of(language: Language) -> &'static Spec<Role> {
    static C: OnceLock<Spec<Role>> = OnceLock::new();
    static CPP: OnceLock<Spec<Role>> = OnceLock::new();
    let slot = if language == Language::C { &C } else { &CPP };
    slot.get_or_init(|| Spec::new(language, include_str!("roles/c.json"), Role::Skip))
}

/// Reads the facts of a C or C++ file. `None` when the parser gave up.
pub(crate) fn extract(language: Language, bytes: &[u8]) -> Option<Extracted> {
    let prepared = prepare(bytes, language == Language::Cpp);
    let tree = patchwright_source::parse(language, &prepared.declarations)?;
    let mut visitor = CVisitor {
        spec: spec_of(language),
        facts: Collector::new(bytes, "::"),
        seen: vec![false; prepared.functions.len()],
        seen_types: vec![false; prepared.types.len()],
        prepared: &prepared,
        broken: tree.root_node().has_error(),
    };
    walk(&tree, 0, &mut visitor);
    visitor.facts.close_all();
    visitor.unseen_types();
    visitor.unseen_functions();
    visitor.macros();
    visitor.includes();
    visitor.unparsed_names();
    Some(Extracted {
        broken: visitor.broken,
        facts: visitor.facts.finish(),
    })
}

struct CVisitor<'a> {
    spec: &'static Spec<Role>,
    facts: Collector<'a>,
    prepared: &'a Prepared,
    /// Which functions of `prepared` the walk has come to.
    seen: Vec<bool>,
    /// Which types of `prepared` the walk has come to.
    seen_types: Vec<bool>,
    /// True when a part of the file was not understood in full.
    broken: bool,
}

impl Visitor for CVisitor<'_> {
    fn enter(&mut self, place: &NodeContext<'_, '_>) -> bool {
        let role = self.spec.role(place.node);
        match role {
            Role::Other => {}
            Role::Skip => return false,
            Role::Name => self.name(place),
            Role::Member => self.member(place),
            Role::TypeName => self.type_name(place),
            Role::Call => self.call(place.node),
            Role::New => self.mark_last(place.node, Key::Type, UseKind::Call),
            Role::Assignment => self.mark_last(place.node, Key::Left, UseKind::Write),
            Role::Update => self.mark_last(place.node, Key::Argument, UseKind::Write),
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
            Role::Aggregate(kind) => self.aggregate(place, kind),
            Role::Enumerator => self.named(place, SymbolKind::Enumerator),
            Role::Alias => self.named(place, SymbolKind::Typedef),
            Role::Namespace => self.named(place, SymbolKind::Namespace),
            Role::BaseClause => self.bases(place),
            Role::Initializer => self.initializer(place),
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
            self.spec.child(parent, Key::Body).is_some() || self.spec.role(parent) == Role::Alias
        };
        let is_defined = field == self.spec.key(Key::Name) && place.parent().is_some_and(defines);
        if field != self.spec.key(Key::Declarator) && !is_defined {
            self.facts.use_node(place.node, UseKind::Type, false);
        }
    }

    /// Marks the last name of the expression in a field: `c` of `a->b.c`, `f`
    /// of `ns::f<T>`, `a` of `a[i]`, `p` of `*p`.
    fn mark_last(&mut self, node: Node<'_>, key: Key, kind: UseKind) {
        if let Some(node) = self.spec.child(node, key) {
            self.mark_name(node, kind, (0, -1));
        }
    }

    fn mark_name(&mut self, node: Node<'_>, kind: UseKind, call: (NameId, i32)) {
        let is_name = |role| matches!(role, Role::Name | Role::Member | Role::TypeName);
        let named = self.spec.last_name(node, is_name, |node| {
            let first = || node.named_child(0).filter(|_| kind == UseKind::Write);
            self.spec.child(node, Key::Argument).or_else(first)
        });
        if let Some(named) = named {
            self.facts.mark_call(named.start_byte(), kind, call);
        }
    }

    /// A call: what it is written on, and with how many arguments.
    fn call(&mut self, node: Node<'_>) {
        let Some(function) = self.spec.child(node, Key::Function) else {
            return;
        };
        let receiver = self.receiver(function);
        self.mark_name(function, UseKind::Call, (receiver, argument_count(node)));
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
                self.facts.type_local(name, type_name);
            }
        }
    }

    fn initializer(&mut self, place: &NodeContext<'_, '_>) {
        if let Some(name) = place.node.named_child(0) {
            self.facts.mark(name.start_byte(), UseKind::Write);
        }
    }
}
