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
use crate::language::declarator::{DeclaratorKinds, declared};
use crate::language::facts::{Collector, NameId};
use crate::language::walk::{NodeContext, Visitor, children_in_field, first_line, roles, walk};
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

#[derive(Debug)]
struct Grammar {
    roles: Vec<Role>,
    declarators: DeclaratorKinds,
    parenthesized: u16,
    reference: u16,
    function_declarator: u16,
    template: u16,
    body: u16,
    type_: u16,
    function: u16,
    field: u16,
    left: u16,
    argument: u16,
    arguments: u16,
    scope: u16,
    qualified: u16,
}

impl Grammar {
    fn of(language: Language) -> &'static Self {
        static C: OnceLock<Grammar> = OnceLock::new();
        static CPP: OnceLock<Grammar> = OnceLock::new();
        let slot = if language == Language::C { &C } else { &CPP };
        slot.get_or_init(|| Self::new(&language.grammar()))
    }

    fn role(&self, kind: u16) -> Role {
        let role = self.roles.get(usize::from(kind));
        role.copied().unwrap_or_default()
    }

    fn new(grammar: &tree_sitter::Language) -> Self {
        let field = |name| grammar.field_id_for_name(name).map_or(0, u16::from);
        Self {
            roles: roles(grammar, include_str!("roles/c.json"), Role::Skip),
            declarators: DeclaratorKinds::new(grammar),
            parenthesized: grammar.id_for_node_kind("parenthesized_declarator", true),
            function_declarator: grammar.id_for_node_kind("function_declarator", true),
            reference: grammar.id_for_node_kind("reference_declarator", true),
            template: grammar.id_for_node_kind("template_declaration", true),
            body: field("body"),
            type_: field("type"),
            function: field("function"),
            field: field("field"),
            left: field("left"),
            argument: field("argument"),
            arguments: field("arguments"),
            scope: field("scope"),
            qualified: grammar.id_for_node_kind("qualified_identifier", true),
        }
    }
}

/// Reads the facts of a C or C++ file. `None` when the parser gave up.
pub(crate) fn extract(language: Language, bytes: &[u8]) -> Option<Extracted> {
    let prepared = prepare(bytes, language == Language::Cpp);
    let tree = patchwright_source::parse(language, &prepared.declarations)?;
    let mut visitor = CVisitor {
        language,
        grammar: Grammar::of(language),
        facts: Collector::new(bytes, "::"),
        seen: vec![false; prepared.functions.len()],
        seen_types: vec![false; prepared.types.len()],
        prepared: &prepared,
        broken: tree.root_node().has_error(),
    };
    walk(&tree, &mut visitor);
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
    language: Language,
    grammar: &'static Grammar,
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
        let role = self.grammar.role(place.kind);
        match role {
            Role::Other => {}
            Role::Skip => return false,
            Role::Name | Role::Member | Role::TypeName => {
                self.leaf(place, role);
                return false;
            }
            Role::Call => self.call(place.node),
            Role::New => self.mark_last(place.node, self.grammar.type_, UseKind::Call),
            Role::Assignment => self.mark_last(place.node, self.grammar.left, UseKind::Write),
            Role::Update => self.mark_last(place.node, self.grammar.argument, UseKind::Write),
            definition => return self.definition(place, definition),
        }
        true
    }

    fn leave(&mut self, depth: u32) {
        self.facts.close(depth);
    }
}

