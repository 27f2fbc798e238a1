//! Go: functions, methods by their receiver, types, fields, package variables,
//! imports, calls.

use crate::language::tabled::{Key, Role, Spec};
use crate::symbol::SymbolKind;
use patchwright_source::Language;
use std::sync::OnceLock;

const ROLES: &[(&str, Role)] = &[
    ("comment", Role::Skip),
    ("interpreted_string_literal", Role::Skip),
    ("raw_string_literal", Role::Skip),
    ("identifier", Role::Name),
    ("field_identifier", Role::Member),
    ("type_identifier", Role::TypeName),
    ("package_clause", Role::Package),
    ("import_spec", Role::Import),
    ("function_declaration", Role::Define(SymbolKind::Function)),
    ("method_declaration", Role::Receiver),
    ("method_elem", Role::Leaf(SymbolKind::Prototype)),
    ("type_spec", Role::TypeSpec),
    ("type_alias", Role::TypeSpec),
    ("field_declaration", Role::Leaf(SymbolKind::Field)),
    ("const_spec", Role::Variable(Key::Name)),
    ("var_spec", Role::Variable(Key::Name)),
    ("parameter_declaration", Role::Local(Key::Name)),
    ("short_var_declaration", Role::Local(Key::Left)),
    ("range_clause", Role::Local(Key::Left)),
    ("call_expression", Role::Call(Key::Function)),
    ("assignment_statement", Role::Assignment(Key::Left)),
];

pub(crate) fn spec() -> &'static Spec {
    static SPEC: OnceLock<Spec> = OnceLock::new();
    SPEC.get_or_init(|| Spec::new(Language::Go, ROLES))
}
