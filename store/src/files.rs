//! Files that came with a task, kept by the hash of their content and in
//! pieces, so that no machine ever holds a large one in its memory.

use crate::store::{Result, Store, execute, now, rows, scalar};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Bytes of a piece.
const PIECE: usize = 1 << 20;
/// Pieces that are written in one commit.
const COMMIT: usize = 8;

impl Store {
    /// Keeps the content of a file under its SHA-256, for the quota of who sent
    /// it first. A file counts when it is
    /// there as a whole; writing it again changes nothing.
    pub async fn keep_file(&self, hash: &str, path: &Path, submitter: Option<&str>) -> Result<()> {
        // Its age begins anew, so that it is not forgotten before the task that is about to
        // name it is written down.
        let renew = "UPDATE files SET created = $1 WHERE hash = $2";
        if execute(&self.pool, renew, (now(), hash)).await? > 0 {
            return Ok(());
        }
        let mut file = File::open(path).map_err(sqlx::Error::from)?;
        let (mut number, mut bytes) = (0_i64, 0_i64);
        loop {
            let mut transaction = self.begin().await?;
            for _ in 0..COMMIT {
                let mut piece = Vec::new();
                let read = (&mut file).take(PIECE as u64).read_to_end(&mut piece);
                read.map_err(sqlx::Error::from)?;
                if piece.is_empty() {
                    let add = "INSERT INTO files (hash, pieces, created, submitter, bytes)
                        VALUES ($1, $2, $3, $4, $5) ON CONFLICT (hash) DO NOTHING";
                    let values = (hash, number, now(), submitter, bytes);
                    execute(&mut *transaction, add, values).await?;
                    transaction.commit().await?;
                    return Ok(());
                }
                bytes += i64::try_from(piece.len()).unwrap_or(i64::MAX);
                let add = "INSERT INTO file_pieces (hash, number, bytes) VALUES ($1, $2, $3)
                    ON CONFLICT (hash, number) DO NOTHING";
                execute(&mut *transaction, add, (hash, number, piece)).await?;
                number += 1;
            }
            transaction.commit().await?;
        }
    }

    /// Forgets the files that came before a time and that no task and no case names.
    pub(super) async fn prune_files(&self, before: &str) -> Result<u64> {
        let old = "SELECT hash FROM files WHERE created < $1
            AND NOT EXISTS (SELECT 1 FROM submissions WHERE submissions.task LIKE '%' || hash || '%')
            AND NOT EXISTS (SELECT 1 FROM crs_records WHERE kind = 'case' AND body LIKE '%' || hash || '%')";
        let old: Vec<(String,)> = rows(&self.pool, old, (before,)).await?;
        for (hash,) in &old {
            let mut transaction = self.begin().await?;
            for forget in [
                "DELETE FROM files WHERE hash = $1",
                "DELETE FROM file_pieces WHERE hash = $1",
            ] {
                execute(&mut *transaction, forget, (hash,)).await?;
            }
            transaction.commit().await?;
        }
        Ok(old.len() as u64)
    }

    /// Writes the content of a hash to a new file.
    pub async fn file_to(&self, hash: &str, path: &Path) -> Result<()> {
        let pieces = "SELECT pieces FROM files WHERE hash = $1";
        let pieces: Option<i64> = scalar(&self.pool, pieces, (hash,)).await?;
        let gone = || {
            let message = format!("the file {hash} that came with a task is not kept any more");
            sqlx::Error::Io(io::Error::new(io::ErrorKind::NotFound, message))
        };
        let mut file = File::create_new(path).map_err(sqlx::Error::from)?;
        for number in 0..pieces.ok_or_else(gone)? {
            let piece = "SELECT bytes FROM file_pieces WHERE hash = $1 AND number = $2";
            let piece: Option<Vec<u8>> = scalar(&self.pool, piece, (hash, number)).await?;
            file.write_all(&piece.ok_or_else(gone)?)
                .map_err(sqlx::Error::from)?;
        }
        file.sync_all().map_err(sqlx::Error::from)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn files_come_back_as_they_went() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("state")).await.unwrap();
        for (name, size) in [
            ("none", 0),
            ("one", 1),
            ("piece", PIECE),
            ("many", 10 * PIECE + 7),
        ] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let (from, to) = (
                folder.path().join(name),
                folder.path().join(format!("{name}-back")),
            );
            std::fs::write(&from, &bytes).unwrap();
            store.keep_file(name, &from, None).await.unwrap();
            store.keep_file(name, &from, None).await.unwrap();
            store.file_to(name, &to).await.unwrap();
            assert!(std::fs::read(&to).unwrap() == bytes, "{name}");
        }
        assert_eq!(store.prune_files("2000-01-01").await.unwrap(), 0);
        assert_eq!(store.prune_files("9999-01-01").await.unwrap(), 4);
        let error = store
            .file_to("nobody", &folder.path().join("x"))
            .await
            .unwrap_err();
        assert!(error.to_string().contains("not kept any more"), "{error}");
    }
}
