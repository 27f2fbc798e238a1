//! Extraction of the facts of a file from its bytes.
//!
//! One walk (`walk`) by the table of a language (`spec`), which says what its nodes mean, fills the
//! collection of facts (`facts`). What most languages have in common is done here, the rest in
//! `special` and `c`. Nothing here knows about the database, nothing recurses: input may be nested
//! as deep as it likes.
//!
//! Anonymous classes of Java are numbered per class in the order of the text, as `javac`
//! does for most programs.

pub(crate) mod facts;

pub(crate) mod c;
mod declarator;
mod spec;
mod special;
pub(crate) mod walk;

#[cfg(test)]
mod tests;

use crate::query::LineRange;
use crate::symbol::{SymbolKind, UseKind, separator};
use c::prepare::{Prepared, prepare};
use facts::{Collector, Facts, NO_CALL, NameId, SymbolFact, Takes, WRITE};
use patchwright_source::Language;
use rustc_hash::FxHashMap;
use spec::{Key, Role, Spec};
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::Node;
use walk::{NodeContext, Visitor, argument_count, first_line, last_line, last_named, walk};

/// Returns the name and the lines of the innermost function around a line of a file.
pub fn function_around(language: Language, bytes: &[u8], line: u32) -> Option<(String, LineRange)> {
    let facts = extract(language, bytes)?;
    let functions = facts.symbols.iter().filter(|symbol| {
        symbol.kind.is_callable() && (symbol.line..=symbol.end_line).contains(&line)
    });
    let innermost = functions.min_by_key(|symbol| symbol.end_line - symbol.line)?;
    let lines = LineRange::new(innermost.line, innermost.end_line);
    Some((facts.name(innermost.name).to_owned(), lines))
}

/// Reads the facts of a file. `None` when the parser gave up.
pub(crate) fn extract(language: Language, bytes: &[u8]) -> Option<Facts> {
    let spec = Spec::of(language)?;
    let mut prepared = Prepared::default();
    let mut text = bytes;
    if spec.is_c() {
        prepared = prepare(bytes, language == Language::Cpp);
        text = &prepared.declarations;
    }
    let tree = patchwright_source::parse(language, text)?;
    let mut extractor = Extractor {
        spec,
        facts: Collector::new(bytes, separator(language)),
        anonymous: FxHashMap::default(),
        package: 0,
        prepared: &prepared,
        seen: BTreeSet::new(),
    };
    extractor.facts.broken = tree.root_node().has_error();
    walk(&tree, 0, &mut extractor);
    extractor.facts.close(0);
    extractor.unseen();
    extractor.macros();
    extractor.includes();
    extractor.unparsed_names();
    Some(extractor.facts.finish())
}

/// Reads the facts of one file while it is walked over.
struct Extractor<'a> {
    spec: &'static Spec,
    facts: Collector<'a>,
    /// Number of classes without a name, by scope.
    anonymous: FxHashMap<NameId, u32>,
    package: NameId,
    /// Text of C without what hides it from the grammar; empty for other languages.
    prepared: &'a Prepared,
    /// The heads of `prepared` that the walk has come to, by their keys.
    seen: BTreeSet<usize>,
}

impl Visitor for Extractor<'_> {
    fn enter(&mut self, place: &NodeContext<'_, '_>) -> bool {
        let (spec, node) = (self.spec, place.node);
        match spec.role(node) {
            Role::Other | Role::Local(_) | Role::Locals => {}
            Role::Skip => return false,
            Role::Name => self.name(place),
            Role::Member => self.use_unless_defined(place, UseKind::Read, true),
            Role::TypeName => self.use_unless_defined(place, UseKind::Type, false),
            Role::Call(key) => self.call(node, key),
            Role::Assignment(key) => self.facts.mark_last(spec, (node, key), WRITE),
            Role::Body => return self.body(place),
            Role::Package => {
                if let Some(name) = last_named(node) {
                    self.package = self.facts.intern_range(name.byte_range());
                }
                return false;
            }
            Role::Import => {
                self.import(node);
                return false;
            }
            definition => self.definition(place, definition),
        }
        true
    }

    fn leave(&mut self, depth: u32) {
        self.facts.close(depth);
    }
}

