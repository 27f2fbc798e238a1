//! Opens the database: SQLite in the state folder, or the PostgreSQL that the
//! settings name; brings its tables up to date; and waits for a PostgreSQL that
//! is away for a moment.
//!
//! The statements of the store are the same for both. What differs is here:
//! how a transaction that writes begins, how the database is found, and some
//! words of its migrations.

use crate::store::{DatabaseKind, Result, Store, StoreError};
use patchwright_config::Settings;
use secrecy::ExposeSecret;
use sqlx::any::AnyPoolOptions;
use sqlx::migrate::{MigrateError, Migration, Migrator};
use sqlx::{Any, AssertSqlSafe, Connection, Executor, SqlSafeStr, Transaction};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::future::Future;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// The file in the state folder.
const FILE: &str = "patchwright.db";
/// Held while the tables are made: SQLite's migrations take no lock themselves.
const LOCK: &str = "migration.lock";
/// Connections of one process. A daemon answers requests beside its workers.
const CONNECTIONS: u32 = 8;
/// Between two looks at a database that is away.
const GLANCE: Duration = Duration::from_millis(300);
/// Time limit of the wait for a connection.
const CONNECTING: Duration = Duration::from_secs(10);
/// Time in which a connection to a file is free: a busy machine is slow, and nothing else is wrong.
const WAITING: Duration = Duration::from_mins(2);

/// WAL lets readers go on beside a writer. FULL survives a power cut, not only
/// a kill; what is written often is grouped into few commits.
const PRAGMAS: &str = "PRAGMA busy_timeout = 30000; PRAGMA journal_mode = WAL; \
                       PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";

/// A worker that is frozen in the middle of a write, or whose machine is gone,
/// lets go of what it has locked, and another can take its task.
const SESSION: &str = "SET idle_in_transaction_session_timeout = '60s'";

/// The words of the migrations that the databases have different ones for:
/// SQLite's, then PostgreSQL's.
const WORDS: [(&str, &str, &str); 6] = [
    ("{bytes}", "BLOB", "BYTEA"),
    (
        "{sequence}",
        "INTEGER PRIMARY KEY AUTOINCREMENT",
        "BIGSERIAL PRIMARY KEY",
    ),
    ("{json_object}", "json_object", "json_build_object"),
    ("{json:", "json(", "CAST("),
    (":}", ")", " AS JSON)"),
    (
        "{forget_tickets}",
        "DROP TABLE IF EXISTS Jobs; DROP TABLE IF EXISTS Workers; DROP TABLE IF EXISTS apalis_migrations;",
        "DROP SCHEMA IF EXISTS apalis CASCADE;",
    ),
];

/// Returns the migrations in the dialect of a database.
fn migrator(kind: DatabaseKind) -> Migrator {
    static NEUTRAL: Migrator = sqlx::migrate!();
    let worded = |migration: &Migration| {
        let mut sql = migration.sql.as_str().to_owned();
        for (word, sqlite, postgres) in WORDS {
            sql = sql.replace(word, kind.choose(sqlite, postgres));
        }
        Migration::new(
            migration.version,
            migration.description.clone(),
            migration.migration_type,
            AssertSqlSafe(sql).into_sql_str(),
            migration.no_tx,
        )
    };
    Migrator::with_migrations(NEUTRAL.iter().map(worded).collect())
}

