//! Authentication: a key id and its token, by Basic authentication. The key id is
//! the name of a token of the daemon; only its hash is kept.

use super::Front;
use super::refused::Refused;
use crate::api::is_this_machine;
use crate::crs::protocol::decode;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use patchwright_store::tokens::Role;

/// Lets known callers through.
pub(super) async fn guard(State(front): State<Front>, request: Request, next: Next) -> Response {
    match admit(&front, request.headers()).await {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

async fn admit(front: &Front, headers: &HeaderMap) -> Result<(), Refused> {
    let unauthorized = |reason: &str| Refused::new(StatusCode::UNAUTHORIZED, reason);
    let Some(given) = headers.get(AUTHORIZATION) else {
        // As long as nobody has a token, programs of this machine need none.
        if front.loopback && front.tokens.nobody_has_one().await? && is_local(headers) {
            return Ok(());
        }
        return Err(unauthorized(
            "send key id and token by Basic authentication",
        ));
    };
    let pair = given.to_str().ok().and_then(credentials);
    let unknown = || unauthorized("the key is unknown, expired or revoked");
    let (key, secret) = pair.ok_or_else(unknown)?;
    let token = front.tokens.find(&secret).await?.ok_or_else(unknown)?;
    if token.name != key {
        return Err(unknown());
    }
    if token.role == Role::Review {
        let reason = "this key may look at tasks but hand none in";
        return Err(Refused::new(StatusCode::FORBIDDEN, reason));
    }
    Ok(())
}

/// Key id and token of a header.
fn credentials(header: &str) -> Option<(String, String)> {
    let (scheme, rest) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(decode(rest.trim())?).ok()?;
    let (key, secret) = pair.split_once(':')?;
    Some((key.to_owned(), secret.to_owned()))
}

/// No page of a web site sent it.
fn is_local(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(is_this_machine) && !headers.contains_key(ORIGIN)
}

#[cfg(test)]
mod tests {
    use super::credentials;
    use crate::crs::protocol::encode;

    #[test]
    fn reads_basic_authentication() {
        let basic = |text: &str| format!("Basic {}", encode(text.as_bytes()));
        for (header, expected) in [
            (basic("key:secret"), Some(("key", "secret"))),
            (basic("key:with:colon"), Some(("key", "with:colon"))),
            (basic("key").replace("Basic", "basic"), None),
            ("Basic %".to_owned(), None),
            ("Bearer x".to_owned(), None),
            ("Basic".to_owned(), None),
            (String::new(), None),
        ] {
            let read = credentials(&header);
            let read = read.as_ref().map(|(key, secret)| (&**key, &**secret));
            assert_eq!(read, expected, "{header}");
        }
    }
}
