//! The tokens as the daemon knows them: a copy of the table, looked at anew
//! when it is a second old, so that a token that was made or revoked by the
//! command line counts soon and a request costs no query.

use patchwright_store::tokens::{Token, hash_of};
use patchwright_store::{Store, StoreError};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Largest age of the copy.
const FRESH: Duration = Duration::from_secs(1);

/// The tokens of a store.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    store: Store,
    copy: Arc<Mutex<Option<Copy>>>,
}

#[derive(Debug)]
struct Copy {
    at: Instant,
    by_hash: Arc<HashMap<String, Token>>,
}

impl Tokens {
    /// The tokens of this store.
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            copy: Arc::default(),
        }
    }

    /// The token that works and is this one.
    ///
    /// # Errors
    /// When the store cannot tell: then nobody is let in.
    pub(crate) async fn find(&self, secret: &str) -> Result<Option<Token>, StoreError> {
        let known = self.known().await?;
        let token = known.get(&hash_of(secret)).cloned();
        Ok(token.filter(|token| token.works_at(&patchwright_store::now())))
    }

    /// Returns true when no token was ever made.
    ///
    /// # Errors
    /// When the store cannot tell.
    pub(crate) async fn nobody_has_one(&self) -> Result<bool, StoreError> {
        Ok(self.known().await?.is_empty())
    }

    async fn known(&self) -> Result<Arc<HashMap<String, Token>>, StoreError> {
        let mut copy = self.copy.lock().await;
        if let Some(copy) = copy.as_ref().filter(|copy| copy.at.elapsed() < FRESH) {
            return Ok(copy.by_hash.clone());
        }
        let tokens = self.store.tokens().await?.into_iter();
        let by_hash: HashMap<String, Token> =
            tokens.map(|token| (token.hash.clone(), token)).collect();
        let by_hash = Arc::new(by_hash);
        *copy = Some(Copy {
            at: Instant::now(),
            by_hash: by_hash.clone(),
        });
        Ok(by_hash)
    }
}
