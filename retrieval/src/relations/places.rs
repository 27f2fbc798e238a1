//! Symbols by their places, what lies in them, and which file sees which.

use crate::error::Result;
use crate::index::{Index, Reader};
use crate::language::c::tokens::identifiers;
use crate::language::facts::decode_site;
use crate::relations::definitions::named;
use crate::relations::{read_numbers, symbol_by_id, symbols};
use crate::symbol::{Symbol, SymbolKind, Use, UseKind};
use itertools::Itertools;
use patchwright_source::TreePath;
use rusqlite::OptionalExtension;

/// Limit on how many symbols before a line are tried when none of the nearest one's
/// parents holds it.
const LOOK_BACK: i64 = 200;

impl Index {
    /// All uses of a name that is no function's own variable, calls included,
    /// by path and line.
    pub fn references(&self, name: &str) -> Result<Vec<Use>> {
        self.read(|reader| {
            let mut found = Vec::new();
            let mut add = |path: &TreePath, line: u32, kind: UseKind| {
                let path = path.clone();
                found.push(Use { path, line, kind });
            };
            let sql = "SELECT file_id, sites FROM posting
                 WHERE name_id = (SELECT id FROM name WHERE name = ?1)";
            for (file, sites) in reader.rows::<(i64, String)>(sql, [name])? {
                let Some(file) = reader.files.by_id(file) else {
                    continue;
                };
                for (line, kind) in read_numbers(&sites).map(decode_site) {
                    add(&file.path, line, kind);
                }
            }
            let sql = "SELECT caller_id, lines FROM call
                 WHERE name_id = (SELECT id FROM name WHERE name = ?1)";
            for (caller, lines) in reader.rows::<(i64, String)>(sql, [name])? {
                let Some(file) = reader.files.of_symbol(caller) else {
                    continue;
                };
                for line in read_numbers(&lines) {
                    add(&file.path, line, UseKind::Call);
                }
            }
            found.sort();
            Ok(found)
        })
    }

    /// Returns how many files use a name, calls apart.
    pub(crate) fn using_files(&self, name: &str) -> Result<u32> {
        let count = self.read(|reader| {
            let sql = "SELECT count(*) FROM posting
                 WHERE name_id = (SELECT id FROM name WHERE name = ?1)";
            reader.value(sql, [name])
        })?;
        Ok(count.unwrap_or_default())
    }

    /// The uses of a name in one file, by line, calls apart.
    pub(crate) fn uses_in(&self, path: &TreePath, name: &str) -> Result<Vec<(u32, UseKind)>> {
        let sites: Option<String> = self.read(|reader| {
            let sql = "SELECT sites FROM posting
                 WHERE file_id = (SELECT id FROM file WHERE path = ?1)
                   AND name_id = (SELECT id FROM name WHERE name = ?2)";
            reader.value(sql, [path.as_str(), name])
        })?;
        let sites = sites.unwrap_or_default();
        Ok(read_numbers(&sites).map(decode_site).collect())
    }

    /// The innermost symbol with a body around a line.
    pub fn enclosing(&self, path: &TreePath, line: u32) -> Result<Option<Symbol>> {
        self.read(|reader| enclosing(reader, path, line, |kind| kind != SymbolKind::Field))
    }

    /// The function, method or macro around a line.
    pub fn enclosing_function(&self, path: &TreePath, line: u32) -> Result<Option<Symbol>> {
        self.read(|reader| {
            enclosing(reader, path, line, |kind| {
                kind.is_callable() || kind == SymbolKind::Macro
            })
        })
    }

    /// The global variable in whose declaration a line lies.
    pub(crate) fn variable_around(&self, path: &TreePath, line: u32) -> Result<Option<Symbol>> {
        self.read(|reader| {
            let Some((_, nearest)) = last_before(reader, path, line)? else {
                return Ok(None);
            };
            let symbol = symbol_by_id(reader, nearest)?;
            Ok(symbol.filter(|one| one.kind == SymbolKind::Variable && one.holds(line)))
        })
    }

    /// Everything defined in a file, in the order of lines.
    pub fn outline(&self, path: &TreePath) -> Result<Vec<Symbol>> {
        self.outline_where(path, "")
    }

    /// The functions of a file with their code, in the order of lines.
    pub(crate) fn functions_in(&self, path: &TreePath) -> Result<Vec<Symbol>> {
        let mut found = self.outline_where(path, "AND s.body_line > 0")?;
        found.retain(|symbol| symbol.kind.is_callable());
        Ok(found)
    }

