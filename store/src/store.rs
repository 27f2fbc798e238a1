//! The handle to the database, how its statements are carried out, and the rows of runs and tasks.

use patchwright_agent::report::Report;
use secrecy::SecretString;
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::{Any, AnyPool, Arguments, Encode, Executor, FromRow, SqlSafeStr, Transaction, Type};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Outcome of what the store does.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be opened, copied or written to, and what to do about it.
    #[error("{0}")]
    Unusable(String),
    /// The database failed.
    #[error("the store failed: {0}")]
    Database(#[from] sqlx::Error),
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

impl StoreError {
    /// Creates the error of a folder or file of the store that cannot be made or written.
    pub fn folder(path: &Path, error: &std::io::Error) -> Self {
        let path = path.display();
        Self::Unusable(format!(
            "state folder {path} cannot be used: {error}; choose another with --state DIR"
        ))
    }

    /// Creates the error of a `database.url` that is no address of a PostgreSQL.
    pub(crate) fn address() -> Self {
        let expected = "an address such as postgres://user@host/database, or \"unset\"";
        Self::Unusable(format!("database.url: expected {expected}"))
    }
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
        self.patiently(|_| async {
            let mut transaction = self.begin().await?;
            write_run(&mut transaction, run, task, settings).await?;
            transaction.commit().await?;
            Ok(())
        })
        .await
    }

    /// The task of a run and the settings it was started with, as JSON.
    pub async fn run(&self, run: &str) -> Result<(String, String)> {
        let found = "SELECT definition, settings FROM runs WHERE id = $1";
        let found = row(&self.pool, found, (run,)).await?;
        found.ok_or_else(|| self.no_run(run))
    }

    pub(crate) fn no_run(&self, run: &str) -> StoreError {
        StoreError::NoRun {
            run: run.to_owned(),
            path: self.folder.clone(),
        }
    }

    /// The report of a run, once it has ended.
    pub async fn report(&self, run: &str) -> Result<Option<Report>> {
        let report = "SELECT report FROM runs WHERE id = $1";
        let report: Option<Option<String>> = scalar(&self.pool, report, (run,)).await?;
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
    let add_task = "INSERT INTO tasks (id, created) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
    execute(&mut **transaction, add_task, (id, &now)).await?;
    let add_run = "INSERT INTO runs (id, task, definition, created, settings)
        VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING";
    execute(&mut **transaction, add_run, (run, id, task, &now, settings)).await?;
    let add_summary = "INSERT INTO run_summaries (run, task, created) VALUES ($1, $2, $3)
        ON CONFLICT (run) DO NOTHING";
    execute(&mut **transaction, add_summary, (run, id, &now)).await?;
    Ok(())
}

/// Values of a statement, in the order of their numbers.
pub(crate) trait Values {
    fn arguments(self) -> Result<AnyArguments>;
}

/// Makes tuples of as many members values of a statement.
macro_rules! values {
    ($($kind:ident $value:ident),+) => {
        impl<'v, $($kind: Encode<'v, Any> + Type<Any>),+> Values for ($($kind,)+) {
            fn arguments(self) -> Result<AnyArguments> {
                let ($($value,)+) = self;
                let mut arguments = AnyArguments::default();
                $(arguments.add($value).map_err(sqlx::Error::Encode)?;)+
                Ok(arguments)
            }
        }
    };
}

values!(A a);
values!(A a, B b);
values!(A a, B b, C c);
values!(A a, B b, C c, D d);
values!(A a, B b, C c, D d, E e);
values!(A a, B b, C c, D d, E e, F f);
values!(A a, B b, C c, D d, E e, F f, G g);
values!(A a, B b, C c, D d, E e, F f, G g, H h);
values!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j);
values!(A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k);

/// Carries out a statement and returns the number of rows that it changed.
pub(crate) async fn execute<'c>(
    database: impl Executor<'c, Database = Any>,
    statement: impl SqlSafeStr,
    values: impl Values,
) -> Result<u64> {
    let query = sqlx::query_with(statement, values.arguments()?);
    Ok(query.execute(database).await?.rows_affected())
}

/// Reads all rows of a statement.
pub(crate) async fn rows<'c, T: for<'r> FromRow<'r, AnyRow> + Send + Unpin>(
    database: impl Executor<'c, Database = Any>,
    statement: impl SqlSafeStr,
    values: impl Values,
) -> Result<Vec<T>> {
    let query = sqlx::query_as_with(statement, values.arguments()?);
    Ok(query.fetch_all(database).await?)
}

/// Reads the row of a statement that finds one or none.
pub(crate) async fn row<'c, T: for<'r> FromRow<'r, AnyRow> + Send + Unpin>(
    database: impl Executor<'c, Database = Any>,
    statement: impl SqlSafeStr,
    values: impl Values,
) -> Result<Option<T>> {
    let query = sqlx::query_as_with(statement, values.arguments()?);
    Ok(query.fetch_optional(database).await?)
}

/// Reads the value of a statement that finds one or none.
pub(crate) async fn scalar<'c, T>(
    database: impl Executor<'c, Database = Any>,
    statement: impl SqlSafeStr,
    values: impl Values,
) -> Result<Option<T>>
where
    (T,): for<'r> FromRow<'r, AnyRow> + Send + Unpin,
{
    let found: Option<(T,)> = row(database, statement, values).await?;
    Ok(found.map(|(value,)| value))
}

/// The time as journals show it: UTC, to the millisecond.
pub fn now() -> String {
    in_journal_form(jiff::Timestamp::now())
}

/// A time that compares as text with those of [`now`].
pub fn in_journal_form(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// A time as rows hold it; one that is too long is longer than anybody waits.
pub fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 2)
}

/// Text as every database takes it: PostgreSQL has no place for a NUL.
pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
