//! JavaScript and TypeScript: functions (also those kept in constants),
//! classes, methods, fields, interfaces, enums, imports, calls.

use crate::language::tabled::{Key, Role, Spec};
use crate::symbol::SymbolKind;
use patchwright_source::Language;
use std::sync::OnceLock;

const ROLES: &[(&str, Role)] = &[
    ("comment", Role::Skip),
    ("string", Role::Skip),
    ("regex", Role::Skip),
    ("identifier", Role::Name),
    ("property_identifier", Role::Member),
    ("private_property_identifier", Role::Member),
    ("type_identifier", Role::TypeName),
    ("import_statement", Role::Import),
    ("function_declaration", Role::Define(SymbolKind::Function)),
    (
        "generator_function_declaration",
        Role::Define(SymbolKind::Function),
    ),
    ("function_signature", Role::Leaf(SymbolKind::Prototype)),
    ("class_declaration", Role::Define(SymbolKind::Class)),
    (
        "abstract_class_declaration",
        Role::Define(SymbolKind::Class),
    ),
    ("interface_declaration", Role::Define(SymbolKind::Interface)),
    ("enum_declaration", Role::Define(SymbolKind::Enum)),
    ("enum_assignment", Role::Leaf(SymbolKind::Enumerator)),
    ("type_alias_declaration", Role::Leaf(SymbolKind::Typedef)),
    ("internal_module", Role::Define(SymbolKind::Namespace)),
    ("method_definition", Role::Define(SymbolKind::Method)),
    ("method_signature", Role::Leaf(SymbolKind::Prototype)),
    (
        "abstract_method_signature",
        Role::Leaf(SymbolKind::Prototype),
    ),
    ("field_definition", Role::Leaf(SymbolKind::Field)),
    ("public_field_definition", Role::Leaf(SymbolKind::Field)),
    ("property_signature", Role::Leaf(SymbolKind::Field)),
    ("variable_declarator", Role::Variable(Key::Name)),
    ("formal_parameters", Role::Locals),
    ("required_parameter", Role::Local(Key::Pattern)),
    ("optional_parameter", Role::Local(Key::Pattern)),
    ("class_heritage", Role::Bases),
    ("extends_type_clause", Role::Bases),
    ("call_expression", Role::Call(Key::Function)),
    ("new_expression", Role::Call(Key::Constructor)),
    ("assignment_expression", Role::Assignment(Key::Left)),
    (
        "augmented_assignment_expression",
        Role::Assignment(Key::Left),
    ),
];

pub(crate) fn spec(language: Language) -> &'static Spec {
    static JAVASCRIPT: OnceLock<Spec> = OnceLock::new();
    static TYPESCRIPT: OnceLock<Spec> = OnceLock::new();
    static TSX: OnceLock<Spec> = OnceLock::new();
    let slot = match language {
        Language::TypeScript => &TYPESCRIPT,
        Language::Tsx => &TSX,
        _ => &JAVASCRIPT,
    };
    slot.get_or_init(|| Spec::new(language, ROLES))
}