impl Store {
    /// Opens the store that the settings name, and makes what is not there.
    pub async fn of(settings: &Settings) -> Result<Self> {
        let Some(url) = &settings.database.url else {
            return Self::open(&settings.store.folder).await;
        };
        let url = url.expose_secret();
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(StoreError::address());
        }
        make(&settings.store.folder)?;
        Self::connect(&settings.store.folder, DatabaseKind::Postgres, url).await
    }

    /// Opens the SQLite store of a state folder; makes both when they are not there.
    pub async fn open(folder: &Path) -> Result<Self> {
        make(folder)?;
        let unusable = |error| StoreError::folder(folder, &error);
        // SQLite only says that it cannot open a file where nothing can be written.
        File::create(folder.join(LOCK)).map_err(unusable)?;
        closed_file(&folder.join(FILE)).map_err(unusable)?;
        let url = sqlite_url(&folder.join(FILE)).map_err(unusable)?;
        Self::connect(folder, DatabaseKind::Sqlite, &url).await
    }

    async fn connect(folder: &Path, kind: DatabaseKind, url: &str) -> Result<Self> {
        sqlx::any::install_default_drivers();
        let session = kind.choose(PRAGMAS, SESSION);
        let pool = AnyPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(kind.choose(WAITING, CONNECTING))
            .after_connect(move |connection, _| {
                Box::pin(async move { connection.execute(session).await.map(|_| ()) })
            })
            // SQLite ends a transaction by itself when the disk is full, and the
            // driver does not learn of it: nothing could begin on it again.
            .before_acquire(|connection, _| {
                Box::pin(async move { Ok(!connection.is_in_transaction()) })
            })
            .connect(url)
            .await?;
        let store = Self {
            pool,
            folder: folder.to_path_buf(),
            kind,
            url: url.to_owned().into(),
            patience: Duration::ZERO,
        };
        store.migrate().await?;
        Ok(store)
    }

    async fn migrate(&self) -> Result<()> {
        let _held = match self.kind {
            DatabaseKind::Postgres => None,
            DatabaseKind::Sqlite => Some(self.lock().await?),
        };
        migrator(self.kind)
            .run(&self.pool)
            .await
            .map_err(|error| match error {
                MigrateError::VersionMissing(version) => StoreError::Unusable(format!(
                    "the database was made by a newer version of Patchwright: this one does not know its migration \
                     {version}; install that version, or name another database (--state DIR, database.url)"
                )),
                error => {
                    let reason = format!("the store cannot be brought up to date: {error}");
                    StoreError::Unusable(reason)
                }
            })
    }

    /// Lets one process at a time make tables in a SQLite file. Held until it
    /// is dropped.
    async fn lock(&self) -> Result<File> {
        let path = self.folder.join(LOCK);
        let lock = tokio::task::spawn_blocking(move || {
            let file = File::create(&path)?;
            file.lock().map(|()| file)
        });
        let lock = lock
            .await
            .map_err(|error| StoreError::folder(&self.folder, &error.into()))?;
        lock.map_err(|error| StoreError::folder(&self.folder, &error))
    }

    /// The same store for somebody who waits this long for a database that is away.
    pub fn patient(&self, patience: Duration) -> Self {
        Self {
            patience,
            ..self.clone()
        }
    }

    /// Begins a transaction that writes. SQLite takes its one lock at once: a
    /// reader that becomes a writer later would be refused instead of waiting.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Any>, sqlx::Error> {
        let statement = self.kind.choose("BEGIN IMMEDIATE", "BEGIN");
        self.pool.begin_with(statement).await
    }

    /// Does something, and does it again while the database is away and there
    /// is patience. The operation is told whether it was tried before: a commit
    /// whose answer was lost may have been made.
    pub(crate) async fn patiently<'a, T, F>(&'a self, operation: impl Fn(bool) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>> + 'a,
    {
        let since = Instant::now();
        let mut again = false;
        loop {
            match operation(again).await {
                Err(StoreError::Database(error))
                    if is_away(&error) && since.elapsed() < self.patience =>
                {
                    again = true;
                    tokio::time::sleep(GLANCE).await;
                }
                other => return other,
            }
        }
    }
}

/// Returns true when the database may be back in a moment.
fn is_away(error: &sqlx::Error) -> bool {
    match error {
        // The last is a connection that was cut in the middle of a message.
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Protocol(_) => true,
        // Shutting down, crashed, starting up, too many connections, frozen in
        // a transaction; a lock of SQLite that was held for longer than it waits.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            let code = code.as_ref();
            ["57P01", "57P02", "57P03", "53300", "25P03", "5"].contains(&code)
                || code.starts_with("08")
        }),
        _ => false,
    }
}

/// Makes the state folder for nobody but its owner: what is stored tells of
/// bugs that nobody has mended yet. One that is there keeps its mode.
fn make(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| StoreError::folder(folder, &error))
}

/// Closes a file of the store to others, whatever the folder's mode; SQLite
/// gives the files that it makes beside its database the same mode.
fn closed_file(path: &Path) -> std::io::Result<()> {
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))
}

