//! Facts into rows.
//!
//! One writer, prepared statements, everything in the transaction that the
//! caller opened. Names get their numbers here.

use crate::language::facts::Facts;
use patchwright_source::{Entry, Language};
use rusqlite::{Connection, OptionalExtension, Result, params};
use rustc_hash::FxHashMap;

/// A file's content hash.
pub(crate) type Hash = [u8; 32];

/// A file with its facts.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) language: Language,
    pub(crate) lines: u32,
    pub(crate) hash: Hash,
    pub(crate) facts: Facts,
}

/// Result of reading a file.
#[derive(Debug)]
pub(crate) enum FileState {
    /// It has facts.
    Parsed(Box<Parsed>),
    /// It is in no language that is indexed.
    NotCode,
    /// It could have facts and has none; the reason.
    Skipped(String),
    /// Its content is what the index holds already.
    Unchanged,
}

/// Writes files and their facts.
pub(crate) struct Writer<'c> {
    connection: &'c Connection,
    /// True when names may be in the database that this writer has not seen.
    older_names: bool,
    names: FxHashMap<Box<str>, i64>,
    next_name: i64,
    next_symbol: i64,
}

impl<'c> Writer<'c> {
    /// A writer for a database that may already hold names and symbols.
    pub(crate) fn new(connection: &'c Connection) -> Result<Self> {
        let largest = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let next_name = largest("SELECT coalesce(max(id), 0) + 1 FROM name")?;
        let next_symbol = largest(
            "SELECT max(coalesce((SELECT max(id) FROM symbol), 0),
                        coalesce((SELECT max(last_symbol) FROM file), 0),
                        coalesce((SELECT max(last_symbol) FROM worded), 0)) + 1",
        )?;
        Ok(Self {
            connection,
            older_names: next_name > 1,
            names: FxHashMap::from_iter([("".into(), 0)]),
            next_name,
            next_symbol,
        })
    }

    /// Writes a file, with its facts where it has any.
    pub(crate) fn file(&mut self, id: i64, entry: &Entry, state: &FileState) -> Result<()> {
        let (parsed, skipped) = match state {
            FileState::Parsed(parsed) => (Some(parsed), None),
            FileState::Skipped(reason) => (None, Some(reason)),
            FileState::NotCode | FileState::Unchanged => (None, None),
        };
        // The first number stands for the file itself: calls outside every
        // symbol belong to it.
        let first = self.next_symbol;
        let count = parsed.map_or(0, |parsed| parsed.facts.symbols.len());
        let last = first + i64::try_from(count).unwrap_or_default();
        self.next_symbol = last + 1;
        let mut insert = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO file VALUES
             (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?;
        insert.execute(params![
            id,
            entry.path.as_str(),
            parsed.map(|parsed| parsed.language.to_string()),
            parsed.map_or(0, |parsed| parsed.lines),
            entry.size.cast_signed(),
            entry.modified,
            entry.changed,
            entry.inode.cast_signed(),
            parsed.map(|parsed| parsed.hash.as_slice()),
            first,
            last,
            parsed.is_some_and(|parsed| parsed.facts.broken),
            skipped,
        ])?;
        parsed.map_or(Ok(()), |parsed| self.facts(id, first, &parsed.facts))
    }

    fn facts(&mut self, id: i64, first: i64, facts: &Facts) -> Result<()> {
        let names = self.number_names(facts)?;
        let name = |id: u32| names.get(id as usize).copied().unwrap_or_default();
        let prepare = |sql: &str| self.connection.prepare_cached(sql);
        let mut insert = prepare(
            "INSERT INTO symbol VALUES
             (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?;
        for (symbol, symbol_id) in facts.symbols.iter().zip(first + 1..) {
            if symbol.name == 0 {
                continue;
            }
            insert.execute(params![
                symbol_id,
                name(symbol.name),
                name(symbol.scope),
                name(symbol.type_name),
                symbol.kind.as_str(),
                id,
                (symbol.parent > 0).then(|| first + i64::from(symbol.parent)),
                symbol.line,
                symbol.end_line,
                symbol.name_line,
                symbol.body_line,
                symbol.takes.least,
                symbol.takes.most,
                symbol.is_static,
            ])?;
        }
        let mut insert = prepare("INSERT OR REPLACE INTO call VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for call in &facts.calls {
            insert.execute(params![
                first + i64::from(call.owner),
                name(call.name),
                name(call.receiver),
                call.arguments,
                call.lines
            ])?;
        }
        let mut insert = prepare("INSERT OR REPLACE INTO posting VALUES (?1, ?2, ?3)")?;
        for (used, sites) in &facts.postings {
            insert.execute(params![id, name(*used), sites])?;
        }
        let mut insert = prepare("INSERT OR IGNORE INTO import VALUES (?1, ?2, ?3)")?;
        for (line, target) in &facts.imports {
            insert.execute(params![id, line, name(*target)])?;
        }
        let mut insert = prepare("INSERT OR IGNORE INTO inherit VALUES (?1, ?2, ?3)")?;
        for inherit in &facts.inherits {
            let class = first + 1 + i64::from(inherit.symbol);
            insert.execute(params![class, name(inherit.base), inherit.line])?;
        }
        Ok(())
    }

    /// The numbers of a file's names in the database.
    fn number_names(&mut self, facts: &Facts) -> Result<Vec<i64>> {
        let prepare = |sql: &str| self.connection.prepare_cached(sql);
        let mut find = prepare("SELECT id FROM name WHERE name = ?1")?;
        let mut insert = prepare("INSERT INTO name VALUES (?1, ?2)")?;
        let mut numbers = Vec::with_capacity(facts.names.len());
        for name in &facts.names {
            if let Some(id) = self.names.get(name.as_str()) {
                numbers.push(*id);
                continue;
            }
            let older = if self.older_names {
                find.query_row([name], |row| row.get(0)).optional()?
            } else {
                None
            };
            if older.is_none() {
                insert.execute(params![self.next_name, name])?;
                self.next_name += 1;
            }
            let id = older.unwrap_or(self.next_name - 1);
            self.names.insert(name.as_str().into(), id);
            numbers.push(id);
        }
        Ok(numbers)
    }
}
