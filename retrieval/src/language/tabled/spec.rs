//! The table of a language: what its kinds of nodes mean, and the fields that
//! these meanings speak of, in the grammar's own numbers.

use crate::language::walk::roles;
use crate::symbol::SymbolKind;
use patchwright_source::Language;
use serde::Deserialize;
use std::sync::OnceLock;
use tree_sitter::Node;

/// Meaning of a kind of node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    /// Nothing; its children are looked at.
    #[default]
    Other,
    /// Nothing, and nothing in it.
    Skip,
    /// A name that may be a variable.
    Name,
    /// A name after a dot.
    Member,
    TypeName,
    /// A definition that other definitions can lie in.
    Define(SymbolKind),
    /// A definition that nothing lies in.
    Leaf(SymbolKind),
    /// A definition of one thing per `declarator`.
    Declarators(SymbolKind),
    /// A variable: the function's own inside functions, a definition outside.
    Variable(Key),
    /// The field holds variables of the function.
    Local(Key),
    /// Names right below are variables of the function.
    Locals,
    /// A call; the field holds what is called.
    Call(Key),
    /// An assignment; the field holds what is written.
    Assignment(Key),
    /// Types below are bases of the class around.
    Bases,
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
}

/// The fields that roles speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Key {
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
}

const KEYS: &str = "name body type function left declarator pattern constructor macro field \
     property attribute value receiver trait";

/// A grammar's numbers for a table.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) language: Language,
    roles: Vec<Role>,
    keys: Vec<u16>,
}

impl Spec {
    /// The table of a language, resolved once.
    pub(super) fn of(language: Language) -> &'static Self {
        static JAVA: OnceLock<Spec> = OnceLock::new();
        static PYTHON: OnceLock<Spec> = OnceLock::new();
        static GO: OnceLock<Spec> = OnceLock::new();
        static RUST: OnceLock<Spec> = OnceLock::new();
        static JAVASCRIPT: OnceLock<Spec> = OnceLock::new();
        static TYPESCRIPT: OnceLock<Spec> = OnceLock::new();
        static TSX: OnceLock<Spec> = OnceLock::new();
        let javascript = include_str!("../roles/javascript.json");
        let (slot, table) = match language {
            Language::Java => (&JAVA, include_str!("../roles/java.json")),
            Language::Python => (&PYTHON, include_str!("../roles/python.json")),
            Language::Go => (&GO, include_str!("../roles/go.json")),
            Language::Rust => (&RUST, include_str!("../roles/rust.json")),
            Language::TypeScript => (&TYPESCRIPT, javascript),
            Language::Tsx => (&TSX, javascript),
            _ => (&JAVASCRIPT, javascript),
        };
        slot.get_or_init(|| Self::new(language, table))
    }

    /// Resolves a table against a grammar.
    fn new(language: Language, table: &str) -> Self {
        let grammar = language.grammar();
        let field = |name: &str| grammar.field_id_for_name(name).map_or(0, u16::from);
        Self {
            language,
            roles: roles(&grammar, table, Role::Skip),
            keys: KEYS.split(' ').map(field).collect(),
        }
    }

    pub(super) fn role(&self, node: Node<'_>) -> Role {
        self.roles
            .get(usize::from(node.kind_id()))
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn key(&self, key: Key) -> u16 {
        self.keys.get(key as usize).copied().unwrap_or_default()
    }

    pub(super) fn child<'t>(&self, node: Node<'t>, key: Key) -> Option<Node<'t>> {
        match self.key(key) {
            0 => None,
            field => node.child_by_field_id(field),
        }
    }
}
