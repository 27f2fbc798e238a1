//! The handle to the database, and the rows of runs and tasks.

use patchwright_agent::report::Report;
use secrecy::SecretString;
use sqlx::{Any, AnyPool, Transaction};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Outcome of what the store does.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The state folder cannot be made or written.
    #[error("state folder {path} cannot be used: {source}; choose another with --state DIR")]
    Folder {
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// `database.url` is no address of a PostgreSQL.
    #[error(
        "database.url: expected an address such as postgres://user@host/database, or \"unset\""
    )]
    Address,
    /// The database was not copied.
    #[error("the database is not copied: {0}")]
    NotCopied(String),
    /// The database failed.
    #[error("the store failed: {0}")]
    Database(#[from] sqlx::Error),
    /// The database was made by a newer version.
    #[error(
        "the database was made by a newer version of Patchwright: this one does not know its migration {version}; \
         install that version, or name another database (--state DIR, database.url)"
    )]
    Newer {
        /// The first migration that is not known.
        version: i64,
    },
    /// The database cannot be brought up to date.
    #[error("the store cannot be brought up to date: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// Somebody else claimed the run.
    #[error("run {run} was claimed by somebody else; this process stops writing to it")]
    Superseded { run: String },
    /// A queue works on the task of the run.
    #[error(
        "run {run} belongs to task {task} of the queue, which is {state}: wait for its end, or cancel it first"
    )]
    Queued {
        run: String,
        task: String,
        /// The state of the task.
        state: String,
    },
    /// There is no such run.
    #[error(
        "there is no run {run:?} in {path}: name a run by its id, or by the folder that --out made (--state DIR names another store)"
    )]
    NoRun {
        /// The id that was asked for.
        run: String,
        /// The state folder.
        path: PathBuf,
    },
    /// A stored value cannot be read back.
    #[error("{what} cannot be read: {source}")]
    Damaged {
        what: String,
        /// The error of the parser.
        #[source]
        source: serde_json::Error,
    },
    /// The tasks of one commit were not written down.
    #[error("the tasks were not written down: {0}")]
    NotWritten(String),
    /// A money limit would be passed.
    #[error(
        "{which} limit of {limit:.4} USD: {spent:.4} are spent or reserved, {wanted:.4} more are needed"
    )]
    Money {
        /// `run`, `day` or `total`.
        which: &'static str,
        limit: f64,
        /// The sum that is booked already.
        spent: f64,
        /// The largest cost of the call.
        wanted: f64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatabaseKind {
    /// A file of this machine.
    Sqlite,
    /// Shared by any number of machines.
    Postgres,
}

impl DatabaseKind {
    /// Returns the one of two values that is for this kind.
    pub(crate) fn choose<T>(self, sqlite: T, postgres: T) -> T {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) pool: AnyPool,
    pub(crate) folder: PathBuf,
    pub(crate) kind: DatabaseKind,
    /// The address of the database, as `sqlx` takes it; may hold a password.
    pub(crate) url: SecretString,
    pub(crate) patience: Duration,
}

impl Store {
    /// The state folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes down a task and a new run of it. Doing it twice does it once.
    pub async fn create_run(&self, run: &str, task: (&str, &str), settings: &str) -> Result<()> {
        self.patiently(|_| self.try_create_run(run, task, settings))
            .await
    }

    async fn try_create_run(&self, run: &str, task: (&str, &str), settings: &str) -> Result<()> {
        let mut transaction = self.begin().await?;
        write_run(&mut transaction, run, task, settings).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The task of a run and the settings it was started with, as JSON.
    pub async fn run(&self, run: &str) -> Result<(String, String)> {
        sqlx::query_as("SELECT definition, settings FROM runs WHERE id = $1")
            .bind(run)
            .fetch_optional(&self.pool)
            .await?
            .ok_or_else(|| self.no_run(run))
    }

    pub(crate) fn no_run(&self, run: &str) -> StoreError {
        StoreError::NoRun {
            run: run.to_owned(),
            path: self.folder.clone(),
        }
    }

    /// The report of a run, once it has ended.
    pub async fn report(&self, run: &str) -> Result<Option<Report>> {
        let report = sqlx::query_scalar("SELECT report FROM runs WHERE id = $1").bind(run);
        let report: Option<Option<String>> = report.fetch_optional(&self.pool).await?;
        let report = report.ok_or_else(|| self.no_run(run))?;
        let report = report.as_deref().map(serde_json::from_str).transpose();
        report.map_err(damaged(format!("the report of run {run}")))
    }
}

/// Makes the error of a stored value that cannot be read back.
pub(crate) fn damaged(what: String) -> impl FnOnce(serde_json::Error) -> StoreError {
    |source| StoreError::Damaged { what, source }
}

/// Writes down a task and a new run of it, in a transaction.
pub(crate) async fn write_run(
    transaction: &mut Transaction<'static, Any>,
    run: &str,
    (id, task): (&str, &str),
    settings: &str,
) -> Result<()> {
    let now = now();
    sqlx::query("INSERT INTO tasks (id, created) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING")
        .bind(id)
        .bind(&now)
        .execute(&mut **transaction)
        .await?;
    sqlx::query(
        "INSERT INTO runs (id, task, definition, created, settings) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (id) DO NOTHING",
    )
    .bind(run)
    .bind(id)
    .bind(task)
    .bind(&now)
    .bind(settings)
    .execute(&mut **transaction)
    .await?;
    sqlx::query(
        "INSERT INTO run_summaries (run, task, created) VALUES ($1, $2, $3) ON CONFLICT (run) DO NOTHING",
    )
    .bind(run)
    .bind(id)
    .bind(&now)
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// Carries out statements that take one value.
pub(crate) async fn execute_all(
    transaction: &mut Transaction<'static, Any>,
    statements: &[&'static str],
    value: &str,
) -> Result<()> {
    for statement in statements {
        let statement = sqlx::query(*statement).bind(value);
        statement.execute(&mut **transaction).await?;
    }
    Ok(())
}

/// The time as journals show it: UTC, to the millisecond.
pub fn now() -> String {
    in_journal_form(jiff::Timestamp::now())
}

/// A time that compares as text with those of [`now`].
pub fn in_journal_form(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Text as every database takes it: PostgreSQL has no place for a NUL.
pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
