//! Languages whose definitions have a field `name`: one table per language
//! (`roles/*.json`) says what its nodes mean, this module does the rest.
//!
//! Anonymous classes of Java are numbered per class in the order of the text, as `javac`
//! does for most programs.

use crate::language::facts::{Collector, Facts, NameId, SymbolFact, Takes, WRITE};
use crate::language::spec::{Key, Role, Spec};
use crate::language::walk::{
    NodeContext, Visitor, argument_count, first_line, last_named, lines, walk,
};
use crate::symbol::{SymbolKind, UseKind, separator};
use patchwright_source::Language;
use rustc_hash::FxHashMap;
use tree_sitter::{Node, Tree};

mod special;

/// Reads the facts of a file by its language's table.
pub(crate) fn extract(language: Language, tree: &Tree, bytes: &[u8]) -> Option<Facts> {
    let mut visitor = Tabled {
        spec: Spec::of(language)?,
        facts: Collector::new(bytes, separator(language)),
        anonymous: FxHashMap::default(),
        package: 0,
    };
    walk(tree, 0, &mut visitor);
    Some(Facts {
        broken: tree.root_node().has_error(),
        ..visitor.facts.finish()
    })
}

struct Tabled<'a> {
    spec: &'static Spec,
    facts: Collector<'a>,
    /// Number of classes without a name, by scope.
    anonymous: FxHashMap<NameId, u32>,
    package: NameId,
}

impl Visitor for Tabled<'_> {
    fn enter(&mut self, place: &NodeContext<'_, '_>) -> bool {
        let (spec, node) = (self.spec, place.node);
        match spec.role(node) {
            Role::Other | Role::Local(_) | Role::Locals => {}
            Role::Skip => return false,
            Role::Name => self.name(place),
            Role::Member => self.member(place),
            Role::TypeName => self.type_name(place),
            Role::Call(key) => self.call(node, key),
            Role::Assignment(key) => self.facts.mark_last(spec, (node, key), WRITE),
            definition => return self.definition(place, definition),
        }
        true
    }

    fn leave(&mut self, depth: u32) {
        self.facts.close(depth);
    }
}

