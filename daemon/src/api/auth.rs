//! Rights of the callers of the API, and the rate that they are granted.

use super::Api;
use super::connection::Peer;
use super::problem::{Kind, Problem};
use crate::login::{Caller, NotAdmitted, bearer};
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use patchwright_store::tokens::Role;

/// The right that a request needs which changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
    /// Hand tasks in, and take them back.
    Submit,
    /// Change what holds for everybody.
    Administer,
}

impl Caller {
    /// Refuses a caller whose role is too small.
    pub(crate) fn needs(&self, right: Right) -> Result<(), Problem> {
        let may = match (self.role, right) {
            (Role::Admin, _) => true,
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
    let given = headers.get(AUTHORIZATION);
    let secret = given.map(|_| bearer(headers).unwrap_or_default());
    let caller = api.login.caller(secret, headers, uri);
    caller.await.map_err(|refused| match refused {
        NotAdmitted::NoToken => Problem::new(
            Kind::Unauthorized,
            "send a token as \"Authorization: Bearer TOKEN\"; `patchwright token create` makes one",
        ),
        NotAdmitted::UnknownToken => Problem::new(
            Kind::Unauthorized,
            "the token is unknown, expired or revoked",
        ),
        NotAdmitted::Elsewhere => Problem::new(
            Kind::Forbidden,
            "without a token only this machine itself is answered, under the name localhost, and only pages of \
             http.origins",
        ),
        NotAdmitted::Store(error) => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Caller, Right, Role};

    #[test]
    fn roles_cover_what_they_should() {
        use Right::{Administer, Submit};
        for (role, allowed) in [
            (Role::Review, &[][..]),
            (Role::Submit, &[Submit]),
            (Role::Admin, &[Submit, Administer]),
        ] {
            let caller = Caller {
                name: "n".into(),
                role,
            };
            for right in [Submit, Administer] {
                assert_eq!(
                    caller.needs(right).is_ok(),
                    allowed.contains(&right),
                    "{role:?} {right:?}"
                );
            }
        }
    }
}
