//! Facts into rows.
//!
//! One writer, prepared statements, everything in the transaction that the
//! caller opened. Names get their numbers here.

use crate::language::Extracted;
use crate::language::facts::Facts;
use patchwright_source::{Entry, Language};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Result, params};
use rustc_hash::FxHashMap;

/// A file's content hash.
pub(crate) type Hash = [u8; 32];

/// A file with its facts.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) language: Language,
    pub(crate) lines: u32,
    pub(crate) hash: Hash,
    pub(crate) extracted: Extracted,
}

/// Writes files and their facts.
pub(crate) struct Writer<'c> {
    connection: &'c Connection,
    /// True when names may be in the database that this writer has not seen.
    older_names: bool,
    names: FxHashMap<Box<str>, i64>,
    next_name: i64,
    next_symbol: i64,
    insert_name: CachedStatement<'c>,
    insert_symbol: CachedStatement<'c>,
    insert_call: CachedStatement<'c>,
    insert_posting: CachedStatement<'c>,
    insert_import: CachedStatement<'c>,
    insert_inherit: CachedStatement<'c>,
    insert_file: CachedStatement<'c>,
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
            names: FxHashMap::default(),
            next_name,
            next_symbol,
            insert_name: connection.prepare_cached("INSERT INTO name VALUES (?1, ?2)")?,
            insert_symbol: connection.prepare_cached(
                "INSERT INTO symbol VALUES
                 (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?,
            insert_call: connection
                .prepare_cached("INSERT OR REPLACE INTO call VALUES (?1, ?2, ?3, ?4, ?5)")?,
            insert_posting: connection
                .prepare_cached("INSERT OR REPLACE INTO posting VALUES (?1, ?2, ?3)")?,
            insert_import: connection
                .prepare_cached("INSERT OR IGNORE INTO import VALUES (?1, ?2, ?3)")?,
            insert_inherit: connection
                .prepare_cached("INSERT OR IGNORE INTO inherit VALUES (?1, ?2, ?3)")?,
            insert_file: connection.prepare_cached(
                "INSERT OR REPLACE INTO file VALUES
                 (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            )?,
        })
    }

    /// Writes a file with its facts.
    pub(crate) fn parsed(&mut self, id: i64, entry: &Entry, parsed: &Parsed) -> Result<()> {
        let facts = &parsed.extracted.facts;
        // The first number stands for the file itself: calls outside every
        // symbol belong to it.
        let first = self.next_symbol;
        let last = first + i64::try_from(facts.symbols.len()).unwrap_or_default();
        self.next_symbol = last + 1;
        self.file(id, entry, (first, last), Ok(parsed))?;
        let names = self.number_names(facts)?;
        let name = |id: u32| names.get(id as usize).copied().unwrap_or_default();
        for (symbol, symbol_id) in facts.symbols.iter().zip(first + 1..) {
            if symbol.name == 0 {
                continue;
            }
            self.insert_symbol.execute(params![
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
        self.uses(id, first, facts, &names)
    }

    fn uses(&mut self, id: i64, first: i64, facts: &Facts, names: &[i64]) -> Result<()> {
        let name = |id: u32| names.get(id as usize).copied().unwrap_or_default();
        for call in &facts.calls {
            self.insert_call.execute(params![
                first + i64::from(call.owner),
                name(call.name),
                name(call.receiver),
                call.arguments,
                facts.text(&call.lines)
            ])?;
        }
        for (used, sites) in &facts.postings {
            self.insert_posting
                .execute(params![id, name(*used), facts.text(sites)])?;
        }
        for (line, target) in &facts.imports {
            self.insert_import
                .execute(params![id, line, name(*target)])?;
        }
        for inherit in &facts.inherits {
            let class = first + 1 + i64::from(inherit.symbol);
            self.insert_inherit
                .execute(params![class, name(inherit.base), inherit.line])?;
        }
        Ok(())
    }

    /// Writes a file that has no facts.
    pub(crate) fn without_facts(
        &mut self,
        id: i64,
        entry: &Entry,
        skipped: Option<&str>,
    ) -> Result<()> {
        let only = self.next_symbol;
        self.next_symbol += 1;
        self.file(id, entry, (only, only), Err(skipped))
    }

    /// Writes the row of a file: what was parsed of it, or why it was skipped.
    fn file(
        &mut self,
        id: i64,
        entry: &Entry,
        (first, last): (i64, i64),
        parsed: std::result::Result<&Parsed, Option<&str>>,
    ) -> Result<()> {
        let facts = parsed.ok();
        self.insert_file.execute(params![
            id,
            entry.path.as_str(),
            facts.map(|parsed| parsed.language.to_string()),
            facts.map_or(0, |parsed| parsed.lines),
            entry.size.cast_signed(),
            entry.modified,
            entry.changed,
            entry.inode.cast_signed(),
            facts.map(|parsed| parsed.hash.as_slice()),
            first,
            last,
            facts.is_some_and(|parsed| parsed.extracted.broken),
            parsed.err().flatten(),
        ])?;
        Ok(())
    }

    fn number_names(&mut self, facts: &Facts) -> Result<Vec<i64>> {
        let count = u32::try_from(facts.name_count()).unwrap_or(u32::MAX);
        let mut numbers = Vec::with_capacity(facts.name_count());
        for id in 0..count {
            numbers.push(self.number(facts.name(id))?);
        }
        Ok(numbers)
    }

    fn number(&mut self, name: &str) -> Result<i64> {
        if name.is_empty() {
            return Ok(0);
        }
        if let Some(id) = self.names.get(name) {
            return Ok(*id);
        }
        let older: Option<i64> = if self.older_names {
            self.connection
                .prepare_cached("SELECT id FROM name WHERE name = ?1")?
                .query_row([name], |row| row.get(0))
                .optional()?
        } else {
            None
        };
        let id = if let Some(id) = older {
            id
        } else {
            let id = self.next_name;
            self.insert_name.execute(params![id, name])?;
            self.next_name += 1;
            id
        };
        self.names.insert(name.into(), id);
        Ok(id)
    }
}
