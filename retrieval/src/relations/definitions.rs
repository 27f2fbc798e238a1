//! Definitions by their names, and the types that belong together.

use crate::error::Result;
use crate::index::{Index, Reader};
use crate::relations::name::{QualifiedName, scope_parts};
use crate::relations::{symbol_by_id, symbols};
use crate::symbol::{Symbol, SymbolKind};
use patchwright_source::TreePath;

/// The definitions of a name and how literally it was taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definitions {
    /// In the order of paths and lines.
    pub symbols: Vec<Symbol>,
    /// Leading parts of the name that fit nowhere and were ignored.
    pub ignored: Vec<String>,
}

impl Index {
    /// The definitions of a name, plain or qualified. A qualified name is
    /// tried in full first, then with its leading parts dropped one by one.
    /// Prototypes are given only when there is nothing else.
    pub fn definitions(&self, name: &str) -> Result<Definitions> {
        let Some(wanted) = QualifiedName::read(name) else {
            return Ok(Definitions::default());
        };
        let all = self.read(|reader| named(reader, &wanted.name))?;
        let most_dropped = if wanted.is_foreign() {
            0
        } else {
            wanted.scope.len()
        };
        Ok(most_specific(&all, &wanted.scope, most_dropped))
    }

    /// Every symbol of exactly this name, prototypes included.
    pub fn named(&self, name: &str) -> Result<Vec<Symbol>> {
        self.read(|reader| named(reader, name))
    }

    pub fn symbol(&self, id: i64) -> Result<Option<Symbol>> {
        self.read(|reader| symbol_by_id(reader, id))
    }

    /// Returns whether a symbol, or an imported file, of this name is known, or the
    /// name is used anywhere as a function or type.
    pub fn knows(&self, name: &str) -> Result<bool> {
        let Some(wanted) = QualifiedName::read(name) else {
            return Ok(false);
        };
        self.read(|reader| {
            let sql = "SELECT EXISTS(SELECT 1 FROM name WHERE name IN (?1, ?2)
                 AND (id IN (SELECT name_id FROM symbol) OR id IN (SELECT name_id FROM call)
                   OR id IN (SELECT target_id FROM import) OR id IN (SELECT name_id FROM posting)))";
            let known = reader.value(sql, [name, &wanted.name])?;
            Ok(known.unwrap_or(false))
        })
    }
}

/// Every symbol of a name, by path and line.
pub(crate) fn named(reader: &Reader<'_>, name: &str) -> Result<Vec<Symbol>> {
    let condition = "s.name_id = (SELECT id FROM name WHERE name = ?1)";
    Ok(in_order(symbols(reader, condition, [name])?))
}

/// The definition of a plain name that is nearest by some measure, the first in
/// the order of paths and lines among equals. Prototypes count only when there
/// is nothing else. Of common names, such as fields have, only this one is read
/// in whole.
pub(crate) fn nearest_named<K: Ord>(
    reader: &Reader<'_>,
    name: &str,
    measure: impl Fn(&TreePath, SymbolKind) -> K,
) -> Result<Option<Symbol>> {
    let sql = "SELECT id, kind, file_id, line FROM symbol
         WHERE name_id = (SELECT id FROM name WHERE name = ?1)";
    let rows: Vec<(i64, String, i64, u32)> = reader.rows(sql, [name])?;
    let places = rows.iter().filter_map(|(id, kind, file, line)| {
        let kind = SymbolKind::read(kind)?;
        let file = reader.files.by_id(*file)?;
        file.language?;
        let forward = kind == SymbolKind::Prototype;
        Some((forward, measure(&file.path, kind), &file.path, *line, *id))
    });
    match places.min() {
        Some((.., id)) => symbol_by_id(reader, id),
        None => Ok(None),
    }
}

/// Puts symbols in the order of paths and lines.
fn in_order(mut symbols: Vec<Symbol>) -> Vec<Symbol> {
    symbols.sort_by(|a, b| a.by_place(b).then(a.id.cmp(&b.id)));
    symbols
}

