//! Single lookups in the index, in the form that answering wants them.
//!
//! The database failing in the middle of an answer is logged and counts as
//! nothing found: a query never ends a run.

use super::Engine;
use crate::answer::Hit;
use crate::error::or_nothing;
use crate::relations::{QualifiedName, nearest_named};
use crate::symbol::{Symbol, SymbolKind};
use patchwright_source::TreePath;

/// The definition around some lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) name: String,
    kind: SymbolKind,
    first: u32,
    last: u32,
}

impl Around {
    /// Where it starts.
    pub(crate) fn first_line(&self) -> u32 {
        self.first
    }

    /// `in function f, lines 10-80`.
    pub(crate) fn describe(&self) -> String {
        format!(
            "in {} {}, lines {}-{}",
            self.kind, self.name, self.first, self.last
        )
    }
}

impl From<Symbol> for Around {
    fn from(symbol: Symbol) -> Self {
        Self {
            name: symbol.name,
            kind: symbol.kind,
            first: symbol.start_line,
            last: symbol.end_line,
        }
    }
}

impl Engine {
    /// The definitions of a name, plain or qualified.
    pub(crate) fn named(&self, name: &str) -> Vec<Symbol> {
        or_nothing(self.index.definitions(name)).symbols
    }

    /// Everything defined in a file.
    pub(crate) fn symbols_in(&self, path: &TreePath) -> Vec<Symbol> {
        or_nothing(self.index.outline(path))
    }

    /// The function around some lines, else the type around them. What is
    /// itself a whole definition is not inside of one.
    pub(crate) fn enclosing(&self, path: &TreePath, first: u32, last: u32) -> Option<Around> {
        let function = or_nothing(self.index.enclosing_function(path, first));
        let around = function
            .filter(|symbol| symbol.holds(last))
            .or_else(|| or_nothing(self.index.enclosing(path, first)))?;
        let beyond = first < around.start_line || around.end_line < last;
        (!beyond).then(|| around.into())
    }

    /// Adds to a hit which definitions lie around the lines it was found for.
    pub(super) fn name_surroundings(&self, hit: &mut Hit) {
        for (first, last) in std::mem::take(&mut hit.inside) {
            if let Some(around) = self.enclosing(&hit.path, first, last) {
                hit.add_note(&around.describe());
                hit.add_symbol(around.name);
            }
        }
    }

    /// Names like one that was not found, the likest first.
    pub(crate) fn nearest_names(&self, name: &str) -> Vec<String> {
        or_nothing(self.index.nearest(name, 6))
            .into_iter()
            .map(|nearest| nearest.name)
            .collect()
    }

    /// Tells whether no more than one function has a name.
    pub(crate) fn is_only_function(&self, name: &str) -> bool {
        let same = self.named(name);
        same.iter().filter(|one| one.kind.is_callable()).count() <= 1
    }

    /// The files from which a name is called, one for each caller, at most
    /// `limit`. Much cheaper than the callers themselves.
    pub(crate) fn caller_files(&self, name: &str, limit: usize) -> Vec<TreePath> {
        or_nothing(self.index.read(|reader| {
            let mut statement = reader.connection.prepare_cached(
                "SELECT DISTINCT caller_id FROM call
                 WHERE name_id = (SELECT id FROM name WHERE name = ?1) LIMIT ?2",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let callers = statement.query_map((name, limit), |row| row.get::<_, i64>(0))?;
            let mut files = Vec::new();
            for caller in callers {
                files.extend(
                    reader
                        .files
                        .of_symbol(caller?)
                        .map(|file| file.path.clone()),
                );
            }
            Ok(files)
        }))
    }

    /// The definition that a name most likely means in a file: in the file
    /// itself, in its folder, then wherever product code defines it.
    pub(crate) fn meant(&self, name: &str, from: &TreePath) -> Option<Symbol> {
        let wanted = QualifiedName::read(name)?;
        if !wanted.scope.is_empty() {
            let named = self.named(name).into_iter();
            return named.min_by_key(|symbol| distance(&symbol.path, from, symbol.kind));
        }
        or_nothing(self.index.read(|reader| {
            nearest_named(reader, &wanted.name, |path, kind| {
                distance(path, from, kind)
            })
        }))
    }
}

/// Returns how far a definition lies from the file that names it.
fn distance(path: &TreePath, from: &TreePath, kind: SymbolKind) -> (bool, u8, usize, bool) {
    let near = if path == from {
        0
    } else if path.folder() == from.folder() {
        1
    } else {
        2
    };
    let shared = path
        .folder()
        .split('/')
        .zip(from.folder().split('/'))
        .take_while(|(a, b)| a == b)
        .count();
    let forward = kind == SymbolKind::Prototype;
    (
        forward,
        near,
        usize::MAX - shared,
        crate::rank::is_aside(path),
    )
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
                for symbol in engine.symbols_in(other) {
                    let all = engine.named(&symbol.name).into_iter();
                    let nearest = all.min_by_key(|one| distance(&one.path, from, one.kind));
                    assert!(nearest.is_some());
                    assert_eq!(engine.meant(&symbol.name, from), nearest, "{from}");
                    chosen += usize::from(nearest.is_some_and(|one| one.id != symbol.id));
                }
            }
        }
        assert!(chosen > 0, "no name has several definitions");
        assert_eq!(engine.meant("nowhere", &engine.files()[0]), None);
    }
}
