//! The files that the index knows, kept in memory: every answer needs them.

use patchwright_source::{Entry, Language, TreePath};
use rusqlite::{Connection, Result};
use rustc_hash::FxHashMap;

/// A file as the index knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    pub(crate) id: i64,
    /// Where it lies.
    pub path: TreePath,
    /// Its language, for files with facts.
    pub language: Option<Language>,
    /// Number of lines, for files with facts.
    pub lines: u32,
    /// Its size in bytes.
    pub size: u64,
    /// Why it has no facts, for files that could have some.
    pub skipped: Option<String>,
    /// True when its syntax was not understood in full.
    pub broken: bool,
    pub(crate) first_symbol: i64,
    pub(crate) last_symbol: i64,
    modified: i64,
    changed: i64,
    inode: u64,
}

impl FileRow {
    /// Returns whether the file system shows no sign of a change.
    pub(crate) fn is_still(&self, entry: &Entry) -> bool {
        self.size == entry.size
            && self.modified == entry.modified
            && self.changed == entry.changed
            && self.inode == entry.inode
    }
}

/// All files in the order of their paths, by number, by path and by the symbols in them.
#[derive(Debug, Default)]
pub(crate) struct Files {
    rows: Vec<FileRow>,
    by_id: FxHashMap<i64, usize>,
    /// First symbols with the rows they belong to, ascending.
    by_symbol: Vec<(i64, usize)>,
    pub(crate) generation: i64,
}

impl Files {
    /// Reads all files from the database.
    pub(crate) fn load(connection: &Connection) -> Result<Self> {
        let generation = generation(connection)?;
        let mut statement = connection.prepare_cached(
            "SELECT id, path, language, lines, size, modified, changed, inode,
                    first_symbol, last_symbol, broken, skipped
             FROM file ORDER BY path",
        )?;
        let rows: Vec<FileRow> = statement
            .query_map([], |row| {
                let path: String = row.get(1)?;
                let language: Option<String> = row.get(2)?;
                let Ok(path) = TreePath::new(&path) else {
                    return Ok(None);
                };
                Ok(Some(FileRow {
                    id: row.get(0)?,
                    path,
                    language: language.as_deref().and_then(Language::read),
                    lines: row.get(3)?,
                    size: row.get::<_, i64>(4)?.cast_unsigned(),
                    modified: row.get(5)?,
                    changed: row.get(6)?,
                    inode: row.get::<_, i64>(7)?.cast_unsigned(),
                    first_symbol: row.get(8)?,
                    last_symbol: row.get(9)?,
                    broken: row.get(10)?,
                    skipped: row.get(11)?,
                }))
            })?
            .filter_map(Result::transpose)
            .collect::<Result<_>>()?;
        let mut files = Self {
            generation,
            ..Self::default()
        };
        for (at, row) in rows.iter().enumerate() {
            files.by_id.insert(row.id, at);
            files.by_symbol.push((row.first_symbol, at));
        }
        files.by_symbol.sort_unstable();
        files.rows = rows;
        Ok(files)
    }

    /// The files in the order of their paths.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &FileRow> {
        self.rows.iter()
    }

    pub(crate) fn by_id(&self, id: i64) -> Option<&FileRow> {
        self.rows.get(*self.by_id.get(&id)?)
    }

    pub(crate) fn by_path(&self, path: &TreePath) -> Option<&FileRow> {
        let at = self.rows.binary_search_by(|row| row.path.cmp(path));
        self.rows.get(at.ok()?)
    }

    /// The file in which a symbol lies.
    pub(crate) fn of_symbol(&self, symbol: i64) -> Option<&FileRow> {
        let after = self
            .by_symbol
            .partition_point(|(first, _)| *first <= symbol);
        let (_, at) = self.by_symbol.get(after.checked_sub(1)?)?;
        self.rows.get(*at)
    }
}

/// A number that every update raises.
pub(crate) fn generation(connection: &Connection) -> Result<i64> {
    connection
        .prepare_cached("SELECT coalesce((SELECT value FROM meta WHERE key = 'generation'), 0)")?
        .query_row([], |row| row.get(0))
}