/// The address of a SQLite file, with everything escaped that an address gives
/// a meaning to.
fn sqlite_url(file: &Path) -> std::io::Result<String> {
    let url = url::Url::from_file_path(std::path::absolute(file)?);
    let url = url.map_err(|()| std::io::ErrorKind::InvalidFilename)?;
    Ok(format!("sqlite://{}?mode=rwc", url.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_an_address() {
        for (path, url) in [
            ("/a/b.db", "sqlite:///a/b.db?mode=rwc"),
            (
                "/a b/ä?#%.db",
                "sqlite:///a%20b/%C3%A4%3F%23%25.db?mode=rwc",
            ),
        ] {
            assert_eq!(sqlite_url(Path::new(path)).unwrap(), url);
        }
    }

    /// A database that was made before knows a migration by the hash of its words.
    #[test]
    fn tables_that_were_made_before_are_known() {
        for (kind, version, beginning) in [
            (DatabaseKind::Sqlite, 1, "e4412c0b1bb2af53"),
            (DatabaseKind::Sqlite, 2, "920dcfbcdb8acee3"),
            (DatabaseKind::Postgres, 1, "b2ab073127d1cd44"),
            (DatabaseKind::Postgres, 2, "c012b4496cb186f3"),
        ] {
            let migrator = migrator(kind);
            let migration = migrator.iter().find(|one| one.version == version).unwrap();
            let hash = hex::encode(&migration.checksum);
            assert!(hash.starts_with(beginning), "{kind:?} {version}: {hash}");
            assert!(!migration.sql.as_str().contains('{'), "{kind:?} {version}");
        }
    }

    /// A SQLite file as a version with the migrations before this one left it.
    async fn made_before(folder: &Path, version: i64, rows: &[&'static str]) {
        sqlx::any::install_default_drivers();
        let url = sqlite_url(&folder.join(FILE)).unwrap();
        let pool = AnyPoolOptions::new().connect(&url).await.unwrap();
        let all = migrator(DatabaseKind::Sqlite);
        let before = all.iter().filter(|one| one.version < version);
        let before = Migrator::with_migrations(before.cloned().collect());
        before.run(&pool).await.unwrap();
        for row in rows {
            sqlx::query(*row).execute(&pool).await.unwrap();
        }
        pool.close().await;
    }

    #[tokio::test]
    async fn cases_of_older_versions_become_records() {
        let folder = tempfile::tempdir().unwrap();
        let rows = [
            "INSERT INTO crs_cases (id, project, detail, state, deadline, created)
             VALUES ('c', 'twins', '{\"focus\":\"a\"}', 'processing', 9, 1)",
            "INSERT INTO crs_findings (id, crs_case, kind, request, round, state, created)
             VALUES ('f', 'c', 'pov', '{\"blobs\":[]}', 2, 'closed', 3)",
            "INSERT INTO crs_patches (id, crs_case, finding, diff, doubt, stops, tried, created)
             VALUES ('p', 'c', 'f', 'eA==', 1, '[\"f\"]', '[]', 4)",
        ];
        made_before(folder.path(), 11, &rows).await;
        let store = Store::open(folder.path()).await.unwrap();
        let found: Vec<(String, String, String, Option<i64>, String)> = sqlx::query_as(
            "SELECT kind, crs_case, tag, until, body FROM crs_records ORDER BY kind",
        )
        .fetch_all(&store.pool)
        .await
        .unwrap();
        let keys: Vec<_> = found
            .iter()
            .map(|row| (&*row.0, &*row.1, &*row.2, row.3))
            .collect();
        let expected = [
            ("case", "c", "processing", Some(9)),
            ("finding", "c", "stopped 2", None),
            ("patch", "c", "", None),
        ];
        assert_eq!(keys, expected);
        let body = |at: usize| -> serde_json::Value { serde_json::from_str(&found[at].4).unwrap() };
        assert_eq!(body(0)["detail"]["focus"], "a");
        assert!(body(0)["prepared"].is_null());
        assert_eq!(body(1)["request"]["blobs"], serde_json::json!([]));
        assert_eq!(body(1)["state"], "stopped");
        assert_eq!(body(2)["stops"], serde_json::json!(["f"]));
    }

    #[tokio::test]
    async fn runs_of_older_versions_keep_their_task() {
        let folder = tempfile::tempdir().unwrap();
        let rows = [
            "INSERT INTO tasks (id, task, created) VALUES ('t', '{\"id\":\"t\"}', '')",
            "INSERT INTO runs (id, task, created, settings) VALUES ('r', 't', '', '{}')",
        ];
        made_before(folder.path(), 6, &rows).await;
        let store = Store::open(folder.path()).await.unwrap();
        let (task, settings) = store.run("r").await.unwrap();
        assert_eq!((task.as_str(), settings.as_str()), ("{\"id\":\"t\"}", "{}"));
        // Another run of a changed task leaves the first as it was.
        let changed = ("t", "{\"id\":\"t\",\"title\":\"new\"}");
        store.create_run("s", changed, "{}").await.unwrap();
        assert_eq!(store.run("r").await.unwrap().0, task);
        assert_eq!(store.run("s").await.unwrap().0, changed.1);
    }

    #[tokio::test]
    async fn any_folder_will_do() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a ?#%25 ä");
        Store::open(&odd).await.unwrap();
        assert!(odd.join(FILE).is_file());
    }

    #[tokio::test]
    async fn many_may_make_the_same_store() {
        let folder = tempfile::tempdir().unwrap();
        let opened = (0..8).map(|_| Store::open(folder.path()));
        for store in futures::future::join_all(opened).await {
            store.unwrap();
        }
    }
}