fn most_specific(all: &[Symbol], scope: &[String], most_dropped: usize) -> Definitions {
    for dropped in 0..=most_dropped {
        let (ignored, wanted) = scope.split_at(dropped);
        let fitting = all.iter().filter(|symbol| fits(symbol, wanted));
        let fitting: Vec<Symbol> = fitting.cloned().collect();
        if !fitting.is_empty() {
            return Definitions {
                symbols: without_prototypes(fitting),
                ignored: ignored.to_vec(),
            };
        }
    }
    Definitions::default()
}

/// Returns whether a symbol's scope ends with these parts.
fn fits(symbol: &Symbol, wanted: &[String]) -> bool {
    let parts = scope_parts(&symbol.scope);
    let tail = parts.len().checked_sub(wanted.len());
    tail.and_then(|from| parts.get(from..))
        .is_some_and(|tail| tail.iter().zip(wanted).all(|(a, b)| a == b))
}

fn without_prototypes(mut symbols: Vec<Symbol>) -> Vec<Symbol> {
    let is_more = |symbol: &Symbol| symbol.kind != SymbolKind::Prototype;
    if symbols.iter().any(is_more) {
        symbols.retain(is_more);
    }
    symbols
}

impl Index {
    /// The other half of a type: the typedefs of a struct, union or enum, and
    /// what a typedef stands for, wherever they are defined.
    pub fn type_pair(&self, symbol: &Symbol) -> Result<Vec<Symbol>> {
        self.read(|reader| match (symbol.kind, &symbol.type_name) {
            (SymbolKind::Typedef, Some(base)) => {
                let mut found = named(reader, base)?;
                found.retain(|other| other.kind.is_type() && other.id != symbol.id);
                Ok(found)
            }
            (SymbolKind::Struct | SymbolKind::Union | SymbolKind::Enum, _) => {
                let condition = "s.kind = 'typedef'
                     AND s.type_id = (SELECT id FROM name WHERE name = ?1)";
                Ok(in_order(symbols(reader, condition, [&symbol.name])?))
            }
            _ => Ok(Vec::new()),
        })
    }

    /// The classes that extend or implement a type, directly or through
    /// others; for a method of a type, the methods of the same name in those
    /// classes. By path and line.
    pub fn implementations(&self, name: &str) -> Result<Vec<Symbol>> {
        let found = self.definitions(name)?.symbols;
        let Some(wanted) = QualifiedName::read(name) else {
            return Ok(Vec::new());
        };
        self.read(|reader| {
            let is_function =
                |one: &Symbol| one.kind.is_callable() || one.kind == SymbolKind::Prototype;
            if !found.iter().any(is_function) || found.iter().any(|one| one.kind.is_type()) {
                return descendants(reader, &wanted.name);
            }
            let mut methods = Vec::new();
            for class in found.iter().filter_map(|symbol| symbol.parent) {
                let Some(class) = symbol_by_id(reader, class)? else {
                    continue;
                };
                for class in descendants(reader, &class.name)? {
                    methods.append(&mut methods_of(reader, &class, &wanted.name)?);
                }
            }
            methods.sort_by_key(|method| method.id);
            methods.dedup_by_key(|method| method.id);
            Ok(in_order(methods))
        })
    }
}

fn descendants(reader: &Reader<'_>, name: &str) -> Result<Vec<Symbol>> {
    let mut seen = vec![name.to_owned()];
    let mut next = 0;
    let mut found: Vec<Symbol> = Vec::new();
    while let Some(base) = seen.get(next).cloned() {
        next += 1;
        let condition = "s.id IN (SELECT symbol_id FROM inherit
             WHERE base_id = (SELECT id FROM name WHERE name = ?1))";
        for class in symbols(reader, condition, [base])? {
            if !seen.contains(&class.name) {
                seen.push(class.name.clone());
            }
            if !found.iter().any(|known| known.id == class.id) {
                found.push(class);
            }
        }
    }
    Ok(in_order(found))
}

/// The methods of a name in a class, in its body or written outside of it.
fn methods_of(reader: &Reader<'_>, class: &Symbol, name: &str) -> Result<Vec<Symbol>> {
    let mut methods = named(reader, name)?;
    methods.retain(|method| {
        method.parent == Some(class.id)
            || method.kind.is_callable() && method.scope == class.qualified()
    });
    Ok(methods)
}
