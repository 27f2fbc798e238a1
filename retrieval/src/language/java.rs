//! Java: packages, types, methods, constructors, fields, nested and anonymous
//! classes, imports. Anonymous classes are numbered per class in the order of
//! the text, as `javac` does for most programs.

use crate::language::tabled::{Key, Role, Spec};
use crate::symbol::SymbolKind;
use patchwright_source::Language;
use std::sync::OnceLock;

const ROLES: &[(&str, Role)] = &[
    ("line_comment", Role::Skip),
    ("block_comment", Role::Skip),
    ("string_literal", Role::Skip),
    ("character_literal", Role::Skip),
    ("identifier", Role::Name),
    ("type_identifier", Role::TypeName),
    ("package_declaration", Role::Package),
    ("import_declaration", Role::Import),
    ("class_declaration", Role::Define(SymbolKind::Class)),
    ("interface_declaration", Role::Define(SymbolKind::Interface)),
    ("enum_declaration", Role::Define(SymbolKind::Enum)),
    ("record_declaration", Role::Define(SymbolKind::Record)),
    (
        "annotation_type_declaration",
        Role::Define(SymbolKind::Annotation),
    ),
    ("method_declaration", Role::Define(SymbolKind::Method)),
    (
        "constructor_declaration",
        Role::Define(SymbolKind::Constructor),
    ),
    (
        "compact_constructor_declaration",
        Role::Define(SymbolKind::Constructor),
    ),
    (
        "annotation_type_element_declaration",
        Role::Define(SymbolKind::Method),
    ),
    ("enum_constant", Role::Define(SymbolKind::Enumerator)),
    ("field_declaration", Role::Declarators(SymbolKind::Field)),
    ("constant_declaration", Role::Declarators(SymbolKind::Field)),
    ("static_initializer", Role::Initializer),
    ("variable_declarator", Role::Local(Key::Name)),
    ("formal_parameter", Role::Local(Key::Name)),
    ("catch_formal_parameter", Role::Local(Key::Name)),
    ("enhanced_for_statement", Role::Local(Key::Name)),
    ("resource", Role::Local(Key::Name)),
    ("instanceof_expression", Role::Local(Key::Name)),
    ("inferred_parameters", Role::Locals),
    ("superclass", Role::Bases),
    ("super_interfaces", Role::Bases),
    ("extends_interfaces", Role::Bases),
    ("method_invocation", Role::Call(Key::Name)),
    ("object_creation_expression", Role::Creation),
    ("assignment_expression", Role::Assignment(Key::Left)),
];

pub(crate) fn spec() -> &'static Spec {
    static SPEC: OnceLock<Spec> = OnceLock::new();
    SPEC.get_or_init(|| Spec::new(Language::Java, ROLES))
}
