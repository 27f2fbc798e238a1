//! Authentication: a key id and its token, by Basic authentication. The key id is
//! the name of a token of the daemon; only its hash is kept.

use super::Front;
use super::refused::Refused;
use crate::crs::protocol::decode;
use crate::login::NotAdmitted;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, ORIGIN};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use patchwright_store::tokens::Role;

/// Lets known callers through.
pub(super) async fn guard(State(front): State<Front>, request: Request, next: Next) -> Response {
    match admit(&front, request.headers(), request.uri()).await {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

async fn admit(front: &Front, headers: &HeaderMap, uri: &Uri) -> Result<(), Refused> {
    let unauthorized = |reason: &str| Refused::new(StatusCode::UNAUTHORIZED, reason);
    let no_token = || unauthorized("send key id and token by Basic authentication");
    let unknown = || unauthorized("the key is unknown, expired or revoked");
    let given = headers.get(AUTHORIZATION);
    let pair = given.map(|given| given.to_str().ok().and_then(credentials));
    let pair = pair.map(|pair| pair.ok_or_else(unknown)).transpose()?;
    // A page of a web site is no cyber reasoning system.
    if pair.is_none() && headers.contains_key(ORIGIN) {
        return Err(no_token());
    }
    let secret = pair.as_ref().map(|(_, secret)| secret.as_str());
    let caller = front.login.caller(secret, headers, uri);
    let caller = caller.await.map_err(|refused| match refused {
        NotAdmitted::NoToken | NotAdmitted::Elsewhere => no_token(),
        NotAdmitted::UnknownToken => unknown(),
        NotAdmitted::Store(error) => error.into(),
    })?;
    if pair.is_some_and(|(key, _)| key != caller.name) {
        return Err(unknown());
    }
    if caller.role == Role::Review {
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
