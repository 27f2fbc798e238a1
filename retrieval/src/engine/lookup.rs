//! Single lookups in the index, in the form that answering wants them.

use super::Engine;
use crate::answer::Hit;
use crate::error::Result;
use crate::rank::{is_aside, shared_folders};
use crate::relations::{QualifiedName, nearest_named};
use crate::search::Scored;
use crate::snippet::Lines;
use crate::symbol::{Symbol, SymbolKind, Weighed};
use patchwright_source::TreePath;
use std::collections::BTreeMap;

/// Returns where a definition is: `in function f, lines 10-80`.
pub(crate) fn described(around: &Symbol) -> String {
    let (first, last) = (around.start_line, around.end_line);
    format!("in {} {}, lines {first}-{last}", around.kind, around.name)
}

impl Engine {
    /// The definitions of a name, plain or qualified.
    pub(crate) fn named(&self, name: &str) -> Result<Vec<Symbol>> {
        Ok(self.index.definitions(name)?.symbols)
    }

    /// The definitions with some numbers, as far as these are still there.
    pub(crate) fn symbols(&self, ids: impl IntoIterator<Item = i64>) -> Result<Vec<Symbol>> {
        let found = ids.into_iter().map(|id| self.index.symbol(id));
        found.filter_map(Result::transpose).collect()
    }

    /// Definitions that were found by words, with their scores.
    pub(crate) fn scored_symbols(&self, scored: &[Scored]) -> Result<Vec<Weighed>> {
        let found = scored.iter().map(|one| {
            let symbol = self.index.symbol(one.id)?;
            Ok(symbol.map(|symbol| (one.score, symbol)))
        });
        found.filter_map(Result::transpose).collect()
    }

    /// The definition that another one is a member of.
    pub(crate) fn parent_of(&self, symbol: &Symbol) -> Result<Option<Symbol>> {
        symbol.parent.map_or(Ok(None), |id| self.index.symbol(id))
    }

    /// The function around some lines, else the type around them. What is
    /// itself a whole definition is not inside of one.
    pub(crate) fn enclosing(&self, path: &TreePath, lines: Lines) -> Result<Option<Symbol>> {
        let (first, last) = lines;
        let function = self.index.enclosing_function(path, first)?;
        let around = match function.filter(|symbol| symbol.holds(last)) {
            Some(function) => Some(function),
            None => self.index.enclosing(path, first)?,
        };
        Ok(around.filter(|one| one.start_line <= first && last <= one.end_line))
    }

    /// Adds to a hit which definitions lie around the lines it was found for.
    pub(super) fn name_surroundings(&self, hit: &mut Hit) -> Result<()> {
        for lines in std::mem::take(&mut hit.inside) {
            if let Some(around) = self.enclosing(&hit.path, lines)? {
                hit.add_note(&described(&around));
                hit.add_symbol(around.name);
            }
        }
        Ok(())
    }

    /// Tells whether no more than one function has a name.
    pub(crate) fn is_only_function(&self, name: &str) -> Result<bool> {
        let same = self.named(name)?;
        Ok(same.iter().filter(|one| one.kind.is_callable()).count() <= 1)
    }

    /// The functions around some places, in the order of their numbers, each with the lines.
    pub(crate) fn functions_at(
        &self,
        places: impl IntoIterator<Item = (TreePath, u32)>,
    ) -> Result<Vec<(Symbol, Vec<u32>)>> {
        let mut found: BTreeMap<i64, (Symbol, Vec<u32>)> = BTreeMap::new();
        for (path, line) in places {
            if let Some(function) = self.index.enclosing_function(&path, line)? {
                let known = found.entry(function.id);
                known.or_insert((function, Vec::new())).1.push(line);
            }
        }
        Ok(found.into_values().collect())
    }

    /// The files from which a name is called, one for each caller, at most
    /// `limit`. Much cheaper than the callers themselves.
    pub(crate) fn caller_files(&self, name: &str, limit: usize) -> Result<Vec<TreePath>> {
        self.index.read(|reader| {
            let sql = "SELECT DISTINCT caller_id FROM call
                 WHERE name_id = (SELECT id FROM name WHERE name = ?1) LIMIT ?2";
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let callers: Vec<i64> = reader.values(sql, (name, limit))?;
            let files = callers
                .into_iter()
                .filter_map(|caller| reader.files.of_symbol(caller));
            Ok(files.map(|file| file.path.clone()).collect())
        })
    }

    /// The definition that a name most likely means in a file: in the file
    /// itself, in its folder, then wherever product code defines it.
    pub(crate) fn meant(&self, name: &str, from: &TreePath) -> Result<Option<Symbol>> {
        let Some(wanted) = QualifiedName::read(name) else {
            return Ok(None);
        };
        if !wanted.scope.is_empty() {
            let named = self.named(name)?.into_iter();
            return Ok(named.min_by_key(|symbol| distance(&symbol.path, from, symbol.kind)));
        }
        self.index.read(|reader| {
            nearest_named(reader, &wanted.name, |path, kind| {
                distance(path, from, kind)
            })
        })
    }
}

/// Returns how far a definition lies from the file that names it.
fn distance(path: &TreePath, from: &TreePath, kind: SymbolKind) -> (bool, bool, bool, usize, bool) {
    let forward = kind == SymbolKind::Prototype;
    let elsewhere = path.folder() != from.folder();
    let apart = usize::MAX - shared_folders(path, from);
    (forward, path != from, elsewhere, apart, is_aside(path))
}

#[cfg(test)]
mod tests {
    use super::distance;
    use crate::engine::tests::fixture;

    #[test]
    fn the_definition_that_is_meant_is_the_nearest_of_all() {
        let (_folder, engine) = fixture();
        let mut chosen = 0;
        for from in engine.files() {
            for other in engine.files() {
                for symbol in engine.index.outline(other).unwrap() {
                    let all = engine.named(&symbol.name).unwrap().into_iter();
                    let nearest = all.min_by_key(|one| distance(&one.path, from, one.kind));
                    assert!(nearest.is_some());
                    assert_eq!(engine.meant(&symbol.name, from).unwrap(), nearest, "{from}");
                    chosen += usize::from(nearest.is_some_and(|one| one.id != symbol.id));
                }
            }
        }
        assert!(chosen > 0, "no name has several definitions");
        let unknown = engine.meant("nowhere", &engine.files()[0]);
        assert_eq!(unknown.unwrap(), None);
    }
}
