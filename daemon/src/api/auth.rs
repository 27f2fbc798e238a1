//! Authentication: callers, and what they may do.
//!
//! A token is needed as soon as one was ever made, and always where others than
//! this machine can connect. Where none is needed, only pages of this machine
//! are answered, so that a web site cannot use a visitor's daemon.

use super::Api;
use super::connection::Peer;
use super::problem::{Kind, Problem};
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use patchwright_store::tokens::Role;
use std::net::IpAddr;

/// Somebody who was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The name of the token, for the log.
    pub(crate) name: String,
    role: Role,
}

/// The right that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
    /// See tasks and what came of them.
    Read,
    /// Hand tasks in, and take them back.
    Submit,
    /// Change what holds for everybody.
    Administer,
}

impl Caller {
    /// Refuses a caller whose role is too small.
    pub(crate) fn needs(&self, right: Right) -> Result<(), Problem> {
        let may = match (self.role, right) {
            (Role::Admin, _) | (_, Right::Read) => true,
            (Role::Submit, right) => right == Right::Submit,
            (Role::Review, _) => false,
        };
        if may {
            return Ok(());
        }
        let detail = format!(
            "the role {} of this token does not cover this",
            self.role.as_str()
        );
        Err(Problem::new(Kind::Forbidden, detail))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Problem::internal(&"a route lies outside of the guard"))
    }
}

/// Lets known callers through, at the rate that they are granted.
pub(crate) async fn guard(State(api): State<Api>, mut request: Request, next: Next) -> Response {
    let peer = request
        .extensions()
        .get::<ConnectInfo<Peer>>()
        .map(|info| info.0.0.ip());
    let found = caller(&api, request.headers(), request.uri()).await;
    let key = match (&found, peer) {
        (Ok(caller), _) if !caller.name.is_empty() => caller.name.clone(),
        (_, Some(peer)) => peer.to_string(),
        _ => String::new(),
    };
    if let Err(problem) = api.limits.rate.take(&key) {
        return problem.into_response();
    }
    match found {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

async fn caller(api: &Api, headers: &HeaderMap, uri: &Uri) -> Result<Caller, Problem> {
    let given = headers.get(AUTHORIZATION).map(|value| value.to_str());
    let Some(given) = given else {
        if api.loopback && api.tokens.nobody_has_one().await? {
            same_machine(headers, uri, &api.settings.http.origins)?;
            return Ok(Caller {
                name: String::new(),
                role: Role::Admin,
            });
        }
        let detail =
            "send a token as \"Authorization: Bearer TOKEN\"; `patchwright token create` makes one";
        return Err(Problem::new(Kind::Unauthorized, detail));
    };
    let secret = given.ok().and_then(|text| {
        let (scheme, secret) = text.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(secret.trim())
    });
    let unknown = || {
        Problem::new(
            Kind::Unauthorized,
            "the token is unknown, expired or revoked",
        )
    };
    let token = api.tokens.find(secret.ok_or_else(unknown)?).await?;
    let token = token.ok_or_else(unknown)?;
    Ok(Caller {
        name: token.name,
        role: token.role,
    })
}

/// Without a token the name that the caller used must be this machine's, and a
/// page must be the daemon's own or one that the settings name: another program
/// of this machine may show pages of anybody.
pub(crate) fn same_machine(
    headers: &HeaderMap,
    uri: &Uri,
    origins: &[String],
) -> Result<(), Problem> {
    let text = |name| headers.get(name).map(|value| value.to_str());
    let host = match text(HOST) {
        Some(Ok(host)) => Some(host),
        Some(Err(_)) => None,
        None => uri.authority().map(axum::http::uri::Authority::as_str),
    };
    let local = host.filter(|host| is_this_machine(host));
    let origin = match (text(ORIGIN), local) {
        (None, _) => true,
        (Some(Ok(origin)), Some(host)) => {
            origin == format!("http://{host}") || origins.iter().any(|known| known == origin)
        }
        (Some(_), _) => false,
    };
    if local.is_some() && origin {
        Ok(())
    } else {
        Err(Problem::new(
            Kind::Forbidden,
            "without a token only this machine itself is answered, under the name localhost, and only pages of \
             http.origins",
        ))
    }
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
    fn roles_cover_what_they_should() {
        use Right::{Administer, Read, Submit};
        for (role, allowed) in [
            (Role::Review, &[Read][..]),
            (Role::Submit, &[Read, Submit]),
            (Role::Admin, &[Read, Submit, Administer]),
        ] {
            let caller = Caller {
                name: "n".into(),
                role,
            };
            for right in [Read, Submit, Administer] {
                assert_eq!(
                    caller.needs(right).is_ok(),
                    allowed.contains(&right),
                    "{role:?} {right:?}"
                );
            }
        }
    }

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
                same_machine(&headers, &uri, &origins).is_ok(),
                expected,
                "{headers:?}"
            );
        }
    }
}