impl Tabled<'_> {
    fn definition(&mut self, place: &NodeContext<'_, '_>, role: Role) -> bool {
        match role {
            Role::Define(kind) => self.define(place, kind),
            Role::Leaf(kind) => self.leaf(place.node, place.node, kind),
            Role::Declarators(kind) => {
                for declarator in self.spec.children(place.node, Key::Declarator) {
                    self.leaf(place.node, declarator, kind);
                }
            }
            Role::Variable(key) => self.variable(place, key),
            Role::Creation => self.creation(place),
            Role::Initializer => self.initializer(place),
            Role::Implementation => self.implementation(place),
            Role::Receiver => self.receiver(place),
            Role::TypeSpec => self.type_spec(place),
            Role::Bases => self.bases(place.node),
            Role::Package => {
                if let Some(name) = last_named(place.node) {
                    self.package = self.facts.intern_range(name.byte_range());
                }
                return false;
            }
            Role::Import => {
                self.import(place.node);
                return false;
            }
            _ => {}
        }
        true
    }

    fn name(&mut self, place: &NodeContext<'_, '_>) {
        if self.is_defined(place) {
            return;
        }
        let field = place.field();
        let range = place.node.byte_range();
        let parent = place.parent();
        let role = parent.map_or(Role::Other, |parent| self.spec.role(parent));
        let names = field != 0 && field == self.spec.key(Key::Name);
        match role {
            Role::Variable(key) | Role::Local(key) if field == self.spec.key(key) => {
                self.type_local(place);
                return self.declare(range);
            }
            Role::Locals if field == 0 => return self.declare(range),
            // `a, b := ...`: the list between the name and its statement.
            Role::Other if self.in_local_list(place) => return self.declare(range),
            _ => {}
        }
        let mut members = [Key::Field, Key::Property, Key::Attribute].into_iter();
        let member = field != 0 && members.any(|key| field == self.spec.key(key));
        // `a.f()`: Java names the method by `name`, beside an `object`.
        let method = names && self.facts.marked(range.start) == Some(UseKind::Call);
        self.facts
            .use_node(place.node, UseKind::Read, member || method);
    }

    fn in_local_list(&self, place: &NodeContext<'_, '_>) -> bool {
        let list = place.parent();
        let statement = place.ancestor(1).filter(|_| list.is_some());
        statement.is_some_and(|statement| {
            matches!(self.spec.role(statement), Role::Local(key) if self.spec.child(statement, key) == list)
        })
    }

    fn declare(&mut self, range: std::ops::Range<usize>) {
        if self.facts.in_function() {
            let name = self.facts.intern_range(range);
            self.facts.declare_local(name);
        }
    }

    fn member(&mut self, place: &NodeContext<'_, '_>) {
        if !self.is_defined(place) {
            self.facts.use_node(place.node, UseKind::Read, true);
        }
    }

    fn type_name(&mut self, place: &NodeContext<'_, '_>) {
        if !self.is_defined(place) {
            self.facts.use_node(place.node, UseKind::Type, false);
        }
    }

    /// Returns whether a name is that of the definition right around it.
    fn is_defined(&self, place: &NodeContext<'_, '_>) -> bool {
        let role = place.parent().map(|parent| self.spec.role(parent));
        let defines = matches!(
            role,
            Some(Role::Define(_) | Role::Leaf(_) | Role::Receiver | Role::TypeSpec)
        );
        let names = [Key::Name, Key::Property].map(|key| self.spec.key(key));
        defines && place.field() != 0 && names.contains(&place.field())
    }

    /// Notes the type that a variable is declared with.
    fn type_local(&mut self, place: &NodeContext<'_, '_>) {
        if !self.facts.in_function() {
            return;
        }
        let mut above = [place.parent(), place.ancestor(1)].into_iter().flatten();
        let typed = above.find(|node| self.spec.child(*node, Key::Type).is_some());
        if let Some(typed) = typed {
            let type_name = self.type_of(typed);
            let name = self.facts.intern_range(place.node.byte_range());
            self.facts.local_types.insert(name, type_name);
        }
    }

    /// A call: what it is written on, and with how many arguments.
    pub(super) fn call(&mut self, node: Node<'_>, key: Key) {
        let receiver = self.receiver_of_call(node, key);
        let usage = (UseKind::Call, (receiver, argument_count(node)));
        self.facts.mark_last(self.spec, (node, key), usage);
    }

    /// Returns what stands before the name that is called.
    fn receiver_of_call(&mut self, node: Node<'_>, key: Key) -> NameId {
        // Java names the object beside the method, others within the function.
        let called = self.spec.child(node, key).unwrap_or(node);
        let mut fields = ["object", "operand", "value", "path"].iter();
        let object = fields.find_map(|field| {
            let beside = node.child_by_field_name(field);
            beside.or_else(|| called.child_by_field_name(field))
        });
        let Some(object) = object else { return 0 };
        let bytes = self.facts.bytes;
        let text = bytes.get(object.byte_range()).unwrap_or_default();
        match object.kind() {
            "this" | "self" => 0,
            "super" => self.facts.compose(b":super".to_vec()),
            "field_access" if text.starts_with(b"this.") => {
                let name = self.facts.intern(text.get(5..).unwrap_or_default());
                self.facts.compose_with(b'.', name)
            }
            "identifier" if text == b"self" || text == b"cls" => 0,
            "identifier" => {
                let name = self.facts.intern(text);
                let known = self.facts.receiver_of(name);
                let is_type = self.spec.language == Language::Java
                    && text.first().is_some_and(u8::is_ascii_uppercase)
                    && known == self.facts.compose_with(b'.', name);
                if is_type || called.kind() == "scoped_identifier" {
                    return self.facts.compose_with(b':', name);
                }
                known
            }
            "object_creation_expression" | "cast_expression" => {
                let name = self.type_of(object);
                self.facts.compose_with(b'=', name)
            }
            "string_literal" => self.facts.compose(b"=String".to_vec()),
            _ => self.facts.compose(b"?".to_vec()),
        }
    }

    fn fact(&mut self, node: Node<'_>, name_node: Node<'_>, kind: SymbolKind) -> SymbolFact {
        let name = self.facts.intern_range(name_node.byte_range());
        let name_line = first_line(name_node);
        let body = self.spec.child(node, Key::Body);
        SymbolFact {
            scope: self.scope(),
            type_name: self.type_of(node),
            body_line: body.map_or(0, first_line),
            takes: self.takes(node),
            ..self.facts.fact(kind, name, lines(node), name_line)
        }
    }

    /// Returns how many arguments a function takes, by its parameters.
    fn takes(&self, node: Node<'_>) -> Takes {
        let list = node.child_by_field_name("parameters");
        let Some(list) = list.filter(|_| self.spec.language == Language::Java) else {
            return Takes::ANY;
        };
        let mut cursor = list.walk();
        let parameters = list.named_children(&mut cursor);
        let kinds: Vec<&str> = parameters.map(|one| one.kind()).collect();
        if kinds.contains(&"spread_parameter") {
            return Takes::ANY;
        }
        let plain = kinds.iter().filter(|kind| **kind == "formal_parameter");
        Takes::exactly(plain.count())
    }

    fn scope(&self) -> NameId {
        match self.facts.scope_name() {
            0 => self.package,
            scope => scope,
        }
    }

    fn type_of(&mut self, node: Node<'_>) -> NameId {
        let Some(mut node) = self.spec.child(node, Key::Type) else {
            return 0;
        };
        for _ in 0..8 {
            if matches!(self.spec.role(node), Role::TypeName | Role::Name) {
                return self.facts.intern_range(node.byte_range());
            }
            let next = match node.kind() {
                "scoped_type_identifier" => last_named(node),
                _ => node.named_child(0),
            };
            let Some(next) = next else { return 0 };
            node = next;
        }
        0
    }

    fn define(&mut self, place: &NodeContext<'_, '_>, kind: SymbolKind) {
        let node = place.node;
        let Some(name_node) = self.spec.child(node, Key::Name) else {
            return;
        };
        let mut fact = self.fact(node, name_node, kind);
        if kind == SymbolKind::Function && self.in_class() {
            fact.kind = SymbolKind::Method;
        }
        let function = fact.kind.is_callable();
        let symbol = self.facts.define(fact);
        // Java numbers the classes in a method by the class, not the method.
        let inside = if function && self.spec.language == Language::Java {
            fact.scope
        } else {
            self.facts.join(fact.scope, fact.name)
        };
        self.facts.open(place.depth, symbol, inside, function);
    }

    fn in_class(&self) -> bool {
        matches!(
            self.facts.owner_kind(),
            Some(SymbolKind::Class | SymbolKind::Interface | SymbolKind::Struct | SymbolKind::Enum)
        )
    }

    /// A definition that nothing lies in; one of its parts, or itself, has the name.
    fn leaf(&mut self, node: Node<'_>, named: Node<'_>, kind: SymbolKind) {
        let mut keys = [Key::Name, Key::Property].into_iter();
        if let Some(name) = keys.find_map(|key| self.spec.child(named, key)) {
            let fact = self.fact(node, name, kind);
            self.facts.define(fact);
        }
    }
}
