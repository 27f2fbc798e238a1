//! The code database of one tree: built once, updated, read by many.
//!
//! [`Index::open`] finds the database of a tree in the cache, brings it up to
//! date and keeps it open. What is asked of it stands in `relations` and
//! `flow`. This module deliberately decides nothing about what is relevant.

pub(crate) mod files;

mod database;
mod update;
mod write;

#[cfg(test)]
mod tests;

use crate::error::{Result, RetrievalError};
use database::Lent;
use files::{FileRow, Files};
use patchwright_source::{Tree, TreePath};
use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::any::{Any, TypeId};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Time and findings of opening an index.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct IndexReport {
    /// All files of the tree.
    pub files: usize,
    /// Files with facts.
    pub indexed: usize,
    /// Lines of the files with facts.
    pub lines: u64,
    /// Symbols defined.
    pub symbols: u64,
    /// Files that were parsed this time.
    pub parsed: usize,
    /// Files that vanished since the last time.
    pub removed: usize,
    /// True when the index was built from nothing.
    pub rebuilt: bool,
    /// Files whose syntax was not understood in full.
    pub broken: usize,
    /// Files that could have facts and have none, with the reason.
    pub skipped: Vec<(TreePath, String)>,
    /// Time taken, in seconds.
    pub seconds: f64,
}

/// The code database of one tree.
#[derive(Debug)]
pub struct Index {
    tree: Tree,
    database: PathBuf,
    kept: Mutex<Kept>,
    report: IndexReport,
    /// The number of the last update when this was opened.
    generation: i64,
}

/// All that readers share.
#[derive(Debug)]
struct Kept {
    /// Connections to be lent.
    idle: Vec<Lent>,
    /// Number of readers that need an unchanged snapshot.
    holds: usize,
    files: Arc<Files>,
    /// Results computed for symbols that were asked about, by their type and symbol number; what
    /// is of the whole tree has the number 0.
    computed: FxHashMap<(TypeId, i64), Arc<dyn Any + Send + Sync>>,
}

impl Kept {
    /// Every connection sees the newest state from now on.
    fn finish_all(&mut self) {
        self.idle = self.idle.drain(..).filter_map(Lent::finish).collect();
    }
}

/// A connection together with the files as it sees them.
pub(crate) struct Reader<'r> {
    pub(crate) connection: &'r Connection,
    pub(crate) files: &'r Files,
}

impl Reader<'_> {
    /// The rows of a query.
    pub(crate) fn rows<T>(&self, sql: &str, params: impl Params) -> Result<Vec<T>>
    where
        T: for<'r> TryFrom<&'r Row<'r>, Error = rusqlite::Error>,
    {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params, |row| T::try_from(row))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The first column of a query.
    pub(crate) fn values<T: FromSql>(&self, sql: &str, params: impl Params) -> Result<Vec<T>> {
        let rows: Vec<(T,)> = self.rows(sql, params)?;
        Ok(rows.into_iter().map(|(value,)| value).collect())
    }

    /// The first value of a query, when it gives any.
    pub(crate) fn value<T: FromSql>(&self, sql: &str, params: impl Params) -> Result<Option<T>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row(params, |row| row.get(0)).optional()?)
    }
}

impl Index {
    /// Opens the index of a tree; builds it or brings it up to date first. Files of more bytes
    /// than the limit are not read as source code.
    pub fn open(root: &Path, cache: &Path, limit: u64) -> Result<Self> {
        let started = Instant::now();
        let tree = Tree::open(root)?;
        let folder = database::Folder::open(cache, tree.root())?;
        let kept = folder.current(limit);
        let opened = match kept.map(|path| refresh(path, &tree, limit)) {
            Some(Err(RetrievalError::Database(_))) | None => build(&folder, &tree, limit)?,
            Some(refreshed) => refreshed?,
        };
        drop(folder);
        let (database, connection, files, mut report) = opened;
        summarize(&mut report, &files);
        report.seconds = started.elapsed().as_secs_f64();
        let generation = files.generation;
        Ok(Self {
            tree,
            database,
            kept: Mutex::new(Kept {
                idle: vec![Lent::new(connection)],
                holds: 0,
                files: Arc::new(files),
                computed: FxHashMap::default(),
            }),
            report,
            generation,
        })
    }

    /// Which database in which state this was opened on.
    pub(crate) fn state(&self) -> (&Path, i64) {
        (&self.database, self.generation)
    }

    /// Returns what opening it took and found.
    pub fn report(&self) -> &IndexReport {
        &self.report
    }

