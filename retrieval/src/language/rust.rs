//! Rust: functions, types, traits, implementations, modules, constants,
//! macros, uses, calls.

use crate::language::tabled::{Key, Role, Spec};
use crate::symbol::SymbolKind;
use patchwright_source::Language;
use std::sync::OnceLock;

const ROLES: &[(&str, Role)] = &[
    ("line_comment", Role::Skip),
    ("block_comment", Role::Skip),
    ("string_literal", Role::Skip),
    ("raw_string_literal", Role::Skip),
    ("identifier", Role::Name),
    ("field_identifier", Role::Member),
    ("type_identifier", Role::TypeName),
    ("use_declaration", Role::Import),
    ("function_item", Role::Define(SymbolKind::Function)),
    ("function_signature_item", Role::Leaf(SymbolKind::Prototype)),
    ("struct_item", Role::Define(SymbolKind::Struct)),
    ("union_item", Role::Define(SymbolKind::Union)),
    ("enum_item", Role::Define(SymbolKind::Enum)),
    ("enum_variant", Role::Define(SymbolKind::Enumerator)),
    ("trait_item", Role::Define(SymbolKind::Interface)),
    ("impl_item", Role::Implementation),
    ("mod_item", Role::Define(SymbolKind::Namespace)),
    ("type_item", Role::Leaf(SymbolKind::Typedef)),
    ("macro_definition", Role::Leaf(SymbolKind::Macro)),
    ("field_declaration", Role::Leaf(SymbolKind::Field)),
    ("const_item", Role::Variable(Key::Name)),
    ("static_item", Role::Variable(Key::Name)),
    ("let_declaration", Role::Local(Key::Pattern)),
    ("parameter", Role::Local(Key::Pattern)),
    ("closure_parameters", Role::Locals),
    ("mut_pattern", Role::Locals),
    ("call_expression", Role::Call(Key::Function)),
    ("macro_invocation", Role::Call(Key::Macro)),
    ("assignment_expression", Role::Assignment(Key::Left)),
    ("compound_assignment_expr", Role::Assignment(Key::Left)),
];

pub(crate) fn spec() -> &'static Spec {
    static SPEC: OnceLock<Spec> = OnceLock::new();
    SPEC.get_or_init(|| Spec::new(Language::Rust, ROLES))
}
