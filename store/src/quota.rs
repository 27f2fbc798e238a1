//! Quotas: tasks, bytes and files that one caller may have in the store.

use crate::store::{Result, Store, scalar};
use sqlx::{Any, Executor};

/// The most that one caller may have in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// The name of the caller's token; empty where nobody needs one.
    pub submitter: String,
    /// Tasks that have not ended.
    pub tasks: i64,
    /// Bytes of all its tasks and files.
    pub bytes: i64,
    pub files: i64,
}

/// Usage of the store by one caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct Usage {
    /// Tasks that have not ended.
    pub tasks: i64,
    /// Bytes of all its tasks and files.
    pub bytes: i64,
    pub files: i64,
}

impl Quota {
    /// Names the setting that would not hold with this much more.
    pub fn exceeded(&self, used: Usage, more: Usage) -> Option<&'static str> {
        [
            ("intake.open_tasks", used.tasks + more.tasks, self.tasks),
            ("intake.kept_mb", used.bytes + more.bytes, self.bytes),
            ("intake.kept_files", used.files + more.files, self.files),
        ]
        .into_iter()
        .find(|(_, sum, limit)| sum > limit)
        .map(|(key, _, _)| key)
    }
}

impl Store {
    /// Returns what a caller has in the store.
    pub async fn usage(&self, submitter: &str) -> Result<Usage> {
        usage(&self.pool, submitter).await
    }

    /// Returns true when a file is kept.
    pub async fn has_file(&self, hash: &str) -> Result<bool> {
        let found = "SELECT hash FROM files WHERE hash = $1";
        let found: Option<String> = scalar(&self.pool, found, (hash,)).await?;
        Ok(found.is_some())
    }
}

/// Returns what a caller has in the store, inside a transaction or outside.
pub(crate) async fn usage<'c>(
    database: impl Executor<'c, Database = Any>,
    submitter: &str,
) -> Result<Usage> {
    let used = sqlx::query_as(
        "SELECT
         (SELECT COUNT(*) FROM submissions WHERE submitter = $1 AND state IN ('queued', 'running', 'paused')) AS tasks,
         (SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM submissions WHERE submitter = $1) +
         (SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM files WHERE submitter = $1) AS bytes,
         (SELECT COUNT(*) FROM files WHERE submitter = $1) AS files",
    );
    Ok(used.bind(submitter).fetch_one(database).await?)
}
