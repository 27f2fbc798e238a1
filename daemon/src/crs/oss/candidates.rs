//! Claims on bug candidates: the SQLite database that all CRSs of a framework share, in which each
//! candidate is claimed before somebody works on it.
//!
//! The framework's own library makes the tables and fills them. This module reads those of our
//! target and harness, and changes the claim and the status of one.

use super::Environment;
use sqlx::Row;
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use std::path::Path;
use std::time::Duration;

/// Time for which a claim holds, in seconds: a claim that is not given back runs out.
const LEASE: f64 = 7200.0;
/// Time that a statement waits for other writers; the framework's library waits as long.
const PATIENCE: Duration = Duration::from_secs(30);
/// The largest report that is read, in bytes.
const REPORT_LIMIT: u64 = 16 << 20;
/// The most candidates that are taken.
const MOST: i64 = 1000;

/// Candidates that nobody has claimed, the oldest first. `alias_of` names the candidate that one
/// was merged into.
const OPEN: &str = "SELECT correlation_id, sarif_path FROM candidates \
     WHERE target_key = ?1 AND harness = ?2 AND alias_of IS NULL AND status NOT IN ('fixed', 'false_positive') \
     AND (claim_owner IS NULL OR claim_owner = ?3 OR claim_lease_expires IS NULL OR claim_lease_expires <= ?4) \
     ORDER BY created_at, correlation_id LIMIT ?5";
/// One statement, so that two cannot both find it free.
const CLAIM: &str = "UPDATE candidates SET claim_owner = ?3, claim_lease_expires = ?4 + ?6, claim_ts = ?4, updated_at = ?4 \
     WHERE target_key = ?1 AND harness = ?2 AND correlation_id = ?5 AND status NOT IN ('fixed', 'false_positive') \
     AND (claim_owner IS NULL OR claim_owner = ?3 OR claim_lease_expires IS NULL OR claim_lease_expires <= ?4)";
const SETTLE: &str = "UPDATE candidates SET claim_owner = NULL, claim_lease_expires = NULL, claim_ts = NULL, \
     status = COALESCE(?6, status), updated_at = ?4 \
     WHERE target_key = ?1 AND harness = ?2 AND correlation_id = ?5 AND claim_owner = ?3";
/// The entry that others follow.
const NOTE: &str = "INSERT INTO updates (target_key, harness, correlation_id, type, payload_json, crs, agent, ts) \
     VALUES (?1, ?2, ?5, ?6, ?7, ?3, ?3, ?4)";

type Statement<'q> = Query<'q, Sqlite, SqliteArguments>;

/// A candidate of our target and harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its key.
    pub id: String,
    /// Its SARIF report.
    pub sarif: String,
}

/// The database, as far as it is about our target and harness.
#[derive(Debug, Clone)]
pub struct Candidates {
    pool: SqlitePool,
    environment: Environment,
}

impl Candidates {
    /// Opens the database; nothing where the framework has none.
    ///
    /// # Errors
    /// It is there and cannot be opened.
    pub async fn open(environment: &Environment) -> Result<Option<Self>, sqlx::Error> {
        let folder = environment.candidates.as_ref();
        let file = folder.map(|folder| folder.join("index.sqlite"));
        let Some(file) = file.filter(|file| file.is_file()) else {
            return Ok(None);
        };
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .busy_timeout(PATIENCE);
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await?;
        let environment = environment.clone();
        Ok(Some(Self { pool, environment }))
    }

