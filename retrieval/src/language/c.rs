//! C and C++: what a translation unit defines and uses, as far as that is not said in the manner
//! of other languages.
//!
//! `prepare` makes the text ready and says where each function lies; then one
//! walk over the syntax trees of the declarations and of each body. Preprocessor
//! conditionals are not evaluated: both branches count, as far as they hold whole statements.

mod brackets;
mod conditionals;
mod declarations;
mod definitions;
mod directives;
mod function_end;
mod function_head;
mod keywords;
mod plain;
pub(crate) mod prepare;
pub(crate) mod tokens;
mod type_head;

use crate::language::Extractor;
use crate::language::declarator::declared;
use crate::language::facts::{NameId, WRITE};
use crate::language::spec::{Key, Role};
use patchwright_source::Language;
use tree_sitter::Node;

impl Extractor<'_> {
    /// Returns what stands before the name that is called.
    pub(super) fn receiver_in_c(&mut self, node: Node<'_>, key: Key) -> NameId {
        let Some(function) = self.spec.child(node, key) else {
            return 0;
        };
        if self.spec.role(function) == Role::Name {
            return 0;
        }
        if function.kind() == "qualified_identifier" {
            let scope = declared(function).and_then(|found| found.scope.last().cloned());
            let Some(scope) = scope else { return 0 };
            let name = self.facts.intern_range(scope);
            return self.facts.compose_with(b':', name);
        }
        let Some(object) = self.spec.child(function, Key::Argument) else {
            let is_template = self.spec.child(function, Key::Name).is_some();
            return if is_template {
                0
            } else {
                self.facts.compose(b"?".to_vec())
            };
        };
        if self.spec.language == Language::C {
            return self.facts.compose(b"*".to_vec());
        }
        match self.spec.role(object) {
            Role::Name => {
                let variable = self.facts.intern_range(object.byte_range());
                self.facts.receiver_of(variable)
            }
            _ if object.kind() == "this" => 0,
            _ => self.facts.compose(b"?".to_vec()),
        }
    }

    /// Notes the type of the variables that a declaration in a function makes.
    pub(super) fn type_locals(&mut self, node: Node<'_>) {
        if self.spec.language == Language::C {
            return;
        }
        let type_name = self.type_of(node);
        for child in self.spec.children(node, Key::Declarator) {
            if let Some(found) = declared(child) {
                let name = self.facts.intern_range(found.name.byte_range());
                self.facts.local_types.insert(name, type_name);
            }
        }
    }

    /// `: field(value)`: the field is written.
    pub(super) fn field_initializer(&mut self, node: Node<'_>) {
        if let Some(name) = node.named_child(0) {
            self.facts.mark(name.start_byte(), WRITE);
        }
    }
}
