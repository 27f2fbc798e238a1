//! The roles of the nodes of languages whose definitions have a field `name`.

use crate::language::spec::{Key, Spec};
use crate::symbol::SymbolKind;
use patchwright_source::Language;
use serde::Deserialize;
use std::sync::OnceLock;

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

/// The table of a language, resolved once.
pub(super) fn spec_of(language: Language) -> Option<&'static Spec<Role>> {
    static SPECS: [OnceLock<Spec<Role>>; Language::ALL.len()] =
        [const { OnceLock::new() }; Language::ALL.len()];
    let table = match language {
        Language::Java => include_str!("../roles/java.json"),
        Language::Python => include_str!("../roles/python.json"),
        Language::Go => include_str!("../roles/go.json"),
        Language::Rust => include_str!("../roles/rust.json"),
        _ => include_str!("../roles/javascript.json"),
    };
    let slot = SPECS.get(language as usize)?;
    Some(slot.get_or_init(|| Spec::new(language, table, Role::Skip)))
}
