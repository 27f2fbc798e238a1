//! Login of every caller: of the API, of the review page, of cyber reasoning
//! systems. They differ in where a request carries its token.
//!
//! A token is needed as soon as one was ever made, and always where others than
//! this machine can connect. Where none is needed, only pages of this machine
//! are answered, so that a web site cannot use a visitor's daemon.

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, Uri};
use patchwright_config::Http;
use patchwright_store::tokens::{Role, Token, hash_of};
use patchwright_store::{Store, StoreError};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Largest age of the copy of the tokens: one that was made or revoked by the command line counts
/// soon, and a request costs no query.
const FRESH: Duration = Duration::from_secs(1);

/// Somebody who was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The name of the token; empty where none was needed.
    pub(crate) name: String,
    pub(crate) role: Role,
}

/// Reason why a caller is not let in.
#[derive(Debug)]
pub(crate) enum NotAdmitted {
    /// A token is needed.
    NoToken,
    /// The token is unknown, expired or revoked.
    UnknownToken,
    /// Without a token, only this machine is answered.
    Elsewhere,
    /// The store cannot tell.
    Store(StoreError),
}

/// The tokens by their hash, and when they were read.
type Copy = (Instant, Arc<HashMap<String, Token>>);

/// The tokens, and where none is needed. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Login {
    store: Store,
    copy: Arc<Mutex<Option<Copy>>>,
    /// True when only this machine can connect.
    pub(crate) loopback: bool,
    origins: Arc<[String]>,
}

impl Login {
    pub(crate) fn new(store: Store, http: &Http) -> Self {
        Self {
            store,
            copy: Arc::default(),
            loopback: http.listen.ip().is_loopback(),
            origins: http.origins.clone().into(),
        }
    }

    /// Returns true when no token was ever made.
    pub(crate) async fn nobody_has_token(&self) -> Result<bool, StoreError> {
        Ok(self.tokens().await?.is_empty())
    }

    async fn tokens(&self) -> Result<Arc<HashMap<String, Token>>, StoreError> {
        let mut copy = self.copy.lock().await;
        if let Some((_, tokens)) = copy.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(tokens.clone());
        }
        let tokens = self.store.tokens().await?.into_iter();
        let tokens = Arc::new(tokens.map(|token| (token.hash.clone(), token)).collect());
        *copy = Some((Instant::now(), Arc::clone(&tokens)));
        Ok(tokens)
    }

    /// Lets a caller in by the token that a request carries, or without one
    /// where none is needed.
    pub(crate) async fn caller(
        &self,
        secret: Option<&str>,
        headers: &HeaderMap,
        uri: &Uri,
    ) -> Result<Caller, NotAdmitted> {
        if let Some(secret) = secret {
            let tokens = self.tokens().await.map_err(NotAdmitted::Store)?;
            let token = tokens.get(&hash_of(secret)).cloned();
            let token = token.filter(|token| token.works_at(&patchwright_store::now()));
            let token = token.ok_or(NotAdmitted::UnknownToken)?;
            return Ok(Caller {
                name: token.name,
                role: token.role,
            });
        }
        let nobody = || self.nobody_has_token();
        if !self.loopback || !nobody().await.map_err(NotAdmitted::Store)? {
            return Err(NotAdmitted::NoToken);
        }
        if !same_machine(headers, uri, &self.origins) {
            return Err(NotAdmitted::Elsewhere);
        }
        Ok(Caller {
            name: String::new(),
            role: Role::Admin,
        })
    }
}

/// Reads the token of an `Authorization` header.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// Returns true when a request needs no token where nobody has one: the name that the caller used must be this machine's, and a
/// page must be the daemon's own or one that the settings name: another program
/// of this machine may show pages of anybody.
fn same_machine(headers: &HeaderMap, uri: &Uri, origins: &[String]) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str());
    let host = match text(HOST) {
        Some(Ok(host)) => Some(host),
        Some(Err(_)) => None,
        None => uri.authority().map(axum::http::uri::Authority::as_str),
    };
    let Some(host) = host.filter(|host| is_this_machine(host)) else {
        return false;
    };
    let known = |origin: &str| {
        origin == format!("http://{host}") || origins.iter().any(|known| known == origin)
    };
    text(ORIGIN).is_none_or(|origin| origin.is_ok_and(known))
}

/// Returns true when a host, with or without a port, is a name of this machine.
pub(crate) fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderName;

    #[test]
    fn other_sites_are_not_answered_without_a_token() {
        let uri = Uri::from_static("/api/v1/tasks");
        let origins = ["http://localhost:3000".to_owned()];
        for (headers, expected) in [
            (&[(HOST, "localhost:8484")][..], true),
            (&[(HOST, "127.0.0.1")], true),
            (&[(HOST, "[::1]:8484")], true),
            (
                &[(HOST, "localhost:8484"), (ORIGIN, "http://localhost:8484")],
                true,
            ),
            (
                &[(HOST, "localhost:8484"), (ORIGIN, "http://localhost:3000")],
                true,
            ),
            (
                &[(HOST, "localhost:8484"), (ORIGIN, "http://localhost:5000")],
                false,
            ),
            (
                &[(HOST, "localhost:8484"), (ORIGIN, "https://localhost:8484")],
                false,
            ),
            (&[(HOST, "evil.example")], false),
            (&[(HOST, "localhost.evil.example")], false),
            (
                &[(HOST, "localhost"), (ORIGIN, "https://evil.example")],
                false,
            ),
            (&[(HOST, "localhost"), (ORIGIN, "null")], false),
            (&[], false),
        ] {
            let headers: HeaderMap = headers
                .iter()
                .map(|(name, value): &(HeaderName, &str)| (name.clone(), value.parse().unwrap()))
                .collect();
            assert_eq!(
                same_machine(&headers, &uri, &origins),
                expected,
                "{headers:?}"
            );
        }
    }
}
