//! Copies the database while it is used: SQLite by itself, PostgreSQL by its own
//! program `pg_dump`.
//!
//! Nothing is put back here; that is the business of the operator.

use crate::store::{DatabaseKind, Result, Store, StoreError, execute};
use percent_encoding::percent_decode_str;
use secrecy::ExposeSecret;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;
use url::Url;

/// Parameters of an address that `pg_dump` takes; the rest is for our own driver.
const KNOWN: [&str; 8] = [
    "host",
    "hostaddr",
    "port",
    "user",
    "dbname",
    "sslmode",
    "sslrootcert",
    "application_name",
];
/// The most of what it says that is shown.
const SHOWN: usize = 4_000;

impl Store {
    /// Copies the database to a file that is not there yet. A copy that fails
    /// leaves no file.
    ///
    /// # Errors
    /// When the file is there, or cannot be written; for PostgreSQL when
    /// `pg_dump` is missing or refuses.
    pub async fn back_up(&self, file: &Path) -> Result<()> {
        let unusable = |error| StoreError::folder(file, &error);
        if file.exists() {
            return Err(unusable(std::io::ErrorKind::AlreadyExists.into()));
        }
        let folder = file.parent().filter(|path| !path.as_os_str().is_empty());
        let copy = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")));
        let copy = copy.map_err(unusable)?;
        match self.kind {
            // It fills a file that is there and empty.
            DatabaseKind::Sqlite => {
                let path = copy.path().display().to_string();
                execute(&self.pool, "VACUUM INTO $1", (path,)).await?;
            }
            DatabaseKind::Postgres => dump(self.url.expose_secret(), copy.path()).await?,
        }
        let kept = copy.persist_noclobber(file);
        kept.map(|_| ()).map_err(|error| unusable(error.error))
    }
}

/// Has the whole database written to a file, in the form that `pg_restore`
/// reads. Everybody on a machine sees the arguments of a program, so the
/// password goes by the environment.
async fn dump(url: &str, file: &Path) -> Result<()> {
    let failed = |reason: &dyn std::fmt::Display| {
        StoreError::Unusable(format!("the database is not copied: {reason}"))
    };
    let (address, password) = apart(url).ok_or_else(StoreError::address)?;
    let mut command = Command::new("pg_dump");
    command
        .args(["--format=custom", "--no-password"])
        .arg(format!("--dbname={address}"))
        .arg(format!("--file={}", file.display()))
        .stdin(Stdio::null())
        .kill_on_drop(true);
    if let Some(password) = password {
        command.env("PGPASSWORD", password);
    }
    let output = command
        .output()
        .await
        .map_err(|error| failed(&format!("pg_dump (package postgresql-client): {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let shown: String = said.trim().chars().take(SHOWN).collect();
    Err(failed(&shown))
}

/// The address without its password, and the password.
fn apart(url: &str) -> Option<(String, Option<String>)> {
    let mut url = Url::parse(url).ok()?;
    let decoded = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let mut password = url.password().map(decoded);
    let mut kept = Vec::new();
    for (name, value) in url.query_pairs() {
        if name == "password" {
            password = Some(value.into_owned());
        } else if KNOWN.contains(&&*name) {
            kept.push((name.into_owned(), value.into_owned()));
        }
    }
    url.set_password(None).ok()?;
    url.set_query(None);
    if !kept.is_empty() {
        url.query_pairs_mut().extend_pairs(kept);
    }
    Some((url.into(), password))
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn the_password_is_taken_out_of_the_address() {
        for (url, address, password) in [
            ("postgres://u@h/d", "postgres://u@h/d", None),
            (
                "postgres://u:p%40w@h:1/d",
                "postgres://u@h:1/d",
                Some("p@w"),
            ),
            (
                "postgresql://h/d?password=s&host=%2Ftmp&statement-cache-capacity=1",
                "postgresql://h/d?host=%2Ftmp",
                Some("s"),
            ),
        ] {
            let (found, secret) = apart(url).unwrap();
            assert_eq!((&*found, secret.as_deref()), (address, password), "{url}");
        }
        assert!(apart("no address").is_none());
    }
}
