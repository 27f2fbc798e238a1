//! Puts right what a broken syntax tree got wrong about functions.

use super::CVisitor;
use crate::language::facts::{NameId, SymbolFact};
use crate::language::macros::identifiers;
use crate::language::recovery::{LostFunction, lost_functions};
use crate::symbol::{SymbolKind, UseKind};
use rustc_hash::FxHashMap;
use std::ops::Range;

impl CVisitor<'_> {
    /// Adds the functions that the layout shows and the tree does not, and
    /// corrects the ends of those that the tree has.
    pub(super) fn recover(&mut self) {
        let lost = lost_functions(self.facts.bytes);
        let known = self.known_functions();
        for function in &lost {
            let name = self.facts.intern_range(function.name.clone());
            let known = known
                .get(&(name, function.name_line))
                .and_then(|index| self.facts.symbols.get_mut(*index));
            match known {
                Some(symbol) if symbol.kind.is_callable() => symbol.end_line = function.end_line,
                Some(symbol) => {
                    symbol.kind = SymbolKind::Function;
                    symbol.end_line = function.end_line;
                    symbol.body_line = function.body_line;
                }
                None => self.add_lost(function),
            }
        }
        self.drop_variables_of(&lost);
        self.facts.adopt_orphans();
    }

    /// The functions that the tree has, by name and line: the first of each.
    fn known_functions(&self) -> FxHashMap<(NameId, u32), usize> {
        let mut known = FxHashMap::default();
        for (index, symbol) in self.facts.symbols.iter().enumerate() {
            if symbol.kind.is_callable() || symbol.kind == SymbolKind::Prototype {
                known
                    .entry((symbol.name, symbol.name_line))
                    .or_insert(index);
            }
        }
        known
    }

    /// The names in macro calls that were kept from the parser.
    pub(super) fn loose_calls(&mut self, calls: &[(u32, Range<usize>)]) {
        for (line, range) in calls {
            for token in identifiers(self.facts.bytes, range.clone()) {
                let kind = if token.called {
                    UseKind::Call
                } else {
                    UseKind::Read
                };
                let name = self.facts.intern_range(token.range);
                self.facts.use_in(name, *line, kind, 0);
            }
        }
        if !calls.is_empty() {
            self.facts.adopt_orphans();
        }
    }

    fn add_lost(&mut self, function: &LostFunction) {
        let name = self.facts.intern_range(function.name.clone());
        let scope = function.scope.clone();
        let scope = scope.map_or(0, |range| self.facts.intern_range(range));
        self.facts.define(SymbolFact {
            name,
            scope,
            type_name: 0,
            kind: if scope == 0 {
                SymbolKind::Function
            } else {
                SymbolKind::Method
            },
            parent: 0,
            line: function.line,
            end_line: function.end_line,
            name_line: function.name_line,
            body_line: function.body_line,
        });
    }

    /// Without their function, its variables look like global ones.
    fn drop_variables_of(&mut self, lost: &[LostFunction]) {
        let inside = |line: u32| {
            let before = lost.partition_point(|function| function.body_line < line);
            before
                .checked_sub(1)
                .and_then(|at| lost.get(at))
                .is_some_and(|function| line < function.end_line)
        };
        for symbol in &mut self.facts.symbols {
            let loose = matches!(symbol.kind, SymbolKind::Variable | SymbolKind::Prototype);
            if loose && symbol.body_line == 0 && inside(symbol.line) {
                // Indices are referred to: the symbol is emptied, not removed.
                symbol.name = 0;
            }
        }
    }
}