    /// A statement about our target and harness, with who we are and the time.
    fn statement(&self, sql: &'static str, now: f64) -> Statement<'_> {
        sqlx::query(sql)
            .bind(&self.environment.target_key)
            .bind(&self.environment.harness)
            .bind(&self.environment.name)
            .bind(now)
    }

    /// Lists the candidates that may be claimed.
    ///
    /// # Errors
    /// The database fails.
    pub async fn open_ones(&self) -> Result<Vec<Candidate>, sqlx::Error> {
        let open = self.statement(OPEN, now()).bind(MOST);
        let mut candidates = Vec::new();
        for row in open.fetch_all(&self.pool).await? {
            let path: Option<String> = row.try_get("sarif_path")?;
            if let Some(sarif) = path.and_then(|path| text_of(Path::new(&path))) {
                let id = row.try_get("correlation_id")?;
                candidates.push(Candidate { id, sarif });
            }
        }
        Ok(candidates)
    }

    /// Claims a candidate; false where somebody else was quicker.
    ///
    /// # Errors
    /// The database fails.
    pub async fn claim(&self, id: &str) -> Result<bool, sqlx::Error> {
        let now = now();
        let claim = self.statement(CLAIM, now).bind(id).bind(LEASE);
        let owner = serde_json::json!({ "owner": self.environment.name });
        self.change((id, now), claim, ("claim", owner)).await
    }

    /// Gives a claim back; a candidate that was repaired is `fixed`.
    ///
    /// # Errors
    /// The database fails.
    pub async fn settle(&self, id: &str, fixed: bool) -> Result<(), sqlx::Error> {
        let now = now();
        let status = fixed.then_some("fixed");
        let settle = self.statement(SETTLE, now).bind(id).bind(status);
        let told = if fixed {
            ("status", serde_json::json!({ "status": "fixed" }))
        } else {
            let owner = &self.environment.name;
            ("release", serde_json::json!({ "owner": owner }))
        };
        // A claim that ran out belongs to somebody else now.
        self.change((id, now), settle, told).await.map(|_| ())
    }

    /// Changes a candidate and notes it for others; false where it was not ours to change.
    async fn change(
        &self,
        (id, now): (&str, f64),
        change: Statement<'_>,
        (kind, payload): (&str, serde_json::Value),
    ) -> Result<bool, sqlx::Error> {
        let mut transaction = self.pool.begin().await?;
        let changed = change.execute(&mut *transaction).await?;
        if changed.rows_affected() == 0 {
            return Ok(false);
        }
        let note = self.statement(NOTE, now).bind(id).bind(kind);
        note.bind(payload.to_string())
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// Seconds since 1970, as the framework's library counts them.
fn now() -> f64 {
    jiff::Timestamp::now().as_duration().as_secs_f64()
}

fn text_of(path: &Path) -> Option<String> {
    let data = std::fs::symlink_metadata(path).ok()?;
    let fits = data.is_file() && data.len() <= REPORT_LIMIT;
    let text = fits.then(|| std::fs::read(path).ok()).flatten()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Candidates, Environment};
    use std::collections::BTreeMap;
    use std::path::Path;

    /// The columns that the framework's library makes, as far as they are read or written here.
    const TABLES: &str = "CREATE TABLE candidates (target_key TEXT NOT NULL, harness TEXT NOT NULL, correlation_id TEXT NOT NULL, \
         sarif_path TEXT, status TEXT NOT NULL DEFAULT 'new', alias_of TEXT, claim_owner TEXT, claim_lease_expires REAL, \
         claim_ts REAL, created_at REAL, updated_at REAL, PRIMARY KEY (target_key, harness, correlation_id)); \
         CREATE TABLE updates (seq INTEGER PRIMARY KEY AUTOINCREMENT, target_key TEXT NOT NULL, harness TEXT NOT NULL, \
         correlation_id TEXT NOT NULL, type TEXT NOT NULL, payload_json TEXT, crs TEXT, agent TEXT, ts REAL);";

    fn environment(folder: &Path, name: &str) -> Environment {
        let folder = folder.display().to_string();
        let pairs = [
            ("OSS_CRS_NAME", name),
            ("OSS_CRS_TARGET", "libxml2"),
            ("OSS_CRS_TARGET_KEY", "libxml2-1"),
            ("OSS_CRS_TARGET_HARNESS", "xml"),
            ("OSS_CRS_FETCH_DIR", "/fetch"),
            ("OSS_CRS_SUBMIT_DIR", "/submit"),
            ("OSS_CRS_BUG_CANDIDATE_DIR", &folder),
        ];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Environment::read(&BTreeMap::from(pairs)).unwrap()
    }

    #[tokio::test]
    async fn a_candidate_is_claimed_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let ours = environment(folder.path(), "us");
        assert!(Candidates::open(&ours).await.unwrap().is_none());
        let file = folder.path().join("index.sqlite");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file);
        let pool = sqlx::SqlitePool::connect_with(options.create_if_missing(true));
        let pool = pool.await.unwrap();
        sqlx::raw_sql(TABLES).execute(&pool).await.unwrap();
        let sarif = folder.path().join("one.sarif.json");
        std::fs::write(&sarif, "{\"runs\":[]}").unwrap();
        for (id, harness, status, alias) in [
            ("one", "xml", "new", None),
            ("two", "xml", "fixed", None),
            ("three", "xml", "new", Some("one")),
            ("four", "html", "new", None),
        ] {
            sqlx::query("INSERT INTO candidates (target_key, harness, correlation_id, sarif_path, status, alias_of) VALUES ('libxml2-1', ?, ?, ?, ?, ?)")
                .bind(harness).bind(id).bind(sarif.to_str()).bind(status).bind(alias)
                .execute(&pool).await.unwrap();
        }
        let ours = Candidates::open(&ours).await.unwrap().unwrap();
        let theirs = environment(folder.path(), "them");
        let theirs = Candidates::open(&theirs).await.unwrap().unwrap();
        let open = ours.open_ones().await.unwrap();
        assert_eq!(open.len(), 1, "{open:?}");
        assert_eq!((&*open[0].id, &*open[0].sarif), ("one", "{\"runs\":[]}"));

        assert!(ours.claim("one").await.unwrap());
        assert!(ours.claim("one").await.unwrap(), "it is ours already");
        assert!(!theirs.claim("one").await.unwrap());
        assert!(theirs.open_ones().await.unwrap().is_empty());
        theirs.settle("one", true).await.unwrap();
        ours.settle("one", false).await.unwrap();
        assert!(theirs.claim("one").await.unwrap(), "it was given back");
        sqlx::query("UPDATE candidates SET claim_lease_expires = 1")
            .execute(&pool)
            .await
            .unwrap();
        assert!(ours.claim("one").await.unwrap(), "their claim ran out");
        ours.settle("one", true).await.unwrap();
        assert!(!theirs.claim("one").await.unwrap(), "it is fixed");
        let told: Vec<(String, String)> =
            sqlx::query_as("SELECT type, crs FROM updates ORDER BY seq")
                .fetch_all(&pool)
                .await
                .unwrap();
        let told: Vec<(&str, &str)> = told.iter().map(|(kind, crs)| (&**kind, &**crs)).collect();
        let claim = |who| ("claim", who);
        let expected = [
            claim("us"),
            claim("us"),
            ("release", "us"),
            claim("them"),
            claim("us"),
            ("status", "us"),
        ];
        assert_eq!(told, expected);
    }
}
