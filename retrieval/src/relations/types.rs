//! Along the types: what a type stands for and what is made of it.

use crate::error::RetrievalError;
use crate::index::{Index, Reader};
use crate::relations::definitions::named;
use crate::relations::name::QualifiedName;
use crate::relations::places::sorted;
use crate::relations::rows::{name_id, symbol_by_id, symbols};
use crate::symbol::{Symbol, SymbolKind};
use rusqlite::Result;

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

    /// The names of the types that a class extends or implements.
    pub fn bases(&self, symbol: &Symbol) -> Result<Vec<String>, RetrievalError> {
        self.read(|reader| {
            let mut statement = reader.connection.prepare_cached(
                "SELECT n.name FROM inherit i JOIN name n ON n.id = i.base_id
                 WHERE i.symbol_id = ?1 ORDER BY i.line, n.name",
            )?;
            let names = statement.query_map([symbol.id], |row| row.get(0))?;
            names.collect()
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