    /// The tree that is indexed.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Every file of the tree, in the order of paths.
    pub fn files(&self) -> Vec<FileRow> {
        // Others wait for the lock.
        let files = Arc::clone(&self.kept().files);
        files.rows().cloned().collect()
    }

    /// One file as the index knows it.
    pub fn file(&self, path: &TreePath) -> Option<FileRow> {
        self.kept().files.by_path(path).cloned()
    }

    /// Lends a connection to a reader.
    pub(crate) fn read<T>(&self, ask: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
        let idle = self.kept().idle.pop();
        let mut lent = match idle {
            Some(lent) => lent,
            None => Lent::new(database::open(&self.database)?),
        };
        let answer = self.look(&mut lent).and_then(|files| {
            ask(&Reader {
                connection: &lent.connection,
                files: &files,
            })
        });
        match &answer {
            Err(error) if is_damage(error) => database::discard(&self.database),
            _ => self.give_back(lent),
        }
        answer
    }

    fn give_back(&self, lent: Lent) {
        let mut kept = self.kept();
        kept.idle.push(lent);
        if kept.holds == 0 {
            kept.finish_all();
        }
    }

    /// Until this is dropped, what is read may be as it was at its beginning:
    /// who asks hundreds of times then need not look each time whether another
    /// process has changed something.
    pub(crate) fn hold(&self) -> Hold<'_> {
        self.kept().holds += 1;
        Hold(self)
    }

    /// Makes what is written from now on visible to the readers of a hold.
    pub(crate) fn look_anew(&self) {
        self.kept().finish_all();
    }

    /// A connection that nobody else gets.
    pub(crate) fn private_connection(&self) -> Result<Connection> {
        database::open(&self.database)
    }

    /// Begins to read, if this connection has not begun yet, and gives the
    /// files as it sees them.
    fn look(&self, lent: &mut Lent) -> Result<Arc<Files>> {
        if let Some(files) = &lent.seen {
            return Ok(Arc::clone(files));
        }
        if lent.connection.is_autocommit() {
            lent.connection.prepare_cached("BEGIN")?.execute([])?;
        }
        let mut files = Arc::clone(&self.kept().files);
        if files::generation(&lent.connection)? != files.generation {
            files = Arc::new(Files::load(&lent.connection)?);
            let mut kept = self.kept();
            kept.files = Arc::clone(&files);
            kept.computed.clear();
        }
        lent.seen = Some(Arc::clone(&files));
        Ok(files)
    }

    /// Returns what was computed of a symbol since the index last changed, or computes it.
    pub(crate) fn computed<T: Any + Send + Sync>(
        &self,
        symbol: i64,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let key = (TypeId::of::<T>(), symbol);
        let known = self.kept().computed.get(&key).cloned();
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            return Ok(known);
        }
        let computed = Arc::new(compute()?);
        let shared = Arc::<T>::clone(&computed);
        self.kept().computed.insert(key, shared);
        Ok(computed)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps what is read as it was.
pub(crate) struct Hold<'i>(&'i Index);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut kept = self.0.kept();
        kept.holds -= 1;
        if kept.holds == 0 {
            kept.finish_all();
        }
    }
}

fn is_damage(error: &RetrievalError) -> bool {
    let RetrievalError::Database(error) = error else {
        return false;
    };
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// A database that agrees with its tree.
type Opened = (PathBuf, Connection, Files, IndexReport);

fn refresh(database: PathBuf, tree: &Tree, limit: u64) -> Result<Opened> {
    let mut connection = database::open(&database)?;
    let (files, report) = update::update(&mut connection, tree, limit, false)?;
    Ok((database, connection, files, report))
}

fn build(folder: &database::Folder, tree: &Tree, limit: u64) -> Result<Opened> {
    let database = folder.fresh();
    let mut connection = database::create(&database, limit)?;
    let (files, mut report) = update::update(&mut connection, tree, limit, true)?;
    database::finish(connection)?;
    folder.adopt(&database)?;
    report.rebuilt = true;
    let connection = database::open(&database)?;
    Ok((database, connection, files, report))
}

fn summarize(report: &mut IndexReport, files: &Files) {
    for row in files.rows() {
        report.files += 1;
        report.indexed += usize::from(row.language.is_some());
        report.broken += usize::from(row.broken);
        report.lines += u64::from(row.lines);
        report.symbols += (row.last_symbol - row.first_symbol).cast_unsigned();
        if let Some(reason) = &row.skipped {
            report.skipped.push((row.path.clone(), reason.clone()));
        }
    }
}
