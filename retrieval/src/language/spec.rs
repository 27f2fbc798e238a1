//! The table of a grammar (`roles/*.json`): what its kinds of nodes mean to an extractor, and the
//! fields that these meanings speak of, in the grammar's own numbers.

use crate::language::walk::last_named;
use crate::symbol::{SymbolKind, UseKind};
use patchwright_source::Language;
use serde::Deserialize;
use std::collections::HashMap;
use std::num::NonZeroU16;
use std::sync::OnceLock;
use tree_sitter::Node;

/// Meaning of a kind of node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Nothing; its children are looked at.
    #[default]
    Other,
    /// Nothing, and nothing in it.
    Skip,
    /// A name that may be a variable.
    Name,
    /// A name after a dot or an arrow.
    Member,
    TypeName,
    /// A definition that other definitions can lie in.
    Define(SymbolKind),
    /// A definition that nothing lies in.
    Leaf(SymbolKind),
    /// A call; the field holds what is called.
    Call(Key),
    /// An assignment; the field holds what is written.
    Assignment(Key),
    /// Types below are bases of the class around.
    Bases,
    /// A definition of one thing per `declarator`.
    Declarators(SymbolKind),
    /// A variable: the function's own inside functions, a definition outside.
    Variable(Key),
    /// The field holds variables of the function.
    Local(Key),
    /// Names right below are variables of the function.
    Locals,
    Import,
    /// The package of the file.
    Package,
    /// `new T() { ... }`: a call, and a class without a name.
    Creation,
    /// `static { ... }`
    Initializer,
    /// Rust's `impl`.
    Implementation,
    /// Go's method with its receiver.
    Receiver,
    /// Go's `type T ...`.
    TypeSpec,
    /// C's functions and declarations, whose names lie inside declarators.
    Function,
    Body,
    Declaration,
    Parameter,
    FieldDeclaration,
    Typedef,
    /// C++ `: field(value)`.
    FieldInitializer,
    Lambda,
}

/// The fields that roles speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Key {
    Name,
    Body,
    Type,
    Function,
    Left,
    Declarator,
    Pattern,
    Constructor,
    Macro,
    Field,
    Property,
    Attribute,
    Value,
    Receiver,
    Trait,
    Argument,
}

const KEYS: &str = "name body type function left declarator pattern constructor macro field \
     property attribute value receiver trait argument";

/// A grammar's numbers for its table of roles.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) language: Language,
    roles: Vec<Role>,
    keys: Vec<u16>,
}

impl Spec {
    /// The table of a language, resolved once.
    pub(super) fn of(language: Language) -> Option<&'static Self> {
        static SPECS: [OnceLock<Spec>; Language::ALL.len()] =
            [const { OnceLock::new() }; Language::ALL.len()];
        let table = match language {
            Language::C | Language::Cpp => include_str!("roles/c.json"),
            Language::Java => include_str!("roles/java.json"),
            Language::Python => include_str!("roles/python.json"),
            Language::Go => include_str!("roles/go.json"),
            Language::Rust => include_str!("roles/rust.json"),
            _ => include_str!("roles/javascript.json"),
        };
        let slot = SPECS.get(language as usize)?;
        Some(slot.get_or_init(|| Self::new(language, table)))
    }

    /// Resolves a table in JSON against a grammar. Punctuation and keywords are skipped.
    fn new(language: Language, table: &str) -> Self {
        let grammar = language.grammar();
        let field = |name: &str| grammar.field_id_for_name(name).map_or(0, u16::from);
        // The tables are part of the program, and a test reads each of them.
        let table: HashMap<String, Role> = serde_json::from_str(table).unwrap_or_default();
        let role = |kind: u16| {
            if !grammar.node_kind_is_named(kind) {
                return Role::Skip;
            }
            let name = grammar.node_kind_for_id(kind).unwrap_or_default();
            table.get(name).copied().unwrap_or_default()
        };
        let count = u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        Self {
            language,
            roles: (0..count).map(role).collect(),
            keys: KEYS.split(' ').map(field).collect(),
        }
    }

    /// Returns whether this is the table of C and C++, whose names lie inside declarators.
    pub(crate) fn is_c(&self) -> bool {
        self.language.family() == Language::C
    }

    pub(crate) fn role(&self, node: Node<'_>) -> Role {
        let role = self.roles.get(usize::from(node.kind_id()));
        role.copied().unwrap_or_default()
    }

    /// The number of a field, 0 where the grammar has none of its name.
    pub(crate) fn key(&self, key: Key) -> u16 {
        self.keys.get(key as usize).copied().unwrap_or_default()
    }

    pub(crate) fn child<'t>(&self, node: Node<'t>, key: Key) -> Option<Node<'t>> {
        match self.key(key) {
            0 => None,
            field => node.child_by_field_id(field),
        }
    }

    /// The last name in an expression or a type: `c` of `a->b.c`, `f` of `ns::f<T>`, and of what is
    /// written `a` of `a[i]`, `p` of `*p`.
    pub(crate) fn last_name<'t>(&self, mut node: Node<'t>, kind: UseKind) -> Option<Node<'t>> {
        for _ in 0..32 {
            if matches!(self.role(node), Role::Name | Role::Member | Role::TypeName) {
                return Some(node);
            }
            let keys = [Key::Field, Key::Property, Key::Attribute, Key::Name];
            let keyed = keys.into_iter().find_map(|key| self.child(node, key));
            node = keyed.or_else(|| self.part_with_name(node, kind))?;
        }
        None
    }

    /// The part of an expression or a type that holds its name where no field tells.
    fn part_with_name<'t>(&self, node: Node<'t>, kind: UseKind) -> Option<Node<'t>> {
        match node.kind() {
            _ if self.is_c() => {
                let first = || node.named_child(0).filter(|_| kind == UseKind::Write);
                self.child(node, Key::Argument).or_else(first)
            }
            "scoped_type_identifier" => last_named(node),
            "generic_type" | "array_access" | "subscript" => node.named_child(0),
            _ => None,
        }
    }

    /// The children of a node that fill a field.
    pub(crate) fn children<'t>(&self, node: Node<'t>, key: Key) -> Vec<Node<'t>> {
        let Some(field) = NonZeroU16::new(self.key(key)) else {
            return Vec::new();
        };
        let mut cursor = node.walk();
        node.children_by_field_id(field, &mut cursor).collect()
    }
}
