//! Relations: the questions that the code database answers.
//!
//! Lookups by name, along calls, along types and by place, all as methods of
//! [`Index`]. They return everything they find in a fixed order; choosing what
//! to show is not done here.

mod calls;
mod definitions;
mod name;
mod nearest;
mod places;
pub(crate) mod resolution;
mod similar;

#[cfg(test)]
pub(crate) mod tests;

use crate::error::Result;
use crate::index::Reader;
use crate::symbol::{Symbol, SymbolKind};
use rusqlite::{Params, Row};
use rustc_hash::FxHashMap;
use std::hash::Hash;

pub use definitions::Definitions;
pub(crate) use definitions::nearest_named;
pub use name::QualifiedName;
pub use similar::Similar;

/// Returns what is known under a key, looked up once.
fn kept<K: Eq + Hash, V: Clone>(
    known: &mut FxHashMap<K, V>,
    key: K,
    look_up: impl FnOnce() -> Result<V>,
) -> Result<V> {
    if let Some(value) = known.get(&key) {
        return Ok(value.clone());
    }
    let value = look_up()?;
    known.insert(key, value.clone());
    Ok(value)
}

/// The columns that [`symbol`] reads.
const COLUMNS: &str = "s.id, n.name, (SELECT name FROM name WHERE id = s.scope_id),
  (SELECT name FROM name WHERE id = s.type_id), s.kind, s.file_id, s.parent_id,
  s.line, s.end_line, s.name_line, s.body_line";

/// Symbols that fit a condition on `s`, in the order of their numbers.
fn symbols(reader: &Reader<'_>, condition: &str, params: impl Params) -> Result<Vec<Symbol>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM symbol s JOIN name n ON n.id = s.name_id
         WHERE {condition} ORDER BY s.id"
    );
    let mut statement = reader.connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params, |row| symbol(reader, row))?;
    let known = rows.filter_map(rusqlite::Result::transpose);
    Ok(known.collect::<rusqlite::Result<_>>()?)
}

fn symbol_by_id(reader: &Reader<'_>, id: i64) -> Result<Option<Symbol>> {
    Ok(symbols(reader, "s.id = ?1", [id])?.pop())
}

fn symbol(reader: &Reader<'_>, row: &Row<'_>) -> rusqlite::Result<Option<Symbol>> {
    let kind: String = row.get(4)?;
    let file = reader.files.by_id(row.get(5)?);
    let (Some(kind), Some(file)) = (SymbolKind::read(&kind), file) else {
        return Ok(None);
    };
    let Some(language) = file.language else {
        return Ok(None);
    };
    let body: u32 = row.get(10)?;
    Ok(Some(Symbol {
        id: row.get(0)?,
        name: row.get(1)?,
        scope: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
        type_name: row.get(3)?,
        kind,
        path: file.path.clone(),
        language,
        parent: row.get(6)?,
        start_line: row.get(7)?,
        end_line: row.get(8)?,
        name_line: row.get(9)?,
        body_line: (body > 0).then_some(body),
    }))
}

/// Numbers as a call keeps its lines: `12,15,19`.
fn read_numbers(text: &str) -> impl Iterator<Item = u32> + '_ {
    text.split(',').filter_map(|number| number.parse().ok())
}
