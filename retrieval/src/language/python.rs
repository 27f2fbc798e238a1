//! Python: functions, classes, methods, module variables, imports, calls.

use crate::language::tabled::{Key, Role, Spec};
use crate::symbol::SymbolKind;
use patchwright_source::Language;
use std::sync::OnceLock;

const ROLES: &[(&str, Role)] = &[
    ("comment", Role::Skip),
    ("string", Role::Other),
    ("identifier", Role::Name),
    ("function_definition", Role::Define(SymbolKind::Function)),
    ("class_definition", Role::Define(SymbolKind::Class)),
    ("import_statement", Role::Import),
    ("import_from_statement", Role::Import),
    ("assignment", Role::Variable(Key::Left)),
    ("parameters", Role::Locals),
    ("lambda_parameters", Role::Locals),
    ("typed_parameter", Role::Locals),
    ("default_parameter", Role::Local(Key::Name)),
    ("typed_default_parameter", Role::Local(Key::Name)),
    ("for_statement", Role::Local(Key::Left)),
    ("for_in_clause", Role::Local(Key::Left)),
    ("call", Role::Call(Key::Function)),
];

pub(crate) fn spec() -> &'static Spec {
    static SPEC: OnceLock<Spec> = OnceLock::new();
    SPEC.get_or_init(|| Spec::new(Language::Python, ROLES))
}
