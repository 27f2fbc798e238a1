//! Definitions by their names, and the types that belong together.

use crate::error::RetrievalError;
use crate::index::{Index, Reader};
use crate::relations::name::{QualifiedName, scope_parts};
use crate::relations::rows::{name_id, symbol_by_id, symbols};
use crate::symbol::{Symbol, SymbolKind};
use patchwright_source::TreePath;
use rusqlite::Result;

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
    pub fn definitions(&self, name: &str) -> Result<Definitions, RetrievalError> {
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
    pub fn named(&self, name: &str) -> Result<Vec<Symbol>, RetrievalError> {
        self.read(|reader| named(reader, name))
    }

    pub fn symbol(&self, id: i64) -> Result<Option<Symbol>, RetrievalError> {
        self.read(|reader| symbol_by_id(reader, id))
    }

    /// Returns whether a symbol, or an imported file, of this name is known, or the
    /// name is used anywhere as a function or type.
    pub fn knows(&self, name: &str) -> Result<bool, RetrievalError> {
        let Some(wanted) = QualifiedName::read(name) else {
            return Ok(false);
        };
        self.read(|reader| {
            let known = |name: &str| -> Result<bool> {
                let Some(id) = name_id(reader, name)? else {
                    return Ok(false);
                };
                reader
                    .connection
                    .prepare_cached(
                        "SELECT EXISTS(SELECT 1 FROM symbol WHERE name_id = ?1)
                             OR EXISTS(SELECT 1 FROM call WHERE name_id = ?1)
                             OR EXISTS(SELECT 1 FROM import WHERE target_id = ?1)
                             OR EXISTS(SELECT 1 FROM posting WHERE name_id = ?1)",
                    )?
                    .query_row([id], |row| row.get(0))
            };
            Ok(known(name)? || known(&wanted.name)?)
        })
    }
}

/// Every symbol of a name, by path and line.
pub(crate) fn named(reader: &Reader<'_>, name: &str) -> Result<Vec<Symbol>> {
    let Some(id) = name_id(reader, name)? else {
        return Ok(Vec::new());
    };
    let mut found = symbols(reader, "s.name_id = ?1", [id])?;
    in_order(&mut found);
    Ok(found)
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
    let Some(id) = name_id(reader, name)? else {
        return Ok(None);
    };
    let mut statement = reader
        .connection
        .prepare_cached("SELECT id, kind, file_id, line FROM symbol WHERE name_id = ?1")?;
    let mut rows = statement.query([id])?;
    let mut best = None;
    while let Some(row) = rows.next()? {
        let kind = SymbolKind::read(row.get_ref(1)?.as_str()?);
        let file = reader.files.by_id(row.get(2)?);
        let (Some(kind), Some(file)) = (kind, file.filter(|file| file.language.is_some())) else {
            continue;
        };
        let (id, line): (i64, u32) = (row.get(0)?, row.get(3)?);
        let forward = kind == SymbolKind::Prototype;
        let key = (forward, measure(&file.path, kind), &file.path, line, id);
        if best.as_ref().is_none_or(|best| key < *best) {
            best = Some(key);
        }
    }
    match best {
        Some((.., id)) => symbol_by_id(reader, id),
        None => Ok(None),
    }
}

/// Puts symbols in the order of paths and lines.
pub(crate) fn in_order(symbols: &mut [Symbol]) {
    symbols.sort_by(|a, b| (&a.path, a.start_line, a.id).cmp(&(&b.path, b.start_line, b.id)));
}

/// Symbols by path and line.
fn sorted(mut symbols: Vec<Symbol>) -> Vec<Symbol> {
    in_order(&mut symbols);
    symbols
}

fn most_specific(all: &[Symbol], scope: &[String], most_dropped: usize) -> Definitions {
    for dropped in 0..=most_dropped {
        let (ignored, wanted) = scope.split_at(dropped);
        let fitting: Vec<Symbol> = all
            .iter()
            .filter(|symbol| fits(symbol, wanted))
            .cloned()
            .collect();
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
    if symbols
        .iter()
        .any(|symbol| symbol.kind != SymbolKind::Prototype)
    {
        symbols.retain(|symbol| symbol.kind != SymbolKind::Prototype);
    }
    symbols
}

impl Index {
    /// The other half of a type: the typedefs of a struct, union or enum, and
    /// what a typedef stands for, wherever they are defined.
    pub fn type_pair(&self, symbol: &Symbol) -> Result<Vec<Symbol>, RetrievalError> {
        self.read(|reader| match (symbol.kind, &symbol.type_name) {
            (SymbolKind::Typedef, Some(base)) => {
                let mut found = named(reader, base)?;
                found.retain(|other| other.kind.is_type() && other.id != symbol.id);
                Ok(found)
            }
            (SymbolKind::Struct | SymbolKind::Union | SymbolKind::Enum, _) => {
                let Some(id) = name_id(reader, &symbol.name)? else {
                    return Ok(Vec::new());
                };
                let found = symbols(reader, "s.kind = 'typedef' AND s.type_id = ?1", [id])?;
                Ok(sorted(found))
            }
            _ => Ok(Vec::new()),
        })
    }

    /// The classes that extend or implement a type, directly or through
    /// others; for a method of a type, the methods of the same name in those
    /// classes. By path and line.
    pub fn implementations(&self, name: &str) -> Result<Vec<Symbol>, RetrievalError> {
        let found = self.definitions(name)?.symbols;
        let Some(wanted) = QualifiedName::read(name) else {
            return Ok(Vec::new());
        };
        self.read(|reader| {
            let method = found
                .iter()
                .any(|symbol| symbol.kind.is_callable() || symbol.kind == SymbolKind::Prototype)
                && !found.iter().any(|symbol| symbol.kind.is_type());
            if !method {
                return descendants(reader, &wanted.name);
            }
            let mut methods = Vec::new();
            for symbol in &found {
                let Some(class) = symbol.parent else { continue };
                let Some(class) = symbol_by_id(reader, class)? else {
                    continue;
                };
                for class in descendants(reader, &class.name)? {
                    methods.append(&mut methods_of(reader, &class, &wanted.name)?);
                }
            }
            methods.sort_by_key(|method| method.id);
            methods.dedup_by_key(|method| method.id);
            Ok(sorted(methods))
        })
    }
}

fn descendants(reader: &Reader<'_>, name: &str) -> Result<Vec<Symbol>> {
    let mut seen = vec![name.to_owned()];
    let mut next = 0;
    let mut found: Vec<Symbol> = Vec::new();
    while let Some(base) = seen.get(next).cloned() {
        next += 1;
        let Some(id) = name_id(reader, &base)? else {
            continue;
        };
        let condition = "s.id IN (SELECT symbol_id FROM inherit WHERE base_id = ?1)";
        for class in symbols(reader, condition, [id])? {
            if !seen.contains(&class.name) {
                seen.push(class.name.clone());
            }
            if !found.iter().any(|known| known.id == class.id) {
                found.push(class);
            }
        }
    }
    Ok(sorted(found))
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