impl Extractor<'_> {
    fn definition(&mut self, place: &NodeContext<'_, '_>, role: Role) {
        let node = place.node;
        match role {
            Role::Define(kind) if self.spec.is_c() && kind.is_type() => self.aggregate(place, kind),
            Role::Define(kind) => self.define(place, kind),
            Role::Leaf(kind) => self.leaf(place, node, kind),
            Role::Declarators(kind) => {
                for declarator in self.spec.children(node, Key::Declarator) {
                    self.leaf(place, declarator, kind);
                }
            }
            Role::Variable(key) => self.variable(place, key),
            Role::Creation => self.creation(place),
            Role::Initializer => self.initializer(place),
            Role::Implementation => self.implementation(place),
            Role::Receiver => self.receiver(place),
            Role::TypeSpec => self.type_spec(place),
            Role::Bases => self.bases(node),
            Role::Function => self.function(place),
            Role::Declaration | Role::Parameter if self.facts.in_function() => {
                self.type_locals(node);
            }
            Role::Declaration | Role::FieldDeclaration => self.declaration(place),
            Role::Typedef => self.typedef(place),
            Role::FieldInitializer => self.field_initializer(node),
            Role::Lambda => self.facts.open(place.depth, 0, 0, true),
            _ => {}
        }
    }

    /// An identifier: a declaration of a variable, or a use.
    fn name(&mut self, place: &NodeContext<'_, '_>) {
        let range = place.node.byte_range();
        let parent = place.parent();
        let kind = parent.map_or("", |parent| parent.kind());
        let declares = self.fills(place, Key::Declarator)
            || matches!(kind, "parenthesized_declarator" | "reference_declarator");
        // A function's own name, or a prototype in it, is no variable.
        if declares && kind == "function_declarator" || self.is_defined(place) {
            return;
        }
        let role = parent.map_or(Role::Other, |parent| self.spec.role(parent));
        match role {
            _ if declares => return self.declare(range),
            Role::Variable(key) | Role::Local(key) if self.fills(place, key) => {
                self.type_local(place);
                return self.declare(range);
            }
            Role::Locals if place.field() == 0 => return self.declare(range),
            // `a, b := ...`: the list between the name and its statement.
            Role::Other if self.in_local_list(place) => return self.declare(range),
            _ => {}
        }
        let mut members = [Key::Field, Key::Property, Key::Attribute].into_iter();
        let member = members.any(|key| self.fills(place, key));
        // `a.f()`: Java names the method by `name`, beside an `object`.
        let method = !self.spec.is_c()
            && self.fills(place, Key::Name)
            && self.facts.marked(range.start) == Some(UseKind::Call);
        self.facts
            .use_node(place.node, UseKind::Read, member || method);
    }

    /// Returns whether a node fills a field of its parent.
    fn fills(&self, place: &NodeContext<'_, '_>, key: Key) -> bool {
        let field = place.field();
        field != 0 && field == self.spec.key(key)
    }

    fn in_local_list(&self, place: &NodeContext<'_, '_>) -> bool {
        let list = place.parent();
        let statement = place.ancestor(1).filter(|_| list.is_some());
        statement.is_some_and(|statement| {
            matches!(self.spec.role(statement), Role::Local(key) if self.spec.child(statement, key) == list)
        })
    }

    fn declare(&mut self, range: Range<usize>) {
        if self.facts.in_function() {
            let name = self.facts.intern_range(range);
            self.facts.declare_local(name);
        }
    }

    /// Adds a use of a type or of what stands behind a dot, unless it is defined here.
    fn use_unless_defined(&mut self, place: &NodeContext<'_, '_>, kind: UseKind, member: bool) {
        if !self.is_defined(place) && !self.fills(place, Key::Declarator) {
            self.facts.use_node(place.node, kind, member);
        }
    }

    /// Returns whether a name is that of the definition right around it.
    fn is_defined(&self, place: &NodeContext<'_, '_>) -> bool {
        let defines = |parent| match self.spec.role(parent) {
            // `struct a *p` of C uses the type.
            Role::Define(_) if self.spec.is_c() => self.spec.child(parent, Key::Body).is_some(),
            role => matches!(
                role,
                Role::Define(_) | Role::Leaf(_) | Role::Receiver | Role::TypeSpec
            ),
        };
        let is_name = self.fills(place, Key::Name) || self.fills(place, Key::Property);
        is_name && place.parent().is_some_and(defines)
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
    fn call(&mut self, node: Node<'_>, key: Key) {
        let receiver = if self.spec.is_c() {
            self.receiver_in_c(node, key)
        } else {
            self.receiver_of_call(node, key)
        };
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

    /// `new T(...)`, with or without a body.
    fn creation(&mut self, place: &NodeContext<'_, '_>) {
        let node = place.node;
        if self.spec.is_c() {
            let usage = (UseKind::Call, NO_CALL);
            return self.facts.mark_last(self.spec, (node, Key::Type), usage);
        }
        self.call(node, Key::Type);
        let mut cursor = node.walk();
        let mut parts = node.named_children(&mut cursor);
        if let Some(body) = parts.find(|part| part.kind() == "class_body") {
            self.anonymous_class(place, body);
        }
    }

    fn fact(
        &mut self,
        place: &NodeContext<'_, '_>,
        name_node: Node<'_>,
        kind: SymbolKind,
    ) -> SymbolFact {
        let node = place.node;
        let name = self.facts.intern_range(name_node.byte_range());
        let body = self.spec.child(node, Key::Body);
        SymbolFact {
            scope: self.scope(),
            type_name: self.type_of(node),
            body_line: body.map_or(0, first_line),
            takes: self.takes(node.child_by_field_name("parameters")),
            ..self
                .facts
                .fact(kind, name, lines(place), first_line(name_node))
        }
    }

    /// Returns how many arguments a function takes, by its parameters.
    fn takes(&self, list: Option<Node<'_>>) -> Takes {
        let language = self.spec.language;
        let is_java = language == Language::Java;
        let Some(list) = list.filter(|_| is_java || self.spec.is_c()) else {
            return Takes::ANY;
        };
        let mut cursor = list.walk();
        let (mut least, mut most) = (0_u16, 0_u16);
        for one in list.named_children(&mut cursor) {
            match one.kind() {
                "parameter_declaration" | "formal_parameter" => {
                    let text = self.facts.bytes.get(one.byte_range());
                    if text.is_some_and(|text| text != b"void") {
                        (least, most) = (least.saturating_add(1), most.saturating_add(1));
                    }
                }
                "optional_parameter_declaration" => most = most.saturating_add(1),
                "comment" => {}
                // What stands beside the parameters of Java: comments, the type of `this`.
                kind if is_java && kind != "spread_parameter" => {}
                // `...`, a macro, or names in the style before C89.
                _ => return Takes::ANY,
            }
        }
        let mut parts = list.children(&mut cursor);
        let has_dots = list.child_count() > 2 && parts.any(|part| part.kind() == "...");
        if has_dots || language == Language::C && list.named_child_count() == 0 {
            return Takes::ANY;
        }
        Takes { least, most }
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
            let role = self.spec.role(node);
            if role == Role::TypeName || role == Role::Name && !self.spec.is_c() {
                return self.facts.intern_range(node.byte_range());
            }
            let next = match node.kind() {
                _ if self.spec.is_c() => self.spec.child(node, Key::Name),
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
        let mut fact = self.fact(place, name_node, kind);
        if kind == SymbolKind::Function && self.in_class() {
            fact.kind = SymbolKind::Method;
        }
        if self.spec.is_c() {
            // A namespace is open from its first line.
            fact.body_line = first_line(node);
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
    fn leaf(&mut self, place: &NodeContext<'_, '_>, named: Node<'_>, kind: SymbolKind) {
        let mut keys = [Key::Name, Key::Property].into_iter();
        if let Some(name) = keys.find_map(|key| self.spec.child(named, key)) {
            let fact = self.fact(place, name, kind);
            self.facts.define(fact);
        }
    }
}

/// The first line of a definition, its `template <...>` included.
fn start_line(place: &NodeContext<'_, '_>) -> u32 {
    let templates = (0..3).map_while(|level| place.ancestor(level));
    let outermost = templates
        .take_while(|above| above.kind() == "template_declaration")
        .last();
    first_line(outermost.unwrap_or(place.node))
}

/// The first and the last line of a definition.
fn lines(place: &NodeContext<'_, '_>) -> (u32, u32) {
    (start_line(place), last_line(place.node))
}

/// The bytes between the first of some that open and the next of some that close.
fn between<'t>(text: &'t [u8], open: &[u8], close: &[u8]) -> Option<&'t [u8]> {
    let start = text.iter().position(|byte| open.contains(byte))? + 1;
    let rest = text.get(start..)?;
    rest.get(..rest.iter().position(|byte| close.contains(byte))?)
}
