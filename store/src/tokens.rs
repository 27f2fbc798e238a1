//! The tokens of the daemon's callers: who may do what, until when.
//!
//! Only the hash of a token is kept. Tokens are long and random, so that a
//! plain hash gives nothing away. A token that was revoked stays in the list.

use crate::store::{Result, Store, execute, now, rows};
use patchwright_agent::words;
use sha2::{Digest, Sha256};

/// Prefix of every token, so that a scanner of repositories knows one.
const PREFIX: &str = "patchwright_";
/// Random bytes of a token.
const RANDOM: usize = 32;

/// Role of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// See everything, change nothing but reviews.
    Review,
    /// See everything, hand tasks in and cancel them.
    Submit,
    /// Everything.
    Admin,
}

words!(Role: Review "review", Submit "submit", Admin "admin");

impl From<String> for Role {
    /// Reads a role of the table; one of a newer version allows the least here.
    fn from(word: String) -> Self {
        Self::read(&word).unwrap_or(Self::Review)
    }
}

/// A token, without the token itself.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Token {
    pub name: String,
    /// The SHA-256 of it, in hexadecimal.
    pub hash: String,
    #[sqlx(try_from = "String")]
    pub role: Role,
    /// When it was made, UTC.
    pub created: String,
    /// When it stops working, UTC.
    pub expires: Option<String>,
    /// When it was revoked, UTC.
    pub revoked: Option<String>,
}

impl Token {
    /// Returns true when it works at this time, written as `now` writes it.
    pub fn works_at(&self, time: &str) -> bool {
        self.revoked.is_none() && self.expires.as_deref().is_none_or(|expires| time < expires)
    }
}

/// The hash that a token is known by.
pub fn hash_of(secret: &str) -> String {
    format!("{:x}", Sha256::digest(secret.as_bytes()))
}

/// A new token: 256 random bits.
///
/// # Errors
/// When the system gives no random bytes.
pub fn secret() -> Result<String, std::io::Error> {
    use std::io::Read;
    let mut bytes = [0; RANDOM];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(PREFIX.to_owned() + &hex::encode(bytes))
}

impl Store {
    /// Makes a token and returns it; nobody can be told it again. `None` when
    /// a token that works has this name already.
    pub async fn create_token(
        &self,
        name: &str,
        role: Role,
        expires: Option<jiff::Timestamp>,
    ) -> Result<Option<String>> {
        let secret = secret().map_err(sqlx::Error::from)?;
        let expires = expires.map(crate::store::in_journal_form);
        let now = now();
        let mut transaction = self.begin().await?;
        let named = "SELECT * FROM tokens WHERE name = $1";
        let taken: Vec<Token> = rows(&mut *transaction, named, (name,)).await?;
        if taken.iter().any(|token| token.works_at(&now)) {
            return Ok(None);
        }
        let add =
            "INSERT INTO tokens (hash, name, role, created, expires) VALUES ($1, $2, $3, $4, $5)";
        let values = (hash_of(&secret), name, role.as_str(), now, expires);
        execute(&mut *transaction, add, values).await?;
        transaction.commit().await?;
        Ok(Some(secret))
    }

    /// Every token that was ever made, the newest first.
    pub async fn tokens(&self) -> Result<Vec<Token>> {
        let sql = "SELECT hash, name, role, created, expires, revoked FROM tokens ORDER BY created DESC, name";
        Ok(sqlx::query_as(sql).fetch_all(&self.pool).await?)
    }

    /// Takes away what the tokens of a name allow; how many there were.
    pub async fn revoke_token(&self, name: &str) -> Result<u64> {
        let revoke = "UPDATE tokens SET revoked = $1 WHERE name = $2 AND revoked IS NULL";
        execute(&self.pool, revoke, (now(), name)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tokens_work_until_they_expire_or_are_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        assert!(store.tokens().await.unwrap().is_empty());
        let past = jiff::Timestamp::from_second(1).unwrap();
        let later = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
        let mut secrets = Vec::new();
        for (name, role, expires) in [
            ("ci", Role::Submit, None),
            ("old", Role::Admin, Some(past)),
            ("soon", Role::Review, Some(later)),
        ] {
            secrets.push(
                store
                    .create_token(name, role, expires)
                    .await
                    .unwrap()
                    .unwrap(),
            );
        }
        assert!(
            secrets
                .iter()
                .all(|secret| secret.len() == PREFIX.len() + 64)
        );
        assert_eq!(
            store.create_token("ci", Role::Admin, None).await.unwrap(),
            None
        );
        // An expired one may be replaced.
        assert!(
            store
                .create_token("old", Role::Admin, None)
                .await
                .unwrap()
                .is_some()
        );
        assert_eq!(store.revoke_token("soon").await.unwrap(), 1);
        assert_eq!(store.revoke_token("soon").await.unwrap(), 0);
        let tokens = store.tokens().await.unwrap();
        let works = |secret: &str| {
            let found = tokens.iter().find(|token| token.hash == hash_of(secret));
            found.unwrap().works_at(&now())
        };
        assert_eq!(
            secrets
                .iter()
                .map(|secret| works(secret))
                .collect::<Vec<_>>(),
            [true, false, false]
        );
        let text = format!("{tokens:?}");
        assert!(secrets.iter().all(|secret| !text.contains(secret)));
    }
}
