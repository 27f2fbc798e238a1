//! The database file: where it lies, who may write it, when it is thrown away.
//!
//! One folder per tree in the cache. `current` names the database in it; a
//! new one is built under a name of its own and named there when it is whole,
//! so a build that dies leaves nothing behind that could be mistaken for an
//! index. Whoever builds or updates holds the lock; readers need none (WAL).
//! A database that was replaced while another process reads it stays readable
//! for that process.
//!
//! The views are the documented face (`files`, `symbols`, `calls`, `uses`, `includes`, `inherits`,
//! `guards`, `flows`); the tables below them are compact: names are numbers, the sites of a name in a
//! file are one row.

use crate::error::{Result, RetrievalError};
use crate::index::files::Files;
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Raised with every change of tables, of views, or of what extractors find; older files are built
/// anew.
const VERSION: i64 = 6;

/// Marks the file as ours ("PWcd").
const APPLICATION: i64 = 0x5057_6364;

const TABLES: &str = include_str!("schema/tables.sql");

/// Indexes for lookups; made after the bulk of the rows is in.
pub(super) const INDEXES: &str = include_str!("schema/indexes.sql");

/// The documented face of the database.
const VIEWS: &str = include_str!("schema/views.sql");

/// Limit on how long one process waits for another's write.
const BUSY: Duration = Duration::from_secs(30);

/// The folder of one tree's index, locked.
pub(crate) struct Folder {
    path: PathBuf,
    /// Held until the folder is dropped.
    _lock: File,
}

impl Folder {
    /// Makes and locks the folder for a tree; waits while another process
    /// builds there.
    pub(crate) fn open(cache: &Path, root: &Path) -> Result<Self> {
        let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
        let key = digest.iter().take(8);
        let path = cache.join(key.map(|byte| format!("{byte:02x}")).collect::<String>());
        let fail = |source| RetrievalError::Cache {
            path: path.clone(),
            source,
        };
        // Code is for whoever may read its tree.
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(fail)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join("lock"))
            .map_err(fail)?;
        lock.lock().map_err(fail)?;
        Ok(Self {
            path: path.clone(),
            _lock: lock,
        })
    }

    /// The database that is in use, if it is sound and of our making.
    pub(crate) fn current(&self, limit: u64) -> Option<PathBuf> {
        let name = std::fs::read_to_string(self.path.join("current")).ok()?;
        let is_ours = name.starts_with("code-") && name.ends_with(".sqlite") && !name.contains('/');
        let path = self.path.join(name);
        (is_ours && is_sound(&path, limit)).then_some(path)
    }

    /// Where a new database is built.
    pub(crate) fn fresh(&self) -> PathBuf {
        let name = format!("code-{}-{}.sqlite", std::process::id(), now());
        self.path.join(name)
    }

    /// Makes a finished database the one in use and removes the others.
    pub(crate) fn adopt(&self, database: &Path) -> Result<()> {
        let fail = |source| RetrievalError::Cache {
            path: self.path.clone(),
            source,
        };
        let name = database.file_name().unwrap_or_default();
        let pointer = self.path.join("current.new");
        std::fs::write(&pointer, name.as_encoded_bytes()).map_err(fail)?;
        std::fs::rename(&pointer, self.path.join("current")).map_err(fail)?;
        for entry in std::fs::read_dir(&self.path).map_err(fail)?.flatten() {
            let other = entry.file_name().to_string_lossy().into_owned();
            let ours = other.starts_with(&*name.to_string_lossy());
            if other.starts_with("code-") && !ours {
                // What cannot be removed now is removed by the next build.
                let _ = std::fs::remove_file(entry.path());
            }
        }
        Ok(())
    }
}

/// The nanoseconds since 1970.
pub(super) fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.map_or(0, |elapsed| {
        i64::try_from(elapsed.as_nanos()).unwrap_or_default()
    })
}

/// Returns whether a database is whole and of this version. Its pages are not read:
/// that would take longer than building it. A page that is found damaged later
/// ends the query and the database.
fn is_sound(path: &Path, limit: u64) -> bool {
    let check = || -> rusqlite::Result<bool> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0));
        let ours = number("PRAGMA application_id")? == APPLICATION
            && number("PRAGMA user_version")? == VERSION;
        let pages = number("PRAGMA page_count")? * number("PRAGMA page_size")?;
        // Pages that another process has added may still be in its log.
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        let whole = length(path) + length(Path::new(&log)) >= pages.cast_unsigned();
        let kept_limit = number("SELECT value FROM meta WHERE key = 'file_size'")?;
        Ok(ours && whole && kept_limit == limit.cast_signed())
    };
    check().unwrap_or(false)
}

/// Starts a new database: no journal and no waiting for the disk, since a
/// build that is cut short is thrown away.
pub(crate) fn create(path: &Path, limit: u64) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
         PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536;
         PRAGMA temp_store = MEMORY;",
    )?;
    connection.execute_batch(TABLES)?;
    connection.execute_batch(VIEWS)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    let meta = "INSERT INTO meta VALUES ('file_size', ?1)";
    connection.execute(meta, [limit.cast_signed()])?;
    Ok(connection)
}

/// Ends the build of a new database: from here on others may read it.
pub(crate) fn finish(connection: Connection) -> Result<()> {
    connection.execute_batch("PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL;")?;
    connection.close().map_err(|(_, error)| error.into())
}

/// Notes that a database turned out to be damaged: the next opening builds a
/// new one.
pub(crate) fn discard(path: &Path) {
    let Some(folder) = path.parent() else { return };
    let pointer = folder.join("current");
    let named = std::fs::read_to_string(&pointer).unwrap_or_default();
    if path.file_name().is_some_and(|name| *name == *named) {
        // Without the pointer the file is no index any more.
        let _ = std::fs::remove_file(pointer);
    }
}

/// Opens a database that is in use.
pub(crate) fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(
        "PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 1073741824;
         PRAGMA temp_store = MEMORY;",
    )?;
    Ok(connection)
}

/// A connection, and the files as it sees them while it reads one state.
#[derive(Debug)]
pub(super) struct Lent {
    pub(super) connection: Connection,
    pub(super) seen: Option<Arc<Files>>,
}

impl Lent {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            connection,
            seen: None,
        }
    }

    /// Stops reading one state; `None` when the connection is of no more use.
    pub(super) fn finish(mut self) -> Option<Self> {
        self.seen = None;
        if !self.connection.is_autocommit() {
            let mut statement = self.connection.prepare_cached("COMMIT").ok()?;
            statement.execute([]).ok()?;
        }
        Some(self)
    }
}
