//! What the preprocessor's lines of C and C++ become in the database: macros with
//! the names in their bodies, and includes.

use super::CVisitor;
use crate::language::facts::SymbolFact;
use crate::language::macros::{identifiers, is_keyword};
use crate::language::walk::{Place, first_line, last_line};
use crate::symbol::{SymbolKind, UseKind};

impl CVisitor<'_> {
    /// A macro with the names in its body.
    pub(super) fn macro_definition(&mut self, place: &Place<'_, '_>) {
        let node = place.node;
        let Some(name_node) = node.child_by_field_id(self.grammar.declarators.name_field) else {
            return;
        };
        let name = self.facts.intern_range(name_node.byte_range());
        let line = first_line(node);
        let value = node.child_by_field_id(self.grammar.value);
        let symbol = self.facts.define(SymbolFact {
            name,
            scope: 0,
            type_name: 0,
            kind: SymbolKind::Macro,
            parent: 0,
            line,
            end_line: last_line(node),
            name_line: line,
            body_line: value.map_or(0, first_line),
        });
        let Some(value) = value else { return };
        let bytes = self.facts.bytes;
        let parameters: Vec<&[u8]> = node
            .child_by_field_id(self.grammar.parameters)
            .map(|node| identifiers(bytes, node.byte_range()))
            .unwrap_or_default()
            .into_iter()
            .filter_map(|token| bytes.get(token.range))
            .collect();
        for token in identifiers(bytes, value.byte_range()) {
            let word = bytes.get(token.range.clone()).unwrap_or_default();
            if is_keyword(word) || parameters.contains(&word) {
                continue;
            }
            let kind = if token.called {
                UseKind::Call
            } else {
                UseKind::Read
            };
            let used = self.facts.intern_range(token.range);
            let line = first_line(value) + token.lines_down;
            self.facts.use_in(used, line, kind, symbol);
        }
    }

    pub(super) fn include(&mut self, place: &Place<'_, '_>) {
        let Some(path) = place.node.child_by_field_id(self.grammar.path) else {
            return;
        };
        let bytes = self.facts.bytes;
        let text = bytes.get(path.byte_range()).unwrap_or_default();
        let text = text
            .strip_prefix(b"<")
            .or_else(|| text.strip_prefix(b"\""))
            .unwrap_or(text);
        let text = text
            .strip_suffix(b">")
            .or_else(|| text.strip_suffix(b"\""))
            .unwrap_or(text);
        let target = self.facts.intern(text);
        self.facts.import(first_line(place.node), target);
    }
}
