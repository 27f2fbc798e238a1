//! Logs, diffs and other large texts, kept once by the hash of their content.

use crate::store::{Result, Store, execute, scalar};
use sha2::{Digest, Sha256};

impl Store {
    /// Keeps some bytes and returns their SHA-256 in hexadecimal; empty bytes
    /// are not kept and have an empty hash.
    pub async fn keep(&self, bytes: &[u8]) -> Result<String> {
        if bytes.is_empty() {
            return Ok(String::new());
        }
        let hash = format!("{:x}", Sha256::digest(bytes));
        let add = "INSERT INTO blobs (hash, bytes) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
        execute(&self.pool, add, (&hash, bytes)).await?;
        Ok(hash)
    }

    /// The bytes of a hash; `None` when they are not kept here.
    pub async fn blob(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        let bytes = "SELECT bytes FROM blobs WHERE hash = $1";
        scalar(&self.pool, bytes, (hash,)).await
    }
}