impl CVisitor<'_> {
    /// A name; nothing lies in it.
    fn leaf(&mut self, place: &NodeContext<'_, '_>, role: Role) {
        match role {
            Role::Member => self.member(place),
            Role::TypeName => self.type_name(place),
            _ => self.name(place),
        }
    }

    fn definition(&mut self, place: &NodeContext<'_, '_>, role: Role) -> bool {
        match role {
            Role::Function => self.function(place),
            Role::Body => return self.body(place),
            Role::Declaration | Role::Parameter if self.facts.in_function() => {
                self.type_locals(place.node);
            }
            Role::Declaration => self.declaration(place),
            Role::FieldDeclaration => self.fields(place),
            Role::Typedef => self.typedef(place),
            Role::Aggregate(kind) => self.aggregate(place, kind),
            Role::Enumerator => self.named(place, SymbolKind::Enumerator),
            Role::Alias => self.named(place, SymbolKind::Typedef),
            Role::Namespace => self.namespace(place),
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
        let parent = place.parent().map_or(0, |parent| parent.kind_id());
        let declares = field == self.grammar.declarators.declarator_field
            || parent == self.grammar.parenthesized
            || parent == self.grammar.reference;
        let range = place.node.byte_range();
        let start = range.start;
        if declares {
            // A function's own name, or a prototype in it, is no variable.
            if self.facts.in_function() && parent != self.grammar.function_declarator {
                let name = self.facts.intern_range(range);
                self.facts.declare_local(name);
            }
            return;
        }
        let role = self.grammar.role(parent);
        if role == Role::Enumerator && field == self.grammar.declarators.name_field {
            return;
        }
        let kind = self.facts.take_mark(start).unwrap_or(UseKind::Read);
        let name = self.facts.intern_range(range);
        self.facts.use_name(name, first_line(place.node), kind);
    }

    /// The name of a field or method: where it is declared, or after `->`.
    fn member(&mut self, place: &NodeContext<'_, '_>) {
        if place.field() == self.grammar.declarators.declarator_field {
            return;
        }
        let range = place.node.byte_range();
        let kind = self.facts.take_mark(range.start).unwrap_or(UseKind::Read);
        let name = self.facts.intern_range(range);
        self.facts.use_member(name, first_line(place.node), kind);
    }

    fn type_name(&mut self, place: &NodeContext<'_, '_>) {
        let field = place.field();
        if field == self.grammar.declarators.declarator_field {
            return;
        }
        if field == self.grammar.declarators.name_field
            && place.parent().is_some_and(|parent| {
                parent.child_by_field_id(self.grammar.body).is_some()
                    || self.role_of(parent) == Role::Alias
            })
        {
            return;
        }
        let range = place.node.byte_range();
        let kind = self.facts.take_mark(range.start).unwrap_or(UseKind::Type);
        let name = self.facts.intern_range(range);
        self.facts.use_name(name, first_line(place.node), kind);
    }

    fn role_of(&self, node: Node<'_>) -> Role {
        self.grammar.role(node.kind_id())
    }

    /// Marks the last name of the expression in a field: `c` of `a->b.c`, `f`
    /// of `ns::f<T>`, `a` of `a[i]`, `p` of `*p`.
    fn mark_last(&mut self, node: Node<'_>, field: u16, kind: UseKind) {
        if let Some(node) = node.child_by_field_id(field) {
            self.mark_name(node, kind, (0, -1));
        }
    }

    fn mark_name(&mut self, node: Node<'_>, kind: UseKind, call: (NameId, i32)) {
        let mut node = node;
        for _ in 0..32 {
            if matches!(
                self.role_of(node),
                Role::Name | Role::Member | Role::TypeName
            ) {
                self.facts.mark_call(node.start_byte(), kind, call);
                return;
            }
            let next = node
                .child_by_field_id(self.grammar.field)
                .or_else(|| node.child_by_field_id(self.grammar.declarators.name_field))
                .or_else(|| node.child_by_field_id(self.grammar.argument))
                .or_else(|| {
                    (kind == UseKind::Write)
                        .then(|| node.named_child(0))
                        .flatten()
                });
            let Some(next) = next else { return };
            node = next;
        }
    }

    /// A call: what it is written on, and with how many arguments.
    fn call(&mut self, node: Node<'_>) {
        let Some(function) = node.child_by_field_id(self.grammar.function) else {
            return;
        };
        let arguments = node.child_by_field_id(self.grammar.arguments);
        let receiver = self.receiver(function);
        let arguments = arguments.map_or(-1, arguments_in);
        self.mark_name(function, UseKind::Call, (receiver, arguments));
    }

    /// Returns what stands before the name that is called.
    fn receiver(&mut self, function: Node<'_>) -> NameId {
        if self.role_of(function) == Role::Name {
            return 0;
        }
        if function.kind_id() == self.grammar.qualified {
            let mut node = function;
            let mut scope = None;
            while node.kind_id() == self.grammar.qualified {
                scope = node.child_by_field_id(self.grammar.scope);
                match node.child_by_field_id(self.grammar.declarators.name_field) {
                    Some(name) => node = name,
                    None => break,
                }
            }
            let plain = |scope: Node<'_>| {
                let name = scope.child_by_field_id(self.grammar.declarators.name_field);
                name.unwrap_or(scope).byte_range()
            };
            let Some(range) = scope.map(plain) else {
                return 0;
            };
            let name = self.facts.intern_range(range);
            return self.facts.compose_with(b':', name);
        }
        let Some(object) = function.child_by_field_id(self.grammar.argument) else {
            let is_template = function
                .child_by_field_id(self.grammar.declarators.name_field)
                .is_some();
            return if is_template {
                0
            } else {
                self.facts.compose(b"?".to_vec())
            };
        };
        if self.language == Language::C {
            return self.facts.compose(b"*".to_vec());
        }
        match self.role_of(object) {
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
        if self.language == Language::C {
            return;
        }
        let type_name = self.base_type(node);
        for child in children_in_field(node, self.grammar.declarators.declarator_field) {
            if let Some(found) = declared(&self.grammar.declarators, child) {
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

/// Returns how many arguments a list holds.
fn arguments_in(list: Node<'_>) -> i32 {
    let mut cursor = list.walk();
    let arguments = list
        .named_children(&mut cursor)
        .filter(|one| one.kind() != "comment");
    i32::try_from(arguments.count()).unwrap_or(-1)
}