    fn outline_where(&self, path: &TreePath, and: &str) -> Result<Vec<Symbol>> {
        self.read(|reader| match reader.files.by_path(path) {
            Some(file) => symbols(
                reader,
                &format!("s.id BETWEEN ?1 AND ?2 {and}"),
                [file.first_symbol, file.last_symbol],
            ),
            None => Ok(Vec::new()),
        })
    }

    /// Returns what lies directly in a symbol: fields, methods, enumerators.
    pub fn members(&self, symbol: &Symbol) -> Result<Vec<Symbol>> {
        self.read(|reader| match reader.files.by_path(&symbol.path) {
            Some(file) => symbols(
                reader,
                "s.id > ?1 AND s.id <= ?2 AND s.parent_id = ?1",
                [symbol.id, file.last_symbol],
            ),
            None => Ok(Vec::new()),
        })
    }

    /// Returns what a file includes or imports, as it is written (`openssl/evp.h`, `java.util.List`),
    /// in the order of lines.
    pub fn imports(&self, path: &TreePath) -> Result<Vec<(u32, String)>> {
        let sql = "SELECT i.line, n.name FROM import i JOIN name n ON n.id = i.target_id
             WHERE i.file_id = (SELECT id FROM file WHERE path = ?1) ORDER BY i.line, n.name";
        self.read(|reader| reader.rows(sql, [path.as_str()]))
    }

    /// The macros that a macro's body names, in the order in which it does.
    pub fn macros_named_by(&self, symbol: &Symbol) -> Result<Vec<Symbol>> {
        if symbol.kind != SymbolKind::Macro {
            return Ok(Vec::new());
        }
        let Ok(text) = self.tree().read(&symbol.path) else {
            return Ok(Vec::new());
        };
        let tokens = identifiers(text.bytes(), symbol.bytes(&text)).into_iter();
        let names = tokens.map(|token| text.decode(token.text)).unique();
        let names = names.filter(|name| *name != symbol.name && name != "define");
        self.read(|reader| {
            let named = names.map(|name| named(reader, &name)).flatten_ok();
            named
                .filter_ok(|one| one.kind == SymbolKind::Macro)
                .collect()
        })
    }
}

/// The innermost symbol of a fitting kind around a line.
fn enclosing(
    reader: &Reader<'_>,
    path: &TreePath,
    line: u32,
    fits: impl Fn(SymbolKind) -> bool,
) -> Result<Option<Symbol>> {
    let Some((first, nearest)) = last_before(reader, path, line)? else {
        return Ok(None);
    };
    let mut next = Some(nearest);
    while let Some(id) = next {
        let Some(symbol) = symbol_by_id(reader, id)? else {
            break;
        };
        if symbol.holds(line) && fits(symbol.kind) && symbol.body_line.is_some() {
            return Ok(Some(symbol));
        }
        next = symbol.parent;
    }
    let floor = first.max(nearest - LOOK_BACK);
    let mut before = symbols(
        reader,
        "s.id > ?1 AND s.id <= ?2 AND s.end_line >= ?3 AND s.body_line > 0",
        [floor, nearest, i64::from(line)],
    )?;
    before.retain(|symbol| symbol.holds(line) && fits(symbol.kind));
    Ok(before.pop())
}

/// The first number of a file, and the last symbol of it that starts at or before a line: the
/// numbers of a file's symbols ascend with their lines.
fn last_before(reader: &Reader<'_>, path: &TreePath, line: u32) -> Result<Option<(i64, i64)>> {
    let Some(file) = reader.files.by_path(path) else {
        return Ok(None);
    };
    let mut statement = reader.connection.prepare_cached(
        "SELECT id, line FROM symbol WHERE id > ?1 AND id <= ?2 ORDER BY id DESC LIMIT 1",
    )?;
    let (mut low, mut high) = (file.first_symbol, file.last_symbol);
    let mut found = None;
    while low < high {
        let middle = low + (high - low + 1) / 2;
        let row: Option<(i64, u32)> = statement
            .query_row([low, middle], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match row {
            Some((id, start)) if start <= line => {
                found = Some((file.first_symbol, id));
                low = middle;
            }
            Some((id, _)) => high = id - 1,
            None => low = middle,
        }
    }
    Ok(found)
}
