//! The table of a grammar: what its kinds of nodes mean to an extractor, and the fields that these
//! meanings speak of, in the grammar's own numbers.

use patchwright_source::Language;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use tree_sitter::Node;

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

/// A grammar's numbers for a table of roles `R`.
#[derive(Debug)]
pub(crate) struct Spec<R> {
    pub(crate) language: Language,
    roles: Vec<R>,
    keys: Vec<u16>,
}

impl<R: Copy + Default + DeserializeOwned> Spec<R> {
    /// Resolves a table in JSON against a grammar. Kinds without a role get `R::default()`,
    /// punctuation and keywords `word`.
    pub(crate) fn new(language: Language, table: &str, word: R) -> Self {
        let grammar = language.grammar();
        let field = |name: &str| grammar.field_id_for_name(name).map_or(0, u16::from);
        // The tables are part of the program, and a test reads each of them.
        let table: HashMap<String, R> = serde_json::from_str(table).unwrap_or_default();
        let role = |kind: u16| {
            if !grammar.node_kind_is_named(kind) {
                return word;
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

    pub(crate) fn role(&self, node: Node<'_>) -> R {
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

    /// The last name in an expression or a type, down to a node whose role is one of a name; where
    /// no field leads on, `otherwise` does.
    pub(crate) fn last_name<'t>(
        &self,
        mut node: Node<'t>,
        is_name: impl Fn(R) -> bool,
        otherwise: impl Fn(Node<'t>) -> Option<Node<'t>>,
    ) -> Option<Node<'t>> {
        for _ in 0..32 {
            if is_name(self.role(node)) {
                return Some(node);
            }
            let keys = [Key::Field, Key::Property, Key::Attribute, Key::Name];
            let keyed = keys.into_iter().find_map(|key| self.child(node, key));
            node = keyed.or_else(|| otherwise(node))?;
        }
        None
    }

    /// The children of a node that fill a field.
    pub(crate) fn children<'t>(&self, node: Node<'t>, key: Key) -> Vec<Node<'t>> {
        let mut cursor = node.walk();
        let mut children = Vec::new();
        let mut more = cursor.goto_first_child();
        while more {
            if cursor
                .field_id()
                .is_some_and(|id| u16::from(id) == self.key(key))
            {
                children.push(cursor.node());
            }
            more = cursor.goto_next_sibling();
        }
        children
    }
}
