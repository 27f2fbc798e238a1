//! The code database of one tree: built once, updated, read by many.
//!
//! [`Index::open`] finds the database of a tree in the cache, brings it up to
//! date and keeps it open. What is asked of it stands in `relations` and
//! `flow`. This module deliberately decides nothing about what is relevant.

pub(crate) mod files;

mod database;
mod schema;
mod update;
mod write;

#[cfg(test)]
mod tests;

use crate::error::RetrievalError;
use database::{Lent, Pool};
use files::{FileRow, Files};
use patchwright_source::{Tree, TreePath};
use rusqlite::{Connection, ErrorCode};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::any::{Any, TypeId};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

/// Limits above which a file is not read as source code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexLimits {
    /// Larger files, in bytes, are skipped.
    pub file_size: u64,
}

impl Default for IndexLimits {
    /// 16 MiB takes in SQLite's amalgamation (9 MB), the largest source file
    /// that people write by hand.
    fn default() -> Self {
        Self {
            file_size: 16 * 1024 * 1024,
        }
    }
}

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

/// Something that was computed of a symbol; who keeps it knows its type.
type Computed = dyn Any + Send + Sync;

/// The code database of one tree.
pub struct Index {
    tree: Tree,
    database: PathBuf,
    pool: Mutex<Pool>,
    files: RwLock<Arc<Files>>,
    /// Results computed for symbols that were asked about, by their type and symbol number.
    computed: Mutex<FxHashMap<(TypeId, i64), Arc<Computed>>>,
    /// The names of all symbols, once somebody asked for names like another.
    names: Mutex<Option<Arc<str>>>,
    report: IndexReport,
    /// The number of the last update when this was opened.
    generation: i64,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("tree", &self.tree)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

/// A connection together with the files as it sees them.
pub(crate) struct Reader<'r> {
    pub(crate) connection: &'r Connection,
    pub(crate) files: &'r Files,
}

impl Index {
    /// Opens the index of a tree; builds it or brings it up to date first.
    pub fn open(root: &Path, cache: &Path, limits: IndexLimits) -> Result<Self, RetrievalError> {
        let started = Instant::now();
        let tree = Tree::open(root)?;
        let folder = database::Folder::open(cache, tree.root())?;
        let kept = folder.current(limits);
        let opened = match kept.map(|path| refresh(path, &tree, limits)) {
            Some(Err(RetrievalError::Database(_))) | None => build(&folder, &tree, limits)?,
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
            pool: Mutex::new(Pool::new(connection)),
            files: RwLock::new(Arc::new(files)),
            computed: Mutex::default(),
            names: Mutex::default(),
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
        self.files_now().rows().cloned().collect()
    }

    /// One file as the index knows it.
    pub fn file(&self, path: &TreePath) -> Option<FileRow> {
        self.files_now().by_path(path.as_str()).cloned()
    }

    /// Lends a connection to a reader.
    pub(crate) fn read<T>(
        &self,
        ask: impl FnOnce(&Reader<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, RetrievalError> {
        let kept = self.pool().take();
        let mut lent = match kept {
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
            _ => self.pool().give_back(lent),
        }
        Ok(answer?)
    }

    /// Until this is dropped, what is read may be as it was at its beginning:
    /// who asks hundreds of times then need not look each time whether another
    /// process has changed something.
    pub(crate) fn hold(&self) -> Hold<'_> {
        self.pool().begin_hold();
        Hold(self)
    }

    /// Makes what is written from now on visible to the readers of a hold.
    pub(crate) fn look_anew(&self) {
        self.pool().finish_all();
    }

    /// A connection that nobody else gets.
    pub(crate) fn private_connection(&self) -> Result<Connection, RetrievalError> {
        database::open(&self.database)
    }

    /// Begins to read, if this connection has not begun yet, and gives the
    /// files as it sees them.
    fn look(&self, lent: &mut Lent) -> rusqlite::Result<Arc<Files>> {
        if let Some(files) = &lent.seen {
            return Ok(Arc::clone(files));
        }
        lent.begin()?;
        let mut files = self.files_now();
        if files::generation(&lent.connection)? != files.generation {
            files = Arc::new(Files::load(&lent.connection)?);
            *self.files.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&files);
            self.lock_computed().clear();
            *self.lock_names() = None;
        }
        lent.seen = Some(Arc::clone(&files));
        Ok(files)
    }

    /// Returns what was computed of a symbol since the index last changed.
    pub(crate) fn computed<T: Any + Send + Sync>(&self, symbol: i64) -> Option<Arc<T>> {
        let known = self
            .lock_computed()
            .get(&(TypeId::of::<T>(), symbol))
            .cloned()?;
        known.downcast().ok()
    }

    /// Keeps what was computed of a symbol until the index changes.
    pub(crate) fn keep_computed<T: Any + Send + Sync>(&self, symbol: i64, computed: &Arc<T>) {
        let computed: Arc<Computed> = Arc::<T>::clone(computed);
        self.lock_computed()
            .insert((TypeId::of::<T>(), symbol), computed);
    }

    fn lock_computed(&self) -> MutexGuard<'_, FxHashMap<(TypeId, i64), Arc<Computed>>> {
        self.computed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn known_names(&self) -> Option<Arc<str>> {
        self.lock_names().clone()
    }

    pub(crate) fn keep_names(&self, names: String) -> Arc<str> {
        let names: Arc<str> = names.into();
        *self.lock_names() = Some(Arc::clone(&names));
        names
    }

    fn lock_names(&self) -> MutexGuard<'_, Option<Arc<str>>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn files_now(&self) -> Arc<Files> {
        Arc::clone(&self.files.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps what is read as it was.
pub(crate) struct Hold<'i>(&'i Index);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.pool().end_hold();
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// A database that agrees with its tree.
type Opened = (PathBuf, Connection, Files, IndexReport);

fn refresh(database: PathBuf, tree: &Tree, limits: IndexLimits) -> Result<Opened, RetrievalError> {
    let mut connection = database::open(&database)?;
    let (files, report) = update::update(&mut connection, tree, limits, false)?;
    Ok((database, connection, files, report))
}

fn build(
    folder: &database::Folder,
    tree: &Tree,
    limits: IndexLimits,
) -> Result<Opened, RetrievalError> {
    let database = folder.fresh();
    let mut connection = database::create(&database, limits)?;
    let (files, mut report) = update::update(&mut connection, tree, limits, true)?;
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
