//! Rights of the callers of the API, and the rate that they are granted.

use super::Api;
use super::problem::{Kind, Problem};
use crate::login::{Caller, NotAdmitted, bearer};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::Response;
use patchwright_store::tokens::Role;
use std::net::SocketAddr;

impl Caller {
    /// Refuses a caller whose role is too small.
    pub(crate) fn needs(&self, role: Role) -> Result<(), Problem> {
        if self.role >= role {
            return Ok(());
        }
        let own = self.role.as_str();
        let detail = format!("the role {own} of this token does not cover this");
        Err(Problem::new(Kind::Forbidden, detail))
    }
}

/// Lets known callers through, at the rate that they are granted.
pub(crate) async fn guard(
    State(api): State<Api>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map(|info| info.0.ip());
    let found = caller(&api, request.headers(), request.uri()).await;
    let key = match (&found, peer) {
        (Ok(caller), _) if !caller.name.is_empty() => caller.name.clone(),
        (_, Some(peer)) => peer.to_string(),
        _ => String::new(),
    };
    api.rate.take(&key)?;
    request.extensions_mut().insert(found?);
    Ok(next.run(request).await)
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
    use super::{Caller, Role};

    #[test]
    fn roles_cover_what_they_should() {
        use Role::{Admin, Review, Submit};
        for (role, allowed) in [
            (Review, &[Review][..]),
            (Submit, &[Review, Submit]),
            (Admin, &[Review, Submit, Admin]),
        ] {
            let caller = Caller {
                name: "n".into(),
                role,
            };
            for needed in [Review, Submit, Admin] {
                let may = caller.needs(needed).is_ok();
                assert_eq!(may, allowed.contains(&needed), "{role:?} {needed:?}");
            }
        }
    }
}
